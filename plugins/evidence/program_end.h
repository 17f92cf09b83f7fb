#pragma once

#include <string_view>

namespace runwarden::plugins {

/// True when the last line that a program printed begins as those do with which programs give up ("error: failed to push some refs"), ends
/// in what the system says of a call that failed ("rm: /mnt/usb: Read-only file system"), as strerror(3) words it in the C locale, or says
/// that a statement changed no rows ("DELETE 0", as PostgreSQL and MySQL do).
/// Linear; any thread.
[[nodiscard]] bool ends_in_failure(std::string_view output);

}  // namespace runwarden::plugins
