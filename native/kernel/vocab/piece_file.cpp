#include "vocab/piece_file.hpp"

#include <bit>
#include <cmath>

#include "utf8/decode.hpp"

namespace toksmith {
namespace {

enum Wire : unsigned { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

// Reads the fields of a message one by one.
class Fields {
 public:
    explicit Fields(std::string_view message) : rest_(message) {}

    struct Field {
        std::uint64_t number;
        unsigned wire;
        std::uint64_t value;    // of a varint, or of four bytes
        std::string_view held;  // of bytes
        std::string_view whole;
    };

    bool any() const { return !rest_.empty(); }
    // Returns nothing if the message is damaged.
    std::optional<Field> next() {
        const std::string_view before = rest_;
        const auto tag = varint();
        if (!tag) return std::nullopt;
        Field field{*tag >> 3, static_cast<unsigned>(*tag & 7), 0, {}, {}};
        std::optional<std::uint64_t> value;
        switch (field.wire) {
            case kVarint:
                if (value = varint(); !value) return std::nullopt;
                field.value = *value;
                break;
            case kEightBytes:
                if (!take(8, field.held)) return std::nullopt;
                break;
            case kBytes:
                if (value = varint(); !value || !take(*value, field.held)) return std::nullopt;
                break;
            case kFourBytes:
                if (!take(4, field.held)) return std::nullopt;
                for (std::size_t i = 4; i-- > 0;)
                    field.value = field.value << 8 | static_cast<std::uint8_t>(field.held[i]);
                break;
            default:
                return std::nullopt;
        }
        field.whole = before.substr(0, before.size() - rest_.size());
        return field;
    }

 private:
    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < rest_.size() && i < 9; ++i) {
            const auto byte = static_cast<std::uint8_t>(rest_[i]);
            value |= std::uint64_t{byte & 0x7Fu} << 7 * i;
            if (byte < 0x80) {
                rest_.remove_prefix(i + 1);
                return value;
            }
        }
        return std::nullopt;
    }
    bool take(std::uint64_t size, std::string_view& taken) {
        if (size > rest_.size()) return false;
        taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
    }

    std::string_view rest_;
};

bool read_piece(std::string_view message, PieceFile& file) {
    std::string_view piece;
    float score = 0;
    std::uint64_t type = static_cast<std::uint64_t>(PieceType::kNormal);
    for (Fields fields(message); fields.any();) {
        const auto field = fields.next();
        if (!field) return false;
        static constexpr Wire kWires[] = {kVarint, kBytes, kFourBytes, kVarint};
        if (field->number == 0) return false;
        if (field->number <= 3 && field->wire != kWires[field->number]) return false;
        if (field->number == 1) piece = field->held;
        if (field->number == 2)
            score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
        if (field->number == 3) type = field->value;
    }
    if (piece.empty() || !utf8::is_valid(piece) || !std::isfinite(score) || type < 1 || type > 6)
        return false;
    file.pieces.bytes.insert(file.pieces.bytes.end(), piece.begin(), piece.end());
    file.pieces.offsets.push_back(file.pieces.bytes.size());
    file.scores.push_back(static_cast<double>(score));
    file.types.push_back(static_cast<std::uint8_t>(type));
    return true;
}

}  // namespace

std::optional<PieceFile> read_piece_file(std::string_view file) {
    PieceFile found;
    for (Fields fields(file); fields.any();) {
        const auto field = fields.next();
        if (!field || field->number == 0) return std::nullopt;
        if (field->number != 1) {
            found.rest += field->whole;
        } else if (field->wire != kBytes || !read_piece(field->held, found)) {
            return std::nullopt;
        }
    }
    return found;
}

}  // namespace toksmith
