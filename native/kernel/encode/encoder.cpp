#include "encode/encoder.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "encode/in_order.hpp"
#include "parallel/parallel.hpp"
#include "parallel/task_queue.hpp"
#include "split/cut.hpp"

namespace toksmith {
namespace {

// So many bytes a thread takes at once, where there is much left; and no document is cut into less.
constexpr std::size_t kMostRun = std::size_t{1} << 18, kLeastPiece = kMostRun / 16;
// Of the memory for a run as UTF-8, and for its ids, so much is kept.
constexpr std::size_t kMostKept = 8 * kMostRun;
// The memory of a result that is kept may be so many times that of a cache.
constexpr std::size_t kKeptCaches = 4;

std::size_t total_size(const std::vector<Source>& documents) {
    std::size_t bytes = 0;
    for (const Source& document : documents) bytes += document.about_bytes();
    return bytes;
}

// And so many of those that are left: none waits long for the last.
std::size_t share_of(std::size_t rest, std::size_t threads) {
    return threads <= 1 ? kMostRun : std::min(kMostRun, rest / threads / 4 + 1);
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const Model> model, Family family, isa::Level level)
    : model_(std::move(model)),
      family_(family),
      level_(level),
      loops_(loops(level)),
      kept_(std::make_shared<KeptIds>(kKeptCaches * ChunkCache::kBytes)) {
    idle_.reserve(most_idle());
    if (traits(family).by_model && !model_->cut_table()) {
        throw std::invalid_argument("this model does not say where a text may be cut");
    }
}

std::size_t Encoder::most_idle() {
    static const std::size_t most = std::max(2u, std::thread::hardware_concurrency());
    return most;
}

// The lock is only ever tried: a fork may have left it taken for good, and a new crew does as well.
std::unique_ptr<Crew> Encoder::take(std::size_t threads, std::size_t bytes) {
    std::unique_ptr<Crew> crew;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock && !idle_.empty()) {
        crew = std::move(idle_.back());
        idle_.pop_back();
    }
    if (!crew) crew = std::make_unique<Crew>(*model_, cache_bytes_.load(), bytes);
    crew->begin(threads, bytes);
    return crew;
}

void Encoder::put(std::unique_ptr<Crew> crew) noexcept {
    if (crew->cache_bytes() != cache_bytes_) return;  // the limit was set meanwhile
    crew->trim(kMostKept);
    const std::unique_lock lock(guard_, std::try_to_lock);
    if (!lock) return;
    if (idle_.size() < most_idle()) {
        idle_.push_back(std::move(crew));
        return;
    }
    auto& smallest =
        *std::ranges::min_element(idle_, {}, [](const auto& idle) { return idle->lines(); });
    if (smallest->lines() < crew->lines()) std::swap(smallest, crew);
}

void Encoder::forget(std::optional<std::size_t> cache_bytes) {
    if (cache_bytes) cache_bytes_ = *cache_bytes;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock) idle_.clear();
    kept_->forget(kKeptCaches * cache_bytes_);
}

std::vector<Encoder::Piece> Encoder::pieces(const std::vector<Source>& documents,
                                            std::size_t threads, std::size_t starting) const {
    // A sum that is carried binds a document to one thread.
    const bool cuts = !model_->carrier() && !traits(family_).whole;
    std::size_t left = 0;
    for (const Source& document : documents) left += document.size();
    std::vector<Piece> pieces;
    pieces.reserve(documents.size());
    for (std::size_t document = 0; document < documents.size(); ++document) {
        Source rest = documents[document];
        bool starts = document < starting;
        const bool is_cut =
            cuts && (threads > 1 || !rest.is_utf8()) && rest.size() > kMostRun + kMostRun / 2;
        while (is_cut) {
            const std::size_t share = std::max(share_of(left, threads), kLeastPiece);
            if (rest.size() <= share + share / 2) break;
            const std::size_t place = cut(rest, share);
            left -= place;
            pieces.push_back({rest.slice(0, place), document, starts});
            starts = false;
            rest = rest.slice(place, rest.size());
        }
        left -= rest.size();
        pieces.push_back({rest, document, starts});
    }
    return pieces;
}

std::size_t Encoder::cut(const Source& source, std::size_t from) const {
    if (source.is_inside_pair(from)) ++from;
    const auto cut_in = [this](Text text) {
        return safe_cut(family_, text.begin, text.end, model_->cut_table());
    };
    if (source.is_utf8()) {
        const Text text = source.utf8();
        return static_cast<std::size_t>(cut_in({text.begin + from, text.end}) - text.begin);
    }
    // Whether a place is a cut, the character before it tells, and two behind it.
    constexpr std::size_t kBehind = 2 * utf8::kMostBytes;
    Utf8Buffer buffer;
    for (std::size_t size = 256;; size *= 4) {
        const Source seen = source.slice(from, std::min(source.size(), from + size));
        std::uint8_t* const begin = buffer.room(seen.most_bytes() + narrow::kBytes);
        const std::uint8_t* const end = loops_.narrow(seen, begin);
        const std::uint8_t* const place = cut_in({begin, end});
        const bool all = from + seen.size() == source.size();
        if (all || static_cast<std::size_t>(end - place) >= kBehind) {
            const auto characters =
                std::count_if(static_cast<const std::uint8_t*>(begin), place,
                              [](std::uint8_t byte) { return !utf8::is_continuation(byte); });
            return from + seen.end_of(static_cast<std::size_t>(characters));
        }
    }
}

