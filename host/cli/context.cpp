#include "cli/context.h"

#include <new>
#include <system_error>

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

std::string text_of(const std::exception& fault) {
  const auto* const of_system = dynamic_cast<const std::system_error*>(&fault);
  if (of_system != nullptr && of_system->code() == std::errc::resource_unavailable_try_again) {
    return "cannot start a thread: " + of_system->code().message() +
           "; raise TasksMax= (ulimit -u, the pids limit of a container) or `ulimit -v`";
  }
  if (dynamic_cast<const std::bad_alloc*>(&fault) != nullptr)
    return "out of memory; raise MemoryMax= (the memory limit of a container) or `ulimit -v`";
  return fault.what();
}

}  // namespace runwarden::cli
