// What a process leaves behind in a store's folder when a write met a damaged page midway: the next one reads from this file, and
// writes nothing more to it. The note is of one file; of another in its place, it says nothing. For the files of store/ only; any thread.
#pragma once

#include <filesystem>
#include <string>

namespace runwarden::store {

class DamageNote {
 public:
  // What was noted of the file that is there now; empty: nothing.
  static std::string read(const std::filesystem::path& folder);
  static void write(const std::filesystem::path& folder, const std::string& why);
  static void remove(const std::filesystem::path& folder);
};

}  // namespace runwarden::store
