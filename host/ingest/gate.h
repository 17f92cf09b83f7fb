// Names of a turnstile, lined up for and given back when this goes. One owner.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/turnstile.h"

namespace runwarden::ingest {

class Gate {
 public:
  explicit Gate(Turnstile& turnstile) : turnstile_(turnstile) {}
  ~Gate() { leave(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void add(std::string name) { names_.push_back(std::move(name)); }
  // As Turnstile::enter, but `turn` enters again, which is true then. A gate without names is always open. What `turn` holds
  // must hold this gate too, so that it does not go while it waits.
  bool enter(std::function<void()> turn) {
    if (in_line_ || names_.empty()) return true;
    const bool inside = turnstile_.enter(names_, std::move(turn));
    in_line_ = true;
    return inside;
  }
  // Gives the names back before this goes: a detector that does not return may keep it for long.
  void leave() {
    if (std::exchange(in_line_, false)) turnstile_.leave(names_);
  }

 private:
  Turnstile& turnstile_;
  std::vector<std::string> names_;
  bool in_line_ = false;
};

// What a run, and what an Idempotency-Key, is called at the turnstile.
inline std::string run_name(std::uint32_t tenant, std::string_view run_id) {
  return "run " + std::to_string(tenant) + " " + std::string(run_id);
}
inline std::string key_name(std::uint32_t tenant, std::string_view identity_hex) {
  return "key " + std::to_string(tenant) + " " + std::string(identity_hex);
}

}  // namespace runwarden::ingest
