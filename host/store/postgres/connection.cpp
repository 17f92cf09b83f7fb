#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "store/postgres/fault.h"
#include "store/postgres/params.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kBinary = 1;

constexpr std::chrono::milliseconds kBetweenAsking{100};  // between checks whether to give up

PgFault fault_of(const PGresult* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* const detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  std::string told = text != nullptr ? text : PQresultErrorMessage(result);
  if (detail != nullptr) told.append(" (").append(detail).append(")");
  if (state == nullptr) return {PgFault::Kind::lost, {}, told};
  return {kind_of(state), state, told + " [" + state + "]"};
}

// libpq breaks its texts into lines, and indents them. Those that quote one go on after it, so it ends without a full stop.
std::string one_line(const char* text) {
  std::istringstream words(text == nullptr ? "" : text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  if (line.ends_with('.')) line.pop_back();
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
  std::vector<const char*> names = {"dbname",     "application_name", "fallback_application_name", "connect_timeout", "tcp_user_timeout",
                                    "keepalives", "keepalives_idle",  "keepalives_interval",       "client_encoding", "options"};
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
    const std::string why = one_line(PQerrorMessage(connection_.get()));
    throw CannotConnect(PgFault::Kind::lost, {}, why + certificate_remedy(why));
  }
  want_utf8();
  PQsetNoticeReceiver(connection_.get(), NoticeSink::take, this);
  if (PQsetnonblocking(connection_.get(), 1) != 0) lose("cannot set it to nonblocking mode");
}

Connection::~Connection() = default;

// Other encodings cannot hold every text, or change it.
void Connection::want_utf8() {
  const char* const encoding = PQparameterStatus(connection_.get(), "server_encoding");
  if (encoding == nullptr || std::strcmp(encoding, "UTF8") == 0) return;
  throw CannotConnect(PgFault::Kind::other, {},
                      std::string("the database has the encoding ") + encoding +
                          "; name one in store.dsn that was created with ENCODING 'UTF8' TEMPLATE template0");
}

SteadyClock::time_point Connection::deadline() const { return SteadyClock::now() + settings_.answer_timeout; }

void Connection::lose(const std::string& what) {
  lost_ = true;
  std::string text = connection_ ? one_line(PQerrorMessage(connection_.get())) : std::string();
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
    throw PgFault(PgFault::Kind::lost, fault ? fault->sqlstate : std::string(),
                  fault ? fault->what() : one_line(PQerrorMessage(connection_.get())));
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
