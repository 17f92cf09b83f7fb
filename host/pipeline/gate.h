// Taken names of a turnstile, given back when this goes. One owner.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/turnstile.h"

namespace runwarden::pipeline {

class Gate {
 public:
  explicit Gate(Turnstile& turnstile) : turnstile_(turnstile) {}
  ~Gate() {
    if (inside_) turnstile_.leave(names_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void add(std::string name) { names_.push_back(std::move(name)); }
  // As Turnstile::enter; a gate without names is always open.
  bool enter(std::function<void()> again) {
    inside_ = names_.empty() || turnstile_.enter(names_, std::move(again));
    return inside_;
  }

 private:
  Turnstile& turnstile_;
  std::vector<std::string> names_;
  bool inside_ = false;
};

// What a run, and what an Idempotency-Key, is called at the turnstile.
inline std::string run_name(std::uint32_t tenant, std::string_view run_id) {
  return "run " + std::to_string(tenant) + " " + std::string(run_id);
}
inline std::string key_name(std::uint32_t tenant, std::string_view identity_hex) {
  return "key " + std::to_string(tenant) + " " + std::string(identity_hex);
}

}  // namespace runwarden::pipeline
