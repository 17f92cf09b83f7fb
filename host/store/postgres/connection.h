// A connection to a PostgreSQL server: statements with binary parameters and results, one at a time or many in one round trip.
//
// One thread at a time. Statements are prepared on first use, if that is allowed. No other session state is used, so a pooler in
// transaction mode may be in between.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/postgres/params.h"
#include "store/postgres/rows.h"

struct pg_conn;
struct pg_result;

namespace runwarden::store::postgres {

struct ConnectSettings {
  std::string dsn;          // libpq's; without a password
  std::string password;     // empty: libpq looks for one
  std::chrono::milliseconds connect_timeout{3000};
  std::chrono::milliseconds answer_timeout{15'000};  // per round trip; after that, the connection counts as lost
  bool prepared = true;
  std::vector<std::pair<std::string, std::string>> words;  // libpq keywords, which take precedence over those of the dsn
};

class Connection {
 public:
  // Throws PgFault, and CannotConnect if there is no connection to begin with.
  explicit Connection(const ConnectSettings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  struct Statement {
    std::string_view sql;  // a literal, or a text that lives until the call returns
    Params params = {};
  };
  // Runs all in one round trip, in order; skips the rest after a failure. Throws PgFault. A lost connection stays lost.
  std::vector<Rows> run(std::span<const Statement> statements);
  // Runs these before the next statements, in the same round trip, and drops their answers. rollback() forgets them.
  void later(std::vector<Statement> statements);
  Rows query(std::string_view sql, Params params = {});
  // Runs several statements without parameters, as a script. Throws PgFault.
  void script(const std::string& sql);
  // Ends a transaction that may have failed. Does nothing outside a transaction. Throws PgFault if the connection is lost.
  void rollback();
  // Called now and then while waiting for an answer: once it returns true, the connection counts as lost. Empty: wait as long as the
  // settings say.
  void give_up_when(std::function<bool()> given_up) { given_up_ = std::move(given_up); }
  bool in_transaction() const;
  bool lost() const { return lost_; }
  // The warning received since the last call; empty: none.
  std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  friend struct NoticeSink;
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  struct Sent;
  struct Answers;
  void want_utf8();
  [[noreturn]] void lose(const std::string& what);
  void send(const Statement& statement, Sent& sent);
  Answers take_answers(const Sent& sent, std::chrono::steady_clock::time_point until);
  void flush();
  short wait_for(short events, std::chrono::steady_clock::time_point until);
  void wait_for_input(std::chrono::steady_clock::time_point until);
  pg_result* next_result(std::chrono::steady_clock::time_point until);
  std::chrono::steady_clock::time_point deadline() const;

  std::unique_ptr<pg_conn, Close> connection_;
  ConnectSettings settings_;
  std::unordered_map<std::string, std::string> statements_;  // prepared names, by SQL
  std::uint64_t named_ = 0;
  std::vector<Statement> later_;
  std::string warning_;
  std::function<bool()> given_up_;
  bool lost_ = false;
};

}  // namespace runwarden::store::postgres
