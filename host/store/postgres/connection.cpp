#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace runwarden::store::postgres {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Type OIDs, as fixed in PostgreSQL's pg_type.dat.
constexpr std::uint32_t kBool = 16;
constexpr std::uint32_t kBytea = 17;
constexpr std::uint32_t kInt8 = 20;
constexpr std::uint32_t kInt2 = 21;
constexpr std::uint32_t kInt4 = 23;
constexpr std::uint32_t kText = 25;
constexpr std::uint32_t kByteaArray = 1001;
constexpr std::uint32_t kInt2Array = 1005;
constexpr std::uint32_t kInt4Array = 1007;
constexpr std::uint32_t kTextArray = 1009;
constexpr std::uint32_t kInt8Array = 1016;

constexpr int kBinary = 1;

constexpr std::chrono::milliseconds kBetweenAsking{100};  // between checks whether to give up

template <class Number>
void put_be(std::string& bytes, Number number) {
  for (int shift = static_cast<int>(sizeof number) * 8 - 8; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 255);
  }
}

std::uint64_t get_be(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

// The head of a one-dimensional array, as array_send() writes it: dimensions, whether there are nulls, type, length, first index.
std::string array_head(std::uint32_t type, std::size_t length) {
  std::string bytes;
  put_be<std::int32_t>(bytes, length == 0 ? 0 : 1);
  put_be<std::int32_t>(bytes, 0);
  put_be<std::uint32_t>(bytes, type);
  if (length == 0) return bytes;
  put_be<std::int32_t>(bytes, static_cast<std::int32_t>(length));
  put_be<std::int32_t>(bytes, 1);
  return bytes;
}

PgFault fault_of(const PGresult* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* const detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  std::string told = text != nullptr ? text : PQresultErrorMessage(result);
  if (detail != nullptr) told.append(" (").append(detail).append(")");
  if (state == nullptr) return {PgFault::Kind::lost, {}, told};
  return {kind_of(state), state, told + " [" + state + "]"};
}

std::string first_line(const char* text) {
  std::string line(text == nullptr ? "" : text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// What to do if the server's certificate is not trusted.
std::string certificate_remedy(const std::string& text) {
  if (text.find("does not match host name") != std::string::npos)
    return "; set host= in store.dsn to a name in the certificate, and hostaddr= to the address";
  if (text.find("certificate verify failed") != std::string::npos)
    return "; set sslrootcert= in store.dsn to its certificate authority's file";
  return {};
}

}  // namespace

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

Params& Params::add(std::uint32_t type, std::string bytes) {
  values_.push_back({type, std::move(bytes), false});
  return *this;
}

Params& Params::i16(std::int16_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt2, std::move(bytes));
}
Params& Params::i32(std::int32_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt4, std::move(bytes));
}
Params& Params::i64(std::int64_t number) {
  std::string bytes;
  put_be(bytes, number);
  return add(kInt8, std::move(bytes));
}
Params& Params::boolean(bool value) { return add(kBool, std::string(1, value ? '\1' : '\0')); }
Params& Params::text(std::string_view value) { return add(kText, std::string(value)); }
Params& Params::bytes(std::string_view value) { return add(kBytea, std::string(value)); }

Params& Params::i64_or_null(std::optional<std::int64_t> number) {
  if (number) return i64(*number);
  values_.push_back({kInt8, {}, true});
  return *this;
}

template <class Number>
Params& Params::add_numbers(std::uint32_t array_type, std::uint32_t type, std::span<const Number> numbers) {
  std::string bytes = array_head(type, numbers.size());
  for (const Number number : numbers) {
    put_be<std::int32_t>(bytes, sizeof number);
    put_be(bytes, number);
  }
  return add(array_type, std::move(bytes));
}

template <class Text>
Params& Params::add_texts(std::uint32_t array_type, std::uint32_t type, std::span<const Text> values) {
  std::string bytes = array_head(type, values.size());
  for (const Text& value : values) {
    put_be<std::int32_t>(bytes, static_cast<std::int32_t>(value.size()));
    bytes.append(value);
  }
  return add(array_type, std::move(bytes));
}

Params& Params::i16s(std::span<const std::int16_t> numbers) { return add_numbers(kInt2Array, kInt2, numbers); }
Params& Params::i32s(std::span<const std::int32_t> numbers) { return add_numbers(kInt4Array, kInt4, numbers); }
Params& Params::i64s(std::span<const std::int64_t> numbers) { return add_numbers(kInt8Array, kInt8, numbers); }
Params& Params::texts(std::span<const std::string> values) { return add_texts(kTextArray, kText, values); }
Params& Params::texts(std::span<const std::string_view> values) { return add_texts(kTextArray, kText, values); }
Params& Params::byteas(std::span<const std::string> values) { return add_texts(kByteaArray, kBytea, values); }
Params& Params::byteas(std::span<const std::string_view> values) { return add_texts(kByteaArray, kBytea, values); }

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

