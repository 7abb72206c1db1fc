#include "encode/encoder.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "encode/ordered_output.hpp"
#include "split/splitter.hpp"

namespace toksmith {
namespace {

// The maximum size of a task, and the minimum size of a part of a document, in bytes.
constexpr std::size_t kMostTask = std::size_t{1} << 18, kLeastSegment = kMostTask / 16;
// Buffers of more bytes are freed after a call.
constexpr std::size_t kMostKept = 8 * kMostTask;
// A kept result buffer may be this many times as large as a cache.
constexpr std::size_t kKeptCaches = 4;

// The text of an added token is not encoded. The kernels may read a block at its end.
constexpr std::uint8_t kNoText[64] = {};

// The size of the next task. Tasks get smaller towards the end, so that no thread waits long for
// the last one.
std::size_t share_of(std::size_t rest, std::size_t threads) {
    return threads <= 1 ? kMostTask : std::min(kMostTask, rest / threads / 4 + 1);
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const Model> model, Splitter splitter, isa::Level level)
    : model_(std::move(model)),
      splitter_(std::move(splitter)),
      level_(level),
      kernels_(kernels_for(level)),
      kept_(std::make_shared<ResultBufferCache>(kKeptCaches * ChunkCache::kBytes)),
      kept_spans_(std::make_shared<ResultBufferCache>(kKeptCaches * ChunkCache::kBytes)),
      kept_characters_(std::make_shared<ResultBufferCache>(kKeptCaches * ChunkCache::kBytes)) {
    idle_.reserve(most_idle());
    if (traits(splitter_.family).by_model && !model_->cut_table()) {
        throw std::invalid_argument("this model needs a split pattern: it has no cut table");
    }
}

std::size_t Encoder::total_size(const std::vector<InputText>& documents) {
    std::size_t bytes = 0;
    for (const InputText& document : documents) bytes += document.about_bytes();
    return bytes;
}

std::size_t Encoder::most_idle() {
    static const std::size_t most = std::max(2u, std::thread::hardware_concurrency());
    return most;
}

// try_lock only: a fork may have left the mutex locked for good. Then a new worker set is made.
std::unique_ptr<WorkerSet> Encoder::lease(std::size_t threads, std::size_t bytes) {
    std::unique_ptr<WorkerSet> workers;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock && !idle_.empty()) {
        workers = std::move(idle_.back());
        idle_.pop_back();
    }
    if (!workers) workers = std::make_unique<WorkerSet>(*model_, cache_bytes_.load(), bytes);
    workers->begin(threads, bytes);
    return workers;
}

void Encoder::return_lease(std::unique_ptr<WorkerSet> workers) noexcept {
    if (workers->cache_bytes() != cache_bytes_) return;  // the limit was changed during the call
    workers->trim(kMostKept);
    const std::unique_lock lock(guard_, std::try_to_lock);
    if (!lock) return;
    if (idle_.size() < most_idle()) {
        idle_.push_back(std::move(workers));
        return;
    }
    auto& smallest =
        *std::ranges::min_element(idle_, {}, [](const auto& idle) { return idle->buckets(); });
    if (smallest->buckets() < workers->buckets()) std::swap(smallest, workers);
}

void Encoder::forget(std::optional<std::size_t> cache_bytes) {
    if (cache_bytes) cache_bytes_ = *cache_bytes;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock) idle_.clear();
    for (const auto& kept : {kept_, kept_spans_, kept_characters_})
        kept->forget(kKeptCaches * cache_bytes_);
}