std::span<const Part> Encoder::parts(std::span<const Piece> pieces, Worker& worker) const {
    std::size_t bytes = narrow::kBytes;
    for (const Piece& piece : pieces) {
        if (!piece.source.is_utf8()) bytes += piece.source.most_bytes();
    }
    std::uint8_t* free = bytes > narrow::kBytes ? worker.utf8.room(bytes) : nullptr;
    worker.parts.clear();
    for (const Piece& piece : pieces) {
        Text text;
        if (piece.source.is_utf8()) {
            text = piece.source.utf8();
        } else {
            text.begin = free;
            text.end = free = loops_.narrow(piece.source, free);
        }
        worker.parts.push_back({text, piece.starts});
    }
    return worker.parts;
}

// Runs of pieces that one thread takes at once.
std::vector<Encoder::Run> Encoder::runs_of(const std::vector<Piece>& work, std::size_t threads) {
    std::size_t rest = 0;
    for (const Piece& piece : work) rest += piece.source.size();
    std::vector<Run> runs;
    std::size_t most = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (runs.empty() || runs.back().size >= most) {
            most = share_of(rest, threads);
            runs.push_back({i, i, 0});
        }
        runs.back().last = i + 1;
        runs.back().size += work[i].source.size();
        rest -= work[i].source.size();
    }
    return runs;
}

template <typename Work>
void Encoder::run_in_turns(std::size_t runs, std::size_t bytes, std::size_t threads,
                           const Work& work) {
    const Lease lease(*this, threads, bytes);
    TaskQueue queue(runs, threads);
    run_on_threads(threads, [&](std::size_t thread) {
        Worker& worker = lease->worker(thread);
        const ChunkCache::User::Turn turn(worker.cache);
        queue.work_off(thread, [&](std::size_t run) { work(run, thread, worker); });
    });
    queue.rethrow_failure();
}

Encoded Encoder::encode(const std::vector<Source>& documents, std::size_t threads,
                        std::size_t starting) {
    const std::vector<Piece> work = pieces(documents, threads, starting);
    const auto encode_parts = loops_.encode[static_cast<std::size_t>(family_)];
    Encoded result;
    result.offsets.assign(documents.size() + 1, 0);

    const std::size_t total_bytes = total_size(documents);
    const std::vector<Run> runs = runs_of(work, threads);
    result.ids = kept_->take(total_bytes);
    std::vector<std::size_t> sizes(work.size());
    const auto encode_run = [&](const Run& run, Worker& worker, Ids& ids) {
        const std::size_t before = ids.size();
        std::size_t* const ends = &sizes[run.first];
        encode_parts(parts({&work[run.first], run.pieces()}, worker), *model_, worker, ids, ends);
        std::adjacent_difference(ends, ends + run.pieces(), ends);
        *ends -= before;
    };
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, runs.size()));
    if (used > 1) {
        InOrder in_order(result.ids, runs.size(), used);
        run_in_turns(runs.size(), total_bytes, used,
                     [&](std::size_t run, std::size_t thread, Worker& worker) {
                         Ids ids = worker.spare.take();
                         encode_run(runs[run], worker, ids);
                         in_order.add(thread, run, std::move(ids), worker.spare);
                     });
        in_order.finish();
    } else {
        run_in_turns(runs.size(), total_bytes, used,
                     [&](std::size_t run, std::size_t, Worker& worker) {
                         encode_run(runs[run], worker, result.ids);
                     });
    }
    result.ids.trim();

    for (std::size_t i = 0; i < work.size(); ++i) {
        result.offsets[work[i].document + 1] += static_cast<std::int64_t>(sizes[i]);
    }
    for (std::size_t i = 0; i < documents.size(); ++i) {
        result.offsets[i + 1] += result.offsets[i];
    }
    return result;
}

Encoded Encoder::encode_chunks_with_spans(const std::vector<Text>& chunks, Ids& spans) {
    Encoded result;
    result.offsets.reserve(chunks.size() + 1);
    result.offsets.push_back(0);
    const std::unique_ptr<Model::Scratch> scratch = model_->scratch();
    for (const Text& chunk : chunks) {
        if (chunk.size() >= 0xFFFFFFFFu) throw std::length_error("a chunk has 4 GiB or more");
        if (chunk.size() > 0) {
            model_->encode_chunk(chunk.begin, chunk.size(), *scratch, result.ids, &spans);
        }
        result.offsets.push_back(static_cast<std::int64_t>(result.ids.size()));
    }
    return result;
}

std::uint64_t Encoder::count(const std::vector<Source>& documents, std::size_t threads) {
    if (carries()) {
        Encoded all = encode(documents, threads);
        kept_->put(all.ids);
        return static_cast<std::uint64_t>(all.offsets.back());
    }
    const std::vector<Piece> work = pieces(documents, threads, kAll);
    const auto count_parts = loops_.count[static_cast<std::size_t>(family_)];
    const std::size_t total_bytes = total_size(documents);
    const std::vector<Run> runs = runs_of(work, threads);
    std::atomic<std::uint64_t> total{0};
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, runs.size()));
    run_in_turns(runs.size(), total_bytes, used, [&](std::size_t run, std::size_t, Worker& worker) {
        total += count_parts(parts({&work[runs[run].first], runs[run].pieces()}, worker), *model_,
                             worker);
    });
    return total;
}

std::uint64_t Encoder::count_here(const Source& document) {
    if (carries()) return encode_here(document, [](const Ids& ids) { return ids.size(); });
    return run_here(document, [&](std::span<const Part> parts, Worker& worker) {
        return loops_.count[static_cast<std::size_t>(family_)](parts, *model_, worker);
    });
}

}  // namespace toksmith
