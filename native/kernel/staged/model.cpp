#include "staged/model.hpp"

#include <stdexcept>

namespace toksmith {
namespace {

struct Buffers final : Model::Scratch {
    std::unique_ptr<Model::Scratch> inner;
    std::vector<std::uint8_t> piece;
    std::vector<std::uint8_t> pieces;
    std::vector<std::size_t> ends;
};

}  // namespace

std::unique_ptr<Model::Scratch> StagedModel::scratch() const {
    auto buffers = std::make_unique<Buffers>();
    buffers->inner = model_->scratch();
    return buffers;
}

bool StagedModel::leads(const std::uint8_t* begin, const std::uint8_t* end) const {
    if (stages_.lead != Lead::kUnlessSpace) return stages_.lead == Lead::kAlways;
    const std::uint32_t first = CharacterTable::code_of(utf8::decode(begin, end));
    // Characters that are spaces to the splitter start with the atom that a space starts with.
    return table_->row(first).right != table_->row(' ').right;
}

void StagedModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                               Ids& out, Ids* spans) const {
    if (spans) throw std::logic_error("a model with stages gives no spans");
    auto& buffers = static_cast<Buffers&>(scratch);
    std::vector<std::uint8_t>& piece = buffers.piece;
    const std::size_t before = out.size();
    const auto flush = [&] {
        if (!piece.empty()) {
            model_->encode_chunk(piece.data(), piece.size(), *buffers.inner, out, nullptr);
        }
        piece.clear();
    };

    piece.clear();
    auto last = Unit::kRemoved;
    std::size_t space = 0;  // the size of the space that the piece ends with
    const std::uint8_t* end = chunk + size;
    for (const std::uint8_t* p = chunk; p < end;) {
        const utf8::Char c = utf8::decode(p, end);
        p += c.size;
        const std::uint32_t code = CharacterTable::code_of(c);
        const CharacterTable::Block& block = table_->block_of(code);
        const CharacterTable::Row& row = block.rows[code % CharacterTable::kBlock];
        if (row.depends) {
            out.truncate(before);
            buffers.pieces.clear();
            buffers.ends.clear();
            stages_.fallback(chunk, size, buffers.pieces, buffers.ends);
            std::size_t start = 0;
            for (const std::size_t stop : buffers.ends) {
                model_->encode_chunk(buffers.pieces.data() + start, stop - start, *buffers.inner,
                                     out, nullptr);
                start = stop;
            }
            return;
        }
        const std::uint8_t* unit = block.units.data() + row.begin;
        for (const std::uint8_t* stop = unit + row.size; unit < stop; unit += 2 + unit[1]) {
            const auto kind = static_cast<Unit>(unit[0]);
            const bool is_space = kind == Unit::kSpace || kind == Unit::kStart;
            if (stages_.collapse && is_space && space) continue;
            switch (kind) {
                case Unit::kRemoved:
                    flush();
                    break;
                case Unit::kAlone:
                    flush();
                    piece.assign(unit + 2, unit + 2 + unit[1]);
                    flush();
                    break;
                case Unit::kSpace:
                    piece.insert(piece.end(), unit + 2, unit + 2 + unit[1]);
                    break;
                default:
                    if (kind == Unit::kStart || (kind != last && last != Unit::kStart &&
                                                 last != Unit::kSpace && last >= Unit::kRun)) {
                        flush();
                    }
                    piece.insert(piece.end(), unit + 2, unit + 2 + unit[1]);
            }
            space = is_space ? unit[1] : 0;
            // What follows a start belongs to it, whatever its class.
            last = last == Unit::kStart && kind >= Unit::kRun ? Unit::kStart : kind;
        }
    }
    if (stages_.trim) piece.resize(piece.size() - space);
    flush();
}

}  // namespace toksmith
