// A PostgreSQL of a test program's own: Debian's server in a temporary folder, reached by a socket there, run by a user without rights.
// It lives as long as the program; each test takes a fresh database of it. Tests of failures have servers of their own, with standbys.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "support/temp_folder.h"

namespace runwarden::test {

class PostgresServer {
 public:
  // Where Debian's package puts the server's programs; empty: it is not installed.
  static std::filesystem::path programs() {
    std::filesystem::path newest;
    std::error_code fault;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", fault)) {
      const auto bin = version.path() / "bin";
      if (std::filesystem::exists(bin / "initdb") && bin > newest) newest = bin;
    }
    return newest;
  }
  static bool installed() { return !programs().empty(); }

  // The server of this program, started when it is first asked for.
  static PostgresServer& shared() {
    static PostgresServer server;
    return server;
  }

  // In memory where there is room for it: a database is made in half the time there. No test takes the machine's power away.
  static std::filesystem::path in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code fault;
    const auto room = std::filesystem::space(memory, fault);
    return !fault && room.available > (std::uintmax_t{2} << 30) ? memory : std::filesystem::temp_directory_path();
  }
  struct Options {
    std::string superuser = "runwarden";
    std::string settings = {};  // further lines of postgresql.conf
    std::string hba = {};       // pg_hba.conf; empty: everybody who reaches the socket is let in
    int port = 5432;            // also in the socket's name
    std::filesystem::path place = in_memory();  // where its folder is made
    std::vector<std::pair<std::string, std::string>> files = {};  // in its data folder: names and contents
  };
  PostgresServer() : PostgresServer(Options{}) {}
  explicit PostgresServer(const Options& options) : folder_(options.place), bin_(programs()), superuser_(options.superuser), port_(options.port) {
    if (bin_.empty()) throw std::runtime_error("no PostgreSQL is installed: apt-get install postgresql-15");
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
    run("'" + (bin_ / "initdb").string() + "' -D '" + data().string() + "' -U " + superuser_ + " -A trust -E UTF8 --locale=C.UTF-8 >/dev/null");
    for (const auto& [name, text] : options.files) give(name, text);
    if (!options.hba.empty()) give("pg_hba.conf", options.hba);
    write_settings("listen_addresses = ''\nmax_connections = 200\nshared_buffers = 64MB\nlog_min_messages = fatal\nautovacuum = off\nmax_wal_size = 256MB\n" + options.settings);
    start();
  }
  // A standby of another server, which streams from it under that name.
  PostgresServer(const PostgresServer& primary, const std::string& name) : folder_(in_memory()), bin_(programs()) {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
    make_standby_of(primary, name);
  }
  ~PostgresServer() {
    if (running_) stop("immediate");
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start() {
    run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -l '" + (folder_.path() / "log").string() + "' -w start >/dev/null");
    running_ = true;
  }
  // "fast" or "immediate": the latter as if the machine had failed.
  void stop(const char* mode) {
    run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -m " + mode + " -w stop >/dev/null");
    running_ = false;
  }

  // Whatever this one held before; it has to be stopped. It waits for no standby of its own once it is promoted.
  void make_standby_of(const PostgresServer& primary, const std::string& name) {
    std::filesystem::remove_all(data());
    run("'" + (bin_ / "pg_basebackup").string() + "' -h '" + primary.folder().string() + "' -U runwarden -D '" + data().string() + "' -R -X stream -c fast");
    write_settings("primary_conninfo = 'host=" + primary.folder().string() + " user=runwarden application_name=" + name + "'\nsynchronous_standby_names = ''\n");
    start();
  }
  // From then on a standby takes writes.
  void promote() { run("'" + (bin_ / "pg_ctl").string() + "' -D '" + data().string() + "' -w promote >/dev/null"); }
  // A setting of postgresql.conf that needs no restart.
  void set(const std::string& name, const std::string& value) {
    admin().script("ALTER SYSTEM SET " + name + " = '" + value + "'");
    admin().query("SELECT pg_reload_conf()");
  }
  // Whether a condition in SQL holds within the time.
  bool comes_true(const std::string& condition, std::chrono::milliseconds within = std::chrono::seconds(20)) {
    const auto until = std::chrono::steady_clock::now() + within;
    store::postgres::Connection connection = admin();
    while (!connection.query("SELECT " + condition).boolean(0, 0)) {
      if (std::chrono::steady_clock::now() > until) return false;
      ::poll(nullptr, 0, 20);
    }
    return true;
  }

  // libpq's words for a database of this server.
  std::string dsn(const std::string& database) const {
    const std::string port = port_ == 5432 ? std::string() : " port=" + std::to_string(port_);
    return "host=" + folder_.path().string() + port + " user=" + superuser_ + " dbname=" + database;
  }
  // The folder of its socket and logs; "host" in libpq's words.
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path socket() const { return folder_.path() / (".s.PGSQL." + std::to_string(port_)); }
  // A new, empty database; its name.
  std::string make_database() {
    static std::atomic<int> made{0};
    const std::string name = "t" + std::to_string(++made);
    admin().script("CREATE DATABASE " + name);
    return name;
  }
  void drop_database(const std::string& name) { admin().script("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); }
  // Ends every connection to it, as pg_terminate_backend() does.
  void cut_connections(const std::string& name) {
    admin().query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "' AND pid <> pg_backend_pid()");
  }

  // As its superuser.
  store::postgres::Connection admin(const std::string& database = "postgres") const {
    store::postgres::ConnectSettings settings;
    settings.dsn = dsn(database);
    return store::postgres::Connection(settings);
  }

 private:
  std::filesystem::path data() const { return folder_.path() / "data"; }
  void write_settings(const std::string& lines) const {
    std::ofstream(data() / "postgresql.auto.conf", std::ios::app) << lines << "unix_socket_directories = '" << folder_.path().string() << "'\nport = " << port_ << "\n";
  }
  // A file in its data folder that is the server's own.
  void give(const std::string& name, const std::string& text) const {
    std::ofstream(data() / name, std::ios::binary) << text;
    std::filesystem::permissions(data() / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    struct stat owner {};
    const bool given = ::stat(data().c_str(), &owner) == 0 && ::chown((data() / name).c_str(), owner.st_uid, owner.st_gid) == 0;
    if (!given) throw std::runtime_error("the server cannot own " + name);
  }
  // The server refuses to be run by root.
  static void run(const std::string& command) {
    const std::string as_user = ::geteuid() == 0 ? "cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups -- sh -c \"" + command + "\"" : command;
    if (std::system(as_user.c_str()) != 0) throw std::runtime_error("failed: " + as_user);
  }

  TempFolder folder_;
  std::filesystem::path bin_;
  std::string superuser_ = "runwarden";
  int port_ = 5432;
  bool running_ = false;
};

}  // namespace runwarden::test
