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
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detect/crash_context.h"
#include "detect/crash_file.h"

namespace runwarden::detect {
namespace {

// Those whose default ends the process and that nothing else here handles.
constexpr int kSignals[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,    SIGABRT, SIGTRAP, SIGSYS,
                            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};
constexpr std::size_t kStackBytes = 64 * 1024;

// What the handlers do: async-signal-safe. Null: none are installed.
using Report = void (*)(const CrashContext& context, int signal);
std::atomic<Report> report{nullptr};

std::atomic<int> note_fd{-1};
std::atomic<bool> written{false};
std::atomic<pid_t> owner_pid{0};  // a process that a detector forks has the handlers, too, but leaves nothing behind
CrashNotePage page;               // static, because the stack may be what is broken
CrashFile no_file;                // until there is one
std::atomic<CrashFile*> crash_file{nullptr};
// What a command's process shares with the one that waits for it.
struct Shared {
  CrashFile file;
  std::atomic<int> exit_code;
};
constexpr int kNotFinished = -1;
Shared* shared = nullptr;
std::array<std::atomic<bool>, kCallSlots> slot_taken{};
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

// Ends the process, which has said why, at once. ThreadSanitizer's _exit() waits for a second, in which the other threads would go on
// without the call.
[[noreturn]] void leave() {
  CrashMessage::finished(EXIT_FAILURE);
  for (;;) ::syscall(SYS_exit_group, EXIT_FAILURE);
}

std::string_view abbreviation(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "?" : name;
}

std::string_view run_of(const CrashContext& context) {
  return context.run_id.empty() ? context.origin : context.run_id;
}

void write_line(const CrashContext& context, int signal) {
  const bool loading = context.code == DetectorCode::load;
  line << "runwarden: ";
  if (!loading) line << "detector \"" << context.detector_key << "\" (";
  line << context.library << (loading ? "" : ")");
  signal == 0 ? line << " ended the process" : line << " crashed the process (SIG" << abbreviation(signal) << ")";
  switch (context.code) {
    case DetectorCode::load: line << " while it was loaded"; break;
    case DetectorCode::create: line << " while it was created"; break;
    case DetectorCode::destroy: line << " while it was destroyed"; break;
    case DetectorCode::evaluate: line << " while it evaluated the run \"" << run_of(context) << "\""; break;
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
  std::memcpy(page.magic.data(), kCrashNoteMagic.data(), kCrashNoteMagic.size());
  page.wall_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  page.signal = signal;
  page.call.put(context);
  [[maybe_unused]] const auto wrote = ::pwrite(note_fd.load(std::memory_order_acquire), &page, sizeof page, 0);
}

void add_to_line(const CrashContext& context) {
  line << " detector \"" << context.detector_key << "\" (" << context.library << ") for the run \"" << run_of(context) << "\";";
}

// On a thread that is inside no detector: one of a detector's own, or of the host. Returns whether a call was under way. If it was one
// call, that is the one to blame; of several the file knows no more than that they were under way.
bool report_calls_under_way(int signal) {
  CallSlot* first = nullptr;
  int count = 0;
  for (CallSlot& slot : crash_file.load(std::memory_order_acquire)->calls) {
    if (!slot.is_evaluating()) continue;
    if (first == nullptr) first = &slot;
    ++count;
  }
  if (count == 0) return false;
  if (count == 1) {
    report.load(std::memory_order_acquire)(first->context(), signal);
    return true;
  }
  if (written.exchange(true)) return true;
  line << "runwarden: a thread that is inside no detector ended the process (" << (signal == 0 ? "" : "SIG")
       << (signal == 0 ? "exit" : abbreviation(signal)) << ") while these were called:";
  for (CallSlot& slot : crash_file.load(std::memory_order_acquire)->calls) {
    if (slot.is_evaluating()) add_to_line(slot.context());
  }
  line.write();
  return true;
}

// Whether this process is the cause, not another one, nor a limit that an operator sets for its CPU time.
bool is_own(int number, const siginfo_t& info) {
  return info.si_code > 0 ? number != SIGXCPU : info.si_pid == ::getpid();
}

void on_signal(int number, siginfo_t* info, void* context) {
  const bool own = ::getpid() == owner_pid.load(std::memory_order_relaxed) && is_own(number, *info);
  if (current_context != nullptr && own) report.load(std::memory_order_acquire)(*current_context, number);
  // The store's handler may recover from the fault, so keep this handler installed.
  if (current_context == nullptr && (previous[number].sa_flags & SA_SIGINFO) != 0)
    return previous[number].sa_sigaction(number, info, context);
  if (current_context == nullptr && own) report_calls_under_way(number);
  ::sigaction(number, &previous[number], nullptr);
  // A fault recurs when the handler returns. A signal that was sent or is a timer's, a breakpoint and a forbidden system call do not, so
  // send it again.
  const bool recurs = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
  if (!recurs) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), number);
}

void on_exit() {
  if (::getpid() != owner_pid.load(std::memory_order_relaxed)) return;
  const bool main_thread = ::syscall(SYS_gettid) == ::getpid();
  if (current_context == nullptr && main_thread) return CrashNote::stopped();
  if (current_context == nullptr && !report_calls_under_way(0)) return;
  if (current_context != nullptr) report.load(std::memory_order_acquire)(*current_context, 0);
  leave();  // other threads are still running: destroy nothing they use
}

void install(Report what) {
  owner_pid.store(::getpid(), std::memory_order_relaxed);
  if (report.load(std::memory_order_acquire) != nullptr) return;
  if (crash_file.load(std::memory_order_acquire) == nullptr) crash_file.store(&no_file, std::memory_order_release);
  report.store(what, std::memory_order_release);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) {
    ::sigaction(number, nullptr, &previous[number]);
    if (previous[number].sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
  std::atexit(on_exit);
  std::at_quick_exit(on_exit);
}

// This thread's slot of the file, taken until the thread ends. Index kCallSlots: all were taken.
class ThreadSlot {
 public:
  ThreadSlot() {
    while (index_ < kCallSlots && slot_taken[index_].exchange(true)) ++index_;
  }
  ~ThreadSlot() {
    if (index_ < kCallSlots) slot_taken[index_].store(false);
  }
  ThreadSlot(const ThreadSlot&) = delete;
  ThreadSlot& operator=(const ThreadSlot&) = delete;

  CallSlot* in(CrashFile& of) const { return index_ < kCallSlots ? &of.calls[index_] : nullptr; }

 private:
  std::size_t index_ = 0;
};

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

CallSlot* enter(const CrashContext& context) {
  CrashFile* const into = crash_file.load(std::memory_order_acquire);
  if (into == nullptr) return nullptr;
  static thread_local const ThreadSlot mine;
  CallSlot* const slot = mine.in(*into);
  if (slot == nullptr || slot->is_under_way()) return nullptr;
  slot->begin(context, now_ns());
  return slot;
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

CrashContextScope::CrashContextScope(const CrashContext& context) : outer_(current_context), slot_(enter(context)) {
  if (report.load(std::memory_order_relaxed) != nullptr) {
    [[maybe_unused]] static thread_local const HandlerStack stack;
  }
  current_context = &context;
  if (observer != nullptr) observer->inside(current_context);
}

CrashContextScope::~CrashContextScope() {
  current_context = outer_;
  if (slot_ != nullptr) slot_->end();
  if (observer != nullptr) observer->inside(current_context);
}

namespace {

bool has_magic(const std::array<char, 8>& bytes, std::string_view magic) {
  return std::string_view(bytes.data(), bytes.size()) == magic;
}

// What the process before this one left in the file; zeros for what is not there.
std::unique_ptr<CrashFile> left_in(const std::filesystem::path& path) {
  auto left = std::make_unique<CrashFile>();
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(left.get()), sizeof *left);
  if (in.gcount() < static_cast<std::streamsize>(sizeof *left)) left->magic = {};
  if (in.gcount() < static_cast<std::streamsize>(sizeof left->note)) left->note.magic = {};
  if (!has_magic(left->magic, kCrashCallsMagic) || left->stopped != 0) left->calls = left->earlier = {};
  if (has_magic(left->note.magic, kCrashNoteMagic)) left->calls = {};  // the note tells why the process ended
  return left;
}

bool was_under_way_before(CrashFile& left, const NotedCall& call) {
  return std::any_of(left.earlier.begin(), left.earlier.end(),
                     [&](CallSlot& slot) { return slot.is_evaluating() && slot.call.same(call); });
}

std::string cannot_map(const std::filesystem::path& path, int error) {
  return "\"" + path.string() + "\" cannot be written: " + std::strerror(error);
}

}  // namespace

PreviousEnd CrashNote::read(const std::filesystem::path& path) {
  PreviousEnd end;
  const std::unique_ptr<CrashFile> left = left_in(path);
  if (has_magic(left->note.magic, kCrashNoteMagic)) {
    end.crashes.push_back(left->note.call.mark());
    end.crashes.back().key.time_ms = left->note.wall_ms;
    end.crashes.back().signal = left->note.signal;
  }
  for (CallSlot& slot : left->calls) {
    if (!slot.is_evaluating()) continue;
    const bool again = was_under_way_before(*left, slot.call);
    std::vector<model::CrashMark>& marks = again ? end.crashes : end.suspects;
    marks.push_back(slot.call.mark());
    marks.back().signal = kUnseenSignal;
  }
  return end;
}

void CrashNote::install() {
  detect::install(write_note);
}

Status CrashNote::watch(const std::filesystem::path& path) {
  std::unique_ptr<CrashFile> fresh = left_in(path);
  fresh->earlier = fresh->calls;
  fresh->calls = {};
  fresh->note = {};
  fresh->stopped = 0;
  std::memcpy(fresh->magic.data(), kCrashCallsMagic.data(), kCrashCallsMagic.size());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Error{Code::unavailable, cannot_map(path, errno), {}, {}};
  errno = 0;
  // Written now, so that the disk space is there when it is needed.
  const bool written_whole = ::pwrite(fd, fresh.get(), sizeof *fresh, 0) == static_cast<ssize_t>(sizeof *fresh);
  void* const memory = written_whole ? ::mmap(nullptr, sizeof *fresh, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const int error = written_whole || errno != 0 ? errno : ENOSPC;
    ::close(fd);
    return Error{Code::unavailable, cannot_map(path, error), {}, {}};
  }
  ::madvise(memory, sizeof *fresh,
            MADV_DONTFORK);  // a detector's child is not this process; one that returns from its call ends at the fault
  note_fd.store(fd, std::memory_order_release);
  install();
  crash_file.store(static_cast<CrashFile*>(memory), std::memory_order_release);
  return Nothing{};
}

void CrashNote::stopped() {
  CrashFile* const of = crash_file.load(std::memory_order_acquire);
  if (of != nullptr) of->stopped = 1;
}

Status CrashMessage::share() {
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Error{Code::unavailable, std::string("cannot get memory: ") + std::strerror(errno), {}, {}};
  shared = new (memory) Shared{{}, {kNotFinished}};
  crash_file.store(&shared->file, std::memory_order_release);
  return Nothing{};
}

void CrashMessage::watch() {
  if (shared != nullptr) ::madvise(shared, sizeof *shared, MADV_DONTFORK);  // see CrashNote::watch
  install(write_message);
}

void CrashMessage::finished(int exit_code) {
  if (shared != nullptr) shared->exit_code.store(exit_code, std::memory_order_release);
}

std::optional<int> CrashMessage::exit_code() {
  const int code = shared->exit_code.load(std::memory_order_acquire);
  return code == kNotFinished ? std::nullopt : std::optional(code);
}

std::optional<CrashMessage::Outside> CrashMessage::outside_of_runs() {
  for (CallSlot& slot : shared->file.calls) {
    if (!slot.is_under_way() || slot.is_evaluating()) continue;
    return Outside{without_end(slot.context()), slot.since_ns, (now_ns() - slot.since_ns) / 1'000'000};
  }
  return std::nullopt;
}

void CrashMessage::write_for_child() {
  std::vector<CrashContext> calls;
  for (CallSlot& slot : shared->file.calls) {
    if (slot.is_under_way()) calls.push_back(slot.context());
  }
  if (calls.size() == 1) return write_line(calls.front(), 0);
  line << "runwarden: " << (calls.empty() ? "a detector ended the process" : "the process was ended while these were called:");
  for (const CrashContext& context : calls) add_to_line(context);
  line.write();
}

}  // namespace runwarden::detect
