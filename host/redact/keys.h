// Members that are redacted by their name, wherever they stand: exact names and globs, without regard to ASCII case.
// Built once, then read by any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace runwarden::redact {

class KeyNames {
 public:
  // A `*` stands for any characters, none included. The rule that was added first wins, exact names before globs.
  void add(std::string_view pattern, std::size_t rule);

  bool empty() const { return exact_.empty() && globs_.empty(); }
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  struct Glob {
    std::vector<std::string> pieces;  // between the stars, the first and the last at the ends of the name; lower case
    std::size_t rule = 0;
  };
  static bool fits(const Glob& glob, std::string_view lower_name);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> exact_;  // lower case
  std::vector<Glob> globs_;
};

}  // namespace runwarden::redact
