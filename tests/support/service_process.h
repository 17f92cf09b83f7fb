// The real binary, started on a folder of its own and a free port, spoken to over real HTTP. Ends what it started, and only that.
// One owner, one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/temp_folder.h"

namespace runwarden::test {

// What a command said before it ended.
struct CommandResult {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out;
  std::string err;
};

// Runs a program to its end, at most `timeout_s`; then it is killed.
CommandResult run_command(const std::vector<std::string>& argv, const std::string& input = {}, int timeout_s = 60);

// The program under test and where its detectors stand, as CMake built them.
std::string runwarden_binary();
std::string plugin_folder();

class ServiceProcess {
 public:
  struct Options {
    std::string yaml;    // further sections, or further members of the ones given here: see config_text()
    std::string server;  // further members of `server:`
    std::string limits = "{}";
    std::string store;   // further members of `store:`
    std::string binary;  // empty: runwarden_binary()
    std::vector<std::pair<std::string, std::string>> environment;
    std::uint64_t max_files = 0;  // as `ulimit -n`; 0: as this process
  };

  ServiceProcess();
  explicit ServiceProcess(Options options);
  ~ServiceProcess();  // SIGKILL if it still runs
  ServiceProcess(const ServiceProcess&) = delete;
  ServiceProcess& operator=(const ServiceProcess&) = delete;

  void start(const std::vector<std::string>& more_arguments = {});  // and waits until it listens; throws with its log if it does not
  void kill_hard();
  int stop();                            // SIGTERM; its exit code
  int wait_for_end(int timeout_s = 30);  // of its own accord; its exit code, 128 + signal when one ended it, -1: it goes on
  void signal(int number);
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

  std::uint16_t port() const { return port_; }
  std::filesystem::path folder() const { return folder_.path(); }
  std::string config_path() const;
  std::string log_text() const;  // what it has written so far
  bool wait_for_log(const std::string& text, int timeout_ms = 5000) const;

  // `runwarden keys create` beside the service.
  std::string make_key(const std::string& tenant = "acme", const std::string& scopes = "ingest,read");
  CommandResult cli(std::vector<std::string> arguments, const std::string& input = {}) const;

  // One request on a connection of its own; status 0 when there was no answer.
  HttpAnswer request(const std::string& bytes) const;
  HttpAnswer post(const std::string& path, const std::string& key, const std::string& body, const std::string& fields = {}) const;
  HttpAnswer get(const std::string& path, const std::string& key) const;

 private:
  std::string config_text() const;

  Options options_;
  TempFolder folder_;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace runwarden::test
