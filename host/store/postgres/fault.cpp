#include "store/postgres/fault.h"

#include <algorithm>
#include <array>

namespace runwarden::store::postgres {

std::string away_text(const PgFault& fault) {
  constexpr std::string_view kReadOnly = "25006";
  if (fault.sqlstate == kReadOnly) return kTakesNoWrites;
  return (fault.kind == PgFault::Kind::away ? "the database does not accept writes: " : "the database is unreachable: ") +
         std::string(fault.what());
}

PgFault::Kind kind_of(std::string_view sqlstate) {
  using Kind = PgFault::Kind;
  constexpr std::array<std::string_view, 5> kAgain = {"40001", "40P01", "55P03", "23505", "23503"};
  constexpr std::array<std::string_view, 9> kAway = {"53100", "53200", "53300", "57P03", "25006", "57P01", "57P02", "58030", "53400"};
  const auto is_in = [&](const auto& states) { return std::find(states.begin(), states.end(), sqlstate) != states.end(); };
  if (is_in(kAgain)) return Kind::again;
  if (is_in(kAway)) return Kind::away;
  if (sqlstate == "23514") return Kind::no_part;
  if (sqlstate.starts_with("08")) return Kind::lost;
  return sqlstate.starts_with("22") ? Kind::data : Kind::other;
}

}  // namespace runwarden::store::postgres
