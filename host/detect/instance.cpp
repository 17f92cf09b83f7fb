#include "detect/instance.h"

#include <exception>

#include "base/one_line.h"
#include "detect/call.h"
#include "detect/json_find.h"

namespace runwarden::detect {
namespace {

// Runs a function of the library and catches exceptions, which must not cross the ABI. Returns their text.
template <class F>
std::string catch_exceptions(F&& body) {
  try {
    body();
    return {};
  } catch (const std::exception& fault) {
    return std::string("threw an exception across the ABI: ") + fault.what();
  } catch (...) {
    return "threw an exception across the ABI";
  }
}

// "/repeats: must be even" is a fault in the settings at that pointer.
Error create_error(const std::string& reported) {
  const std::string text = one_line(reported);
  const std::size_t colon = text.find(": ");
  const bool has_place = !text.empty() && text[0] == '/' && colon != std::string::npos && is_json_pointer(text.substr(0, colon));
  if (!has_place) return {Code::validation_failed, text, {}, {}};
  return {Code::validation_failed, text, {}, {{text.substr(0, colon), "invalid_setting", text.substr(colon + 2)}}};
}

}  // namespace

Result<Instance> Instance::create(const rw_detector& detector, const HostServices& host, const Clock& clock,
                                  const std::string& settings_json) {
  const Call call(clock);
  const rw_str config = settings_json.empty() ? rw_str{nullptr, 0} : rw_str{settings_json.data(), settings_json.size()};
  void* self = nullptr;
  rw_status status = RW_INTERNAL;
  const std::string thrown = catch_exceptions([&] { status = detector.create(&host.raw(), &call.raw(), config, &self); });
  if (!thrown.empty()) return create_error(thrown);
  if (status > RW_OK) return create_error("create returned " + std::to_string(status) + "; only RW_OK (0) and negative codes exist");
  if (status != RW_OK) return create_error(call.failure.empty() ? "status " + std::to_string(status) + " without a text" : call.failure);
  if (self == nullptr) return create_error("create returned RW_OK without an instance");
  return Instance(detector, self);
}

Instance::~Instance() {
  if (self_ != nullptr) catch_exceptions([this] { detector_->destroy(self_); });
}

Instance::AbiResult Instance::evaluate(const rw_run& run, const rw_call& call) {
  AbiResult result;
  result.thrown = catch_exceptions([&] { result.status = detector_->evaluate(self_, &run, &call); });
  return result;
}

}  // namespace runwarden::detect
