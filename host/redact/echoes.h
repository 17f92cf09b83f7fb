// Takes out of a document what was taken out of it elsewhere and stands there again: a password of a step's input that its error
// message repeats. For the files of redact/ only. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "redact/document.h"
#include "redact/quotes.h"

namespace runwarden::redact {

// Nothing where nothing of it stands there again. What is taken out is counted in `found`.
std::optional<std::string> without_echoes(const Quotes& quotes, model::DocumentKind kind, std::string_view json, Found& found);

}  // namespace runwarden::redact
