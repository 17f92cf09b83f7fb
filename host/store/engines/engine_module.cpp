#include "store/engines/engine_module.h"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <filesystem>

#include "base/program_file.h"

namespace runwarden::store {
namespace {

namespace dll = boost::dll;

// Beside lib/runwarden/detectors, both in the build folder and as installed.
constexpr const char* kFromProgram = "../lib/runwarden/engines/postgres.so";

Error cannot_load(const std::filesystem::path& file, const std::string& why) {
  return {Code::unavailable, "cannot load \"" + file.string() + "\", the engine for PostgreSQL: " + why, {}, {}};
}

// The library stays loaded for the life of the process, because what it makes lives as long.
Result<const EngineModule*> load(const std::filesystem::path& file, dll::shared_library& library) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error{Code::unavailable,
                 "the engine for PostgreSQL, \"" + file.string() + "\", does not exist; install the package runwarden-postgres",
                 {},
                 {}};
  }
  try {
    library.load(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    if (!library.has(kEngineVersionSymbol) || !library.has(kEngineSymbol)) return cannot_load(file, "not a runwarden storage engine");
    const std::string version = library.get<EngineVersionFunction>(kEngineVersionSymbol)();
    if (version == RUNWARDEN_VERSION) return library.get<EngineFunction>(kEngineSymbol)();
    return cannot_load(
        file, "it belongs to runwarden " + version + ", but this is " RUNWARDEN_VERSION "; install the same version of both packages");
  } catch (const std::exception& fault) {
    return cannot_load(file, std::string(fault.what()) + "; reinstall the package runwarden-postgres");
  }
}

}  // namespace

Result<const EngineModule*> postgres_engine() {
  static dll::shared_library library;
  static const Result<const EngineModule*> engine = load((program_file().parent_path() / kFromProgram).lexically_normal(), library);
  return engine;
}

}  // namespace runwarden::store
