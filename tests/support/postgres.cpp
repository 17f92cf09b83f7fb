#include "support/postgres.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace runwarden::test {

std::filesystem::path PostgresServer::programs() {
  std::filesystem::path newest;
  std::error_code fault;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", fault)) {
    const auto bin = version.path() / "bin";
    if (std::filesystem::exists(bin / "initdb") && bin > newest) newest = bin;
  }
  return newest;
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

std::filesystem::path PostgresServer::in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code fault;
  const auto room = std::filesystem::space(memory, fault);
  return !fault && room.available > (std::uintmax_t{2} << 30) ? memory : std::filesystem::temp_directory_path();
}

PostgresServer::PostgresServer(const Options& options)
    : folder_(options.place), bin_(programs()), superuser_(options.superuser), port_(options.port) {
  if (bin_.empty()) throw std::runtime_error("no PostgreSQL is installed: apt-get install postgresql-15");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  run("'" + (bin_ / "initdb").string() + "' -D '" + data().string() + "' -U " + superuser_ +
      " -A trust -E UTF8 --locale=C.UTF-8 >/dev/null");
  for (const auto& [name, text] : options.files) give(name, text);
  if (!options.hba.empty()) give("pg_hba.conf", options.hba);
  write_settings(
      "listen_addresses = ''\nmax_connections = 200\nshared_buffers = 64MB\nlog_min_messages = fatal\nautovacuum = off\nmax_wal_size = "
      "256MB\n" +
      options.settings);
  start();
}

PostgresServer::PostgresServer(const PostgresServer& primary, const std::string& name) : folder_(in_memory()), bin_(programs()) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  make_standby_of(primary, name);
}

PostgresServer::~PostgresServer() {
  if (frozen_) thaw();
  if (running_) stop("immediate");
}

void PostgresServer::start() {
  run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -l '" + (folder_.path() / "log").string() +
      "' -w start >/dev/null");
  running_ = true;
}

void PostgresServer::stop(const char* mode) {
  run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -m " + mode + " -w stop >/dev/null");
  running_ = false;
}

void PostgresServer::freeze() {
  send_to_all(SIGSTOP);
  frozen_ = true;
}

void PostgresServer::thaw() {
  send_to_all(SIGCONT);
  frozen_ = false;
}

void PostgresServer::send_to_all(int signal) const {
  pid_t main = 0;
  std::ifstream(data() / "postmaster.pid") >> main;
  if (main <= 0 || ::kill(main, signal) != 0) throw std::runtime_error("the server's main process cannot be signaled");
  const std::string name = std::to_string(main);
  std::ifstream children("/proc/" + name + "/task/" + name + "/children");
  for (pid_t child = 0; children >> child;) ::kill(child, signal);
}

void PostgresServer::make_standby_of(const PostgresServer& primary, const std::string& name) {
  std::filesystem::remove_all(data());
  run("'" + (bin_ / "pg_basebackup").string() + "' -h '" + primary.folder().string() + "' -U runwarden -D '" + data().string() +
      "' -R -X stream -c fast");
  write_settings("primary_conninfo = 'host=" + primary.folder().string() + " user=runwarden application_name=" + name +
                 "'\nsynchronous_standby_names = ''\n");
  start();
}

void PostgresServer::promote() {
  run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -w promote >/dev/null");
}

void PostgresServer::set(const std::string& name, const std::string& value) {
  admin().script("ALTER SYSTEM SET " + name + " = '" + value + "'");
  admin().query("SELECT pg_reload_conf()");
}

bool PostgresServer::comes_true(const std::string& condition, std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  store::postgres::Connection connection = admin();
  while (!connection.query("SELECT " + condition).boolean(0, 0)) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 20);
  }
  return true;
}

std::string PostgresServer::dsn(const std::string& database) const {
  const std::string port = port_ == 5432 ? std::string() : " port=" + std::to_string(port_);
  return "host=" + folder_.path().string() + port + " user=" + superuser_ + " dbname=" + database;
}

std::string PostgresServer::make_database() {
  static std::atomic<int> made{0};
  const std::string name = "t" + std::to_string(++made);
  admin().script("CREATE DATABASE " + name);
  return name;
}

void PostgresServer::drop_database(const std::string& name) {
  admin().script("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
}

void PostgresServer::cut_connections(const std::string& name) {
  admin().query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "' AND pid <> pg_backend_pid()");
}

store::postgres::Connection PostgresServer::admin(const std::string& database) const {
  store::postgres::ConnectSettings settings;
  settings.dsn = dsn(database);
  return store::postgres::Connection(settings);
}

void PostgresServer::write_settings(const std::string& lines) const {
  std::ofstream(data() / "postgresql.auto.conf", std::ios::app)
      << lines << "unix_socket_directories = '" << folder_.path().string() << "'\nport = " << port_ << "\n";
}

void PostgresServer::give(const std::string& name, const std::string& text) const {
  std::ofstream(data() / name, std::ios::binary) << text;
  std::filesystem::permissions(data() / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  struct stat owner {};
  const bool given = ::stat(data().c_str(), &owner) == 0 && ::chown((data() / name).c_str(), owner.st_uid, owner.st_gid) == 0;
  if (!given) throw std::runtime_error("the server cannot own " + name);
}

void PostgresServer::run(const std::string& command) {
  const std::string as_user =
      ::geteuid() == 0 ? "cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- sh -c \"" + command + "\"" : command;
  if (std::system(as_user.c_str()) != 0) throw std::runtime_error("failed: " + as_user);
}

}  // namespace runwarden::test
