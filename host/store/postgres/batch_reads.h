// What a batch asks before it decides: rows by name, locked where two batches could decide about the same thing. Internal to
// store/postgres. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "store/postgres/batch_names.h"
#include "store/postgres/batch_state.h"
#include "store/postgres/connection.h"
#include "store/postgres/params.h"
#include "store/postgres/row.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

// The statements of one round trip, and the decoding of their answers.
class StateQuery {
 public:
  // The texts of the statements are constants.
  explicit StateQuery(const WantedState& wanted);
  std::vector<Connection::Statement> statements() const { return statements_; }
  // `rows`: the answers to the statements, in order. Throws BadValue, WrongGuess, and PgFault, also if a row was deleted in between: then
  // try the batch again.
  LoadedState take(std::span<const Rows> rows) const;

 private:
  enum class StatementKind : std::uint8_t {
    new_heads,
    heads,
    open,
    resolved,
    answers,
    seen,
    stored,
    new_policies,
    policies,
    revisions,
    change_times,
    failures,
    last_reviews,
    runs_there,
    opinions,
    subjects
  };
  void ask(StatementKind kind, std::string_view sql, Params params);
  void ask_for_runs();
  void ask_for_changes();
  void ask_for_event_ids();
  void ask_for_answers();
  void ask_for_reviews();
  void take_row(StatementKind kind, const Rows& rows, std::size_t row, LoadedState& found) const;
  void check_guesses(const LoadedState& found) const;

  const WantedState& wanted_;
  std::map<TenantKey, const RunName*> guessed_;  // the runs of `open_at`
  std::vector<StatementKind> kinds_;
  std::vector<Connection::Statement> statements_;
};

// Throws PgFault.
LoadedClaims load_claims(Connection& connection, const WantedClaims& wanted);

}  // namespace runwarden::store::postgres