std::vector<Encoder::Segment> Encoder::segments(const std::vector<InputText>& documents,
                                                std::size_t threads,
                                                std::span<const std::uint8_t> continuing,
                                                const AddedTokens* added) const {
    // A document with a carried sum must be encoded by one thread.
    const bool cuts = !model_->carrier() && !traits(splitter_.family).whole;
    std::size_t left = 0;
    for (const InputText& document : documents) left += document.size();
    std::vector<Segment> segments;
    segments.reserve(documents.size());
    const auto add = [&](InputText rest, std::size_t document, bool starts) {
        const bool is_cut =
            cuts && (threads > 1 || !rest.is_utf8()) && rest.size() > kMostTask + kMostTask / 2;
        while (is_cut) {
            const std::size_t share = std::max(share_of(left, threads), kLeastSegment);
            if (rest.size() <= share + share / 2) break;
            const std::size_t place = cut(rest, share);
            left -= place;
            segments.push_back({rest.slice(0, place), document, starts});
            starts = false;
            rest = rest.slice(place, rest.size());
        }
        left -= rest.size();
        segments.push_back({rest, document, starts});
    };
    std::vector<AddedTokens::Match> found;
    InterruptionPoints<1024> points;
    for (std::size_t document = 0; document < documents.size(); ++document) {
        const InputText& text = documents[document];
        const bool starts = continuing.empty() || continuing[document] == 0;
        if (added) {
            points.step();
            added->find(text, found);
        }
        std::size_t done = 0;
        const auto add_text = [&](std::size_t end) {
            const bool at_start = starts && (done == 0 || !added->continues());
            add(text.slice(done, end), document, at_start);
        };
        for (const AddedTokens::Match& match : found) {
            if (done < match.start) add_text(match.start);
            segments.push_back({text.slice(match.start, match.end), document, false, match.id});
            left -= match.end - match.start;
            done = match.end;
        }
        if (found.empty()) {
            add(text, document, starts);
        } else if (done < text.size()) {
            add_text(text.size());
        }
    }
    return segments;
}

std::size_t Encoder::cut(const InputText& source, std::size_t from) const {
    if (source.is_inside_pair(from)) ++from;
    const auto cut_in = [this](Text text) {
        return safe_cut(splitter_, text.begin, text.end, model_->cut_table());
    };
    if (source.is_utf8()) {
        const Text text = source.utf8();
        return static_cast<std::size_t>(cut_in({text.begin + from, text.end}) - text.begin);
    }
    // A cut depends on the character before it and the two after it.
    constexpr std::size_t kContext = 2 * utf8::kMostBytes;
    Utf8Buffer buffer;
    for (std::size_t size = 256;; size *= 4) {
        const InputText seen = source.slice(from, std::min(source.size(), from + size));
        std::uint8_t* const begin = buffer.room(seen.most_bytes() + to_utf8::kBytes);
        const std::uint8_t* const end = kernels_.to_utf8(seen, begin);
        const std::uint8_t* const place = cut_in({begin, end});
        const bool all = from + seen.size() == source.size();
        if (all || static_cast<std::size_t>(end - place) >= kContext) {
            const auto characters =
                std::count_if(static_cast<const std::uint8_t*>(begin), place,
                              [](std::uint8_t byte) { return !utf8::is_continuation(byte); });
            return from + seen.end_of(static_cast<std::size_t>(characters));
        }
    }
}

std::span<const Part> Encoder::parts(std::span<const Segment> segments, Worker& worker) const {
    std::size_t bytes = to_utf8::kBytes;
    for (const Segment& segment : segments) {
        if (!segment.source.is_utf8() && !segment.is_token()) bytes += segment.source.most_bytes();
    }
    std::uint8_t* free = bytes > to_utf8::kBytes ? worker.utf8.room(bytes) : nullptr;
    worker.parts.clear();
    for (const Segment& segment : segments) {
        Text text;
        if (segment.is_token()) {
            text = {kNoText, kNoText};
        } else if (segment.source.is_utf8()) {
            text = segment.source.utf8();
        } else {
            text.begin = free;
            text.end = free = kernels_.to_utf8(segment.source, free);
        }
        worker.parts.push_back({text, segment.starts});
    }
    return worker.parts;
}

// Groups segments into tasks.
std::vector<Encoder::Task> Encoder::tasks_of(const std::vector<Segment>& work,
                                             std::size_t threads) {
    std::size_t rest = 0;
    for (const Segment& segment : work) rest += segment.source.size();
    std::vector<Task> tasks;
    std::size_t most = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (tasks.empty() || tasks.back().size >= most) {
            most = share_of(rest, threads);
            tasks.push_back({i, i, 0});
        }
        tasks.back().last = i + 1;
        tasks.back().size += work[i].source.size();
        tasks.back().has_tokens |= work[i].is_token();
        rest -= work[i].source.size();
    }
    return tasks;
}

