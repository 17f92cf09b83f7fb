// Redacts repetitions of secrets that were redacted elsewhere in a document, such as a password from a step's input that its error message
// repeats. Internal to redact/. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "redact/document.h"
#include "redact/secret_matcher.h"

namespace runwarden::redact {

// Returns the document without the repetitions; empty if there are none. Counts them in `found`.
std::optional<std::string> without_repeated_secrets(const SecretMatcher& matcher, model::DocumentKind kind, std::string_view json,
                                                    Redactions& found);

}  // namespace runwarden::redact
