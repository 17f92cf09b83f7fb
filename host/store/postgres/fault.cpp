#include "store/postgres/fault.h"

#include <algorithm>
#include <array>

namespace runwarden::store::postgres {

namespace {

constexpr std::string_view kReadOnly = "25006";
constexpr std::string_view kCanceled = "57014";  // by statement_timeout, or by pg_cancel_backend()

const char* meaning_of(const PgFault& fault) {
  if (fault.kind == PgFault::Kind::lost) return "the database is unreachable";
  if (fault.sqlstate == kCanceled) return "the database canceled a statement";
  return fault.kind == PgFault::Kind::away ? "the database does not accept writes" : "the database reported an error";
}

}  // namespace

std::string operator_text(const PgFault& fault) {
  if (fault.sqlstate == kReadOnly) return kTakesNoWrites;
  return std::string(meaning_of(fault)) + ": " + fault.what();
}

std::string client_text(const PgFault& fault) {
  if (fault.sqlstate == kReadOnly) return kTakesNoWrites;
  const std::string state =
      fault.kind == PgFault::Kind::lost || fault.sqlstate.empty() ? std::string() : " (SQLSTATE " + fault.sqlstate + ")";
  return meaning_of(fault) + state;
}

PgFault::Kind kind_of(std::string_view sqlstate) {
  using Kind = PgFault::Kind;
  constexpr std::array<std::string_view, 5> kAgain = {"40001", "40P01", "55P03", "23505", "23503"};
  constexpr std::array<std::string_view, 10> kAway = {kCanceled, "53100", "53200", "53300", "57P03",
                                                      kReadOnly, "57P01", "57P02", "58030", "53400"};
  const auto is_in = [&](const auto& states) { return std::find(states.begin(), states.end(), sqlstate) != states.end(); };
  if (is_in(kAgain)) return Kind::again;
  if (is_in(kAway)) return Kind::away;
  if (sqlstate == "23514") return Kind::no_part;
  if (sqlstate.starts_with("08")) return Kind::lost;
  return sqlstate.starts_with("22") ? Kind::data : Kind::other;
}

}  // namespace runwarden::store::postgres
