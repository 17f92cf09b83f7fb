// Reads and checks the query members of a list: limit, cursor, since, until and the list's own filters. Pure; any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/cursor_seal.h"
#include "base/result.h"
#include "store/queries.h"

namespace runwarden::api {

class ListQuery {
 public:
  // bad_request for an unknown name and for an empty value, which a filter would take for none. Any other invalid value is an error only
  // when it is read. `list` is the list's path, which identifies it in its cursors.
  static Result<ListQuery> read(const std::vector<std::pair<std::string, std::string>>& query,
                                std::initializer_list<std::string_view> filters, std::string list);
  // For a list that has only limit and cursor.
  static Result<ListQuery> read_page(const std::vector<std::pair<std::string, std::string>>& query, std::string list);

  // limit, cursor, since and until.
  Result<store::Range> range(model::TenantId tenant, const auth::CursorSeal& seal) const;
  // The cursor of the next page: a JSON string, or null.
  std::string next_cursor(model::TenantId tenant, const auth::CursorSeal& seal, const std::optional<model::RecordKey>& next) const;

  const std::string* find(std::string_view name) const;
  std::string text(std::string_view name) const;
  Result<int> score(std::string_view name) const;  // 0 to 100; 0 if not given

 private:
  static Result<ListQuery> read_known(const std::vector<std::pair<std::string, std::string>>& query,
                                      const std::vector<std::string_view>& known, std::string list);

  std::vector<std::pair<std::string, std::string>> members_;
  std::string meaning_;  // the list and its filters, in the order of their names
};

}  // namespace runwarden::api
