#include "http_client/retry_schedule.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

namespace runwarden::http_client {

std::optional<std::int64_t> next_attempt_ms(const std::vector<std::int64_t>& delays_ms, std::uint32_t attempts, double chance,
                                            std::optional<std::int64_t> retry_after_ms, std::int64_t now_ms) {
  if (attempts == 0 || attempts > delays_ms.size()) return std::nullopt;
  const std::int64_t delay_ms = delays_ms[attempts - 1];
  const std::int64_t longer_ms = delay_ms + static_cast<std::int64_t>(static_cast<double>(delay_ms) * 0.2 * chance);
  return now_ms + std::max(longer_ms, std::min(retry_after_ms.value_or(0), kLongestRetryAfterMs));
}

std::optional<std::int64_t> read_retry_after(std::string_view text, std::int64_t now_ms) {
  constexpr std::int64_t kMostSeconds = kLongestRetryAfterMs / 1000;
  std::int64_t seconds = 0;
  const auto digits = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (digits.ec == std::errc::result_out_of_range) return kLongestRetryAfterMs;
  if (digits.ec == std::errc() && digits.ptr == text.data() + text.size()) return std::clamp<std::int64_t>(seconds, 0, kMostSeconds) * 1000;
  const std::time_t at = curl_getdate(std::string(text).c_str(), nullptr);
  if (at < 0) return std::nullopt;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(at) * 1000 - now_ms, 0, kLongestRetryAfterMs);
}

}  // namespace runwarden::http_client
