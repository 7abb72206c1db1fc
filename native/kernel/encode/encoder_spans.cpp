// Encoder::encode_with_spans(): the chunk loop makes ids, or records of ids and spans; this file
// turns them into spans in bytes and in characters, task by task, while the text is at hand.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "base/stop.hpp"
#include "encode/encoder.hpp"
#include "fused/span_model.hpp"
#include "fused/span_records.hpp"
#include "text/character_places.hpp"
#include "utf8/encode.hpp"

namespace toksmith {
namespace {

struct UnknownOrigins {};

// The words of spans per byte of text, about; see ResultBufferCache::take().
constexpr std::size_t kSpanWords = 2;

// Copies of the documents that hold SpanModel's mark of an inserted space, in which other invalid
// bytes replace it. Replaces these documents.
std::vector<std::vector<std::uint8_t>> without_marks(std::vector<InputText>& documents) {
    std::vector<std::vector<std::uint8_t>> copies;
    for (InputText& document : documents) {
        if (!document.is_utf8()) continue;
        const Text text = document.utf8();
        if (text.size() == 0 || !std::memchr(text.begin, SpanModel::kPrefixByte, text.size()))
            continue;
        std::vector<std::uint8_t>& copy = copies.emplace_back(text.begin, text.end);
        std::ranges::replace(copy, SpanModel::kPrefixByte, SpanModel::kOtherInvalidByte);
        document = Text{copy.data(), copy.data() + copy.size()};
    }
    return copies;
}

// The indices, in characters of UTF-8, of the surrogate pairs of a str.
std::vector<std::int64_t> pairs_of(const InputText& source) {
    std::vector<std::int64_t> pairs;
    source.with_units([&](const auto* units, std::size_t size) {
        for (std::size_t i = 1; i < size; ++i) {
            if (!utf8::is_pair(units[i - 1], units[i])) continue;
            pairs.push_back(static_cast<std::int64_t>(i - 1 - pairs.size()));
        }
    });
    return pairs;
}

// Adds the second character of each surrogate pair to `count` spans.
void count_both_halves(const std::vector<std::int64_t>& pairs, std::int64_t* spans,
                       std::size_t count) {
    for (std::int64_t* place = spans; place < spans + 2 * count; ++place)
        *place += std::ranges::lower_bound(pairs, *place) - pairs.begin();
}

void add_to(std::int64_t* spans, std::size_t count, std::int64_t base) {
    if (base == 0) return;
    for (std::int64_t* place = spans; place < spans + 2 * count; ++place) *place += base;
}

}  // namespace

const std::vector<std::uint32_t>& Encoder::token_lengths() {
    const std::vector<std::uint32_t>* known = token_lengths_.load();
    if (known) return *known;
    const Vocabulary& vocabulary = *model_->consecutive_tokens();
    auto made = std::make_unique<std::vector<std::uint32_t>>();
    made->reserve(vocabulary.size());
    for (std::size_t id = 0; id < vocabulary.size(); ++id)
        made->push_back(static_cast<std::uint32_t>(vocabulary.length(static_cast<Id>(id))));
    if (token_lengths_.compare_exchange_strong(known, made.get())) known = made.release();
    return *known;
}

Encoder::Place Encoder::locate(const Segment& segment, Text text, std::span<const Id> words,
                               Place before, utf8::CharacterPlaces& places, Located& out) const {
    const bool ascii = segment.source.is_utf8() && utf8::is_ascii(text.begin, text.end);
    if (!ascii || before.bytes != before.characters) out.separate();

    InterruptionPoints<std::size_t{1} << 14> points;
    const std::size_t known = out.bytes.size();
    if (model_->writes_records()) {
        Id* id = out.ids.room(words.size() / 2);  // each id has a code
        std::int64_t* const spans = out.bytes.extend(words.size() / 2);
        std::int64_t* to = spans;
        span_records::read(words.data(), words.data() + words.size(),
                           [&](Id token, std::int64_t start, std::int64_t end) {
                               points.step();
                               *id++ = token;
                               *to++ = start;
                               *to++ = end;
                           });
        const auto count = static_cast<std::size_t>(to - spans) / 2;
        out.bytes.shrink(known + count);
        out.ids.extend(count);
    } else {
        out.ids.append(words.data(), words.size());
        std::int64_t* to = out.bytes.extend(words.size());
        const std::uint32_t* const lengths = token_lengths_.load()->data();
        std::int64_t end = 0;
        for (const Id id : words) {
            points.step();
            *to++ = end;
            *to++ = end += lengths[id];
        }
    }
    const std::size_t count = out.bytes.size() - known;
    std::int64_t* const spans = out.bytes.data() + 2 * known;

    Place size{static_cast<std::int64_t>(text.size()), static_cast<std::int64_t>(text.size())};
    if (!out.is_ascii) {
        std::int64_t* const to = out.characters.extend(count);
        if (ascii) {
            if (count > 0) std::memcpy(to, spans, 2 * count * sizeof *to);
        } else {
            places.read(text, level_);
            for (std::size_t i = 0; i < 2 * count; i += 2) {
                points.step();
                std::tie(to[i], to[i + 1]) = places.touched(spans[i], spans[i + 1]);
            }
            size.characters = places.count();
            const auto units = static_cast<std::int64_t>(segment.source.size());
            if (!segment.source.is_utf8() && size.characters != units) {
                count_both_halves(pairs_of(segment.source), to, count);
                size.characters = units;
            }
        }
        add_to(to, count, before.characters);
    }
    add_to(spans, count, before.bytes);
    return {before.bytes + size.bytes, before.characters + size.characters};
}

Encoder::Place Encoder::locate_token(const Segment& segment, Place before, Located& out) const {
    const InputText& source = segment.source;
    Place end = before;
    if (source.is_utf8()) {
        const Text text = source.utf8();
        end.bytes += static_cast<std::int64_t>(text.size());
        end.characters += std::count_if(
            text.begin, text.end, [](std::uint8_t byte) { return !utf8::is_continuation(byte); });
    } else {
        end.characters += static_cast<std::int64_t>(source.size());
        source.with_units([&](const auto* units, std::size_t size) {
            for (std::size_t i = 0; i < size; ++i) {
                const bool is_pair = i + 1 < size && utf8::is_pair(units[i], units[i + 1]);
                end.bytes += is_pair ? utf8::kMostBytes : utf8::size_of(units[i]);
                i += is_pair;
            }
        });
    }
    out.ids.push(segment.token);
    if (end.bytes != end.characters || !source.is_utf8()) out.separate();
    const auto put = [](SpanArray& spans, std::int64_t start, std::int64_t stop) {
        std::int64_t* const to = spans.extend(1);
        to[0] = start;
        to[1] = stop;
    };
    put(out.bytes, before.bytes, end.bytes);
    if (!out.is_ascii) put(out.characters, before.characters, end.characters);
    return end;
}

std::optional<Located> Encoder::encode_with_spans(const std::vector<InputText>& given,
                                                  std::span<const std::uint8_t> continuing,
                                                  std::size_t threads, const AddedTokens* added) {
    std::vector<InputText> documents = given;
    std::vector<std::vector<std::uint8_t>> copies;
    if (model_->writes_records()) {
        copies = without_marks(documents);
    } else if (model_->consecutive_tokens()) {
        token_lengths();
    } else {
        throw std::logic_error("the model does not locate tokens");
    }
    const std::vector<Segment> work = segments(documents, threads, continuing, added);
    const std::vector<Task> tasks = tasks_of(work, threads);
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, tasks.size()));
    const auto encode_parts = kernels_.encode[static_cast<std::size_t>(splitter_.family)];
    const auto starts_document = [&](std::size_t segment) {
        return segment == 0 || work[segment].document != work[segment - 1].document;
    };

    const std::size_t total_bytes = total_size(documents);
    // With one thread, all tasks append to the first array.
    std::vector<Located> found(used == 1 ? 1 : std::max<std::size_t>(1, tasks.size()));
    if (used == 1) {
        found[0].ids = kept_->take(total_bytes);
        found[0].bytes = SpanArray(kept_spans_->take(kSpanWords * total_bytes));
        found[0].characters = SpanArray(kept_characters_->take(kSpanWords * total_bytes));
    }
    std::vector<std::size_t> counts(work.size());  // tokens of each segment
    std::vector<Place> ends(work.size());          // in the document, or in its part in the task
    const auto run = [&](std::size_t number, std::size_t, Worker& worker) {
        const Task& task = tasks[number];
        const std::span<const Part> texts = parts({&work[task.first], task.segments()}, worker);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const Text text = texts[i].text;
            const std::size_t segment = task.first + i;
            const bool starts = starts_document(segment) || work[segment - 1].is_token();
            if (starts && !model_->has_known_origins(text.begin, text.end)) throw UnknownOrigins();
        }
        IdArray words = worker.spare.take();
        utf8::CharacterPlaces places;
        std::vector<std::size_t> word_ends(task.segments());
        encode_parts(texts, splitter_, *model_, worker, words, word_ends.data());
        Located& out = found[used == 1 ? 0 : number];
        std::size_t start = 0;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::size_t segment = task.first + i, before = out.ids.size();
            const bool goes_on = !starts_document(segment) && (i > 0 || used == 1);
            const Place begin = goes_on ? ends[segment - 1] : Place{};
            ends[segment] =
                work[segment].is_token()
                    ? locate_token(work[segment], begin, out)
                    : locate(work[segment], texts[i].text,
                             {words.data() + start, word_ends[i] - start}, begin, places, out);
            counts[segment] = out.ids.size() - before;
            start = word_ends[i];
        }
        worker.spare.put(std::move(words));
    };
    try {
        run_tasks(tasks.size(), total_bytes, used, run);
    } catch (const UnknownOrigins&) {
        return {};
    }

    // A document may start in one task and go on in the next ones.
    for (std::size_t number = 1; used > 1 && number < tasks.size(); ++number) {
        const Task& task = tasks[number];
        if (starts_document(task.first)) continue;
        const Place before = ends[task.first - 1];
        std::size_t moved = 0;
        for (std::size_t i = task.first; i < task.last; ++i) {
            if (i > task.first && starts_document(i)) break;
            moved += counts[i];
            ends[i].bytes += before.bytes;
            ends[i].characters += before.characters;
        }
        Located& part = found[number];
        if (before.bytes != before.characters) part.separate();
        add_to(part.bytes.data(), moved, before.bytes);
        if (!part.is_ascii) add_to(part.characters.data(), moved, before.characters);
    }
    Located result = Located::concat(found);
    result.offsets.assign(documents.size() + 1, 0);
    for (std::size_t i = 0; i < work.size(); ++i)
        result.offsets[work[i].document + 1] += static_cast<std::int64_t>(counts[i]);
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    return result;
}

}  // namespace toksmith
