#include "detect/entry_check.h"

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/utf8.h"
#include "detect/abi_text.h"
#include "detect/elf_check.h"
#include "detect/settings_check.h"

namespace runwarden::detect {
namespace {

constexpr std::uint64_t kKnownCaps = RW_CAP_CONCURRENT | RW_CAP_DETERMINISTIC;
constexpr std::uint32_t kMaxDetectors = 256;
constexpr std::size_t kMaxKeyBytes = 64;
constexpr std::size_t kMaxInfoBytes = 256;
constexpr std::size_t kMaxSchemaBytes = 1 << 20;
// The members of every 1.0 entry. host_release is used in messages only.
constexpr std::size_t kMinEntryBytes = offsetof(rw_entry, detectors) + sizeof(rw_entry::detectors);

std::string version_text(std::uint32_t minor) {
  return std::to_string(RW_ABI_MAJOR) + "." + std::to_string(minor);
}

bool is_key(std::string_view key) {
  const auto good = [](char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '_'; };
  return !key.empty() && key.size() <= kMaxKeyBytes && ascii::is_lower(key[0]) && std::all_of(key.begin(), key.end(), good);
}

bool is_short_text(rw_str text) {
  const std::string_view bytes = view(text);
  return text.ptr != nullptr && bytes.size() <= kMaxInfoBytes && utf8_fault(bytes) == bytes.size() &&
         bytes.find('\0') == std::string_view::npos;
}

// "Install runwarden >= 2.2 or rebuild with RW_TARGET_MINOR=1." host_release is the first release with min_host_minor.
std::string remedy(const rw_entry& entry, const HostVersion& host) {
  const bool names_release = RW_HAS(&entry, rw_entry, host_release) && is_short_text(entry.host_release) && entry.host_release.len > 0;
  const std::string newer = names_release ? "runwarden >= " + std::string(view(entry.host_release)) : std::string("a newer runwarden");
  return " Install " + newer + " or rebuild with RW_TARGET_MINOR=" + std::to_string(host.abi_minor) + ".";
}

// The library's versions and the host's, after what is wrong.
std::string versions(const rw_entry& entry, const HostVersion& host) {
  return " (built with SDK " + version_text(entry.abi_minor) + " for host ABI " + abi_text(entry) + ", this host has " +
         version_text(host.abi_minor) + ").";
}

std::string too_small(const std::string& what, std::uint32_t is, std::size_t least) {
  return what + " has struct_size " + std::to_string(is) + ", ABI 1.0 has " + std::to_string(least);
}
constexpr const char* kSetSize = " Set it to sizeof of the struct.";

std::string function_fault(const rw_detector& detector, const std::string& named, const std::string& versions) {
  const char* missing = detector.create == nullptr     ? "create"
                        : detector.evaluate == nullptr ? "evaluate"
                        : detector.destroy == nullptr  ? "destroy"
                                                       : nullptr;
  return missing == nullptr ? std::string() : named + " has no function " + missing + ", but a null pointer" + versions + " Give it one.";
}

std::string caps_fault(const rw_info& info, const std::string& named, const std::string& versions) {
  const std::uint64_t unknown = info.required_caps & ~kKnownCaps;
  if (unknown == 0) return {};
  int bit = 0;
  while ((unknown >> bit & 1) == 0) ++bit;
  return named + " requires capability bit " + std::to_string(bit) + ", which this host does not know" + versions +
         " Install a newer runwarden or move the bit to optional_caps.";
}

std::string config_schema_fault(std::string_view schema) {
  if (schema.size() > kMaxSchemaBytes) {
    return "of " + std::to_string(schema.size()) + " bytes, the limit is " + std::to_string(kMaxSchemaBytes);
  }
  const std::string fault = schema.empty() ? std::string() : schema_fault(schema);
  return fault.empty() ? fault : "with a fault at " + fault;
}

std::string entry_missing(const LoadedLibrary& library) {
  if (library.other_major == 0) {
    return std::string("exports no ") + RW_ENTRY_SYMBOL + ", as every library for this host's ABI " + version_text(RW_ABI_MINOR) +
           " does: it is not a detector library. Build it with runwarden_add_detector and RW_DETECTORS or RW_ENTRY.";
  }
  return "needs host ABI " + std::to_string(library.other_major) + ".x, this host has " + version_text(RW_ABI_MINOR) +
         ". Install the runwarden of that ABI or rebuild with SDK 1.x.";
}

std::string duplicate_fault(const rw_entry& entry, const HostVersion& host) {
  std::set<std::string_view> seen;
  for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
    const rw_detector* one = entry.detectors[i];
    const std::string_view key = view(one->info->key);
    if (!seen.insert(key).second)
      return "has two detectors with the key \"" + std::string(key) + "\"" + versions(entry, host) + " Rename one.";
  }
  return {};
}

bool can_be_read(const rw_detector* detector) {
  return detector != nullptr && detector->struct_size >= sizeof(rw_detector) && detector->info != nullptr &&
         detector->info->struct_size >= sizeof(rw_info);
}

}  // namespace

