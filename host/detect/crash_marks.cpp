#include "detect/crash_marks.h"

#include <signal.h>

#include <algorithm>
#include <cstring>

#include "base/digest.h"
#include "base/time_text.h"
#include "detect/crash_note.h"

namespace runwarden::detect {
namespace {

// The parts contain no control characters, so a line feed separates them unambiguously.
std::string map_key(const CrashMarks::Query& query, std::string_view how, std::string_view what) {
  std::string name;
  for (const std::string_view part : {query.library_sha256, query.detector_key, query.tenant, how, what}) name.append(part).append("\n");
  return name;
}

bool sent_whole(const model::Digest& content) {
  return content != model::Digest{};
}

}  // namespace

void CrashMarks::put(const std::vector<model::CrashMark>& marks) {
  const MutexLock lock(mutex_);
  by_run_.clear();
  all_.clear();
  for (const model::CrashMark& mark : marks) note(mark);
  any_.store(!marks.empty(), std::memory_order_release);
}

void CrashMarks::add(const model::CrashMark& mark) {
  const MutexLock lock(mutex_);
  note(mark);
  any_.store(true, std::memory_order_release);
}

// Under the lock.
void CrashMarks::note(const model::CrashMark& mark) {
  const Query query{mark.detector_key, mark.library_sha256, mark.tenant_name, mark.run_id, mark.content};
  if (!mark.run_id.empty()) by_run_[map_key(query, "id", mark.run_id)] = mark;
  if (sent_whole(mark.content)) by_run_[map_key(query, "content", to_hex(mark.content))] = mark;
  all_.push_back(mark);
}

std::size_t CrashMarks::count() const {
  const MutexLock lock(mutex_);
  return all_.size();
}

std::optional<std::string> CrashMarks::reason(const Query& query) const {
  if (!any()) return std::nullopt;
  const MutexLock lock(mutex_);
  auto found = by_run_.find(map_key(query, "id", query.run_id));
  if (found == by_run_.end() && sent_whole(query.content)) found = by_run_.find(map_key(query, "content", to_hex(query.content)));
  if (found == by_run_.end()) return std::nullopt;
  return "it crashed the process (" + signal_name(found->second.signal) + ") while evaluating this run at " +
         format_time(found->second.key.time_ms) + "; it is skipped for this run until its library changes";
}

std::vector<std::int64_t> CrashMarks::times_ms(const std::string& detector_key, const std::string& library_sha256) const {
  std::vector<std::int64_t> times;
  const MutexLock lock(mutex_);
  for (const model::CrashMark& mark : all_) {
    if (mark.detector_key == detector_key && mark.library_sha256 == library_sha256) times.push_back(mark.key.time_ms);
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::string signal_name(int signal) {
  if (signal == 0) return "exit";
  if (signal == kUnseenSignal) return "_exit or an unseen signal, twice in a row";
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

}  // namespace runwarden::detect
