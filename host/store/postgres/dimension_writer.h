// Records which runs have which dimension values, in the transaction of a batch. One thread, the connection's.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

// Call its functions in their order.
class DimensionWriter {
 public:
  DimensionWriter(Connection& connection, const BatchEffects& effects);

  // Looks up the numbers of the values, if there are any.
  void add_look_up(std::vector<Connection::Statement>& statements) const;
  void take_look_up(std::span<const Rows> answers);
  // Gives new values a number, under a lock on their stretch.
  void number_values();
  std::vector<Connection::Statement> statements() const;

 private:
  struct StretchPlace {
    model::TenantId tenant = 0;
    std::string dimension;
    std::int64_t number = 0;
    auto operator<=>(const StretchPlace&) const = default;
  };
  struct Stretch {
    std::uint64_t numbered = 0;                                           // values that have a number, except kOtherValue
    std::map<std::string, std::optional<std::int64_t>, std::less<>> ids;  // by value; nothing: it has no number
    std::set<std::string, std::less<>> entering;
    bool left = false;

    bool is_settled(const std::string& value) const;
    bool lacks_numbers() const;
    // Counts the entering values that get a number, as long as there are any. Returns the values that need a row.
    std::vector<std::string_view> number_entering();
  };

  static StretchPlace place_of(model::TenantId tenant, const model::RecordKey& run, const std::string& dimension);
  void take_ids(const Rows& rows);
  void take_numbered(const Rows& rows);

  Connection& connection_;
  const BatchEffects& effects_;
  std::map<StretchPlace, Stretch> stretches_;
};

}  // namespace runwarden::store::postgres