std::string entry_fault(const LoadedLibrary& library, const HostVersion& host) {
  if (library.entry == nullptr) return entry_missing(library);
  const rw_entry& entry = *static_cast<const rw_entry*>(library.entry);
  if (entry.struct_size < kMinEntryBytes) return too_small("the entry", entry.struct_size, kMinEntryBytes) + "." + kSetSize;
  if (entry.abi_major != RW_ABI_MAJOR) {
    return "needs host ABI " + std::to_string(entry.abi_major) + "." + std::to_string(entry.min_host_minor) + ", this host has " +
           version_text(host.abi_minor) + ". Install the runwarden of that ABI or rebuild with SDK 1.x.";
  }
  if (entry.min_host_minor > host.abi_minor) {
    return "needs host ABI " + abi_text(entry) + ", this host has " + version_text(host.abi_minor) + " (built with SDK " +
           version_text(entry.abi_minor) + ")." + remedy(entry, host);
  }
  if (entry.detector_count == 0 || entry.detector_count > kMaxDetectors || entry.detectors == nullptr) {
    return "has " + std::to_string(entry.detector_count) + " detectors" + (entry.detectors == nullptr ? " at a null pointer" : "") +
           ", expected 1 to " + std::to_string(kMaxDetectors) + versions(entry, host) + " Name them in RW_DETECTORS or RW_ENTRY.";
  }
  for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
    if (!can_be_read(entry.detectors[i])) return detector_fault(entry, entry.detectors[i], host);
  }
  return duplicate_fault(entry, host);
}

std::string detector_fault(const rw_entry& entry, const rw_detector* detector, const HostVersion& host) {
  const std::string both = versions(entry, host);
  if (detector == nullptr) return "a detector in its table is a null pointer" + both + " Set detector_count to the number of detectors.";
  if (detector->struct_size < sizeof(rw_detector))
    return too_small("a detector", detector->struct_size, sizeof(rw_detector)) + both + kSetSize;
  if (detector->info == nullptr) return "a detector has no info, but a null pointer" + both + " Give it one.";
  const rw_info& info = *detector->info;
  if (info.struct_size < sizeof(rw_info)) return too_small("the info of a detector", info.struct_size, sizeof(rw_info)) + both + kSetSize;
  if (!is_short_text(info.key) || !is_key(view(info.key)))
    return "a detector's key does not match [a-z][a-z0-9_]{0,63}" + both + " Rename it.";
  const std::string named = "the detector \"" + std::string(view(info.key)) + "\"";
  if (!is_short_text(info.version) || !is_short_text(info.title)) {
    return named + " has a version or title that is absent, over " + std::to_string(kMaxInfoBytes) + " bytes or not UTF-8" + both +
           " Give it one.";
  }
  if (info.min_schema_minor > host.schema_minor) {
    return named + " needs run schema " + version_text(info.min_schema_minor) + ", this host has " + version_text(host.schema_minor) +
           both + " Install a newer runwarden or rebuild with min_schema_minor=" + std::to_string(host.schema_minor) +
           " in its info if it can do without newer fields.";
  }
  if (std::string fault = caps_fault(info, named, both); !fault.empty()) return fault;
  if (std::string fault = function_fault(*detector, named, both); !fault.empty()) return fault;
  const std::string fault = config_schema_fault(view(info.config_schema_json));
  return fault.empty() ? fault : named + " has a settings schema " + fault + both + " Correct config_schema_json.";
}

Result<const rw_entry*> take_entry(const LibraryFile& file, const std::filesystem::path& private_folder) {
  const auto refused = [&](const std::string& why) { return refusal(file.file, why); };
  if (std::string fault = elf_fault(file.bytes); !fault.empty()) return refused(fault);
  Result<LoadedLibrary> library = load_library(file, private_folder);
  if (!library.ok()) return std::move(library.error());
  const HostVersion host;
  if (std::string fault = entry_fault(*library, host); !fault.empty()) return refused(fault);
  const auto* entry = static_cast<const rw_entry*>(library->entry);
  for (std::uint32_t i = 0; i < entry->detector_count; ++i) {
    if (std::string fault = detector_fault(*entry, entry->detectors[i], host); !fault.empty()) return refused(fault);
  }
  return entry;
}

const rw_detector* detector_of(const rw_entry& entry, std::string_view key) {
  for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
    if (view(entry.detectors[i]->info->key) == key) return entry.detectors[i];
  }
  return nullptr;
}

std::string keys_of(const rw_entry& entry) {
  std::string keys;
  for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
    keys += (i == 0 ? "" : ", ");
    keys += view(entry.detectors[i]->info->key);
  }
  return keys;
}

std::string abi_text(const rw_entry& entry) {
  return std::to_string(entry.abi_major) + "." + std::to_string(entry.min_host_minor);
}

}  // namespace runwarden::detect
