// What services on a PostgreSQL withstand of what stands behind it: failover, a pooler, certificates and passwords. Each test has servers of its own.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "integration/hosts.h"
#include "store/postgres/standby.h"
#include "support/files.h"

namespace runwarden::test {
namespace {

using ::testing::HasSubstr;

// Taken at that moment by nobody.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&at), size) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  ::close(fd);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(at.sin_port);
}

class Failover : public HostsTest {
 protected:
  void SetUp() override {
    HostsTest::SetUp();
    if (IsSkipped()) return;
    primary_ = std::make_unique<PostgresServer>();
    database_ = primary_->make_database();
    standby_ = std::make_unique<PostgresServer>(*primary_, "standby");
    ASSERT_TRUE(primary_->comes_true("EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')"));
  }
  std::string dsn() const override {
    return "host=" + primary_->folder().string() + "," + standby_->folder().string() + " user=runwarden dbname=" + database_;
  }
  void wait_for_standby(bool synchronous) {
    primary_->set("synchronous_standby_names", synchronous ? "standby" : "");
    ASSERT_TRUE(primary_->comes_true(std::string(synchronous ? "" : "NOT ") + "EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')"));
  }
  // As if the primary's machine had failed; whoever watches over both then promotes the other.
  void fail_over() {
    primary_->stop("immediate");
    standby_->promote();
  }

  std::unique_ptr<PostgresServer> primary_;
  std::unique_ptr<PostgresServer> standby_;
  std::string database_;
};

TEST_F(Failover, ToASynchronousStandbyUnderLoad_LosesNothingAndDoublesNothing) {
  ASSERT_NO_FATAL_FAILURE(wait_for_standby(true));
  add_host();
  add_host();
  const std::string key = hosts_[0]->make_key();
  EXPECT_TRUE(comes_true([&] { return metric(*hosts_[0], "runwarden_store_sync_standby") == 1; }));
  Load load;
  begin(load, key);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(load.wait_for(load.size() + 100));
    fail_over();
    const auto promoted = SteadyClock::now();
    ASSERT_TRUE(load.wait_for(load.size() + 20));
    EXPECT_LT(SteadyClock::now() - promoted, std::chrono::seconds(5));
    if (round == 1) break;
    // The one that failed is made anew, at its old address, as the standby of the other.
    primary_.swap(standby_);
    standby_->make_standby_of(*primary_, "standby");
    ASSERT_NO_FATAL_FAILURE(wait_for_standby(true));
  }
  load.end();
  expect_each_once(*hosts_[0], key, load);
  EXPECT_EQ(listed(*hosts_[0], key, "runs", "runId"), listed(*hosts_[1], key, "runs", "runId"));
}

// The control: what the other test counts is lost here.
TEST_F(Failover, ToAnAsynchronousStandbyThatIsLate_LosesWhatWasAcknowledged_AndGoesOn) {
  ASSERT_NO_FATAL_FAILURE(wait_for_standby(false));
  ServiceProcess& host = add_host();
  const std::string key = host.make_key();
  const std::string other = host.make_key("other");
  const json keys = json::parse(host.cli({"keys", "list", "--tenant", "other", "--json"}).out);
  EXPECT_TRUE(comes_true([&] { return metric(host, "runwarden_store_sync_standby") == 0; }));
  Load load;
  begin(load, key);
  ASSERT_TRUE(load.wait_for(50));
  standby_->set("primary_conninfo", "");
  ASSERT_TRUE(standby_->comes_true("NOT EXISTS (SELECT FROM pg_stat_wal_receiver)"));
  ASSERT_TRUE(load.wait_for(load.size() + 50));
  std::vector<std::string> lost_keys;
  for (int i = 0; i < 3; ++i) lost_keys.push_back(host.make_key("late"));  // their notes' numbers are given once more later
  EXPECT_EQ(host.get("/v1/runs", lost_keys[0]).status, 200);
  fail_over();
  ASSERT_TRUE(load.wait_for(load.size() + 20));
  load.end();
  const auto runs = listed(host, key, "runs", "runId");
  std::size_t lost = 0;
  for (const std::string& id : load.acknowledged) lost += runs.count(id) == 0 ? 1 : 0;
  EXPECT_GE(lost, 50u) << "the test above would not notice";
  for (const auto& [id, times] : runs) EXPECT_EQ(times, 1) << id;
  EXPECT_TRUE(comes_true([&] { return host.get("/v1/runs", lost_keys[0]).status == 401; }, std::chrono::seconds(2))) << "nobody knows that key now";

  // Whoever knows more than the database is told all the same.
  ASSERT_EQ(host.get("/v1/runs", other).status, 200);
  ASSERT_EQ(host.cli({"keys", "revoke", keys[0]["id"].get<std::string>()}).exit_code, 0);
  EXPECT_TRUE(comes_true([&] { return host.get("/v1/runs", other).status == 401; }, std::chrono::seconds(1)));
}

