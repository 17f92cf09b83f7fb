#include "auth/cursor_seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdint>
#include <utility>

namespace runwarden::auth {
namespace {

constexpr std::size_t kPositionBytes = 16;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kCursorBytes = kPositionBytes + kTagBytes;
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // RFC 4648, section 5

void append_big_endian(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

std::string base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (have += 8; have >= 6; have -= 6) text += kAlphabet[bits >> (have - 6) & 63];
  }
  if (have > 0) text += kAlphabet[bits << (6 - have) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes += static_cast<char>(bits >> have & 0xFF);
  }
  return bytes;
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
  return base64url(bytes + tag(tenant, query, bytes));
}

std::optional<model::RecordKey> CursorSeal::open(model::TenantId tenant, std::string_view query, std::string_view cursor) const {
  const auto bytes = from_base64url(cursor);
  if (!bytes || bytes->size() != kCursorBytes || base64url(*bytes) != cursor) return std::nullopt;
  const std::string_view position = std::string_view(*bytes).substr(0, kPositionBytes);
  const std::string wanted = tag(tenant, query, position);
  if (CRYPTO_memcmp(wanted.data(), bytes->data() + kPositionBytes, kTagBytes) != 0) return std::nullopt;
  return model::RecordKey{static_cast<std::int64_t>(big_endian(position)), big_endian(position.substr(8))};
}

}  // namespace runwarden::auth
