#include "detect/host_services.h"

#include <algorithm>

#include "base/utf8.h"

namespace runwarden::detect {
namespace {

constexpr int kLinesASecond = 20;
constexpr std::size_t kLineBytes = 1024;
constexpr std::int64_t kSecondNs = 1'000'000'000;

constexpr rw_str kName = RW_STR("runwarden");
constexpr rw_str kVersion = RW_STR(RUNWARDEN_VERSION);

// Truncates the text and replaces control characters and invalid UTF-8.
std::string line_of(rw_str text) {
  std::string line;
  if (text.ptr == nullptr) return line;
  const std::string_view bytes(text.ptr, text.len);
  for (std::size_t i = 0; i < bytes.size() && line.size() < kLineBytes;) {
    const std::size_t length = utf8_length_at(bytes, i);
    const bool plain = length > 1 || (length == 1 && static_cast<unsigned char>(bytes[i]) >= 0x20);
    line += plain ? bytes.substr(i, length) : std::string_view("?");
    i += std::max<std::size_t>(length, 1);
  }
  return line;
}

}  // namespace

HostServices::HostServices(std::string detector_key, const Clock& clock, LogSink log, LogRate rate)
    : key_(std::move(detector_key)), clock_(clock), log_(std::move(log)), rate_(rate) {
  raw_ = {sizeof raw_,
          RW_ABI_MINOR,
          RW_SCHEMA_MINOR,
          0,
          kName,
          kVersion,
          this,
          &HostServices::log,
          &HostServices::monotonic_ns,
          &HostServices::get_extension};
}

bool HostServices::may_log() {
  if (rate_ == LogRate::unbounded) return true;
  const std::int64_t second = clock_.monotonic_ns() / kSecondNs;
  const MutexLock lock(mutex_);
  if (second != second_) {
    second_ = second;
    lines_ = 0;
  }
  return ++lines_ <= kLinesASecond;
}

void HostServices::log(void* ctx, std::uint32_t level, rw_str text) noexcept {
  auto& self = *static_cast<HostServices*>(ctx);
  try {
    if (!self.log_ || !self.may_log()) return;
    self.log_(static_cast<LogLevel>(std::min<std::uint32_t>(level, RW_LOG_ERROR)), "detector \"" + self.key_ + "\": " + line_of(text));
  } catch (const std::exception&) {
    return;  // drop the line rather than the run
  }
}

std::int64_t HostServices::monotonic_ns(void* ctx) noexcept {
  return static_cast<HostServices*>(ctx)->clock_.monotonic_ns();
}

const void* HostServices::get_extension(void*, rw_str) noexcept {
  return nullptr;
}

}  // namespace runwarden::detect