TEST_F(Failover, RequiredStandbyThatIsMissing_MakesTheHostNotReady) {
  ASSERT_NO_FATAL_FAILURE(wait_for_standby(true));
  ServiceProcess& host = add_host(options("require_sync_standby: true"));
  const std::string key = host.make_key();
  const auto ready = [&] { return host.request(get_request("/readyz")).status; };
  EXPECT_TRUE(comes_true([&] { return ready() == 200; }));
  EXPECT_EQ(metric(host, "runwarden_store_sync_standby"), 1);
  auto unprivileged = primary_->admin(database_);
  unprivileged.script("CREATE ROLE unprivileged; SET ROLE unprivileged");
  const auto is_seen = [&] { return unprivileged.query(std::string("SELECT ") + store::postgres::kHasSyncStandby).boolean(0, 0); };
  EXPECT_TRUE(is_seen()) << "its state is not shown to everybody, but that it is there";
  standby_->stop("fast");
  EXPECT_TRUE(comes_true([&] { return ready() == 503; }, std::chrono::seconds(5)));
  EXPECT_THAT(host.request(get_request("/readyz")).body, HasSubstr("store.require_sync_standby"));
  EXPECT_EQ(metric(host, "runwarden_store_sync_standby"), 0);
  EXPECT_FALSE(is_seen());
  EXPECT_EQ(host.post("/v1/ingest/runs", key, failing_run("unsafe")).status, 503);
  standby_->start();
  EXPECT_TRUE(comes_true([&] { return ready() == 200; }));
  EXPECT_EQ(host.post("/v1/ingest/runs", key, failing_run("safe")).status, 201);
  EXPECT_EQ(host.get("/v1/runs/unsafe", key).status, 404);
  primary_->set("synchronous_standby_names", "");
  EXPECT_TRUE(comes_true([&] { return ready() == 503; }, std::chrono::seconds(5))) << "it is there, but commits do not wait for it";
}

TEST_F(Failover, CommitsThatWaitForAnAbsentStandby_AreToldAsThat) {
  ASSERT_NO_FATAL_FAILURE(wait_for_standby(true));
  ServiceProcess& host = add_host();
  standby_->stop("fast");
  EXPECT_TRUE(comes_true([&] {
    const HttpAnswer ready = host.request(get_request("/readyz"));
    return ready.status == 503 && ready.body.find("commits wait for a synchronous standby, and none is connected") != std::string::npos;
  }));
  primary_->set("synchronous_standby_names", "");
  EXPECT_TRUE(comes_true([&] { return host.request(get_request("/readyz")).status == 200; }));
}

// Certificates of a test, by the program that Debian's PostgreSQL depends on.
struct Certificates {
  Certificates(const std::string& authority, const std::string& name) {
    const auto at = [&](const char* file) { return (folder.path() / file).string(); };
    openssl({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2", "-subj", "/CN=" + authority});
    openssl({"req", "-newkey", "rsa:2048", "-nodes", "-keyout", at("server.key"), "-out", at("server.csr"), "-subj", "/CN=" + name});
    folder.write("names", "subjectAltName=DNS:" + name + "\n");
    openssl({"x509", "-req", "-in", at("server.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-out", at("server.pem"), "-days", "2",
             "-extfile", at("names")});
  }
  std::string authority() const { return folder.path() / "ca.pem"; }
  std::string text(const char* file) const { return read_file(folder.path() / file); }

  TempFolder folder;

 private:
  static void openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "/usr/bin/openssl");
    const CommandResult result = run_command(arguments);
    if (result.exit_code != 0) throw std::runtime_error("openssl: " + result.err);
  }
};

// A server that lets in over TLS with passwords alone, and the role that packaging/postgres/role.sql makes.
class PackagedRole : public HostsTest {
 protected:
  void SetUp() override {
    HostsTest::SetUp();
    if (IsSkipped()) return;
    port_ = free_port();
    PostgresServer::Options options;
    options.superuser = "postgres";
    options.port = port_;
    options.settings = "listen_addresses = '127.0.0.1'\nssl = on\nssl_cert_file = 'server.pem'\nssl_key_file = 'server.key'\n";
    options.hba = "local all postgres trust\nhostssl runwarden runwarden 127.0.0.1/32 scram-sha-256\n";
    options.files = {{"server.pem", certificates_.text("server.pem")}, {"server.key", certificates_.text("server.key")}};
    server_ = std::make_unique<PostgresServer>(options);
    const CommandResult made = run_command({PostgresServer::programs() / "psql", "-h", server_->folder(), "-p", std::to_string(port_), "-U", "postgres", "-v",
                                            "password='the one'", "-f", RUNWARDEN_TEST_ROLE});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    password_file_ = folder_.write("db.password", "the one\n");
    ::chmod(password_file_.c_str(), 0600);
  }
  std::string place(const std::string& name, const std::string& authority) const {
    return "host=" + name + " hostaddr=127.0.0.1 port=" + std::to_string(port_) + " user=runwarden dbname=runwarden sslmode=verify-full sslrootcert=" + authority;
  }
  std::string dsn() const override { return place("db.test", certificates_.authority()); }
  std::string password() const { return "password_file: " + password_file_; }

