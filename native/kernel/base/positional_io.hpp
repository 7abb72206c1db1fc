// Reads and writes of a file at an offset: pread() and pwrite(), and what Windows has instead.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_WIN32)
#include <io.h>

#include <cstdio>
#else
#include <unistd.h>
#endif

namespace toksmith {

// Returns the number of bytes written, at most `size`, or -1 with errno set. On Windows, the file
// must not be used by two threads at the same time.
inline std::int64_t write_at(int file, const std::uint8_t* data, std::size_t size,
                             std::uint64_t offset) {
#if defined(_WIN32)
    if (_lseeki64(file, static_cast<std::int64_t>(offset), SEEK_SET) < 0) return -1;
    return _write(file, data, static_cast<unsigned>(size));
#else
    return ::pwrite(file, data, size, static_cast<off_t>(offset));
#endif
}

// Returns the number of bytes read, at most `size`, 0 at the end of the file, or -1 with errno set.
inline std::int64_t read_at(int file, std::uint8_t* data, std::size_t size, std::uint64_t offset) {
#if defined(_WIN32)
    if (_lseeki64(file, static_cast<std::int64_t>(offset), SEEK_SET) < 0) return -1;
    return _read(file, data, static_cast<unsigned>(size));
#else
    return ::pread(file, data, size, static_cast<off_t>(offset));
#endif
}

}  // namespace toksmith
