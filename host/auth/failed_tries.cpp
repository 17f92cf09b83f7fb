#include "auth/failed_tries.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/hex.h"

namespace runwarden::auth {

std::string FailedTries::network_of(const std::string& address) {
  std::array<char, 16> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return bytes_to_hex({bytes.data(), 8}) + "/64";
}

std::optional<int> FailedTries::wait_s(const std::string& address) {
  const std::int64_t now_ns = clock_.monotonic_ns();
  const MutexLock lock(mutex_);
  const auto found = windows_.find(network_of(address));
  if (found == windows_.end()) return std::nullopt;
  const std::int64_t left_ns = found->second.began_ns + kWindowNs - now_ns;
  if (left_ns <= 0) {
    windows_.erase(found);
    return std::nullopt;
  }
  if (found->second.tries < kMaxTries) return std::nullopt;
  return static_cast<int>((left_ns + 999'999'999) / 1'000'000'000);
}

void FailedTries::failed(const std::string& address) {
  const std::int64_t now_ns = clock_.monotonic_ns();
  const std::string network = network_of(address);
  const MutexLock lock(mutex_);
  if (windows_.size() >= kMaxAddresses && !windows_.contains(network)) {
    std::erase_if(windows_, [now_ns](const auto& one) { return one.second.began_ns + kWindowNs <= now_ns; });
    const auto first = std::min_element(windows_.begin(), windows_.end(),
                                        [](const auto& a, const auto& b) { return a.second.began_ns < b.second.began_ns; });
    if (windows_.size() >= kMaxAddresses) windows_.erase(first);
  }
  Window& window = windows_[network];
  if (window.tries == 0 || window.began_ns + kWindowNs <= now_ns) window = {now_ns, 0};
  ++window.tries;
}

}  // namespace runwarden::auth
