// Compiled only: the C++ layer and the fakes stand alone under every warning.
#include <runwarden/testing.hpp>

class Nothing : public rw::Detector {
 public:
  static constexpr rw::Info info() { return {"nothing", "1", "Nothing"}; }
  void configure(std::string_view json) override {
    const rw::Settings settings(json);
    settings.require("name").object("more").text("name", "");
    wanted_ = settings.boolean(
        "on", settings.integer("repeats", 3) > 2 && settings.number("ratio", 0.5) < 1 && settings.strings("words").empty());
  }
  void evaluate(const rw::Run&, [[maybe_unused]] rw::Call& call) override {
#if RW_TARGET_MINOR >= 2
    call.candidate("rule", RW_NO_STEP, "why", 0.5);
    call.emit(rw::Finding("title").summary("summary").confidence(0.5));
#endif
  }

 private:
  bool wanted_ = false;
};
RW_DETECTORS(Nothing);
