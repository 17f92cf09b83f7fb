// Compiled only: the C++ layer and the fakes stand alone under every warning.
#include <runwarden/testing.hpp>

class Nothing : public rw::Detector {
 public:
  static constexpr rw::Info info() { return {"nothing", "1", "Nothing"}; }
  void evaluate(const rw::Run&, rw::Call&) override {}
};
RW_DETECTORS(Nothing);
