// Whether a request that was allowed when it began is still allowed. A value; called from any thread, and by the writer before each commit.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"

namespace runwarden {

// Returns the error that ends the request, or nothing. Records of one request share a permit, so that one call covers them all. Null
// allows.
using Permit = std::shared_ptr<const std::function<std::optional<Error>()>>;

}  // namespace runwarden
