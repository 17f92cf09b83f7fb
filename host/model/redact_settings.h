// What to remove from clients' texts before they are stored. Values and tables; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::model {

// The kinds of documents that are redacted: one per request, or one event or span of it.
enum class DocumentKind : std::uint8_t { run, event, change, policy, span };

// Secrets that are recognized by their form, wherever they appear.
enum class SecretKind : std::uint8_t { card, email, token, iban, phone };
constexpr std::array<std::string_view, 5> kSecretKinds{"card", "email", "token", "iban", "phone"};  // their names, in that order

struct RedactRule {
  enum class By : std::uint8_t { kind, key, pointer };
  By by = By::kind;
  std::string what;  // the kind's name, the member's name or glob, the pointer's pattern
  std::string name;  // appears in the text as [redacted:name]
};

struct RedactSettings {
  enum class DetectorsSee : std::uint8_t { before, after };
  DetectorsSee detectors_see = DetectorsSee::before;
  std::vector<RedactRule> rules;
};

// The kinds of places in a document. `other`: everything below a member that the service does not read itself.
enum class DocumentPlace : std::uint8_t { root, steps, step, metadata, other };

// The place of the member of that name, or of an array element.
DocumentPlace place_below(DocumentKind kind, DocumentPlace place, std::string_view name);

// Whether the service itself needs the value: an id, a flag, a number, a time, a kind, or a container of these. Rules leave such values
// alone, because without them a run could not be found, ordered or counted.
bool is_kept(DocumentKind kind, DocumentPlace place, std::string_view name);

// The parts of an RFC 6901 pointer, with ~0 and ~1 unescaped; none for "".
std::vector<std::string> pointer_parts(std::string_view pointer);

}  // namespace runwarden::model
