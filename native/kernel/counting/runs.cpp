#include "counting/runs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/hash.hpp"
#include "base/positional_io.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{1} << 18;
constexpr std::size_t kLongestHead = 3 * 10;  // bytes of three varints
constexpr std::size_t kAtOnce = std::size_t{1} << 30;
constexpr std::size_t kLeastBuffer = std::size_t{1} << 12, kMostBuffer = std::size_t{1} << 20;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void damaged() {
    throw std::system_error(EIO, std::generic_category(),
                            "the file of spilled counts was changed by another program");
}

std::uint64_t sum_of(const Record& record) {
    return hash_words(hash_bytes(record.bytes, record.size) ^ record.first, record.count);
}

}  // namespace

bool bytes_before(const Record& a, const Record& b) {
    const int order = std::memcmp(a.bytes, b.bytes, std::min(a.size, b.size));
    return order != 0 ? order < 0 : a.size < b.size;
}

void SpillFile::append(const std::uint8_t* data, std::size_t size) {
    write(size_, data, size);
    size_ += size;
}

void SpillFile::write(std::uint64_t offset, const std::uint8_t* data, std::size_t size) const {
    while (size > 0) {
        const std::int64_t written = write_at(descriptor_, data, std::min(size, kAtOnce), offset);
        if (written < 0) {
            if (errno == EINTR) continue;
            fail("cannot write the file of spilled counts");
        }
        data += written;
        size -= static_cast<std::size_t>(written);
        offset += static_cast<std::uint64_t>(written);
    }
}

void SpillFile::read(std::uint64_t offset, std::uint8_t* data, std::size_t size) const {
    while (size > 0) {
        const std::int64_t got = read_at(descriptor_, data, std::min(size, kAtOnce), offset);
        if (got < 0) {
            if (errno == EINTR) continue;
            fail("cannot read the file of spilled counts");
        }
        if (got == 0) damaged();
        data += got;
        size -= static_cast<std::size_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
}

std::uint32_t BlockFile::allocate() {
    if (!free_.empty()) {
        const std::uint32_t block = free_.back();
        free_.pop_back();
        return block;
    }
    if (blocks_ == most_) throw SpillFull();
    if (free_.capacity() <= blocks_) free_.reserve(2 * blocks_ + 16);
    return static_cast<std::uint32_t>(blocks_++);
}

void BlockFile::write(std::uint32_t block, std::size_t offset, const std::uint8_t* data,
                      std::size_t size) {
    file_.write(std::uint64_t{block} * kBlock + offset, data, size);
    written_ += size;
}

std::uint64_t encoded_size(const std::vector<Record>& records) {
    std::uint64_t size = 0;
    for (const Record& record : records) {
        size += record.size;
        for (std::uint64_t number : {record.size, record.count, record.first}) {
            do ++size;
            while (number >>= 7);
        }
    }
    return size;
}

RunWriter::RunWriter(BlockFile& file) : file_(file) {
    buffer_.reserve(kWriteBuffer + kLongestHead);
}

RunWriter::~RunWriter() {
    for (const std::uint32_t block : run_.blocks) file_.free(block);
}

void RunWriter::add(const Record& record) {
    for (std::uint64_t number : {record.size, record.count, record.first}) {
        for (; number >= 0x80; number >>= 7) {
            buffer_.push_back(static_cast<std::uint8_t>(number | 0x80));
        }
        buffer_.push_back(static_cast<std::uint8_t>(number));
    }
    if (record.size >= kWriteBuffer) {
        flush();
        append(record.bytes, record.size);
    } else {
        buffer_.insert(buffer_.end(), record.bytes, record.bytes + record.size);
    }
    ++run_.records;
    run_.checksum += sum_of(record);
    if (buffer_.size() >= kWriteBuffer) flush();
}

void RunWriter::append(const std::uint8_t* data, std::size_t size) {
    while (size > 0) {
        const std::size_t offset = run_.size % BlockFile::kBlock;
        if (offset == 0) run_.blocks.push_back(file_.allocate());
        const std::size_t part = std::min(size, BlockFile::kBlock - offset);
        file_.write(run_.blocks.back(), offset, data, part);
        data += part;
        size -= part;
        run_.size += part;
    }
}

void RunWriter::flush() {
    append(buffer_.data(), buffer_.size());
    buffer_.clear();
}

SortedRun RunWriter::finish() {
    flush();
    return std::exchange(run_, {});
}

RunReader::RunReader(BlockFile& file, SortedRun run, std::size_t buffer, bool frees)
    : file_(&file),
      run_(std::move(run)),
      frees_(frees),
      buffer_(std::max<std::size_t>(std::min<std::uint64_t>(buffer, run_.size), 2 * kLongestHead)) {
}

bool RunReader::next() {
    if (records_ == run_.records) {
        if (checksum_ != run_.checksum || done_ != run_.size || begin_ != end_) damaged();
        return false;
    }
    fill(kLongestHead);
    record_.size = varint();
    record_.count = varint();
    record_.first = varint();
    if (record_.size > run_.size || fill(record_.size) < record_.size) damaged();
    record_.bytes = buffer_.data() + begin_;
    begin_ += record_.size;
    ++records_;
    checksum_ += sum_of(record_);
    return true;
}

std::uint64_t RunReader::varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && begin_ < end_; shift += 7) {
        const std::uint8_t byte = buffer_[begin_++];
        if (shift == 63 && byte > 1) break;  // more than 64 bits
        number |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return number;
    }
    damaged();
}

