// Ed25519 keys (RFC 8032) that sign checkpoints, implemented with OpenSSL. Any thread, one at a time for each key.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::ledger {

constexpr std::size_t kPublicKeyBytes = 32;
constexpr std::size_t kSignatureBytes = 64;

class SigningKey {
 public:
  static SigningKey make();
  // From PEM, as written by pem() and `openssl genpkey -algorithm ed25519`.
  static Result<SigningKey> from_pem(std::string_view pem);
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;
  ~SigningKey();

  std::string pem() const;                                       // the private key, not encrypted
  const std::string& public_key() const { return public_key_; }  // kPublicKeyBytes bytes
  std::string sign(std::string_view text) const;                 // kSignatureBytes bytes

 private:
  struct Pair;
  explicit SigningKey(std::unique_ptr<Pair> pair);

  std::unique_ptr<Pair> pair_;
  std::string public_key_;
};

// Also false for keys and signatures of the wrong length.
bool is_signed(std::string_view text, std::string_view public_key, std::string_view signature);

}  // namespace runwarden::ledger
