#include "detect/settings_hash.h"

#include "base/canonical_json.h"
#include "base/digest.h"

namespace runwarden::detect {

std::string settings_hash(std::string_view settings_json) {
  return to_hex(sha256(canonical_json(settings_json)));
}

}  // namespace runwarden::detect