std::size_t RunReader::fill(std::size_t wanted) {
    if (end_ - begin_ >= wanted || done_ == run_.size) return end_ - begin_;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    const std::size_t more = std::min<std::uint64_t>(buffer_.size() - end_, run_.size - done_);
    read(buffer_.data() + end_, more);
    end_ += more;
    return end_;
}

void RunReader::read(std::uint8_t* data, std::size_t size) {
    while (size > 0) {
        const std::size_t offset = done_ % BlockFile::kBlock, number = done_ / BlockFile::kBlock;
        if (number >= run_.blocks.size()) damaged();
        const std::size_t part = std::min(size, BlockFile::kBlock - offset);
        file_->read(run_.blocks[number], offset, data, part);
        data += part;
        size -= part;
        done_ += part;
        if (frees_ && (done_ % BlockFile::kBlock == 0 || done_ == run_.size)) {
            file_->free(run_.blocks[number]);
        }
    }
}

MergedRuns::MergedRuns(BlockFile& file, std::vector<SortedRun> runs, Before before,
                       std::size_t memory, bool frees)
    : before_(before), current_(runs.size()) {
    const std::size_t buffer =
        std::clamp(memory / std::max<std::size_t>(1, runs.size()), kLeastBuffer, kMostBuffer);
    readers_.reserve(runs.size());
    for (SortedRun& run : runs) {
        readers_.emplace_back(file, std::move(run), buffer, frees);
        if (readers_.back().next()) push(readers_.size() - 1);
    }
}

void MergedRuns::push(std::size_t reader) {
    heap_.push_back(reader);
    std::push_heap(heap_.begin(), heap_.end(), [&](std::size_t a, std::size_t b) {
        return before_(readers_[b].record(), readers_[a].record());
    });
}

const Record* MergedRuns::next() {
    points_.step();
    if (current_ < readers_.size() && readers_[current_].next()) push(current_);
    if (heap_.empty()) {
        current_ = readers_.size();
        return nullptr;
    }
    std::pop_heap(heap_.begin(), heap_.end(), [&](std::size_t a, std::size_t b) {
        return before_(readers_[b].record(), readers_[a].record());
    });
    current_ = heap_.back();
    heap_.pop_back();
    return &readers_[current_].record();
}

const Record* SummedRuns::next() {
    if (!std::exchange(has_begun_, true)) waiting_ = records_.next();
    if (!waiting_) return nullptr;
    chunk_.assign(waiting_->bytes, waiting_->bytes + waiting_->size);
    sum_ = *waiting_;
    sum_.bytes = chunk_.data();
    while ((waiting_ = records_.next()) && waiting_->size == sum_.size &&
           std::memcmp(waiting_->bytes, sum_.bytes, sum_.size) == 0) {
        sum_.count += waiting_->count;
        sum_.first = std::min(sum_.first, waiting_->first);
    }
    return &sum_;
}

}  // namespace toksmith
