// Encodes documents on several threads, with caches that are kept between calls.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "encode/kernels.hpp"
#include "encode/result_buffer_cache.hpp"
#include "encode/worker_set.hpp"

namespace toksmith {

struct Encoded {
    IdArray ids;
    std::vector<std::int64_t> offsets;  // one more than there are documents
};

class Encoder {
 public:
    Encoder(std::shared_ptr<const Model> model, Family family, isa::Level level);

    static constexpr std::size_t kAll = ~std::size_t{0};
    // `starting`: only the first so many texts start a document; the others continue one.
    Encoded encode(const std::vector<InputText>& documents, std::size_t threads,
                   std::size_t starting = kAll);
    // Encodes one document on this thread, and returns use(ids). The ids are valid during that
    // call.
    template <typename Use>
    auto encode_here(const InputText& document, const Use& use) {
        return run_here(document, [&](std::span<const Part> parts, Worker& worker) {
            worker.ids.clear();
            std::size_t end;
            kernels_.encode[static_cast<std::size_t>(family_)](parts, *model_, worker, worker.ids,
                                                               &end);
            return use(worker.ids);
        });
    }
    // The number of its ids.
    std::uint64_t count_here(const InputText& document);
    // Encodes each text as one chunk, whatever the family. `spans` gets two numbers a token: the
    // start and end of its bytes in its text.
    Encoded encode_chunks_with_spans(const std::vector<Text>& chunks, IdArray& spans);
    std::uint64_t count(const std::vector<InputText>& documents, std::size_t threads);

    // Takes the memory of results that are out of use; it may outlive the encoder.
    const std::shared_ptr<ResultBufferCache>& kept() const { return kept_; }

    // Frees the caches and the kept result. From now on, a cache takes at most so many bytes, and a
    // kept result four times that.
    void forget(std::optional<std::size_t> cache_bytes = {});

    isa::Level level() const { return level_; }

 private:
    // Whether a sum is carried from chunk to chunk. It is made from ids, so counting encodes.
    bool carries() const { return traits(family_).by_model && model_->carrier(); }

    // A document, or a stretch of one that no chunk crosses.
    struct Segment {
        InputText source;
        std::size_t document;
        bool starts;  // whether it is the start of its document
    };
    // `starting`: as above.
    std::vector<Segment> segments(const std::vector<InputText>& documents, std::size_t threads,
                                  std::size_t starting) const;
    // The first place at or after `from` where the text may be cut, or its end.
    std::size_t cut(const InputText& source, std::size_t from) const;
    // The UTF-8 of segments, which the worker keeps.
    std::span<const Part> parts(std::span<const Segment> segments, Worker& worker) const;

    struct Task {
        std::size_t first, last;  // of the segments
        std::size_t size;         // of them all, in bytes or characters
        std::size_t segments() const { return last - first; }
    };
    static std::vector<Task> tasks_of(const std::vector<Segment>& work, std::size_t threads);
    // Calls work(task, thread, worker) for each task, on so many threads. `bytes`: of all tasks.
    template <typename Work>
    void run_tasks(std::size_t tasks, std::size_t bytes, std::size_t threads, const Work& work);
    // Returns work(parts, worker) of one document.
    template <typename Work>
    auto run_here(const InputText& document, const Work& work) {
        const Lease lease(*this, 1, document.size());
        Worker& worker = lease->worker(0);
        const Segment segment{document, 0, true};
        const std::span<const Part> part = parts({&segment, 1}, worker);
        const ChunkCache::Handle::Session turn(worker.cache);
        return work(part, worker);
    }
    // The workers of one call. They are returned however the call ends: caches hold whole entries
    // only, so they are as good after an exception.
    class Lease {
     public:
        // For so many threads and bytes.
        Lease(Encoder& encoder, std::size_t threads, std::size_t bytes)
            : encoder_(encoder), workers_(encoder.lease(threads, bytes)) {}
        ~Lease() { encoder_.return_lease(std::move(workers_)); }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        WorkerSet* operator->() const { return workers_.get(); }

     private:
        Encoder& encoder_;
        std::unique_ptr<WorkerSet> workers_;
    };
    std::unique_ptr<WorkerSet> lease(std::size_t threads, std::size_t bytes);
    void return_lease(std::unique_ptr<WorkerSet> workers) noexcept;

    std::shared_ptr<const Model> model_;
    Family family_;
    isa::Level level_;
    const EncodeKernels& kernels_;
    std::mutex guard_;
    // How many worker sets are kept between calls, each with its own cache: as many as calls can
    // run at once. Other callers start with an empty cache.
    static std::size_t most_idle();
    std::vector<std::unique_ptr<WorkerSet>> idle_;
    std::shared_ptr<ResultBufferCache> kept_;
    std::atomic<std::size_t> cache_bytes_{ChunkCache::kBytes};
};

}  // namespace toksmith
