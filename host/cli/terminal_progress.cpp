#include "cli/terminal_progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/decimals.h"

namespace runwarden::cli {
namespace {

constexpr std::int64_t kShowEveryNs = 200'000'000;
constexpr std::int64_t kShowFromNs = 500'000'000;  // shorter commands show none

}  // namespace

TerminalProgress::TerminalProgress(std::ostream& err)
    : err_(err), terminal_(::isatty(STDERR_FILENO) == 1), begun_ns_(clock_.monotonic_ns()) {}

TerminalProgress::~TerminalProgress() {
  clear();
}

void TerminalProgress::show(const store::Progress& progress) {
  if (!terminal_) return;
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (now_ns - begun_ns_ < kShowFromNs || now_ns - shown_ns_ < kShowEveryNs) return;
  shown_ns_ = now_ns;
  shown_ = true;
  err_ << "\r\x1b[K" << progress.doing << ": ";
  const bool bytes = std::string_view(progress.unit) == "bytes";
  const auto number = [bytes](std::uint64_t value) { return bytes ? size_text(value) : std::to_string(value); };
  err_ << number(progress.done);
  if (progress.all != 0) err_ << " of " << number(progress.all);
  if (!bytes) err_ << " " << progress.unit;
  if (*progress.table != '\0') err_ << " (" << progress.table << ")";
  if (progress.all != 0) err_ << ", " << std::min<std::uint64_t>(100, progress.done * 100 / progress.all) << "%";
  err_ << std::flush;
}

void TerminalProgress::clear() {
  if (std::exchange(shown_, false)) err_ << "\r\x1b[K" << std::flush;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fixed_decimals(size, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

}  // namespace runwarden::cli
