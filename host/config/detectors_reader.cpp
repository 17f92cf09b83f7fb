#include "config/detectors_reader.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/ascii.h"
#include "base/nearest_names.h"
#include "base/open_fault.h"
#include "config/file_text.h"

namespace runwarden::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginFolder = "../lib/runwarden/detectors";
constexpr const char* kDropInFolder = "../share/runwarden/config/detectors.d";

// A detector as merged from the files so far; later files override earlier ones.
struct Entry {
  std::string key;
  std::string path;  // of the entry that configured it last
  SourceLocation location;
  std::optional<std::string> library;
  bool optional = false;
  bool off = false;
  model::DetectorMode mode = model::DetectorMode::live;
  NodePtr settings;  // never null
};

NodePtr empty_mapping(const SourceLocation& location) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.location = location;
  return std::make_shared<const Node>(std::move(node));
}

// Merges `over` over `base` key by key; both are mappings.
NodePtr merged(const NodePtr& base, const NodePtr& over) {
  Node node = *over;
  for (const Member& member : base->members) {
    if (!node.member(member.key)) node.members.push_back(member);
  }
  return std::make_shared<const Node>(std::move(node));
}

NodePtr shared_member(const Node& node, std::string_view key) {
  const Member* member = node.member(key);
  return member ? member->value : nullptr;
}

// Escapes the path, so that as a pattern it matches only itself.
std::string literal(const fs::path& path) {
  std::string pattern;
  for (const char c : path.lexically_normal().string()) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

struct UnreadableFolder {
  std::string path;
  int code = 0;
};

// What stopped ::glob() on this thread; its callback has no other way to say so.
thread_local UnreadableFolder unreadable_folder;

int stop_at_unreadable_folder(const char* path, int code) {
  if (code == ENOENT) return 0;
  unreadable_folder = {path, code};
  return 1;
}

bool good_key(std::string_view key) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !key.empty() && key.size() <= 64 && ascii::is_lower(key.front()) && key.find_first_not_of(kAllowed) == std::string_view::npos;
}

class DetectorsReader {
 public:
  DetectorsReader(const DetectorSources& sources, Reading& reading, Settings& settings)
      : sources_(sources), reading_(reading), settings_(settings), out_(settings.detectors) {}

  void read(const Node* node) {
    Section section(node, "detectors", reading_);
    section.duration("deadline", {1, 3'600'000}, out_.deadline_ms);
    read_quarantine(section.take("quarantine"));
    section.texts("search_path", out_.search_path);
    resolve_search_path();
    const NodePtr folders = node ? shared_member(*node, "search_path") : nullptr;
    warn_of_missing_folders(folders.get());
    add_own_folder();
    const Node* include = section.take("include");
    const Node* enabled = section.take("enabled");
    if (include || enabled) {
      read_included(include);
      if (enabled) read_list(*enabled, "detectors.enabled");
    } else {
      read_shipped();
    }
    publish();
    read_tenants(section.take("tenants"));
  }

 private:
  void read_quarantine(const Node* node) {
    Section section(node, "detectors.quarantine", reading_);
    std::int64_t failures = out_.quarantine_failures;
    section.integer("failures", {1, 1'000'000}, failures);
    out_.quarantine_failures = static_cast<int>(failures);
    section.duration("window", {1, kDayMs}, out_.quarantine_window_ms);
  }

  // The folders of the shipped configuration may be missing; the second is for the operator's detectors.
  void warn_of_missing_folders(const Node* written) {
    if (!written) return;
    const auto shipped = model::DetectorSettings().search_path;
    for (const std::string& folder : out_.search_path) {
      std::error_code ignored;
      if (fs::is_directory(folder, ignored) || std::find(shipped.begin(), shipped.end(), folder) != shipped.end()) continue;
      settings_.detector_warnings.push_back("detectors.search_path (" + written->location.text() + "): no folder " + folder +
                                            "; create it, or remove the line");
    }
  }

  void resolve_search_path() {
    for (std::string& folder : out_.search_path) folder = (sources_.folder / folder).lexically_normal().string();
  }

