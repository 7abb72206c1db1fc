#include "text/character_mapper.hpp"

#include <cstring>
#include <utility>

#include "base/stop.hpp"

namespace toksmith {
namespace {

using Byte = CharacterMapper::Byte;

std::string_view view(const Byte* begin, const Byte* end) {
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

}  // namespace

CharacterMapper::CharacterMapper(DescribeBlock describe_block, Rewrite rewrite)
    : describe_block_(std::move(describe_block)), rewrite_(std::move(rewrite)) {
    keeps_ascii_ = block_of(0).all_kept && block_of(kBlock).all_kept;
}

CharacterMapper::~CharacterMapper() {
    for (const auto& block : blocks_) delete block.load();
}

// Calls describe_block_() without a lock, since it may wait for Python. If several threads fill the
// same block, the first result is kept.
const CharacterMapper::Block& CharacterMapper::block_of(std::uint32_t code) const {
    std::atomic<const Block*>& held = blocks_[code / kBlock];
    if (const Block* block = held.load(std::memory_order_acquire)) return *block;
    std::unique_ptr<const Block> made = describe_block_(code / kBlock);
    const Block* expected = nullptr;
    if (held.compare_exchange_strong(expected, made.get())) return *made.release();
    return *expected;
}

std::string CharacterMapper::rewritten(std::string_view stretch) const {
    if (stretch.size() > kLongest) return rewrite_(stretch);
    std::string key(stretch);
    {
        const std::scoped_lock lock(mutex_);
        if (const auto found = stretches_.find(key); found != stretches_.end())
            return found->second;
    }
    std::string made = rewrite_(stretch);
    const std::scoped_lock lock(mutex_);
    if (stretches_.size() >= kMost) stretches_.clear();
    stretches_.emplace(std::move(key), made);
    return made;
}

const Byte* CharacterMapper::bound_end(const Byte* p, const Byte* end) const {
    InterruptionPoints<std::size_t{1} << 18> points;
    while (p < end) {
        points.step();
        const utf8::Char c = utf8::decode(p, end);
        if (c.code == utf8::kInvalid || block_of(c.code).kinds[c.code % kBlock] != Kind::kBound)
            break;
        p += c.size;
    }
    return p;
}

bool CharacterMapper::map(Text text, std::vector<Byte>& out) const {
    const Byte* kept = text.begin;    // from here on, the text is not written yet
    const Byte* before = text.begin;  // the start of the character before p
    std::size_t written = 0;          // the size of `out` before that character was replaced
    bool was_replaced = false;
    bool changed = false;
    const auto flush = [&](const Byte* to) {
        if (!changed) out.reserve(text.size() + text.size() / 8);
        changed = true;
        out.insert(out.end(), kept, to);
    };
    InterruptionPoints<std::size_t{1} << 18> points;
    for (const Byte* p = text.begin; p < text.end;) {
        points.step();
        if (keeps_ascii_ && *p < 0x80) {
            for (std::uint64_t eight; text.end - p >= 8; p += 8) {
                std::memcpy(&eight, p, 8);
                if (eight & 0x8080808080808080) break;
                points.step();
            }
            while (p < text.end && *p < 0x80) ++p;
            before = p - 1;
            was_replaced = false;
            continue;
        }
        const utf8::Char c = utf8::decode(p, text.end);
        const Byte* const next = p + c.size;
        const Block* const block = c.code == utf8::kInvalid ? nullptr : &block_of(c.code);
        const Kind kind = !block || block->all_kept ? Kind::kKept : block->kinds[c.code % kBlock];
        switch (kind) {
            case Kind::kKept:
                was_replaced = false;
                before = p;
                p = next;
                break;
            case Kind::kReplaced: {
                flush(p);
                written = out.size();
                const std::uint32_t i = c.code % kBlock;
                out.insert(out.end(), block->text.begin() + block->begins[i],
                           block->text.begin() + block->begins[i + 1]);
                was_replaced = true;
                before = p;
                kept = p = next;
                break;
            }
            case Kind::kBound: {
                if (was_replaced) {
                    out.resize(written);
                    kept = before;
                }
                const Byte* const stop = bound_end(next, text.end);
                const std::string made = rewritten(view(before, stop));
                if (made != view(before, stop)) {
                    flush(before);
                    out.insert(out.end(), made.begin(), made.end());
                    kept = stop;
                }
                was_replaced = false;
                before = p = stop;
                break;
            }
        }
    }
    if (!changed) return false;
    flush(text.end);
    return true;
}

}  // namespace toksmith
