#include "base/digest.h"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

#include "base/hex.h"

namespace runwarden {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// Fetching an algorithm takes OpenSSL's locks, so it happens once. A context serves one thread at a time.
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
  if (!made) throw std::runtime_error("OpenSSL does not provide SHA-256");
  return digest;
}

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context.get(), algorithm(), nullptr) != 1) throw std::runtime_error("OpenSSL does not provide SHA-256");
}
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  if (EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) != 1)
    throw std::runtime_error("OpenSSL does not provide SHA-256");
}

Digest256 Sha256::so_far() const {
  const std::unique_ptr<EVP_MD_CTX, FreeContext> copy(EVP_MD_CTX_new());
  Digest256 digest;
  const bool made =
      EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1 && EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr) == 1;
  if (!made) throw std::runtime_error("OpenSSL does not provide SHA-256");
  return digest;
}

std::string to_hex(const Digest256& digest) {
  return bytes_to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace runwarden
