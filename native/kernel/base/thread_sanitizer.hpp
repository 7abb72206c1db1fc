// Defines TOKSMITH_THREAD_SANITIZER if ThreadSanitizer is on: gcc has a macro for it, clang a
// feature.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define TOKSMITH_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOKSMITH_THREAD_SANITIZER 1
#endif
#endif
