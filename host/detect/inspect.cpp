#include "detect/inspect.h"

#include "detect/abi_text.h"
#include "detect/crash_context.h"
#include "detect/elf_check.h"
#include "detect/entry_check.h"
#include "detect/libraries.h"
#include "detect/library_file.h"

namespace runwarden::detect {
namespace {

std::vector<std::string> cap_names(std::uint64_t caps) {
  std::vector<std::string> names;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    if ((caps & one) == 0) continue;
    names.push_back(one == RW_CAP_CONCURRENT ? "CONCURRENT" : one == RW_CAP_DETERMINISTIC ? "DETERMINISTIC" : "bit " + std::to_string(bit));
  }
  return names;
}

InspectedDetector described(const rw_info& info) {
  return {std::string(view(info.key)),   std::string(view(info.version)),
          std::string(view(info.title)), std::string(view(info.config_schema_json)),
          info.min_schema_minor,         cap_names(info.required_caps),
          cap_names(info.optional_caps)};
}

// Reads as much of the entry as possible. Returns the first fault; empty if the host accepts it.
std::string describe(const LoadedLibrary& library, Inspection& out) {
  const HostVersion host;
  std::string fault = entry_fault(library, host);
  if (library.entry == nullptr) return fault;
  const auto& entry = *static_cast<const rw_entry*>(library.entry);
  out.has_entry = true;
  out.abi_major = entry.abi_major;
  out.abi_minor = entry.abi_minor;
  out.min_host_minor = entry.min_host_minor;
  if (!fault.empty()) return fault;
  for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
    out.detectors.push_back(described(*entry.detectors[i]->info));
    if (fault.empty()) fault = detector_fault(entry, entry.detectors[i], host);
  }
  return fault;
}

}  // namespace

Inspection inspect(const std::filesystem::path& file, const std::vector<std::string>& search_path) {
  Inspection out;
  out.file = file;
  Result<LibraryFile> read = read_library(file);
  if (!read.ok()) {
    out.refusal = read.error().detail;
    return out;
  }
  out.size_bytes = read->bytes.size();
  out.sha256 = read->sha256;
  if (std::string fault = location_fault(file, search_path); !fault.empty()) out.notes.push_back("location: " + fault);
  std::string fault = elf_fault(read->bytes);
  if (fault.empty()) {
    const CrashContext loading{.library = file.native(), .code = DetectorCode::load};
    const CrashContextScope scope(loading);
    Result<LoadedLibrary> library = load_library(*read, {});
    if (!library.ok()) {
      out.refusal = library.error().detail;
      return out;
    }
    fault = describe(*library, out);
  }
  out.loadable = fault.empty();
  if (!fault.empty()) out.refusal = refusal(file, fault).detail;
  return out;
}

std::string host_abi() {
  return std::to_string(RW_ABI_MAJOR) + "." + std::to_string(RW_ABI_MINOR);
}

}  // namespace runwarden::detect
