#include "auth/cursor_seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/base64.h"

namespace runwarden::auth {
namespace {

constexpr std::size_t kPositionBytes = 16;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kCursorBytes = kPositionBytes + kTagBytes;

void append_big_endian(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

std::string CursorSeal::tag(model::TenantId tenant, std::string_view query, std::string_view position) const {
  std::string text;
  append_big_endian(text, tenant);
  text.append(position).append(query);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       mac.data(), &size);
  return {reinterpret_cast<const char*>(mac.data()), kTagBytes};
}

std::string CursorSeal::seal(model::TenantId tenant, std::string_view query, const model::RecordKey& position) const {
  std::string bytes;
  append_big_endian(bytes, static_cast<std::uint64_t>(position.time_ms));
  append_big_endian(bytes, position.seq);
  return bytes_to_base64url(bytes + tag(tenant, query, bytes));
}

std::optional<model::RecordKey> CursorSeal::open(model::TenantId tenant, std::string_view query, std::string_view cursor) const {
  const std::string bytes = bytes_from_base64(cursor).bytes;
  if (bytes.size() != kCursorBytes || bytes_to_base64url(bytes) != cursor) return std::nullopt;
  const std::string_view position = std::string_view(bytes).substr(0, kPositionBytes);
  const std::string wanted = tag(tenant, query, position);
  if (CRYPTO_memcmp(wanted.data(), bytes.data() + kPositionBytes, kTagBytes) != 0) return std::nullopt;
  return model::RecordKey{static_cast<std::int64_t>(big_endian(position)), big_endian(position.substr(8))};
}

}  // namespace runwarden::auth
