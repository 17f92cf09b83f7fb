#include "cli/context.h"

#include "config/loading.h"

namespace runwarden::cli {

std::optional<config::Settings> Context::settings() {
  auto loaded = config::load(config::process_options(config, data_dir));
  if (!loaded.ok()) {
    err << loaded.error().detail << "\n";
    return std::nullopt;
  }
  warn(loaded->warnings);
  return std::move(*loaded);
}

void Context::warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) err << "runwarden: warning: " << warning << "\n";
}

int Context::refuse(std::string_view why) {
  err << "runwarden: " << why << "\n";
  return kWanting;
}

int Context::finish() {
  out.flush();
  return out.good() ? kFine : refuse("cannot write the output; it is closed, or its disk is full");
}

}  // namespace runwarden::cli