  void add_own_folder() {
    if (sources_.binary_dir.empty()) return;
    const std::string beside = (sources_.binary_dir / kPluginFolder).lexically_normal().string();
    if (std::find(out_.search_path.begin(), out_.search_path.end(), beside) == out_.search_path.end()) out_.search_path.push_back(beside);
  }

  // Without `include` the default applies: detectors.d beside the file.
  void read_included(const Node* include) {
    if (!include) return read_glob("detectors.d/*.yaml", nullptr, "");
    if (include->kind == Node::Kind::null) return;
    if (include->kind != Node::Kind::list) {
      fault("detectors.include", include->location, "expected a list, got " + describe(*include));
      return;
    }
    for (std::size_t i = 0; i < include->items.size(); ++i) {
      const Node& item = *include->items[i];
      const std::string path = "detectors.include[" + std::to_string(i) + "]";
      if (is_text(item) && !item.text.empty()) {
        read_glob(item.text, &item, path);
      } else {
        fault(path, item.location, "expected a file name or a glob, got " + describe(item));
      }
    }
  }

  // Patterns are relative to the folder of the file. `written` may be null.
  void read_glob(const std::string& pattern, const Node* written, const std::string& path) {
    const bool absolute = pattern.starts_with('/');
    const bool found = read_matches(absolute || sources_.folder.empty() ? pattern : literal(sources_.folder) + "/" + pattern);
    if (found || !written) return;
    if (pattern.find_first_of("*?[") != std::string::npos) {
      settings_.detector_warnings.push_back(path + " (" + written->location.text() + "): no file matches " +
                                            (sources_.folder / pattern).string() +
                                            "; correct the pattern, or install the packages that contain such files");
      return;
    }
    fault(path, written->location,
          "no such file: " + (sources_.folder / pattern).string() + "; remove the line, or install the package that contains it");
  }

  // Reads the files in order of their names; false if there are none. A folder that cannot be read is a fault.
  bool read_matches(const std::string& pattern) {
    glob_t found{};
    const int outcome = ::glob(pattern.c_str(), 0, stop_at_unreadable_folder, &found);
    for (std::size_t i = 0; outcome == 0 && i < found.gl_pathc; ++i) read_drop_in(found.gl_pathv[i]);
    ::globfree(&found);
    if (outcome != GLOB_ABORTED) return outcome == 0;
    const auto& [path, code] = unreadable_folder;
    fault("", {std::make_shared<const std::string>(path), 0, 0},
          "cannot look for files of detectors: " + open_fault(path, code, OpenFor::reading));
    return true;
  }

  void read_drop_in(const std::string& file) {
    const auto text = read_file(file);
    if (!text) {
      fault("", {std::make_shared<const std::string>(file), 0, 0}, text.error().detail);
      return;
    }
    const NodePtr root = parse_yaml(*text, file, reading_.faults);
    if (!root || root->kind == Node::Kind::null) return;
    if (root->kind == Node::Kind::mapping && root->member("enabled") && !root->member("key")) {
      Section section(root.get(), "", reading_);
      if (const Node* enabled = section.take("enabled")) read_list(*enabled, "enabled");
      return;
    }
    if (root->kind == Node::Kind::list) return read_list(*root, "");
    seen_ = {};
    read_entry(*root, "");
  }

  void read_list(const Node& list, const std::string& path) {
    if (list.kind == Node::Kind::null) return;
    if (list.kind != Node::Kind::list) {
      fault(path, list.location, "expected a list of detectors, got " + describe(list));
      return;
    }
    seen_ = {};
    for (std::size_t i = 0; i < list.items.size(); ++i) read_entry(*list.items[i], path + "[" + std::to_string(i) + "]");
  }

