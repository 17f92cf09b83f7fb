// One instance of a detector, ended when this goes. Evaluated by one thread at a time, unless the detector is concurrent.
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
  // Makes one from settings (JSON text; empty: none). The error's detail is what the detector says; where that begins with a JSON
  // Pointer into the settings, it stands in `faults` instead, pointer and text apart.
  static Result<Instance> create(const rw_detector& detector, const HostServices& host, const Clock& clock,
                                 const std::string& settings_json);

  ~Instance();
  Instance(Instance&& other) noexcept : detector_(other.detector_), self_(std::exchange(other.self_, nullptr)) {}
  Instance& operator=(Instance&&) = delete;

  struct Outcome {
    rw_status status = RW_OK;
    std::string thrown;  // what came across the boundary, against the rules; empty: nothing
  };
  Outcome evaluate(const rw_run& run, const rw_call& call);

 private:
  Instance(const rw_detector& detector, void* self) : detector_(&detector), self_(self) {}

  const rw_detector* detector_;
  void* self_;
};

}  // namespace runwarden::detect
