// A run as detectors see it: the C structs of the ABI over a model::Run. Copies no text.
//
// Built for one evaluation and used by one thread. The run outlives it.
#pragma once

#include <runwarden/detector.h>

#include <string_view>
#include <vector>

#include "base/text_arena.h"
#include "model/run.h"

namespace runwarden::detect {

class AbiRunView {
 public:
  AbiRunView(const model::Run& run, std::string_view tenant);
  AbiRunView(const AbiRunView&) = delete;
  AbiRunView& operator=(const AbiRunView&) = delete;

  const rw_run& raw() const { return raw_; }
  const model::Run& run() const { return run_; }

 private:
  static const rw_step* step_at(void* ctx, std::uint32_t index) noexcept;
  static rw_status find(void* ctx, std::int32_t step, rw_str pointer, rw_value* out) noexcept;

  const model::Run& run_;
  std::vector<rw_step> steps_;
  rw_run raw_;
  TextArena unescaped_;  // strings that find() had to resolve escapes of
};

}  // namespace runwarden::detect
