// Matches member names that are to be redacted: exact names and globs. Ignores ASCII case and the way words are joined: api_key also
// matches api-key, apiKey, "API key" and, if it has no star, apikey. Built once, then read by any thread.
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
  // `*` matches any number of characters. The rule added first wins; exact names win over globs.
  void add(std::string_view pattern, std::size_t rule);

  bool empty() const { return exact_.empty() && globs_.empty(); }
  std::optional<std::size_t> find(std::string_view name) const;
  std::optional<std::size_t> find_exact(std::string_view name) const;  // without globs

 private:
  struct Glob {
    std::vector<std::string> pieces;  // the lower-case parts between stars; the first and the last match at the ends of the name
    std::size_t rule = 0;
  };
  bool may_fit(std::string_view name) const;
  static Glob glob_of(std::string_view lower_pattern, std::size_t rule);
  static bool fits(const Glob& glob, std::string_view lower_name);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> exact_;  // in lower case, without word separators
  std::vector<Glob> globs_;
  std::vector<std::uint32_t> letters_;  // the letters of each pattern, to reject quickly a name that lacks one
};

}  // namespace runwarden::redact
