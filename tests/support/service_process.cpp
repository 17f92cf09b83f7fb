#include "support/service_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "support/files.h"

extern char** environ;

namespace runwarden::test {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void close_all_but_standard() {
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
}

// A database of the server that on_postgres started, as members of `store:`; empty: records are kept in a folder.
std::string fresh_database() {
  const char* const server = std::getenv("ON_POSTGRES_SERVER");
  const char* const programs = std::getenv("ON_POSTGRES_PROGRAMS");
  if (server == nullptr || programs == nullptr) return {};
  static int made = 0;
  const std::string name = "s" + std::to_string(::getpid()) + "_" + std::to_string(++made);
  const CommandResult result = run_command({std::string(programs) + "/createdb", "-h", server, "-U", "runwarden", name});
  if (result.exit_code != 0) throw std::runtime_error("createdb: " + result.err);
  return std::string("driver: postgres, write_connections: 2, read_connections: 4, dsn: \"host=") + server + " user=runwarden dbname=" + name + "\"";
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, const std::string& input, int timeout_s) {
  const TempFolder folder;
  const std::string in = folder.path() / "in";
  const std::string out = folder.path() / "out";
  const std::string err = folder.path() / "err";
  std::ofstream(in, std::ios::binary) << input;
  std::vector<std::string> arguments = argv;
  std::vector<char*> raw = pointers(arguments);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(::open(in.c_str(), O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    close_all_but_standard();
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  CommandResult result;
  const auto end = Clock::now() + std::chrono::seconds(timeout_s);
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > end) ::kill(pid, SIGKILL);
    ::poll(nullptr, 0, 5);
  }
  result.exit_code = exit_code_of(status);
  result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

std::string runwarden_binary() {
  return RUNWARDEN_TEST_BINARY;
}
std::string plugin_folder() {
  return RUNWARDEN_TEST_PLUGINS;
}

ServiceProcess::ServiceProcess() : ServiceProcess(Options{}) {}

ServiceProcess::ServiceProcess(Options options) : options_(std::move(options)) {
  if (options_.store.find("driver:") == std::string::npos) {
    const std::string database = fresh_database();
    if (!database.empty()) options_.store += (options_.store.empty() ? "" : ", ") + database;
  }
  start();
}

ServiceProcess::~ServiceProcess() {
  kill_hard();
}

std::string ServiceProcess::config_path() const {
  return folder() / "runwarden.yaml";
}

std::string ServiceProcess::config_text() const {
  const auto more = [](const std::string& members) { return members.empty() ? std::string() : ", " + members; };
  std::string text = "server: {address: \"127.0.0.1:0\"" + more(options_.server) + "}\n";
  text += "limits: " + options_.limits + "\n";
  text += "store: {path: data" + more(options_.store) + "}\n";
  if (options_.yaml.find("detectors:") == std::string::npos) {
    text += "detectors:\n  deadline: 10s\n  search_path: [\"" + plugin_folder() + "\"]\n  include: []\n  enabled:\n";
    for (const char* key : {"false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow"}) {
      text += std::string("    - {key: ") + key + ", library: " + key + ".so}\n";
    }
  }
  return text + options_.yaml;
}

void ServiceProcess::start(const std::vector<std::string>& more_arguments) {
  std::ofstream(config_path()) << config_text();
  const std::string log = folder() / "log";
  std::ofstream(log, std::ios::trunc).close();
  std::vector<std::string> arguments{options_.binary.empty() ? runwarden_binary() : options_.binary, "serve", "--config", config_path()};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  std::vector<char*> raw = pointers(arguments);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    const int fd = ::open(log.c_str(), O_WRONLY | O_APPEND);
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    close_all_but_standard();
    if (options_.max_files > 0) {
      const rlimit files{options_.max_files, options_.max_files};
      ::setrlimit(RLIMIT_NOFILE, &files);
    }
    for (const auto& [name, value] : options_.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  if (!wait_for_log("\"listening\"", 30'000)) {
    const std::string said = log_text();
    kill_hard();
    throw std::runtime_error("the service did not start: " + said);
  }
  const std::string text = log_text();
  const auto at = text.find("\"port\":", text.find("\"listening\""));
  port_ = static_cast<std::uint16_t>(std::strtoul(text.c_str() + at + 7, nullptr, 10));
}

std::string ServiceProcess::log_text() const {
  return read_file(folder() / "log");
}

bool ServiceProcess::wait_for_log(const std::string& text, int timeout_ms) const {
  const auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (Clock::now() < end) {
    if (log_text().find(text) != std::string::npos) return true;
    siginfo_t ended{};
    if (pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
      return log_text().find(text) != std::string::npos;
    }
    ::poll(nullptr, 0, 5);
  }
  return false;
}

void ServiceProcess::kill_hard() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ServiceProcess::signal(int number) {
  ::kill(pid_, number);
}

int ServiceProcess::stop() {
  ::kill(pid_, SIGTERM);
  const int code = wait_for_end();
  if (code == -1) kill_hard();
  return code;
}

int ServiceProcess::wait_for_end(int timeout_s) {
  const auto end = Clock::now() + std::chrono::seconds(timeout_s);
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > end) return -1;
    ::poll(nullptr, 0, 5);
  }
  pid_ = -1;
  return exit_code_of(status);
}

CommandResult ServiceProcess::cli(std::vector<std::string> arguments, const std::string& input) const {
  arguments.insert(arguments.begin(), runwarden_binary());
  arguments.insert(arguments.end(), {"--config", config_path()});
  return run_command(arguments, input);
}

std::string ServiceProcess::make_key(const std::string& tenant, const std::string& scopes) {
  CommandResult made = cli({"keys", "create", "--tenant", tenant, "--scopes", scopes});
  if (made.exit_code != 0) throw std::runtime_error("keys create: " + made.err);
  while (!made.out.empty() && made.out.back() == '\n') made.out.pop_back();
  return made.out;
}

HttpAnswer ServiceProcess::request(const std::string& bytes) const {
  HttpClient client = HttpClient::to(port_);
  if (!client.connected() || !client.send(bytes)) return {};
  return client.answer(bytes.starts_with("HEAD ")).value_or(HttpAnswer{});
}

HttpAnswer ServiceProcess::post(const std::string& path, const std::string& key, const std::string& body, const std::string& fields) const {
  return request(post_request(path, body, "Authorization: Bearer " + key + "\r\n" + fields));
}

HttpAnswer ServiceProcess::get(const std::string& path, const std::string& key) const {
  return request(get_request(path, "Authorization: Bearer " + key + "\r\n"));
}

}  // namespace runwarden::test
