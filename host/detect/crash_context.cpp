#include "detect/crash_context.h"

namespace runwarden::detect {

std::string without_end(const CrashContext& context) {
  const std::string library(context.library);
  if (context.code == DetectorCode::load) return library + " has not returned from the constructors of the library";
  const char* const function = context.code == DetectorCode::create ? "create" : "destroy";
  return "detector \"" + std::string(context.detector_key) + "\" (" + library + ") has not returned from " + function;
}

}  // namespace runwarden::detect
