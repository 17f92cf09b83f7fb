// Redacts one JSON document by the rules, including strings that hold JSON text, other text, and member names. Internal to redact/. Pure;
// any thread. Linear in the document's length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/redact_settings.h"
#include "redact/keys.h"
#include "redact/kinds.h"
#include "redact/pointers.h"

namespace runwarden::redact {

constexpr std::size_t kDocumentKinds = 5;

// The compiled rules. Built once, then read by any thread.
struct Rules {
  std::vector<std::string> markers;  // "[redacted:card]", by rule
  KindSet kinds;
  std::array<std::size_t, model::kSecretKinds.size()> kind_rules{};
  KeyNames keys;
  std::array<Pointers, kDocumentKinds> pointers;  // by DocumentKind
};

// The values redacted from one document, or from several that belong together.
struct Redactions {
  struct Secret {
    // Found by its position in the document, or by its shape, which is found anywhere.
    enum class By : std::uint8_t { place, shape };
    std::string text;
    std::size_t rule = 0;
    By by = By::place;
  };
  std::vector<Secret> secrets;
  std::vector<std::uint64_t> counts;  // redacted values, by rule

  void add_secret(std::string_view text, std::size_t rule, Secret::By by);  // remembers the text, to find repetitions of it
  void count(std::size_t rule);
  void add(Redactions more);
};

// The position of a value in a document.
struct ValuePosition {
  model::DocumentKind kind = model::DocumentKind::run;
  model::DocumentPlace place = model::DocumentPlace::other;
  Pointers::State state;
  int level = 0;  // nesting in strings of JSON text
};

// The document without its secrets; empty if it has none. The text must be valid JSON.
std::optional<std::string> without_secrets(const Rules& rules, model::DocumentKind kind, std::string_view json, Redactions& found);

// The same for the text of one string.
std::optional<std::string> text_without_secrets(const Rules& rules, const ValuePosition& where, std::string_view text, Redactions& found);

// The same for the text of a member of the document's outermost object.
std::optional<std::string> member_without_secrets(const Rules& rules, model::DocumentKind kind, std::string_view name,
                                                  std::string_view text, Redactions& found);

// The rule that redacts the whole member or element of that name, if any. Moves `where` to it.
std::optional<std::size_t> hidden_as_whole(const Rules& rules, ValuePosition& where, std::string_view name);

}  // namespace runwarden::redact
