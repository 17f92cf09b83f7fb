#include "conformance/process_state.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

namespace runwarden::conformance {
namespace {

// Counts forked processes that end with exit, which runs this program's handlers, writes its buffers again and removes its files. In memory
// that they share.
class ExitWatch {
 public:
  static int count() {
    static const bool installed = begin();
    return installed ? exits->load() : 0;
  }

 private:
  static bool begin() {
    void* const memory = ::mmap(nullptr, sizeof *exits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    exits = new (memory) std::atomic<int>(0);
    owner = ::getpid();
    return std::atexit([] {
             if (::getpid() != owner) exits->fetch_add(1);
           }) == 0;
  }

  inline static std::atomic<int>* exits = nullptr;
  inline static pid_t owner = 0;
};

// Reading it with umask() would change it for the threads of a detector.
std::string umask_line() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("Umask:")) return line;
  }
  return {};
}

std::string current_locale() {
  const char* const name = std::setlocale(LC_ALL, nullptr);
  return name == nullptr ? "" : name;
}

bool same_action(const struct sigaction& a, const struct sigaction& b) {
  const bool with_info = (a.sa_flags & SA_SIGINFO) != 0;
  if (with_info != ((b.sa_flags & SA_SIGINFO) != 0)) return false;
  return with_info ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

}  // namespace

ProcessState::ProcessState() : locale_(current_locale()), umask_(umask_line()), exited_children_(ExitWatch::count()) {
  std::error_code gone;
  folder_ = std::filesystem::current_path(gone);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &actions_[i]);
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    struct stat file {};
    const bool open = ::fstat(descriptor, &file) == 0;
    standard_files_[static_cast<std::size_t>(descriptor)] =
        open ? FileId(static_cast<long long>(file.st_dev), static_cast<long long>(file.st_ino)) : FileId(-1, -1);
  }
}

std::string ProcessState::changed_since(const ProcessState& before) const {
  if (locale_ != before.locale_)
    return "the process's locale was \"" + before.locale_ + "\" and is \"" + locale_ +
           "\"; use newlocale and uselocale in place of setlocale";
  if (umask_ != before.umask_) return "the process's umask was changed; use fchmod on the file";
  if (folder_ != before.folder_)
    return "the process's folder was \"" + before.folder_.string() + "\" and is \"" + folder_.string() + "\"; use absolute paths";
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (!same_action(actions_[i], before.actions_[i]))
      return std::string("the handler of SIG") + sigabbrev_np(kSignals[i]) + " was replaced; signals are the host's";
  }
  for (std::size_t i = 0; i < standard_files_.size(); ++i) {
    if (standard_files_[i] != before.standard_files_[i])
      return "descriptor " + std::to_string(i) + " was closed or replaced; the standard descriptors are the host's";
  }
  if (exited_children_ != before.exited_children_) return "a process that it forked called exit; end it with _exit";
  return {};
}

}  // namespace runwarden::conformance
