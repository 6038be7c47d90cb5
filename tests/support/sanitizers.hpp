// Which sanitizer the tests run under, for GCC, which defines macros, and Clang, which has features.
#pragma once

namespace wheelyard::testing {

#if defined(__has_feature)
#define WHEELYARD_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WHEELYARD_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || WHEELYARD_HAS_FEATURE(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || WHEELYARD_HAS_FEATURE(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

#undef WHEELYARD_HAS_FEATURE

}  // namespace wheelyard::testing