  const TempFolder folder_;
  const Certificates certificates_{"test authority", "db.test"};
  std::unique_ptr<PostgresServer> server_;
  std::string password_file_;
  int port_ = 0;
};

TEST_F(PackagedRole, ServesWithNoMoreRightsThanItHas) {
  const TempFolder checked;
  const CommandResult check = with_config(checked, "check", "dsn: \"" + dsn() + "\", " + password());
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(check.err, HasSubstr("no synchronous standby"));
  add_host(options(password()));
  ServiceProcess& host = add_host(options(password()));
  const std::string key = host.make_key("acme", "ingest,read,manage");
  for (const auto& one : hosts_) ASSERT_EQ(one->post("/v1/ingest/runs", key, failing_run("by-" + std::to_string(one->port()))).status, 201);
  const std::string events = R"({"runId":"open","events":[{"type":"model_output","text":"Your refund has been processed."}]})";
  EXPECT_EQ(host.post("/v1/ingest/events", key, events).status, 202);
  EXPECT_EQ(listed(*hosts_[0], key, "failures", "runId").size(), 2u);
  EXPECT_EQ(host.request(get_request("/readyz")).status, 200);
  EXPECT_EQ(host.cli({"migrate"}).exit_code, 0);
  EXPECT_GT(metric(host, "runwarden_store_used_bytes"), 0);

  auto connection = server_->admin("runwarden");
  EXPECT_EQ(connection.query("SELECT count(*) FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.usename = 'runwarden' AND NOT s.ssl").number(0, 0), 0);
  EXPECT_GT(connection.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'runwarden'").number(0, 0), 4);
  EXPECT_GT(connection.query("SELECT count(*) FROM pg_class WHERE relname LIKE 'run\\_d%' AND relkind = 'r' AND pg_get_userbyid(relowner) = 'runwarden'").number(0, 0), 3)
      << "the partitions of the next days";
  EXPECT_FALSE(connection.query("SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls FROM pg_roles WHERE rolname = 'runwarden'").boolean(0, 0));
  EXPECT_FALSE(connection.query("SELECT has_database_privilege('runwarden', 'runwarden', 'CREATE')").boolean(0, 0));
}

TEST_F(PackagedRole, WhoDoesNotProveItself_IsRefusedWithWhatToDo) {
  const Certificates others{"another authority", "db.test"};
  const std::string wrong = folder_.write("wrong.password", "another one\n");
  ::chmod(wrong.c_str(), 0600);
  struct Case {
    std::string store;
    std::string told;
  };
  const Case cases[] = {
      {"dsn: \"" + place("db.test", others.authority()) + "\", " + password(), "sslrootcert="},
      {"dsn: \"" + place("other.test", certificates_.authority()) + "\", " + password(), "hostaddr="},
      {"dsn: \"" + dsn() + "\", password_file: " + wrong, "password authentication failed"},
      {"dsn: \"" + dsn() + "\"", "no password"},
  };
  const TempFolder folder;
  for (const Case& one : cases) {
    for (const char* command : {"check", "serve"}) {
      const CommandResult result = with_config(folder, command, one.store);
      EXPECT_EQ(result.exit_code, 1) << command << one.store;
      EXPECT_THAT(result.err, HasSubstr(one.told)) << command;
      EXPECT_THAT(result.err, HasSubstr("store.dsn")) << command;
    }
  }
  ::chmod(password_file_.c_str(), 0644);
  for (const char* command : {"check", "serve"}) {
    const CommandResult result = with_config(folder, command, "dsn: \"" + dsn() + "\", " + password());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("chmod 0600"));
  }
}

// pgbouncer in transaction mode: no session of the server belongs to a connection.
class Pooler {
 public:
  // Where it is; empty: it is not installed.
  static std::string program() {
    const char* const given = std::getenv("RUNWARDEN_TEST_PGBOUNCER");
    if (given != nullptr) return given;
    return std::filesystem::exists("/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : "";
  }
  // Versions before 1.21 know nothing of prepared statements.
  static bool keeps_statements() {
    const std::string said = run_command({program(), "--version"}).out;
    const auto at = said.find(' ');
    const int major = std::atoi(said.c_str() + at + 1);
    const int minor = std::atoi(said.c_str() + said.find('.', at) + 1);
    return major > 1 || minor >= 21;
  }

  Pooler(const PostgresServer& server, const std::string& database) {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
    const std::string at = folder_.path();
    const std::string config = folder_.write(
        "pgbouncer.ini", "[databases]\n" + database + " = " + server.dsn(database) + "\n[pgbouncer]\nunix_socket_dir = " + at + "\nlisten_port = 6432\nlisten_addr =\n" +
                             "auth_type = any\npool_mode = transaction\ndefault_pool_size = 10\nmax_client_conn = 200\nlogfile = " + at + "/log\n" +
                             (keeps_statements() ? "max_prepared_statements = 200\n" : ""));
    const std::string to_run = program();
    pid_ = ::fork();
    if (pid_ == 0) {
      const int nothing = ::open("/dev/null", O_RDWR);
      for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
      if (::geteuid() == 0) ::execl("/usr/bin/setpriv", "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--", to_run.c_str(), config.c_str(), nullptr);
      ::execl(to_run.c_str(), to_run.c_str(), config.c_str(), nullptr);
      ::_exit(127);
    }
    const auto until = SteadyClock::now() + std::chrono::seconds(10);
    while (!std::filesystem::exists(folder_.path() / ".s.PGSQL.6432")) {
      if (SteadyClock::now() > until) throw std::runtime_error("pgbouncer does not start: " + at);
      ::poll(nullptr, 0, 10);
    }
  }
  ~Pooler() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Pooler(const Pooler&) = delete;
  Pooler& operator=(const Pooler&) = delete;

  std::string dsn(const std::string& database) const { return "host=" + folder_.path().string() + " port=6432 user=runwarden dbname=" + database; }

 private:
  TempFolder folder_;
  pid_t pid_ = -1;
};

class BehindAPooler : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    if (IsSkipped()) return;
    if (Pooler::program().empty()) GTEST_SKIP() << "no pgbouncer is installed: apt-get install pgbouncer";
    pooler_ = std::make_unique<Pooler>(server(), database_);
  }
  void TearDown() override {
    hosts_.clear();
    pooler_.reset();
    Hosts::TearDown();
  }
  std::string dsn() const override { return pooler_->dsn(database_); }
  ServiceProcess& add_pooled() { return add_host(options(std::string("prepared: ") + (Pooler::keeps_statements() ? "true" : "false"))); }

