#include "encode/encoder.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "encode/exchange.hpp"
#include "encode/in_order.hpp"
#include "parallel/parallel.hpp"
#include "parallel/turns.hpp"
#include "split/cut.hpp"

namespace toksmith {
namespace {

// Long documents are cut into parts of about this many bytes for the threads to share.
constexpr std::size_t kPart = std::size_t{1} << 18;
// The memory of a result that is kept may be so many times that of a cache.
constexpr std::size_t kKeptCaches = 4;

std::size_t total_size(const std::vector<Text>& documents) {
    std::size_t bytes = 0;
    for (const Text& document : documents) bytes += document.size();
    return bytes;
}

// So many bytes a thread takes at once, so that none waits long for the last.
std::size_t share_of(std::size_t bytes, std::size_t threads) {
    return std::min(kPart, bytes / std::max<std::size_t>(threads, 1) / 4 + 1);
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const Model> model, Family family, isa::Level level)
    : model_(std::move(model)),
      family_(family),
      level_(level),
      loops_(loops(level)),
      kept_(std::make_shared<KeptIds>(kKeptCaches * ChunkCache::kBytes)) {
    if (traits(family).by_model && !model_->boundaries()) {
        throw std::invalid_argument("this model does not say where a text may be cut");
    }
}

// The lock is only ever tried: a fork may have left it taken for good, and a new worker does as
// well.
std::unique_ptr<Worker> Encoder::take(std::size_t bytes) {
    std::unique_ptr<Worker> worker;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock && !idle_.empty()) {
        worker = std::move(idle_.back());
        idle_.pop_back();
    }
    if (!worker) worker = std::make_unique<Worker>(*model_, cache_bytes_.load());
    worker->cache.expect(bytes);
    return worker;
}

void Encoder::put(std::unique_ptr<Worker> worker) {
    if (worker->cache_bytes != cache_bytes_) return;  // the limit was set meanwhile
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock) {
        idle_.push_back(std::move(worker));
    }
}

void Encoder::forget(std::optional<std::size_t> cache_bytes) {
    if (cache_bytes) cache_bytes_ = *cache_bytes;
    if (const std::unique_lock lock(guard_, std::try_to_lock); lock) idle_.clear();
    kept_->forget(kKeptCaches * cache_bytes_);
}

std::vector<Part> Encoder::parts(const std::vector<Text>& documents, std::size_t threads,
                                 std::size_t starting) const {
    std::vector<Part> parts;
    parts.reserve(documents.size());
    for (std::size_t document = 0; document < documents.size(); ++document) {
        Text rest = documents[document];
        bool starts = document < starting;
        // A sum that is carried binds a document to one thread.
        while (threads > 1 && rest.size() > kPart + kPart / 2 && !model_->carrier()) {
            const std::uint8_t* cut =
                safe_cut(family_, rest.begin + kPart, rest.end, model_->boundaries());
            parts.push_back({{rest.begin, cut}, document, starts});
            starts = false;
            rest.begin = cut;
        }
        parts.push_back({rest, document, starts});
    }
    return parts;
}

// Runs of parts that one thread takes at once.
std::vector<Encoder::Run> Encoder::runs_of(const std::vector<Part>& work, std::size_t most) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (runs.empty() || runs.back().bytes >= most) runs.push_back({i, i, 0});
        runs.back().last = i + 1;
        runs.back().bytes += work[i].text.size();
    }
    return runs;
}

// Thread i has the same worker in each call, since the first is put back last, and mostly the same
// runs.
template <typename Work>
void Encoder::run_in_turns(std::size_t runs, std::size_t bytes, std::size_t threads,
                           const Work& work) {
    std::vector<std::unique_ptr<Worker>> workers(threads);
    for (std::unique_ptr<Worker>& worker : workers) worker = take(bytes / threads);
    Turns turns(runs, threads);
    Exchange exchange(threads);
    run_on_threads(threads, [&](std::size_t thread) {
        Worker& worker = *workers[thread];
        worker.tells = exchange.is_paired(thread);
        while (const std::optional<std::size_t> run = turns.take(thread)) {
            work(*run, thread, worker);
            if (worker.tells) exchange.meet(thread, worker);
        }
        worker.tells = false;
    });
    while (!workers.empty()) {
        put(std::move(workers.back()));
        workers.pop_back();
    }
}

Encoded Encoder::encode(const std::vector<Text>& documents, std::size_t threads,
                        std::size_t starting) {
    const std::vector<Part> work = parts(documents, threads, starting);
    const auto encode_parts = loops_.encode[static_cast<std::size_t>(family_)];
    Encoded result;
    result.offsets.assign(documents.size() + 1, 0);

    const std::size_t total_bytes = total_size(documents);
    const std::vector<Run> runs =
        runs_of(work, threads > 1 ? share_of(total_bytes, threads) : total_bytes);
    result.ids = kept_->take(total_bytes);
    std::vector<std::size_t> sizes(work.size());
    const auto encode_run = [&](const Run& run, Worker& worker, Ids& ids) {
        const std::size_t before = ids.size();
        std::size_t* const ends = &sizes[run.first];
        encode_parts({&work[run.first], run.parts()}, *model_, worker, ids, ends);
        std::adjacent_difference(ends, ends + run.parts(), ends);
        *ends -= before;
    };
    const std::size_t used = std::min(threads, runs.size());
    if (used > 1) {
        InOrder in_order(result.ids, runs.size(), used);
        run_in_turns(runs.size(), total_bytes, used,
                     [&](std::size_t run, std::size_t thread, Worker& worker) {
                         encode_run(runs[run], worker, in_order.ids(thread));
                         in_order.add(thread, run);
                     });
        in_order.finish();
    } else {
        std::unique_ptr<Worker> worker = take(total_bytes);
        for (const Run& run : runs) encode_run(run, *worker, result.ids);
        put(std::move(worker));
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

std::uint64_t Encoder::count(const std::vector<Text>& documents, std::size_t threads) {
    const std::vector<Part> work = parts(documents, threads, kAll);
    const auto count_parts = loops_.count[static_cast<std::size_t>(family_)];
    const std::size_t total_bytes = total_size(documents);
    const std::vector<Run> runs = runs_of(work, share_of(total_bytes, threads));
    std::atomic<std::uint64_t> total{0};
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, runs.size()));
    run_in_turns(runs.size(), total_bytes, used, [&](std::size_t run, std::size_t, Worker& worker) {
        total += count_parts({&work[runs[run].first], runs[run].parts()}, *model_, worker);
    });
    return total;
}

std::vector<std::uint64_t> Encoder::chunk_ends(Text text) const {
    std::vector<std::uint64_t> ends;
    loops_.bounds[static_cast<std::size_t>(family_)](text, ends);
    return ends;
}

}  // namespace toksmith
