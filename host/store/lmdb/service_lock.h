// Held by the one process that serves a store, and by commands that need the service stopped. Released when the process ends, however it
// ends. Any thread.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace runwarden::store {

class ServiceLock {
 public:
  // Refused while another process, or another lock of this process, holds it.
  static Result<ServiceLock> take(const std::filesystem::path& folder);

  ServiceLock(ServiceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ServiceLock& operator=(ServiceLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~ServiceLock();

 private:
  explicit ServiceLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace runwarden::store
