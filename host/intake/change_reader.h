// Reads a change record or a policy revision. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warning.h"

namespace runwarden::intake {

struct ChangeText {
  std::string kind;
  std::optional<std::int64_t> at_ms;
  std::string document;  // the object as normalized, unknown members kept, without `changeId` and `receivedAt`
};

struct PolicyText {
  std::string policy;
  std::optional<std::string> revision;
  std::optional<std::string> author;
  std::optional<std::int64_t> at_ms;
  std::string content;   // compact JSON; "null" where there is none
  std::string document;  // as normalized, without what the service gives: `policyRevisionId`, `contentSha256`, `receivedAt`
};

// malformed_json, or validation_failed with every fault, or the record. `warnings` (may be null) is added to where the record was
// read and something in it looks like a mistake.
Result<ChangeText> read_change(std::string_view json, int max_json_depth, std::vector<Warning>* warnings = nullptr);
Result<PolicyText> read_policy(std::string_view json, int max_json_depth, std::vector<Warning>* warnings = nullptr);

}  // namespace runwarden::intake
