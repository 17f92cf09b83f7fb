#include "base/time_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii.h"

namespace runwarden {
namespace {

constexpr std::int64_t kFirstMs = -62'135'596'800'000;  // 0001-01-01T00:00:00.000Z: many languages have no year 0
constexpr std::int64_t kLastMs = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z: later years have five digits

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<int> digits(int count) {
    if (text_.size() - at_ < static_cast<std::size_t>(count)) return std::nullopt;
    int value = 0;
    for (int i = 0; i < count; ++i) {
      const char c = text_[at_ + static_cast<std::size_t>(i)];
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    at_ += static_cast<std::size_t>(count);
    return value;
  }

  bool skip(std::string_view any_of) {
    if (done() || any_of.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  bool done() const { return at_ == text_.size(); }

  // The milliseconds of a fraction; empty if there is no digit.
  std::optional<int> fraction() {
    int value = 0;
    int count = 0;
    while (!done() && ascii::is_digit(text_[at_])) {
      if (count < 3) value = value * 10 + (text_[at_] - '0');
      ++count;
      ++at_;
    }
    if (count == 0) return std::nullopt;
    for (; count < 3; ++count) value *= 10;
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// The offset in minutes east of UTC, which must end the text.
std::optional<int> parse_offset(Reader& in) {
  if (in.skip("Zz")) return in.done() ? std::optional(0) : std::nullopt;
  const bool east = in.skip("+");
  if (!east && !in.skip("-")) return std::nullopt;
  const auto hours = in.digits(2);
  if (!hours) return std::nullopt;
  in.skip(":");
  const auto minutes = in.done() ? std::optional(0) : in.digits(2);
  if (!minutes || !in.done() || *hours > 23 || *minutes > 59) return std::nullopt;
  const int total = *hours * 60 + *minutes;
  return east ? total : -total;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  using namespace std::chrono;
  Reader in(text);
  const auto year = in.digits(4);
  if (!year || !in.skip("-")) return std::nullopt;
  const auto month = in.digits(2);
  if (!month || !in.skip("-")) return std::nullopt;
  const auto day = in.digits(2);
  if (!day || !in.skip("Tt ")) return std::nullopt;
  const auto hour = in.digits(2);
  if (!hour || !in.skip(":")) return std::nullopt;
  const auto minute = in.digits(2);
  if (!minute) return std::nullopt;
  int second = 0;
  int milli = 0;
  if (in.skip(":")) {
    const auto read = in.digits(2);
    if (!read) return std::nullopt;
    second = *read;
    if (in.skip(".,")) {
      const auto part = in.fraction();
      if (!part) return std::nullopt;
      milli = *part;
    }
  }
  const auto offset = parse_offset(in);
  if (!offset) return std::nullopt;
  const year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || second > 60) return std::nullopt;
  const auto whole = sys_days{date}.time_since_epoch() + hours{*hour} + minutes{*minute - *offset} + seconds{second};
  const std::int64_t ms = duration_cast<milliseconds>(whole).count() + milli;
  if (ms < kFirstMs || ms > kLastMs) return std::nullopt;
  return ms;
}

std::string format_time(std::int64_t ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds{std::clamp(ms, kFirstMs, kLastMs)}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::string text = "0000-00-00T00:00:00.000Z";
  const auto put = [&text](std::size_t end, std::int64_t value) {  // right-aligned digits that end before `end`
    for (; value > 0; value /= 10) text[--end] = static_cast<char>('0' + value % 10);
  };
  put(4, static_cast<int>(date.year()));
  put(7, static_cast<unsigned>(date.month()));
  put(10, static_cast<unsigned>(date.day()));
  put(13, clock.hours().count());
  put(16, clock.minutes().count());
  put(19, clock.seconds().count());
  put(23, clock.subseconds().count());
  return text;
}

std::string about_duration(std::int64_t ms) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {{86'400'000, " days"}, {3'600'000, " hours"}, {60'000, " minutes"}};
  for (const auto& [unit_ms, name] : kUnits) {
    if (ms < 2 * unit_ms) continue;
    const std::int64_t tenths = ms / (unit_ms / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + name;
  }
  return std::to_string(ms / 1000) + (ms / 1000 == 1 ? " second" : " seconds");
}

}  // namespace runwarden
