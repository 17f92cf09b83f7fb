// Compares two judgements of one run: the former and the present one. Pure, except for JudgedRun::library_of. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/report_format.h"
#include "detect/detector_set.h"
#include "ingest/judge_again.h"
#include "model/verdict.h"

namespace runwarden::cli {

// What one detector said of a run, whichever judgement it is of. Its failures bear no ids: they may never have been stored.
struct DetectorAnswer {
  std::string status = "not_run";  // as in an answer of the service; not_run: it did not judge that run at all
  std::string reason;
  std::vector<model::Finding> failures;

  bool fired() const { return !failures.empty(); }
  bool ran() const { return status != "not_run"; }
};
using Judgement = std::map<std::string, DetectorAnswer>;  // by detector key

// A run as it was judged.
struct JudgedRun {
  RunPlace place;
  ingest::KeptRun kept;
  Judgement judgement;
  bool redacted = false;  // its detectors may have seen text that was taken out of the document afterwards: not to be judged as it was
  // By which library and settings a detector judged it, where its failures do not say: as far as that is known. May be empty.
  std::function<std::optional<model::Provenance>(const std::string& key)> library_of;
};

// The `failures` and `detectors` of a run's answer. Both come from files too: anything may stand in them.
Result<Judgement> read_judgement(std::string_view failures_json, std::string_view detectors_json);
Judgement judgement_of(const model::Verdict& verdict);

// Whether something was taken out of a run's document, as far as it shows. What was said of such a run may lack words that it still has.
bool bears_redactions(std::string_view document);

enum class DifferenceKind : std::uint8_t { fires_now, lost, changed, status };
constexpr std::array<DifferenceKind, 4> kDifferenceKinds{DifferenceKind::fires_now, DifferenceKind::lost, DifferenceKind::changed,
                                                         DifferenceKind::status};
const char* name(DifferenceKind kind);  // "new", "lost", "changed", "status"

struct Difference {
  DifferenceKind kind = DifferenceKind::changed;
  std::string detector_key;
  // What was said of the run then and now; a failure where there is one.
  struct Side {
    std::string status;
    std::string reason;
    std::optional<model::Finding> failure;
  };
  Side was, now;
  std::vector<std::string> because;  // settings, library, redaction
};

// `detectors` are those that judged it now, with the tenant's settings. `only`: one detector's key; empty: all.
std::vector<Difference> differences_of(const JudgedRun& was, const Judgement& now, const std::vector<detect::DetectorInfo>& detectors,
                                       std::string_view only);

// {"status", "reason"}, or what matters of the failure.
std::string side_json(const Difference::Side& side);
// "95 critical", or the status.
std::string side_text(const Difference::Side& side);

}  // namespace runwarden::cli
