// The callbacks of one call of a detector (create or evaluate), and the results that it reported through them.
//
// Built for one call and used by its thread. Each callback validates and copies what the detector passes before it returns.
#pragma once

#include <runwarden/detector.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/run.h"
#include "model/verdict.h"

namespace runwarden::detect {

class Call {
 public:
  // For create: only fail and should_stop have an effect.
  explicit Call(const Clock& clock);
  // For evaluate. The run and the key outlive the call.
  Call(const Clock& clock, const model::Run& run, std::string_view detector_key, std::int64_t deadline_ns);
  // Call before the detector runs: offers it the explain callback.
  void ask_for_explanation() { raw_.explain = &Call::explain; }
  bool explains() const { return raw_.explain != nullptr; }

  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const rw_call& raw() const { return raw_; }
  // What the host did not take and the answer must not hide: "its finding was rejected: ..."; empty: there is nothing of that kind.
  std::string rejection() const;

  std::vector<model::Finding> findings;
  std::vector<model::Suppression> suppressed;
  std::string abstained;           // the reason; empty if it did not abstain
  std::string failure;             // the text passed to fail
  std::string refused;             // why the last invalid finding was refused; see rejection()
  std::string abstention_refused;  // why the last reason to abstain was
  std::size_t dropped = 0;         // findings beyond the limit
  std::vector<model::ExplanationItem> explanation;
  bool explanation_cut = false;     // some items exceeded a limit
  std::string explanation_refused;  // why the last invalid item was refused

 private:
  static rw_status emit(void* ctx, const rw_finding* finding) noexcept;
  static rw_status suppress(void* ctx, rw_str rule, std::int32_t step, rw_str reason) noexcept;
  static rw_status candidate(void* ctx, rw_str rule, std::int32_t step, rw_str reason, double confidence) noexcept;
  static rw_status abstain(void* ctx, rw_str reason) noexcept;
  static rw_status fail(void* ctx, rw_str text) noexcept;
  rw_status refuse_abstention(rw_status status, std::string why);
  static std::uint32_t should_stop(void* ctx) noexcept;
  static rw_status explain(void* ctx, const rw_explanation* item) noexcept;

  rw_status take(const rw_finding& finding);
  rw_status take_evidence(const rw_finding& finding, model::Finding& out);
  rw_status take_confidence(const rw_finding& finding, model::Finding& out);
  rw_status take_fingerprint(const rw_finding& finding, model::Finding& out);
  rw_status take(const rw_explanation& item);
  std::string fault_of(const rw_explanation& item) const;
  rw_status refuse(std::string why);
  rw_status refuse_item(std::string why);
  rw_status over(const char* what, const char* units, std::size_t length, std::size_t limit);
  bool names_step(std::int32_t step) const;
  std::string steps_text() const;

  const Clock& clock_;
  const model::Run* run_ = nullptr;  // null in a call of create
  std::string_view key_;
  std::size_t explanation_bytes_ = 0;
  rw_call raw_;
};

}  // namespace runwarden::detect
