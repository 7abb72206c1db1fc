// How many new chunks a text is going to bring, told from those that it has brought: they grow ever
// rarer (Heaps' law).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace toksmith {

class NewChunks {
 public:
    NewChunks() = default;  // of no text
    // Of a text of so many bytes, before which `met` were met.
    NewChunks(std::size_t bytes, std::size_t met) : bytes_(bytes), met_before_(met) {}

    // Whether there is more of it behind so many bytes.
    bool go_on(std::size_t read) const { return read < bytes_; }

    // How many there will be with those before the text, when there are `met` and so many bytes of
    // it have been taken: a rough guess, at most kMost.
    static constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    std::uint64_t in_all(std::size_t met, std::size_t read) const {
        if (read == 0 || !go_on(read)) return met;
        const double times = static_cast<double>(bytes_) / static_cast<double>(read);
        const double brought = static_cast<double>(met - met_before_) * std::pow(times, kExponent);
        const double sum = static_cast<double>(met_before_) + brought;
        return sum < static_cast<double>(kMost) ? static_cast<std::uint64_t>(sum) : kMost;
    }

 private:
    // English, code and other languages have 0.4 to 0.75 between 16,000 chunks and their end.
    static constexpr double kExponent = 2.0 / 3;

    std::size_t bytes_ = 0, met_before_ = 0;
};

}  // namespace toksmith
