// A process's mark on the folder of a store that it has open. Work that puts another file in the store's place asks for it
// alone, so that nothing is written meanwhile to the file that goes. Given back when the process ends, however it ends.
// For the files of store/ only; any thread.
#pragma once

#include <filesystem>
#include <utility>

namespace runwarden::store {

class StoreUse {
 public:
  // reading: shared, by who writes nothing, so that on a read-only file system no mark is needed.
  enum class Kind { shared, reading, alone };

  // Throws LmdbFault with EBUSY, naming the remedy, when another process stands in the way.
  static StoreUse take(const std::filesystem::path& folder, Kind kind);

  StoreUse() = default;
  StoreUse(StoreUse&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  StoreUse& operator=(StoreUse&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~StoreUse();

 private:
  explicit StoreUse(int file) : file_(file) {}
  int file_ = -1;
};

// Of what root has just made: the service, which is not root, has to open it later.
void give_to_owner_of(const std::filesystem::path& folder, int file);
void give_files_to_owner_of(const std::filesystem::path& folder);

}  // namespace runwarden::store
