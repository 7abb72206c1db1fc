// Merges the bytes of a chunk.

#include "models/bpe/merging.hpp"
#include "models/bpe/model.hpp"

namespace toksmith::bpe {
namespace {

// A chunk as the Row of LongMerge, with one cell per byte. The id of a token is in its first cell
// and, with the mark, in its last cell. The cells of both neighbours follow from the lengths of
// tokens.
class ByteRow {
 public:
    ByteRow(const std::uint8_t* chunk, std::size_t size, const std::array<Id, 256>& byte_ids,
            const Vocabulary& vocabulary)
        : vocabulary_(vocabulary) {
        cells_.reserve(size);
        InterruptionPoints<std::size_t{1} << 20> points;
        for (std::size_t i = 0; i < size; ++i) {
            cells_.push_back(byte_ids[chunk[i]]);
            points.step();
        }
    }

    std::size_t size() const { return cells_.size(); }
    bool starts(std::size_t place) const { return (cells_[place] & kNoStart) == 0; }
    Id id(std::size_t place) const { return cells_[place]; }
    std::size_t next(std::size_t place) const { return place + vocabulary_.length(cells_[place]); }
    std::size_t before(std::size_t place) const {
        return place - vocabulary_.length(cells_[place - 1] & ~kNoStart);
    }

    void join(std::size_t place, std::size_t middle, Id id) {
        const std::size_t after = next(middle);
        cells_[middle - 1] = cells_[middle] = kNoStart;
        cells_[after - 1] = id | kNoStart;
        cells_[place] = id;
    }

 private:
    // Marks the cells in which no token starts.
    static constexpr Id kNoStart = 0x80000000u;

    const Vocabulary& vocabulary_;
    std::vector<Id> cells_;
};

}  // namespace

void merge_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size, IdArray& out) {
    if (size <= kShort) {
        merge_short_bytes(by, chunk, size, out);
    } else {
        merge_long_bytes(by, chunk, size, out);
    }
}

void merge_short_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size,
                       IdArray& out) {
    Id ids[kShort];
    Merge merges[kShort];  // merges[i]: the merge of ids[i] and ids[i + 1]
    for (std::size_t i = 0; i < size; ++i) ids[i] = by.byte_ids[chunk[i]];
    for (std::size_t i = 0; i + 1 < size; ++i) {
        merges[i] = by.byte_pairs ? by.byte_pairs[chunk[i] * 256 + chunk[i + 1]]
                                  : by.pairs.find(ids[i], ids[i + 1]);
    }
    out.append(ids, merge_short(ids, merges, size, by.pairs, [](std::size_t, std::size_t) {}));
}

void merge_long_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size,
                      IdArray& out) {
    check_chunk_size(size);
    ByteRow row(chunk, size, by.byte_ids, by.vocabulary);
    LongMerge(row, by.pairs).run();
    InterruptionPoints<std::size_t{1} << 18> points;
    for (std::size_t i = 0; i < size; i = row.next(i)) {
        out.push(row.id(i));
        points.step();
    }
}

}  // namespace toksmith::bpe