  void read_entry(const Node& node, const std::string& path) {
    if (node.kind != Node::Kind::mapping) {
      fault(path, node.location, "expected a mapping with key, library, settings, mode, optional, off; got " + describe(node));
      return;
    }
    Section section(&node, path, reading_);
    std::string key;
    section.text("key", key);
    const Member* written = node.member("key");
    if (!written) fault(section.path_of("key"), node.location, "missing; name the detector, such as key: expensive_loop");
    if (written && is_text(*written->value) && !good_key(key)) {
      section.fault("key", *written->value, "1 to 64 lower-case letters, digits, '_', '.' or '-', a letter first");
      key.clear();
    }
    Entry scratch;
    Entry& entry = key.empty() ? scratch : entry_of(key, *written->value, section.path_of("key"));
    entry.path = path;
    entry.location = node.location;
    read_fields(section, node, entry);
  }

  void read_fields(Section& section, const Node& node, Entry& entry) {
    std::string library;
    section.text("library", library);
    const Member* written = node.member("library");
    if (written && is_text(*written->value)) {
      if (library.empty()) section.fault("library", *written->value, "a file name, such as expensive_loop.so");
      entry.library = library;
    }
    if (const Node* mode = section.take("mode")) read_mode(*mode, section.path_of("mode"), entry.mode);
    section.boolean("optional", entry.optional);
    section.boolean("off", entry.off);
    section.take("settings");
    if (const NodePtr settings = shared_member(node, "settings"))
      entry.settings = over(entry.settings, settings, section.path_of("settings"));
  }

  NodePtr over(const NodePtr& base, const NodePtr& settings, const std::string& path) {
    if (settings->kind == Node::Kind::null) return base;
    if (settings->kind != Node::Kind::mapping) {
      fault(path, settings->location, "expected a mapping, got " + describe(*settings));
      return base;
    }
    std::string ignored;
    append_json(ignored, *settings, path, reading_.faults);
    return base ? merged(base, settings) : settings;
  }

  // Returns the entry with that key, creating it if necessary. A file or list may name a key only once.
  Entry& entry_of(const std::string& key, const Node& written, const std::string& path) {
    const auto before = std::find_if(seen_.begin(), seen_.end(), [&](const auto& seen) { return seen.first == key; });
    if (before != seen_.end()) {
      fault(path, written.location, "detector " + key + " is listed twice, first at " + before->second.text() + "; remove one");
    }
    seen_.emplace_back(key, written.location);
    if (Entry* const found = find(key)) return *found;
    entries_.emplace_back();
    entries_.back().key = key;
    return entries_.back();
  }

  // The installed detectors: the drop-in files or, without them, the five by name.
  void read_shipped() {
    if (!sources_.folder.empty()) read_glob("detectors.d/*.yaml", nullptr, "");
    if (entries_.empty() && !sources_.binary_dir.empty()) read_matches(literal(sources_.binary_dir / kDropInFolder) + "/*.yaml");
    if (!entries_.empty()) return;
    for (const char* key : kShippedDetectors) {
      if (!on_search_path(std::string(key) + ".so")) continue;
      entries_.emplace_back();
      entries_.back().key = key;
    }
  }

  bool on_search_path(const std::string& library) const {
    return std::any_of(out_.search_path.begin(), out_.search_path.end(), [&](const std::string& folder) {
      std::error_code ignored;
      return fs::exists(fs::path(folder) / library, ignored);
    });
  }

  void publish() {
    std::vector<Fault> told_before;
    for (Entry& entry : entries_) {
      if (!entry.settings) entry.settings = empty_mapping(entry.location);
      std::string json;
      append_json(json, *entry.settings, "", told_before);
      (entry.off ? out_.switched_off : out_.entries)
          .push_back(
              {entry.key, entry.library.value_or(entry.key + ".so"), std::move(json), entry.optional, entry.location.text(), entry.mode});
      if (!entry.off) settings_.locations.note("", entry.key, entry.settings);
    }
    if (out_.entries.empty() && reading_.faults.empty()) {  // a fault may be why there is none
      settings_.detector_warnings.push_back(
          "no detector is enabled: runs are stored but not judged; add entries to detectors.enabled or files to "
          "detectors.include");
    }
  }

