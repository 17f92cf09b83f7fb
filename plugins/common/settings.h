#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/content.h"
#include "common/lexicon.h"

namespace runwarden::plugins {

/// A detector's settings, read once by create. The host has checked them against the schema before; what is absent keeps
/// the shipped value. Any thread may read.
class Settings {
 public:
  /// Reads JSON text; empty text means no settings. Throws std::invalid_argument naming the fault.
  explicit Settings(std::string_view json);
  ~Settings();
  Settings(Settings&&) noexcept;

  /// A boolean; precision rules are booleans that are on when absent.
  [[nodiscard]] bool rule(std::string_view name, bool fallback = true) const;

  /// A string; empty when absent.
  [[nodiscard]] std::string text(std::string_view name) const;

  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;

  /// A list: the setting's own, else the shipped one, and in both cases those of `extra_<name>` after it.
  [[nodiscard]] std::vector<std::string> list(std::string_view name, std::span<const std::string_view> shipped) const;

  /// The same, folded.
  [[nodiscard]] std::vector<std::string> folded_list(std::string_view name, std::span<const std::string_view> shipped) const;

  /// A mapping of names to numbers, replaced and added to like a list.
  [[nodiscard]] std::map<std::string, std::int64_t> table(std::string_view name, const std::map<std::string, std::int64_t>& shipped) const;

 private:
  static void refuse_empty(std::string_view name, const std::vector<std::string>& texts);

  struct Json;
  std::unique_ptr<Json> json_;
};

/// The lexicon of a detector: shipped vocabulary with the settings' own lists in place or on top.
[[nodiscard]] Lexicon make_lexicon(const Settings& settings);

/// The signs of soft failure and emptiness with the settings on top.
[[nodiscard]] ContentRules make_content_rules(const Settings& settings);

/// One property of a settings schema.
struct SettingSchema {
  std::string_view name;
  std::string_view json;
};

/// Which shared lists a detector reads: none, the signs of a failed call, the vocabulary, or both.
enum class Vocabulary { kNone, kFailures, kWords, kAll };

/// A settings schema: the given properties, the shared lists asked for (each also as `extra_<name>`), nothing else allowed.
[[nodiscard]] std::string settings_schema(std::span<const SettingSchema> properties, Vocabulary what);

}  // namespace runwarden::plugins
