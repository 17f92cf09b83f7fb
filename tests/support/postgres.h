// A PostgreSQL of a test program's own: Debian's server in a temporary folder, reached by a socket there, run by a user without rights.
// It lives as long as the program; each test takes a fresh database of it. Tests of failures have servers of their own, with standbys.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "support/temp_folder.h"

namespace runwarden::test {

class PostgresServer {
 public:
  // Where Debian's package puts the server's programs; empty: it is not installed.
  static std::filesystem::path programs();
  static bool installed() { return !programs().empty(); }

  // The server of this program, started when it is first asked for.
  static PostgresServer& shared();

  // In memory where there is room for it: a database is made in half the time there. No test takes the machine's power away.
  static std::filesystem::path in_memory();
  struct Options {
    std::string superuser = "runwarden";
    std::string settings = {};  // further lines of postgresql.conf
    std::string hba = {};       // pg_hba.conf; empty: everybody who reaches the socket is let in
    int port = 5432;            // also in the socket's name
    std::filesystem::path place = in_memory();  // where its folder is made
    std::vector<std::pair<std::string, std::string>> files = {};  // in its data folder: names and contents
  };
  PostgresServer() : PostgresServer(Options{}) {}
  explicit PostgresServer(const Options& options);
  // A standby of another server, which streams from it under that name.
  PostgresServer(const PostgresServer& primary, const std::string& name);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();
  // "fast" or "immediate": the latter as if the machine had failed.
  void stop(const char* mode);
  // Stops all its processes where they are, as if its machine stood still: connections stay open and get no answers.
  void freeze();
  void thaw();

  // Whatever this one held before; it has to be stopped. It waits for no standby of its own once it is promoted.
  void make_standby_of(const PostgresServer& primary, const std::string& name);
  // From then on a standby takes writes.
  void promote();
  // A setting of postgresql.conf that needs no restart.
  void set(const std::string& name, const std::string& value);
  // Whether a condition in SQL holds within the time.
  bool comes_true(const std::string& condition, std::chrono::milliseconds within = std::chrono::seconds(20));

  // libpq's words for a database of this server.
  std::string dsn(const std::string& database) const;
  // The folder of its socket and logs; "host" in libpq's words.
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path socket() const { return folder_.path() / (".s.PGSQL." + std::to_string(port_)); }
  // A new, empty database; its name.
  std::string make_database();
  void drop_database(const std::string& name);
  // Ends every connection to it, as pg_terminate_backend() does.
  void cut_connections(const std::string& name);

  // As its superuser.
  store::postgres::Connection admin(const std::string& database = "postgres") const;

 private:
  std::filesystem::path data() const { return folder_.path() / "data"; }
  void write_settings(const std::string& lines) const;
  // A file in its data folder that is the server's own.
  void give(const std::string& name, const std::string& text) const;
  // To its main process first, which makes the others.
  void send_to_all(int signal) const;
  // The server refuses to be run by root.
  static void run(const std::string& command);

  TempFolder folder_;
  std::filesystem::path bin_;
  std::string superuser_ = "runwarden";
  int port_ = 5432;
  bool running_ = false;
  bool frozen_ = false;
};

}  // namespace runwarden::test
