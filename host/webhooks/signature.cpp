#include "webhooks/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <stdexcept>

#include "base/base64.h"

namespace runwarden::webhooks {

std::string make_secret() {
  std::array<unsigned char, model::kSecretBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error("webhooks: the system returned no random bytes");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string secret_text(std::string_view secret) {
  return "whsec_" + bytes_to_base64(secret);
}

std::string signature(std::string_view secret, std::string_view id, std::int64_t timestamp_s, std::string_view body) {
  std::string text(id);
  text.append(".").append(std::to_string(timestamp_s)).append(".").append(body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       mac.data(), &size);
  return "v1," + bytes_to_base64({reinterpret_cast<const char*>(mac.data()), size});
}

std::string signatures(const model::Endpoint& endpoint, std::string_view id, std::int64_t now_ms, std::string_view body) {
  std::string all = signature(endpoint.secret, id, now_ms / 1000, body);
  const bool overlaps = !endpoint.previous_secret.empty() && now_ms < endpoint.previous_until_ms;
  if (overlaps) all += " " + signature(endpoint.previous_secret, id, now_ms / 1000, body);
  return all;
}

}  // namespace runwarden::webhooks
