// An error from the server, or on the way to it. Any thread.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace runwarden::store::postgres {

struct PgFault : std::runtime_error {
  enum class Kind : std::uint8_t {
    lost,     // the connection is lost; the outcome of a COMMIT that was sent is unknown
    away,     // the server cannot do it now: it is starting, stopping, full or a standby, or ended the statement early
    again,    // a conflict with another transaction: a retry may succeed
    no_part,  // no partition for a row
    data,     // the data given to the statement
    other,
  };
  PgFault(Kind of, std::string state, const std::string& text) : std::runtime_error(text), kind(of), sqlstate(std::move(state)) {}
  Kind kind;
  std::string sqlstate;  // empty if the connection was lost
};

// No connection was made.
struct CannotConnect : PgFault {
  using PgFault::PgFault;
};

// Of a standby, and where transactions are read-only.
constexpr const char* kTakesNoWrites = "the database is a standby, or read-only; name its primary in store.dsn";

// Says what the fault means, with the server's or libpq's words, which may name the database's place: for the operator.
std::string operator_text(const PgFault& fault);
// The same for clients: without those words.
std::string client_text(const PgFault& fault);

// The kind of fault that a SQLSTATE (PostgreSQL's appendix A) means.
PgFault::Kind kind_of(std::string_view sqlstate);

}  // namespace runwarden::store::postgres
