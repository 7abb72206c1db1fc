// Estimates how many distinct chunks a text has: they get rarer as it goes on (Heaps' law).
#pragma once

#include <cmath>
#include <cstddef>

namespace toksmith {

class DistinctEstimate {
 public:
    // For a text of so many bytes; `known`: how many chunks were known before it.
    explicit DistinctEstimate(std::size_t bytes = 0, std::size_t known = 0)
        : bytes_(bytes), known_(known) {}

    // Before the text is read.
    std::size_t in_all() const { return known_ + at_most(power(static_cast<double>(bytes_))); }
    // When so many bytes are read and `met` chunks are known.
    std::size_t in_all(std::size_t met, std::size_t read) const {
        if (read == 0 || read >= bytes_) return met;
        const double times = static_cast<double>(bytes_) / static_cast<double>(read);
        return known_ + at_most(static_cast<double>(met - known_) * power(times));
    }

 private:
    // English, code and other languages have exponents from 0.4 to 0.75.
    static double power(double x) { return std::cbrt(x) * std::cbrt(x); }
    static std::size_t at_most(double count) {
        constexpr double kMost = 1e12;
        return static_cast<std::size_t>(count < kMost ? count : kMost);
    }

    std::size_t bytes_, known_;
};

}  // namespace toksmith