Rows::Rows(pg_result* result) : result_(result), rows_(static_cast<std::size_t>(PQntuples(result))) {}

std::string_view Rows::bytes(std::size_t row, int column) const {
  const int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column), static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

std::int64_t Rows::number(std::size_t row, int column) const {
  const std::string_view value = bytes(row, column);
  switch (value.size()) {
    case 2: return static_cast<std::int16_t>(get_be(value));
    case 4: return static_cast<std::int32_t>(get_be(value));
    case 8: return static_cast<std::int64_t>(get_be(value));
    default: throw PgFault(PgFault::Kind::other, {}, "the database returned a number of " + std::to_string(value.size()) + " bytes");
  }
}

bool Rows::boolean(std::size_t row, int column) const { return bytes(row, column) == std::string_view("\1", 1); }
bool Rows::is_null(std::size_t row, int column) const { return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0; }

std::uint64_t Rows::affected() const {
  const char* const count = PQcmdTuples(result_.get());
  return count == nullptr || *count == '\0' ? 0 : std::strtoull(count, nullptr, 10);
}

struct NoticeSink {
  static void take(void* to, const PGresult* result) {
    const char* const severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity == nullptr || std::strcmp(severity, "WARNING") != 0) return;
    const char* const text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    static_cast<Connection*>(to)->warning_ = text == nullptr ? "a warning" : text;
  }
};

void Connection::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Connection::Connection(const ConnectSettings& settings) : settings_(settings) {
  const std::string timeout = std::to_string(std::max<std::int64_t>(2, (settings.connect_timeout.count() + 999) / 1000));
  std::vector<const char*> names = {"dbname", "application_name", "fallback_application_name", "connect_timeout", "tcp_user_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "client_encoding", "options"};
  std::vector<const char*> values = {settings.dsn.c_str(), "runwarden", "runwarden", timeout.c_str(), "5000", "1", "5", "2", "UTF8", ""};
  if (!settings.password.empty()) {
    names.push_back("password");
    values.push_back(settings.password.c_str());
  }
  for (const auto& [name, value] : settings.words) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectdbParams(names.data(), values.data(), 1));
  if (!connection_) throw PgFault(PgFault::Kind::lost, {}, "out of memory for a connection");
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string why = first_line(PQerrorMessage(connection_.get()));
    throw PgFault(PgFault::Kind::lost, {}, why + certificate_remedy(why));
  }
  PQsetNoticeReceiver(connection_.get(), NoticeSink::take, this);
  if (PQsetnonblocking(connection_.get(), 1) != 0) lose("cannot set it to nonblocking mode");
}

Connection::~Connection() = default;

SteadyClock::time_point Connection::deadline() const { return SteadyClock::now() + settings_.answer_timeout; }

void Connection::lose(const std::string& what) {
  lost_ = true;
  std::string text = connection_ ? first_line(PQerrorMessage(connection_.get())) : std::string();
  if (text.empty()) text = what;
  throw PgFault(PgFault::Kind::lost, {}, text);
}

void Connection::flush() {
  const auto until = deadline();
  while (true) {
    const int left = PQflush(connection_.get());
    if (left < 0) lose("the connection was closed");
    if (left == 0) return;
    // The server may wait for us to read before it reads on.
    if ((wait_for(POLLIN | POLLOUT, until) & POLLIN) != 0 && PQconsumeInput(connection_.get()) == 0) lose("the connection was closed");
  }
}

// Returns which of the events occurred.
short Connection::wait_for(short events, SteadyClock::time_point until) {
  while (true) {
    auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
    if (wait.count() <= 0) lose("the server did not answer in time");
    if (given_up_) wait = std::min(wait, kBetweenAsking);
    pollfd waiting{PQsocket(connection_.get()), events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(wait.count()));
    if (ready > 0) return waiting.revents;
    if (ready < 0 && errno != EINTR) lose("cannot wait for the connection");
    if (given_up_ && given_up_()) lose("the server does not answer");
  }
}

void Connection::wait_for_input(SteadyClock::time_point until) {
  wait_for(POLLIN, until);
  if (PQconsumeInput(connection_.get()) == 0) lose("the connection was closed");
}

pg_result* Connection::next_result(SteadyClock::time_point until) {
  while (PQisBusy(connection_.get()) != 0) wait_for_input(until);
  return PQgetResult(connection_.get());
}

// What was sent: the texts that were prepared on the way and, for each result to come, whether it is from a PREPARE.
struct Connection::Sent {
  std::vector<std::string> prepared_now;
  std::vector<bool> prepares;
};

