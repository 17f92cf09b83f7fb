// A connection to a PostgreSQL server: statements with binary parameters and results, one at a time or many in one round trip.
//
// One thread at a time. Statements are prepared on first use, if that is allowed. No other session state is used, so a pooler in
// transaction mode may be in between.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;

namespace runwarden::store::postgres {

// An error from the server, or on the way to it.
struct PgFault : std::runtime_error {
  enum class Kind : std::uint8_t {
    lost,     // the connection is lost; the outcome of a COMMIT that was sent is unknown
    away,     // the server takes no writes now: it is starting, stopping, full or a standby
    again,    // a conflict with another transaction: a retry may succeed
    no_part,  // no partition for a row
    data,     // the data given to the statement
    other,
  };
  PgFault(Kind of, std::string state, const std::string& text) : std::runtime_error(text), kind(of), sqlstate(std::move(state)) {}
  Kind kind;
  std::string sqlstate;  // empty if the connection was lost
};

// The kind of fault that a SQLSTATE (PostgreSQL's appendix A) means.
PgFault::Kind kind_of(std::string_view sqlstate);

// The parameters of a statement, $1 first. Texts are copied.
class Params {
 public:
  Params& i16(std::int16_t number);
  Params& i32(std::int32_t number);
  Params& i64(std::int64_t number);
  Params& boolean(bool value);
  Params& text(std::string_view value);
  Params& bytes(std::string_view value);
  Params& i64_or_null(std::optional<std::int64_t> number);
  Params& i16s(std::span<const std::int16_t> numbers);
  Params& i32s(std::span<const std::int32_t> numbers);
  Params& i64s(std::span<const std::int64_t> numbers);
  Params& booleans(std::span<const bool> values) = delete;
  Params& texts(std::span<const std::string> values);
  Params& texts(std::span<const std::string_view> values);
  Params& byteas(std::span<const std::string> values);
  Params& byteas(std::span<const std::string_view> values);

  std::size_t size() const { return values_.size(); }

 private:
  friend class Connection;
  struct Value {
    std::uint32_t type = 0;
    std::string bytes;
    bool null = false;
  };
  Params& add(std::uint32_t type, std::string bytes);
  template <class Text>
  Params& add_texts(std::uint32_t array_type, std::uint32_t type, std::span<const Text> values);
  template <class Number>
  Params& add_numbers(std::uint32_t array_type, std::uint32_t type, std::span<const Number> numbers);

  std::vector<Value> values_;
};

// The result of a statement. Views live as long as it does.
class Rows {
 public:
  explicit Rows(pg_result* result);

  std::size_t size() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  // An int2, int4 or int8, depending on the column. Throws PgFault for another width.
  std::int64_t number(std::size_t row, int column) const;
  bool boolean(std::size_t row, int column) const;
  std::string_view bytes(std::size_t row, int column) const;  // of text and bytea
  bool is_null(std::size_t row, int column) const;
  std::uint64_t affected() const;  // rows that an INSERT, UPDATE or DELETE changed

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
  std::size_t rows_ = 0;
};

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
  // Throws PgFault.
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
