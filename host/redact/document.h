// Walks one JSON document and takes out of it what the rules name: in strings that hold JSON text, in loose text, in member names.
// For the files of redact/ only. Pure; any thread. Linear in the document's length.
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

constexpr std::size_t kDocumentKinds = 4;

// The rules as they are applied. Built once, then read by any thread.
struct Rules {
  std::vector<std::string> markers;  // "[redacted:card]", by rule
  KindSet kinds;
  std::array<std::size_t, model::kSecretKinds.size()> kind_rules{};
  KeyNames keys;
  std::array<Pointers, kDocumentKinds> pointers;  // by DocumentKind
};

// What was taken out of one document, or of several that belong together.
struct Found {
  struct Secret {
    // Where it stood; or its shape, by which it is found wherever it stands.
    enum class By : std::uint8_t { place, shape };
    std::string text;
    std::size_t rule = 0;
    By by = By::place;
  };
  std::vector<Secret> secrets;
  std::vector<std::uint64_t> counts;  // of values taken out, by rule

  void take(std::string_view text, std::size_t rule, Secret::By by);  // a part of a value, to be known again where it is quoted
  void count(std::size_t rule);
  void add(Found more);
};

// Where in a document a value stands.
struct Where {
  model::DocumentKind kind = model::DocumentKind::run;
  model::DocumentPlace place = model::DocumentPlace::other;
  Pointers::State state;
  int level = 0;  // strings of JSON text around it
};

// The document without its secrets; nothing where there are none. The text is JSON that was checked before.
std::optional<std::string> without_secrets(const Rules& rules, model::DocumentKind kind, std::string_view json, Found& found);

// The same for the characters of one string.
std::optional<std::string> text_without_secrets(const Rules& rules, const Where& where, std::string_view text, Found& found);

// The rule that hides the member or element of that name as a whole; steps into it.
std::optional<std::size_t> hidden_as_whole(const Rules& rules, Where& where, std::string_view name);

}  // namespace runwarden::redact
