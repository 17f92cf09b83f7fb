// Members that are redacted by their name, wherever they stand: exact names and globs, without regard to ASCII case and to how words are
// joined: api_key is api-key, apiKey and "API key" too; as a name without a star, apikey as well.
// Built once, then read by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::optional<std::size_t> find_exact(std::string_view name) const;  // without globs

 private:
  struct Glob {
    std::vector<std::string> pieces;  // between the stars, the first and the last at the ends of the name; in lower case
    std::size_t rule = 0;
  };
  bool may_fit(std::string_view name) const;
  static Glob glob_of(std::string_view lower_pattern, std::size_t rule);
  static bool fits(const Glob& glob, std::string_view lower_name);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> exact_;  // in lower case, without what joins words
  std::vector<Glob> globs_;
  std::vector<std::uint32_t> letters_;  // of each pattern: a name that lacks one of them does not fit, as most do
};

}  // namespace runwarden::redact
