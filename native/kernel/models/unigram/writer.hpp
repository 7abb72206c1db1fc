// Appends the pieces of a chunk as tokens.
#pragma once

#include <type_traits>

#include "models/unigram/model.hpp"

namespace toksmith::unigram {

template <typename Real>
constexpr bool kSentencePiece = std::is_same_v<Real, float>;

// Adjacent unknown characters become one token, or bytes.
template <typename Real>
class UnigramModel<Real>::Writer {
 public:
    Writer(const UnigramModel& model, const std::uint8_t* chunk, IdArray& out, IdArray* spans)
        : model_(model), chunk_(chunk), out_(out), spans_(spans) {}

    void piece(Id id, std::size_t start, std::size_t end) {
        if (id != model_.options_.unk) {
            if (unknown_end_ > unknown_start_) finish();
            token(id, start, end);
            return;
        }
        if (unknown_end_ > unknown_start_ && !model_.options_.fuse_unk) finish();
        if (unknown_end_ == unknown_start_) unknown_start_ = start;
        unknown_end_ = end;
    }

    // Appends the pending unknown characters.
    void finish() {
        const std::size_t start = unknown_start_, end = unknown_end_;
        unknown_start_ = unknown_end_ = 0;
        if (start == end) return;
        if constexpr (!kSentencePiece<Real>) {
            const Id known = model_.trie_.find(chunk_ + start, end - start);
            if (known != kNone) return token(known, start, end);
        }
        if (!model_.options_.byte_fallback) return token(model_.options_.unk, start, end);
        for (std::size_t i = start; i < end; ++i) token(model_.byte_ids_[chunk_[i]], i, i + 1);
    }

 private:
    void token(Id id, std::size_t start, std::size_t end) {
        out_.push(id);
        if (!spans_) return;
        spans_->push(static_cast<Id>(start));
        spans_->push(static_cast<Id>(end));
    }

    const UnigramModel& model_;
    const std::uint8_t* chunk_;
    IdArray& out_;
    IdArray* spans_;
    std::size_t unknown_start_ = 0, unknown_end_ = 0;
};

}  // namespace toksmith::unigram