struct Connection::Answers {
  std::vector<Rows> rows;             // without those of PREPARE
  std::optional<PgFault> fault = {};  // the first one
};

void Connection::send(const Statement& statement, Sent& sent) {
  const auto& values = statement.params.values_;
  std::vector<Oid> types;
  std::vector<const char*> texts;
  std::vector<int> lengths;
  std::vector<int> formats(values.size(), kBinary);
  for (const auto& value : values) {
    types.push_back(value.type);
    texts.push_back(value.null ? nullptr : value.bytes.data());
    lengths.push_back(static_cast<int>(value.bytes.size()));
  }
  const int count = static_cast<int>(values.size());
  const std::string sql(statement.sql);
  if (!settings_.prepared) {
    if (PQsendQueryParams(connection_.get(), sql.c_str(), count, types.data(), texts.data(), lengths.data(), formats.data(), kBinary) == 0)
      lose("cannot send a statement");
    sent.prepares.push_back(false);
    return;
  }
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    const std::string name = "rw" + std::to_string(++named_);
    if (PQsendPrepare(connection_.get(), name.c_str(), sql.c_str(), count, types.data()) == 0) lose("cannot send a statement");
    found = statements_.emplace(sql, name).first;
    sent.prepared_now.push_back(sql);
    sent.prepares.push_back(true);
  }
  if (PQsendQueryPrepared(connection_.get(), found->second.c_str(), count, texts.data(), lengths.data(), formats.data(), kBinary) == 0)
    lose("cannot send a statement");
  sent.prepares.push_back(false);
}

// Ends early if the connection breaks.
Connection::Answers Connection::take_answers(const Sent& sent, SteadyClock::time_point until) {
  Answers answers;
  for (const bool is_prepare : sent.prepares) {
    PGresult* const result = next_result(until);
    if (result == nullptr) lose("an answer is missing");
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      if (is_prepare) {
        PQclear(result);
      } else {
        answers.rows.emplace_back(result);
      }
    } else {
      if (status != PGRES_PIPELINE_ABORTED && !answers.fault) answers.fault = fault_of(result);
      PQclear(result);
      if (PQstatus(connection_.get()) == CONNECTION_BAD) break;
    }
    if (PGresult* const end = next_result(until)) PQclear(end);  // null: the end of that statement's results
  }
  return answers;
}

std::vector<Rows> Connection::run(std::span<const Statement> statements) {
  if (statements.empty()) return {};
  const std::vector<Statement> before = std::exchange(later_, {});
  if (lost_) lose("the connection was lost earlier");
  if (PQenterPipelineMode(connection_.get()) == 0) lose("the connection is in use");
  Sent sent;
  for (const Statement& statement : before) send(statement, sent);
  for (const Statement& statement : statements) send(statement, sent);
  if (PQpipelineSync(connection_.get()) == 0) lose("cannot send the statements");
  flush();
  const auto until = deadline();
  Answers answers = take_answers(sent, until);
  const std::optional<PgFault>& fault = answers.fault;
  if (PQstatus(connection_.get()) == CONNECTION_BAD) {
    lost_ = true;
    throw PgFault(PgFault::Kind::lost, fault ? fault->sqlstate : std::string(), fault ? fault->what() : first_line(PQerrorMessage(connection_.get())));
  }
  if (PGresult* const sync = next_result(until)) PQclear(sync);
  if (PQexitPipelineMode(connection_.get()) == 0) lose("the connection is still in use");
  if (fault) {
    for (const std::string& sql : sent.prepared_now) statements_.erase(sql);
    if (fault->kind == PgFault::Kind::lost) lost_ = true;
    throw *fault;
  }
  answers.rows.erase(answers.rows.begin(), answers.rows.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return std::move(answers.rows);
}

void Connection::later(std::vector<Statement> statements) {
  std::ranges::move(statements, std::back_inserter(later_));
}

Rows Connection::query(std::string_view sql, Params params) {
  const Statement one{sql, std::move(params)};
  return std::move(run({&one, 1}).front());
}

void Connection::script(const std::string& sql) {
  if (lost_) lose("the connection was lost earlier");
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) lose("cannot send a script");
  flush();
  const auto until = deadline();
  std::optional<PgFault> fault;
  while (PGresult* const result = next_result(until)) {
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY && !fault) fault = fault_of(result);
    PQclear(result);
  }
  if (PQstatus(connection_.get()) == CONNECTION_BAD) lose("the connection was closed");
  if (fault) throw *fault;
}

bool Connection::in_transaction() const { return PQtransactionStatus(connection_.get()) != PQTRANS_IDLE; }

void Connection::rollback() {
  later_.clear();
  if (lost_ || !in_transaction()) return;
  script("ROLLBACK");
}

}  // namespace runwarden::store::postgres
