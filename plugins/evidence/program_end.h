#pragma once

#include <string_view>

namespace runwarden::plugins {

/// True when a program's last line begins the way programs report that they give up ("error: failed to push some refs"), ends with a system
/// error as strerror(3) words it in the C locale ("rm: /mnt/usb: Read-only file system"), or says that a statement changed no rows
/// ("DELETE 0", as PostgreSQL and MySQL do). Linear; any thread.
[[nodiscard]] bool ends_in_failure(std::string_view output);

}  // namespace runwarden::plugins
