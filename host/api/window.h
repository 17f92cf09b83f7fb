// Reads the span of time in a query: window, or from and until. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/group_store.h"

namespace runwarden::api {

using Query = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kLongestWindowMs = 400 * 86'400'000LL;
constexpr std::string_view kUsualWindow = "24h";

// `window` (1h, 24h, 7d, 30d, 90d) ends now. Otherwise `from` and `until`, which default to a day before `until` and to now. If none is
// given, the window `otherwise`. bad_request names the wrong member.
Result<store::Span> read_window(const Query& query, std::int64_t now_ms, std::string_view otherwise);

// bad_request for a member that is not in `known`, or is empty: a filter would take an empty value for none. `q` may be empty, as that is
// part of every text. `what` names the request: "the query of ...".
Status check_members(const Query& query, std::string_view what, std::initializer_list<std::string_view> known);
const std::string* find_member(const Query& query, std::string_view name);
Error bad_member(std::string_view name, std::string_view value, std::string_view wanted);
Error empty_member(std::string_view name);
// A whole number up to `most`; `otherwise` if it is not given.
Result<std::size_t> read_count(const Query& query, std::string_view name, std::size_t most, std::size_t otherwise);
// A time (RFC 3339), also with a plus that was not escaped and arrived as a space; `otherwise` if it is not given.
Result<std::int64_t> read_time(const Query& query, std::string_view name, std::int64_t otherwise);

}  // namespace runwarden::api
