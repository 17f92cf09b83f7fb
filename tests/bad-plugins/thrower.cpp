// Breaks the rule that no exception crosses the ABI, or throws inside the C++ layer, where it may.
#include <runwarden/detector.hpp>
#include <stdexcept>

#ifdef ZOO_RAW
namespace {

rw_status create_throws(const rw_host*, const rw_call*, rw_str, void** out) {
  static int instance;
  *out = &instance;
#ifdef ZOO_IN_CREATE
  throw std::runtime_error("boom in create");
#else
  return RW_OK;
#endif
}
rw_status evaluate_throws(void*, const rw_run*, const rw_call*) {
  throw std::runtime_error("boom in evaluate");
}
void destroy(void*) {}

constexpr rw_info kInfo = {sizeof(rw_info), 0, 0, 0, RW_STR("zoo"), RW_STR("1"), RW_STR("Thrower"), {nullptr, 0}};
constexpr rw_detector kDetector = {sizeof(rw_detector), 0, &kInfo, create_throws, evaluate_throws, destroy, nullptr};
constexpr const rw_detector* kDetectors[] = {&kDetector};

}  // namespace
RW_ENTRY(kDetectors);
#else
class Thrower : public rw::Detector {
 public:
  static constexpr rw::Info info() { return {"zoo", "1", "Thrower"}; }
  void configure(std::string_view settings) override {
    if (settings.find("boom") != std::string_view::npos) throw rw::BadSettings("/boom", "is not wanted");
  }
  void evaluate(const rw::Run& run, rw::Call& call) override {
    if (run.user_request() == "surer than sure") call.emit(rw::Finding("sure").summary("Too sure.").score(101));
    if (run.user_request() == "say little") return call.abstain("x" + std::string(1022, 'x') + "\xC3\xA9");
    call.emit(rw::Finding("before").summary("the throw"));
    if (run.empty()) throw 42;
    throw std::runtime_error("boom in the layer");
  }
};
RW_DETECTORS(Thrower);
#endif
