// Encodes documents on several threads, with caches that are kept between calls.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/task_queue.hpp"
#include "encode/added_tokens.hpp"
#include "encode/kernels.hpp"
#include "encode/located.hpp"
#include "encode/result_buffer_cache.hpp"
#include "encode/worker_set.hpp"
#include "text/character_places.hpp"

namespace toksmith {

struct Encoded {
    IdArray ids;
    std::vector<std::int64_t> offsets;  // of each document in `ids`; then the end of the last
};

class Encoder {
 public:
    Encoder(std::shared_ptr<const Model> model, Splitter splitter, isa::Level level);
    ~Encoder() { delete token_lengths_.load(); }

    static constexpr std::size_t kAll = ~std::size_t{0};
    // `starting`: only the first `starting` texts are starts of documents; the others continue one.
    // `added`: the tokens to find in the texts; null for none.
    Encoded encode(const std::vector<InputText>& documents, std::size_t threads,
                   std::size_t starting = kAll, const AddedTokens* added = nullptr);
    // Encodes one document on this thread, and returns use(ids). The ids are valid during that call
    // only.
    template <typename Use>
    auto encode_here(const InputText& document, const Use& use) {
        return run_here(document, [&](std::span<const Part> parts, Worker& worker) {
            worker.ids.clear();
            std::size_t end;
            kernels_.encode[static_cast<std::size_t>(splitter_.family)](parts, splitter_, *model_,
                                                                        worker, worker.ids, &end);
            return use(worker.ids);
        });
    }
    // The number of ids of a document.
    std::uint64_t count_here(const InputText& document);
    // Encodes each text as one chunk, whatever the family. Appends the start and end of each token
    // in its text to `spans`, in bytes.
    Encoded encode_chunks_with_spans(const std::vector<Text>& chunks, IdArray& spans);
    std::uint64_t count(const std::vector<InputText>& documents, std::size_t threads);
    // Encodes texts and locates their tokens. `continuing`: whether each text continues a document
    // instead of starting one; empty if none does. Returns nothing if the spans of a text cannot be
    // computed here. For models with consecutive tokens, and those that write records.
    std::optional<Located> encode_with_spans(const std::vector<InputText>& documents,
                                             std::span<const std::uint8_t> continuing,
                                             std::size_t threads,
                                             const AddedTokens* added = nullptr);

    // Receives the memory of results when Python frees them; may outlive the encoder.
    const std::shared_ptr<ResultBufferCache>& kept() const { return kept_; }
    const std::shared_ptr<ResultBufferCache>& kept_spans() const { return kept_spans_; }
    const std::shared_ptr<ResultBufferCache>& kept_characters() const { return kept_characters_; }

    // Frees the caches and the kept result buffer. If `cache_bytes` is given, it limits the size of
    // each cache from then on, and that of the kept result buffer to four times as much.
    void forget(std::optional<std::size_t> cache_bytes = {});

    isa::Level level() const { return level_; }

 private:
    // Whether a sum is carried from chunk to chunk. It is computed from ids, so counting has to
    // encode.
    bool carries() const { return traits(splitter_.family).by_model && model_->carrier(); }

    // A document, a part of one whose ends no chunk crosses, or an added token.
    struct Segment {
        InputText source;
        std::size_t document;
        bool starts;                 // it is the start of its document
        Id token = ByteTrie::kNone;  // the id of the added token
        bool is_token() const { return token != ByteTrie::kNone; }
    };
    // Cuts long documents, and documents with added tokens, into segments. `continuing`: see
    // encode_with_spans().
    std::vector<Segment> segments(const std::vector<InputText>& documents, std::size_t threads,
                                  std::span<const std::uint8_t> continuing = {},
                                  const AddedTokens* added = nullptr) const;
    // The first place at or after `from` where the text may be cut, or its end.
    std::size_t cut(const InputText& source, std::size_t from) const;
    // An estimate of the size of all documents in UTF-8.
    static std::size_t total_size(const std::vector<InputText>& documents);
    // The segments in UTF-8. The worker owns the memory.
    std::span<const Part> parts(std::span<const Segment> segments, Worker& worker) const;

    // A range of segments, the unit of work of a thread.
    struct Task {
        std::size_t first, last;  // [first, last) of the segments
        std::size_t size;         // of all of them, in bytes or characters
        bool has_tokens = false;  // some of them are added tokens
        std::size_t segments() const { return last - first; }
    };
    static std::vector<Task> tasks_of(const std::vector<Segment>& work, std::size_t threads);
    // Calls work(task, thread, worker) for each task, on `threads` threads. `bytes`: the size of
    // all tasks.
    template <typename Work>
    void run_tasks(std::size_t tasks, std::size_t bytes, std::size_t threads, const Work& work) {
        const Lease lease(*this, threads, bytes);
        TaskQueue queue(tasks, threads);
        run_on_threads(threads, [&](std::size_t thread) {
            Worker& worker = lease->worker(thread);
            const ChunkCache::Handle::Session turn(worker.cache);
            queue.work_off(thread, [&](std::size_t task) { work(task, thread, worker); });
        });
        queue.rethrow_failure();
    }
    // A place in a document.
    struct Place {
        std::int64_t bytes = 0, characters = 0;
    };
    // Appends the tokens of a segment to `out`, with spans in the document. `words`: the output of
    // the model; `before`: the start of the segment. Returns its end.
    Place locate(const Segment& segment, Text text, std::span<const Id> words, Place before,
                 utf8::CharacterPlaces& places, Located& out) const;
    // Appends an added token to `out`. Returns its end.
    Place locate_token(const Segment& segment, Place before, Located& out) const;
    // The length of each token, for models with consecutive tokens.
    const std::vector<std::uint32_t>& token_lengths();

    // Returns work(parts, worker) for one document, on this thread.
    template <typename Work>
    auto run_here(const InputText& document, const Work& work) {
        const Lease lease(*this, 1, document.size());
        Worker& worker = lease->worker(0);
        const Segment segment{document, 0, true};
        const std::span<const Part> part = parts({&segment, 1}, worker);
        const ChunkCache::Handle::Session turn(worker.cache);
        return work(part, worker);
    }
    // The workers of one call. They are returned even after an exception: caches contain complete
    // entries only.
    class Lease {
     public:
        // `bytes`: the size of all texts of the call.
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
    std::atomic<const std::vector<std::uint32_t>*> token_lengths_{nullptr};  // made when needed
    Splitter splitter_;
    isa::Level level_;
    const EncodeKernels& kernels_;
    std::mutex guard_;
    // The number of worker sets, each with a cache, that are kept between calls: as many as there
    // are cores. More concurrent callers start with an empty cache.
    static std::size_t most_idle();
    std::vector<std::unique_ptr<WorkerSet>> idle_;
    std::shared_ptr<ResultBufferCache> kept_;
    // The same for spans in bytes and in characters.
    std::shared_ptr<ResultBufferCache> kept_spans_, kept_characters_;
    std::atomic<std::size_t> cache_bytes_{ChunkCache::kBytes};
};

}  // namespace toksmith
