// Whether the tests, and so the service they start, run under a sanitizer: it keeps freed memory and shadows of all of it, and takes
// several times as long, so that bounds on memory and time say nothing there.
#pragma once

namespace runwarden::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace runwarden::test
