// Owns one instance of a detector. One thread at a time may evaluate, unless the detector is concurrent.
#pragma once

#include <runwarden/detector.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "detect/host_services.h"

namespace runwarden::detect {

class Instance {
 public:
  // Creates an instance from settings (JSON text; empty: none). On failure, `detail` is the detector's text. If that text begins with a
  // JSON Pointer into the settings, the error also has one entry in `faults` with pointer and text.
  static Result<Instance> create(const rw_detector& detector, const HostServices& host, const Clock& clock,
                                 const std::string& settings_json);

  ~Instance();
  Instance(Instance&& other) noexcept : detector_(other.detector_), self_(std::exchange(other.self_, nullptr)) {}
  Instance& operator=(Instance&&) = delete;

  struct AbiResult {
    rw_status status = RW_OK;
    std::string thrown;  // text of an exception that crossed the ABI, which is forbidden; empty: none
  };
  AbiResult evaluate(const rw_run& run, const rw_call& call);

 private:
  Instance(const rw_detector& detector, void* self) : detector_(&detector), self_(self) {}

  const rw_detector* detector_;
  void* self_;
};

}  // namespace runwarden::detect