Encoded Encoder::encode(const std::vector<InputText>& documents, std::size_t threads,
                        std::size_t starting, const AddedTokens* added) {
    std::vector<std::uint8_t> continuing;
    if (starting < documents.size()) {
        continuing.resize(starting, 0);
        continuing.resize(documents.size(), 1);
    }
    const std::vector<Segment> work = segments(documents, threads, continuing, added);
    const auto encode_parts = kernels_.encode[static_cast<std::size_t>(splitter_.family)];
    Encoded result;
    result.offsets.assign(documents.size() + 1, 0);

    const std::size_t total_bytes = total_size(documents);
    const std::vector<Task> tasks = tasks_of(work, threads);
    result.ids = kept_->take(total_bytes);
    std::vector<std::size_t> sizes(work.size());
    const auto encode_task = [&](const Task& task, Worker& worker, IdArray& ids) {
        const std::size_t before = ids.size();
        std::size_t* const ends = &sizes[task.first];
        IdArray between = task.has_tokens ? worker.spare.take() : IdArray();
        encode_parts(parts({&work[task.first], task.segments()}, worker), splitter_, *model_,
                     worker, task.has_tokens ? between : ids, ends);
        if (task.has_tokens) {
            std::size_t start = 0;
            for (std::size_t i = 0; i < task.segments(); ++i) {
                const Segment& segment = work[task.first + i];
                if (segment.is_token()) {
                    ids.push(segment.token);
                } else {
                    ids.append(between.data() + start, ends[i] - start);
                }
                start = ends[i];
                ends[i] = ids.size();
            }
            worker.spare.put(std::move(between));
        }
        std::adjacent_difference(ends, ends + task.segments(), ends);
        *ends -= before;
    };
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, tasks.size()));
    if (used > 1) {
        OrderedOutput in_order(result.ids, tasks.size(), used);
        run_tasks(tasks.size(), total_bytes, used,
                  [&](std::size_t task, std::size_t thread, Worker& worker) {
                      IdArray ids = worker.spare.take();
                      encode_task(tasks[task], worker, ids);
                      in_order.add(thread, task, std::move(ids), worker.spare);
                  });
        in_order.finish();
    } else {
        run_tasks(tasks.size(), total_bytes, used,
                  [&](std::size_t task, std::size_t, Worker& worker) {
                      encode_task(tasks[task], worker, result.ids);
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

Encoded Encoder::encode_chunks_with_spans(const std::vector<Text>& chunks, IdArray& spans) {
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

std::uint64_t Encoder::count(const std::vector<InputText>& documents, std::size_t threads) {
    if (carries()) {
        Encoded all = encode(documents, threads);
        kept_->put(all.ids);
        return static_cast<std::uint64_t>(all.offsets.back());
    }
    const std::vector<Segment> work = segments(documents, threads);
    const auto count_parts = kernels_.count[static_cast<std::size_t>(splitter_.family)];
    const std::size_t total_bytes = total_size(documents);
    const std::vector<Task> tasks = tasks_of(work, threads);
    std::atomic<std::uint64_t> total{0};
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, tasks.size()));
    run_tasks(tasks.size(), total_bytes, used, [&](std::size_t task, std::size_t, Worker& worker) {
        total += count_parts(parts({&work[tasks[task].first], tasks[task].segments()}, worker),
                             splitter_, *model_, worker);
    });
    return total;
}

std::uint64_t Encoder::count_here(const InputText& document) {
    if (carries()) return encode_here(document, [](const IdArray& ids) { return ids.size(); });
    return run_here(document, [&](std::span<const Part> parts, Worker& worker) {
        return kernels_.count[static_cast<std::size_t>(splitter_.family)](parts, splitter_, *model_,
                                                                          worker);
    });
}

}  // namespace toksmith
