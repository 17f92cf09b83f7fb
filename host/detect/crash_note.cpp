#include "detect/crash_note.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "detect/crash_context.h"

namespace runwarden::detect {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::string_view kMagic = "rwcrash1";
constexpr std::size_t kStackBytes = 64 * 1024;

// A text in a note. Text that does not fit is truncated and then matches nothing.
template <std::size_t kSize>
struct Field {
  std::uint32_t length = 0;
  std::array<char, kSize> bytes{};

  void put(std::string_view text) {
    length = static_cast<std::uint32_t>(std::min(text.size(), kSize));
    for (std::size_t i = 0; i < length; ++i) bytes[i] = text[i];
  }
  std::string get() const { return {bytes.data(), std::min<std::size_t>(length, kSize)}; }
};

struct Note {
  std::array<char, 8> magic{};
  std::int64_t wall_ms = 0;
  std::int32_t signal = 0;
  model::Digest content{};
  Field<256> tenant, run_id;
  Field<128> detector_key, library_sha256;
  Field<2048> library;
};
static_assert(std::is_trivially_copyable_v<Note> && sizeof(Note) < 4096);

// What the handlers do: async-signal-safe. Null: none are installed.
using Report = void (*)(const CrashContext& context, int signal);
std::atomic<Report> report{nullptr};

std::atomic<int> note_fd{-1};
std::atomic<bool> written{false};
Note page;  // static, because the stack may be what is broken
struct sigaction previous[NSIG];
thread_local const CrashContext* current_context = nullptr;
thread_local CodeObserver* observer = nullptr;

// A line of text, truncated if it is too long.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (const char c : text.substr(0, bytes_.size() - 1 - length_)) bytes_[length_++] = static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return *this;
  }
  void write() {
    bytes_[length_++] = '\n';
    [[maybe_unused]] const auto wrote = ::write(STDERR_FILENO, bytes_.data(), length_);
  }

 private:
  std::array<char, 4096> bytes_;
  std::size_t length_ = 0;
};
Line line;  // static like the page

// Everything from here to the end of on_signal is async-signal-safe.

// Ends the process at once. ThreadSanitizer's _exit() waits for a second, in which the other threads would go on without the call.
[[noreturn]] void leave() {
  for (;;) ::syscall(SYS_exit_group, EXIT_FAILURE);
}

void write_line(const CrashContext& context, int signal) {
  const bool loading = context.code == DetectorCode::load;
  const char* const name = sigabbrev_np(signal);
  line << "runwarden: ";
  if (!loading) line << "detector \"" << context.detector_key << "\" (";
  line << context.library << (loading ? "" : ")");
  signal == 0 ? line << " ended the process" : line << " crashed the process (SIG" << (name == nullptr ? "?" : name) << ")";
  switch (context.code) {
    case DetectorCode::load: line << " while it was loaded"; break;
    case DetectorCode::create: line << " while it was created"; break;
    case DetectorCode::destroy: line << " while it was destroyed"; break;
    case DetectorCode::evaluate:
      line << " while it evaluated the run \"" << (context.run_id.empty() ? context.origin : context.run_id) << "\"";
      break;
  }
  line.write();
}

void write_message(const CrashContext& context, int signal) {
  if (written.exchange(true)) return;
  write_line(context, signal);
  leave();
}

void write_note(const CrashContext& context, int signal) {
  if (written.exchange(true)) return;
  if (context.code != DetectorCode::evaluate) return write_line(context, signal);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  for (std::size_t i = 0; i < kMagic.size(); ++i) page.magic[i] = kMagic[i];
  page.wall_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  page.signal = signal;
  if (context.content != nullptr) page.content = *context.content;
  page.tenant.put(context.tenant);
  page.run_id.put(context.run_id);
  page.detector_key.put(context.detector_key);
  page.library_sha256.put(context.library_sha256);
  page.library.put(context.library);
  [[maybe_unused]] const auto wrote = ::pwrite(note_fd.load(std::memory_order_acquire), &page, sizeof page, 0);
}

void on_signal(int number, siginfo_t* info, void* context) {
  const bool own_fault = info->si_code > 0 || info->si_pid == ::getpid();  // not sent by another process
  if (current_context != nullptr && own_fault) report.load(std::memory_order_acquire)(*current_context, number);
  // The store's handler may recover from the fault, so keep this handler installed.
  if (current_context == nullptr && (previous[number].sa_flags & SA_SIGINFO) != 0)
    return previous[number].sa_sigaction(number, info, context);
  ::sigaction(number, &previous[number], nullptr);
  // A fault recurs when the handler returns. A signal that was sent, a breakpoint and a forbidden system call do not, so send it again.
  if (info->si_code <= 0 || number == SIGTRAP || number == SIGSYS) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), number);
}

void on_exit() {
  if (current_context == nullptr) return;
  report.load(std::memory_order_acquire)(*current_context, 0);
  leave();  // other threads are still running: destroy nothing they use
}

void install(Report what) {
  report.store(what, std::memory_order_release);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) ::sigaction(number, &action, &previous[number]);
  std::atexit(on_exit);
  std::at_quick_exit(on_exit);
}

// An alternate signal stack for this thread, in case its own overflows. Keeps one that exists already (a sanitizer's).
class HandlerStack {
 public:
  HandlerStack() {
    stack_t current{};
    if (::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
    void* memory = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t mine{};
    mine.ss_sp = memory;
    mine.ss_size = kStackBytes;
    if (::sigaltstack(&mine, nullptr) == 0) {
      memory_ = memory;
    } else {
      ::munmap(memory, kStackBytes);
    }
  }
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, kStackBytes);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace

void observe_code(CodeObserver* one) {
  observer = one;
}

CrashContextScope::CrashContextScope(const CrashContext& context) : outer_(current_context) {
  if (report.load(std::memory_order_relaxed) != nullptr) {
    [[maybe_unused]] static thread_local const HandlerStack stack;
  }
  current_context = &context;
  if (observer != nullptr) observer->inside(current_context);
}

CrashContextScope::~CrashContextScope() {
  current_context = outer_;
  if (observer != nullptr) observer->inside(current_context);
}

std::optional<model::CrashMark> CrashNote::read(const std::filesystem::path& file) {
  Note note;
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(&note), sizeof note)) return std::nullopt;
  if (std::string_view(note.magic.data(), note.magic.size()) != kMagic) return std::nullopt;
  model::CrashMark mark;
  mark.key.time_ms = note.wall_ms;
  mark.signal = note.signal;
  mark.content = note.content;
  mark.tenant_name = note.tenant.get();
  mark.run_id = note.run_id.get();
  mark.detector_key = note.detector_key.get();
  mark.library_sha256 = note.library_sha256.get();
  mark.library = note.library.get();
  return mark;
}

Status CrashNote::watch(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // Written now, so that the disk space is there when it is needed.
  const Note empty;
  if (fd < 0 || ::pwrite(fd, &empty, sizeof empty, 0) != sizeof empty) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return Error{Code::unavailable, "\"" + file.string() + "\" cannot be written: " + why, {}, {}};
  }
  note_fd.store(fd, std::memory_order_release);
  install(write_note);
  return Nothing{};
}

void CrashMessage::watch() {
  if (report.load(std::memory_order_acquire) == nullptr) install(write_message);
}

}  // namespace runwarden::detect
