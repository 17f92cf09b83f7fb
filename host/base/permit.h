// Whether what was allowed when a request began is still allowed. A value; asked from any thread, and by the writing thread before each
// commit.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"

namespace runwarden {

// Gives the error that ends it, or nothing. What was allowed together shares one, so that one answer can stand for all of it; null allows.
using Permit = std::shared_ptr<const std::function<std::optional<Error>()>>;

}  // namespace runwarden
