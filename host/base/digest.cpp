#include "base/digest.h"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace runwarden {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetching an algorithm takes OpenSSL's locks, so that is done once; a context is good for one thread at a time.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched;
}

EVP_MD_CTX* context() {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> kept(EVP_MD_CTX_new());
  return kept.get();
}

}  // namespace

Digest256 sha256(std::string_view bytes) {
  Digest256 digest;
  const bool made = EVP_DigestInit_ex(context(), algorithm(), nullptr) == 1 &&
                    EVP_DigestUpdate(context(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context(), digest.data(), nullptr) == 1;
  if (!made) throw std::runtime_error("OpenSSL gives no SHA-256");
  return digest;
}

std::string to_hex(const Digest256& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace runwarden
