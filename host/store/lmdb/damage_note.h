// A note that a process leaves in a store's folder when a write met a damaged page midway. The next process reads from the file, and writes
// nothing more to it. The note says nothing about another file in its place. Internal to store/; any thread.
#pragma once

#include <filesystem>
#include <string>

namespace runwarden::store {

class DamageNote {
 public:
  // What was noted about the present file; empty: nothing.
  static std::string read(const std::filesystem::path& folder);
  static void write(const std::filesystem::path& folder, const std::string& why);
  static void remove(const std::filesystem::path& folder);
};

}  // namespace runwarden::store
