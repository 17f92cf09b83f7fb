#include "api/list_query.h"

#include <algorithm>
#include <charconv>

#include "api/window.h"
#include "base/json_text.h"

namespace runwarden::api {
namespace {

constexpr std::string_view kCommon[] = {"limit", "cursor", "since", "until"};
constexpr std::int64_t kMostItems = 1000;
constexpr std::int64_t kUsualItems = 50;

Error bad(std::string_view name, std::string_view value, std::string_view wanted) {
  return {Code::bad_request,
          "the query's " + std::string(name) + " must be " + std::string(wanted) + ", got \"" + std::string(value.substr(0, 80)) + "\"",
          {},
          {}};
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<ListQuery> ListQuery::read(const std::vector<std::pair<std::string, std::string>>& query,
                                  std::initializer_list<std::string_view> filters, std::string list) {
  std::vector<std::string_view> known(std::begin(kCommon), std::end(kCommon));
  known.insert(known.end(), filters.begin(), filters.end());
  return read_known(query, known, std::move(list));
}

Result<ListQuery> ListQuery::read_page(const std::vector<std::pair<std::string, std::string>>& query, std::string list) {
  return read_known(query, {"limit", "cursor"}, std::move(list));
}

Result<ListQuery> ListQuery::read_known(const std::vector<std::pair<std::string, std::string>>& query,
                                        const std::vector<std::string_view>& known, std::string list) {
  ListQuery read;
  read.members_ = query;
  std::sort(read.members_.begin(), read.members_.end());
  read.meaning_ = std::move(list);
  for (const auto& [name, value] : read.members_) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string names;
      for (const std::string_view one : known) names.append(names.empty() ? "" : ", ").append(one);
      return Error{Code::bad_request, "the query has no member \"" + name.substr(0, 80) + "\"; its members are " + names, {}, {}};
    }
    if (value.empty()) return empty_member(name);
    if (name != "limit" && name != "cursor") read.meaning_.append("\n").append(name).append("=").append(value);
  }
  return read;
}

const std::string* ListQuery::find(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& one) { return one.first == name; });
  return found == members_.end() ? nullptr : &found->second;
}

std::string ListQuery::text(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string() : *value;
}

Result<int> ListQuery::score(std::string_view name) const {
  const std::string* value = find(name);
  if (value == nullptr) return 0;
  const auto score = integer(*value);
  if (!score || *score < 0 || *score > 100) return bad(name, *value, "an integer from 0 to 100");
  return static_cast<int>(*score);
}

Result<store::Range> ListQuery::range(model::TenantId tenant, const auth::CursorSeal& seal) const {
  store::Range range;
  range.limit = kUsualItems;
  if (const std::string* value = find("limit")) {
    const auto limit = integer(*value);
    if (!limit || *limit < 1 || *limit > kMostItems) return bad("limit", *value, "an integer from 1 to 1000");
    range.limit = static_cast<std::size_t>(*limit);
  }
  auto since = read_time(members_, "since", store::kBeginningMs);
  if (!since.ok()) return std::move(since.error());
  auto until = read_time(members_, "until", store::kEndMs);
  if (!until.ok()) return std::move(until.error());
  range.since_ms = *since;
  range.before_ms = *until;
  if (const std::string* cursor = find("cursor")) {
    range.after = seal.open(tenant, meaning_, *cursor);
    if (!range.after) return bad("cursor", *cursor, "the nextCursor of a page of this same query");
  }
  return range;
}

std::string ListQuery::next_cursor(model::TenantId tenant, const auth::CursorSeal& seal,
                                   const std::optional<model::RecordKey>& next) const {
  if (!next) return "null";
  std::string text;
  append_json_string(text, seal.seal(tenant, meaning_, *next));
  return text;
}

}  // namespace runwarden::api