  std::unique_ptr<Pooler> pooler_;
};

TEST_F(BehindAPooler, HostsKilledAndConnectionsCut_LoseNothingAndDoubleNothing) {
  add_pooled();
  add_pooled();
  const std::string key = hosts_[0]->make_key();
  Load load;
  begin(load, key);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(load.wait_for(load.size() + 50));
    server().cut_connections(database_);
    ASSERT_TRUE(load.wait_for(load.size() + 50));
    ServiceProcess& host = *hosts_[static_cast<std::size_t>(round) % 2];
    host.kill_hard();
    ASSERT_TRUE(load.wait_for(load.size() + 25));
    host.start();
  }
  load.end();
  expect_each_once(*hosts_[1], key, load);
}

TEST_F(BehindAPooler, RunsEventsKeysAndPolicies_AreSharedByHosts) {
  ServiceProcess& a = add_pooled();
  ServiceProcess& b = add_pooled();
  const std::string key = a.make_key();
  ASSERT_EQ(a.post("/v1/ingest/runs", key, failing_run("whole")).status, 201);
  EXPECT_EQ(b.get("/v1/runs/whole", key).body, a.get("/v1/runs/whole", key).body);
  const std::vector<std::string> events = {R"({"type":"tool_call","name":"issue_refund","status":"failed","error":"502 Bad Gateway"})",
                                           R"({"type":"model_output","text":"Your refund has been processed."})", R"({"type":"run_finished","success":true})"};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const HttpAnswer answer = hosts_[i % 2]->post("/v1/ingest/events", key, R"({"runId":"walks","events":[)" + events[i] + "]}");
    ASSERT_THAT(answer.status, testing::AnyOf(200, 201, 202)) << answer.body;
  }
  EXPECT_EQ(listed(b, key, "failures", "runId"), (std::map<std::string, int>{{"walks", 1}, {"whole", 1}}));
  EXPECT_EQ(a.cli({"migrate", "--status"}).exit_code, 0);
  const json keys = json::parse(a.cli({"keys", "list", "--json"}).out);
  ASSERT_EQ(a.cli({"keys", "revoke", keys[0]["id"].get<std::string>()}).exit_code, 0);
  EXPECT_TRUE(comes_true([&] { return b.get("/v1/runs", key).status == 401; }, std::chrono::seconds(1)));
}

}  // namespace
}  // namespace runwarden::test
