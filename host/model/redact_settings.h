// What is to be taken out of clients' texts before they are kept. Values and tables; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::model {

// What is redacted as a whole or in part: one document a request, or one event or span of it.
enum class DocumentKind : std::uint8_t { run, event, change, policy, span };

// Shapes of secrets that are known without being told where they stand.
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

// The kinds of places in a document. `other` is everything below a member that the service does not read itself.
enum class DocumentPlace : std::uint8_t { root, steps, step, metadata, other };

// Where the member of that name, or the element of an array, stands.
DocumentPlace place_below(DocumentKind kind, DocumentPlace place, std::string_view name);

// Whether the value is one that the service itself goes by: an id, a flag, a number, a time, a kind, or the container of such.
// Rules leave these alone, for a run could not be found, ordered or counted without them.
bool is_kept(DocumentKind kind, DocumentPlace place, std::string_view name);

// The parts of an RFC 6901 pointer, ~0 and ~1 undone; of "" none.
std::vector<std::string> pointer_parts(std::string_view pointer);

}  // namespace runwarden::model
