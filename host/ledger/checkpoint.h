// Checkpoints: the root of a tree at some size, as a signed note (C2SP tlog-checkpoint, signed-note). Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ledger/signing_key.h"
#include "ledger/tree.h"

namespace runwarden::ledger {

using LogId = std::array<std::uint8_t, 8>;

// runwarden/<tenant>/<16 hexadecimal digits>; tenant characters outside [A-Za-z0-9._-] become _.
std::string make_origin(std::string_view tenant, const LogId& log);

struct Checkpoint {
  std::string origin;
  SizedRoot tree;
};

// The three lines that are signed.
std::string checkpoint_text(const Checkpoint& checkpoint);
// The first 4 bytes of SHA-256 of origin, line end, 0x01, public key.
std::string key_id(std::string_view origin, std::string_view public_key);
// With one signature per key, in their order.
std::string signed_note(const Checkpoint& checkpoint, std::span<const SigningKey* const> keys);

// A parsed note. Signatures are not checked.
struct Note {
  Checkpoint checkpoint;
  std::string text;  // the signed text
  struct Signature {
    std::string name;
    std::string key_id;  // 4 bytes
    std::string signature;
  };
  std::vector<Signature> signatures;

  bool is_signed_by(std::string_view public_key) const;
};
// validation_failed for anything that signed_note() would not write.
Result<Note> read_note(std::string_view note);

}  // namespace runwarden::ledger
