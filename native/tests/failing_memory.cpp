// Replaces the allocation functions. In a separate file, since gcc warns if it sees both new and
// the functions that replace it.
#include "failing_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#endif

#if TOKSMITH_FAILING_MALLOC
// The linker's option --wrap makes calls of malloc() call __wrap_malloc().
extern "C" void* __real_malloc(std::size_t size);
extern "C" void* __real_realloc(void* memory, std::size_t size);
#else
#define __real_malloc std::malloc
#endif

namespace toksmith::test {
namespace {

std::atomic<std::int64_t> until_failure{-1};  // below 0: no allocation fails

bool fails_now() { return until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0; }

#if TOKSMITH_FAILING_THREADS
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
std::atomic<std::int64_t> threads_left{kNoLimit};
#endif

void* allocated(std::size_t size, std::size_t alignment) {
    if (fails_now()) throw std::bad_alloc();
    const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) & -alignment;
    void* const memory = alignment <= alignof(std::max_align_t)
                             ? __real_malloc(rounded)
                             : std::aligned_alloc(alignment, rounded);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

FailingAllocation::FailingAllocation(std::size_t n) {
    until_failure = static_cast<std::int64_t>(n);
}
FailingAllocation::~FailingAllocation() { until_failure = -1; }
bool FailingAllocation::has_failed() const { return until_failure < 0; }

#if TOKSMITH_FAILING_THREADS
MostThreads::MostThreads(std::size_t n) { threads_left = static_cast<std::int64_t>(n); }
MostThreads::~MostThreads() { threads_left = kNoLimit; }
#endif

}  // namespace toksmith::test

void* operator new(std::size_t size) {
    return toksmith::test::allocated(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return toksmith::test::allocated(size, static_cast<std::size_t>(alignment));
}
// The variants that return null are replaced as well: otherwise AddressSanitizer's variants would
// allocate memory that the operator delete below cannot free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return toksmith::test::fails_now() ? nullptr : __real_malloc(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    try {
        return operator new(size, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#if TOKSMITH_FAILING_MMAP
// The calls of HugePageArray: the linker finds this function before that of the C library.
extern "C" void* mmap(void* address, std::size_t size, int protection, int flags, int file,
                      off_t offset) noexcept {
    if (toksmith::test::fails_now()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(
        ::syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
#endif

#if TOKSMITH_FAILING_MALLOC
extern "C" void* __wrap_malloc(std::size_t size) {
    return toksmith::test::fails_now() ? nullptr : __real_malloc(size);
}
extern "C" void* __wrap_realloc(void* memory, std::size_t size) {
    return toksmith::test::fails_now() ? nullptr : __real_realloc(memory, size);
}
#endif

#if TOKSMITH_FAILING_THREADS
// AddressSanitizer's, where its library is linked statically (clang), and dlsym() would miss it.
extern "C" __attribute__((weak)) int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*,
                                                                  void* (*)(void*), void*);

// std::thread calls it: the dynamic linker finds this function before that of the C library.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
    using Create = decltype(&pthread_create);
    static const auto create = __interceptor_pthread_create
                                   ? &__interceptor_pthread_create
                                   : reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    if (toksmith::test::threads_left.fetch_sub(1) <= 0) return EAGAIN;
    return create(thread, attributes, start, argument);
}
#endif