  void read_tenants(const Node* node) {
    Section section(node, "detectors.tenants", reading_);
    if (!node || node->kind != Node::Kind::mapping) return;
    for (const Member& member : node->members) {
      const std::string path = "detectors.tenants." + member.key;
      section.take(member.key);
      reading_.known.pop_back();  // a tenant's name is not a configuration key
      if (member.key.empty()) fault(path, member.key_location, "expected the name of a tenant, got \"\"");
      read_tenant(member.key, *member.value, path);
    }
  }

  void read_tenant(const std::string& tenant, const Node& node, const std::string& path) {
    model::TenantChange change;
    Section section(&node, path, reading_);
    section.texts("disabled", change.disabled, [this](const std::string& key) { return unknown_detector(key); });
    if (const Node* settings = section.take("settings"); settings && settings->kind == Node::Kind::mapping) {
      for (const Member& member : settings->members) read_tenant_settings(tenant, member, path + ".settings." + member.key, change);
    } else if (settings && settings->kind != Node::Kind::null) {
      section.fault("settings", *settings, "a mapping from detector keys to settings");
    }
    if (const Node* modes = section.take("mode"); modes && modes->kind == Node::Kind::mapping) {
      for (const Member& member : modes->members) {
        const std::string where = path + ".mode." + member.key;
        if (!is_known(member, where)) continue;
        model::DetectorMode mode = model::DetectorMode::live;
        if (read_mode(*member.value, where, mode)) change.modes[member.key] = mode;
      }
    } else if (modes && modes->kind != Node::Kind::null) {
      section.fault("mode", *modes, "a mapping from detector keys to live or shadow");
    }
    out_.tenants[tenant] = std::move(change);
  }

  bool read_mode(const Node& node, const std::string& path, model::DetectorMode& mode) {
    if (node.kind == Node::Kind::null) return false;
    for (const model::DetectorMode one : {model::DetectorMode::live, model::DetectorMode::shadow}) {
      if (!is_text(node) || node.text != model::name(one)) continue;
      mode = one;
      return true;
    }
    fault(path, node.location, "expected live or shadow, got " + describe(node));
    return false;
  }

  void read_tenant_settings(const std::string& tenant, const Member& member, const std::string& path, model::TenantChange& change) {
    if (!is_known(member, path)) return;
    const Entry* entry = find(member.key);
    const NodePtr whole = over(entry->settings ? entry->settings : empty_mapping(member.value->location), member.value, path);
    std::vector<Fault> told_before;
    append_json(change.settings_json[member.key], *whole, "", told_before);
    settings_.locations.note(tenant, member.key, whole);
  }

  Entry* find(const std::string& key) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &*found;
  }

  // Why a tenant's section cannot name the detector; empty: it can.
  std::string unknown_detector(const std::string& key) {
    if (const Entry* const entry = find(key)) {
      return entry->off ? "detector \"" + key + "\" is off (" + entry->location.text() + "); enable it there, or remove this" : "";
    }
    std::vector<std::string> keys;
    for (const Entry& entry : entries_) keys.push_back(entry.key);
    const std::string near = likely_name(key, keys);
    return "no detector \"" + key + "\" is configured" + (near.empty() ? "" : ", the nearest one is " + near) +
           "; add it to detectors.enabled, or remove this";
  }

  // Reports it at the member's key if not.
  bool is_known(const Member& member, const std::string& path) {
    const std::string why = unknown_detector(member.key);
    if (!why.empty()) fault(path, member.key_location, why);
    return why.empty();
  }

  void fault(const std::string& path, const SourceLocation& location, std::string detail) {
    reading_.faults.push_back({path, location, std::move(detail)});
  }

  const DetectorSources& sources_;
  Reading& reading_;
  Settings& settings_;
  model::DetectorSettings& out_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, SourceLocation>> seen_;  // keys of the list being read
};

}  // namespace

void read_detectors(const Node* node, const DetectorSources& sources, Reading& reading, Settings& settings) {
  DetectorsReader(sources, reading, settings).read(node);
}

}  // namespace runwarden::config
