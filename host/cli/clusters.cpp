// clusters: shows, resolves, ignores and reopens groups of failures.
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <future>
#include <memory>
#include <ostream>
#include <vector>

#include "base/json_text.h"
#include "base/time_text.h"
#include "cli/command_store.h"
#include "cli/table.h"
#include "config/core_types.h"
#include "ingest/answers.h"
#include "ingest/triage_ingest.h"
#include "model/cluster.h"
#include "model/triage_json.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kUsualGroups = 50;
constexpr std::size_t kMostGroups = 100'000;
constexpr std::size_t kMostEntries = 1000;

struct ClusterOptions {
  std::string tenant;
  std::string cluster;
  std::string state = "open";
  std::string detector;
  std::size_t limit = kUsualGroups;
  std::string note;
  std::string fixed_by;
  std::string until;
  bool json = false;
};

std::string cluster_text(const model::Cluster& cluster, std::int64_t now_ms) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  ingest::append_cluster(out, cluster, now_ms);
  out.end_object();
  return text;
}

bool fits(const ClusterOptions& options, const model::Cluster& cluster, std::int64_t now_ms) {
  if (!options.detector.empty() && cluster.detector_key != options.detector) return false;
  if (options.state == "all") return true;
  const auto state = model::state_of(cluster.triage, cluster.first_ms, now_ms).state;
  if (options.state == "open") return state != model::ClusterState::resolved && state != model::ClusterState::ignored;
  return options.state == model::name(state);
}

int list(Context& context, const ClusterOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto opened = open_tenant_store(context, *settings, clock, options.tenant);
  if (!opened) return kWanting;
  const std::int64_t now_ms = clock.wall_ms();
  std::vector<model::Cluster> groups;
  opened->store->groups().visit_clusters(opened->tenant, [&](const model::Cluster& cluster) {
    if (fits(options, cluster, now_ms)) groups.push_back(cluster);
  });
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return std::tie(b.last_ms, b.key) < std::tie(a.last_ms, a.key); });
  const std::size_t shown = std::min(groups.size(), options.limit);
  if (options.json) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (std::size_t i = 0; i < shown; ++i) {
      out.begin_object();
      ingest::append_cluster(out, groups[i], now_ms);
      out.end_object();
    }
    out.end_array();
    context.out << text << "\n";
    return context.finish();
  }
  Table table({"GROUP", "STATE", "SEVERITY", "FAILURES", "FIRST SEEN", "LAST SEEN", "TITLE"});
  for (std::size_t i = 0; i < shown; ++i) {
    const model::Cluster& one = groups[i];
    table.add({model::cluster_id(one.key), model::name(model::state_of(one.triage, one.first_ms, now_ms).state), model::name(one.severity),
               std::to_string(one.count), format_time(one.first_ms), format_time(one.last_ms), one.title});
  }
  table.print(context.out);
  const auto building = opened->store->groups().group_totals(opened->tenant).building;
  if (building)
    context.err << "the service is still counting the groups of older failures: " << static_cast<int>(*building * 100) << " %\n";
  if (shown < groups.size()) context.err << groups.size() - shown << " more; show them with --limit " << groups.size() << "\n";
  return context.finish();
}

int refuse_unknown(Context& context, const ClusterOptions& options) {
  return context.refuse("no group \"" + options.cluster + "\" in tenant \"" + options.tenant + "\"; runwarden clusters list --tenant " +
                        options.tenant + " --state all lists all groups");
}

std::string until_text(const model::IgnoreUntil& until) {
  if (until.at_ms) return ", until " + format_time(*until.at_ms);
  if (until.failures) return ", until " + std::to_string(*until.failures) + " more failures";
  if (!until.share) return "";
  std::string share;
  append_json_number(share, *until.share);
  return ", until a share of " + share + " of the last hour's runs";
}

// A group and its history, newest first.
struct ShownGroup {
  model::Cluster cluster;
  std::vector<model::TriageEntry> history;
};

void print_group_json(std::ostream& to, const ShownGroup& group, std::int64_t now_ms) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  ingest::append_cluster(out, group.cluster, now_ms);
  out.key("history").begin_array();
  for (const model::TriageEntry& entry : group.history) out.raw(model::triage_entry_json(entry));
  out.end_array().end_object();
  to << text << "\n";
}

void print_facts(std::ostream& to, const model::Cluster& cluster, std::int64_t now_ms) {
  const model::StateSince state = model::state_of(cluster.triage, cluster.first_ms, now_ms);
  Table facts({model::cluster_id(cluster.key), cluster.title});
  facts.add({"state", std::string(model::name(state.state)) + " since " + format_time(state.since_ms)});
  facts.add({"failures", std::to_string(cluster.count)});
  facts.add({"first seen", format_time(cluster.first_ms)});
  facts.add({"last seen", format_time(cluster.last_ms)});
  facts.add({"detector", cluster.detector_key});
  facts.add({"severity", std::string(model::name(cluster.severity)) + ", score up to " + std::to_string(cluster.max_score)});
  facts.add({"fingerprint", cluster.fingerprint});
  facts.print(to);
}

void print_history(std::ostream& to, const std::vector<model::TriageEntry>& history) {
  Table entries({"AT", "ACTION", "AUTHOR", "STATE", "NOTE"});
  for (const model::TriageEntry& entry : history) {
    const std::string fixed = entry.fixed_by.empty() ? "" : ", fixed by " + entry.fixed_by;
    entries.add({format_time(entry.key.time_ms), std::string(model::name(entry.action)) + until_text(entry.until) + fixed, entry.author,
                 model::name(entry.state), entry.note});
  }
  entries.print(to);
}

int show(Context& context, const ClusterOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto opened = open_tenant_store(context, *settings, clock, options.tenant);
  if (!opened) return kWanting;
  store::GroupStore& groups = opened->store->groups();
  const auto cluster = groups.find_cluster(opened->tenant, options.cluster);
  if (!cluster) return refuse_unknown(context, options);
  store::Range newest;
  newest.limit = kMostEntries;
  const ShownGroup group{*cluster, groups.triage_history(opened->tenant, cluster->key, newest)};
  const std::int64_t now_ms = clock.wall_ms();
  if (options.json) {
    print_group_json(context.out, group, now_ms);
    return context.finish();
  }
  print_facts(context.out, group.cluster, now_ms);
  if (group.history.empty()) return context.finish();
  context.out << "\n";
  print_history(context.out, group.history);
  return context.finish();
}

// The author of a decision: the logged-in user, even under sudo.
std::string author() {
  if (const char* const user = std::getenv("SUDO_USER"); user != nullptr && *user != '\0') return user;
  const passwd* const entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_name : "uid " + std::to_string(::getuid());
}

// Converts "failures=100", "share=0.05", a time, or a duration from now into the request's member `until`. Nothing if it is none of these.
std::optional<std::string> until_json(const std::string& text, std::int64_t now_ms) {
  std::string json;
  JsonWriter out(json);
  out.begin_object();
  const auto value = text.substr(std::min(text.find('=') + 1, text.size()));
  if (text.starts_with("failures=") || text.starts_with("share=")) {
    double number = 0;
    const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
    if (end.ec != std::errc() || end.ptr != value.data() + value.size()) return std::nullopt;
    out.key(text.starts_with("share=") ? "share" : "failures").raw(value);
  } else if (const auto time = parse_time(text)) {
    out.key("at").string(text);
  } else if (const auto duration = config::duration_ms(text)) {
    out.key("at").string(format_time(now_ms + *duration));
  } else {
    return std::nullopt;
  }
  out.end_object();
  return json;
}

std::string check_until(const std::string& text) {
  return until_json(text, 0) ? "" : "expected a time, a duration such as 7d, failures=100 or share=0.05, got \"" + text + "\"";
}

std::string body_of(model::TriageAction action, const ClusterOptions& options, std::int64_t now_ms) {
  std::string body;
  JsonWriter out(body);
  out.begin_object().key("action").string(model::name(action));
  if (!options.note.empty()) out.key("note").string(options.note);
  if (!options.fixed_by.empty()) out.key("fixedBy").string(options.fixed_by);
  if (!options.until.empty()) out.key("until").raw(*until_json(options.until, now_ms));
  out.end_object();
  return body;
}

int decide(Context& context, model::TriageAction action, const ClusterOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto opened = open_tenant_store(context, *settings, clock, options.tenant);
  if (!opened) return kWanting;
  store::Store& store = *opened->store;
  if (!store.groups().find_cluster(opened->tenant, options.cluster)) return refuse_unknown(context, options);
  const auto redactor = ingest::make_redactor(settings->redact);
  const ingest::Redaction redaction([&] { return redactor; }, [](std::string_view, std::uint64_t) {});
  ingest::TriageIngest triage({store, store.groups(), store, clock, redaction});
  ingest::IngestRequest request;
  request.tenant = opened->tenant;
  request.tenant_name = options.tenant;
  request.key_name = author();
  request.body = body_of(action, options, clock.wall_ms());
  using Triaged = ingest::TriageIngest::Triaged;
  std::promise<std::optional<Result<Triaged>>> told;
  triage.take(std::move(request), options.cluster, [&](std::optional<Result<Triaged>> triaged) { told.set_value(std::move(triaged)); });
  const auto triaged = told.get_future().get();
  if (!triaged) return context.refuse("the outcome of the write is unknown; check it with runwarden clusters show");
  if (!triaged->ok()) return context.refuse(triaged->error().detail);
  const model::Cluster& cluster = (*triaged)->cluster;
  if (options.json) {
    context.out << cluster_text(cluster, clock.wall_ms()) << "\n";
  } else {
    const model::StateSince state = model::state_of(cluster.triage, cluster.first_ms, clock.wall_ms());
    context.out << options.cluster << " is " << model::name(state.state) << ": " << cluster.title << "\n";
  }
  return context.finish();
}

void add_tenant(CLI::App& command, ClusterOptions& options) {
  command.add_option("--tenant", options.tenant, "Whose groups")->required()->type_name("TENANT");
}

void add_cluster(CLI::App& command, ClusterOptions& options) {
  command.add_option("cluster", options.cluster, "The group's id, as clusters list shows it")->required()->type_name("CLUSTER");
  add_tenant(command, options);
}

void add_list(CLI::App& clusters, Context& context) {
  CLI::App* command = clusters.add_subcommand("list", "List the groups, most recent failure first");
  auto options = std::make_shared<ClusterOptions>();
  add_tenant(*command, *options);
  command->add_option("--state", options->state, "open (new, ongoing or regressed), one of these states, resolved, ignored or all")
      ->type_name("STATE")
      ->check(CLI::IsMember({"open", "all", "new", "ongoing", "resolved", "ignored", "regressed"}))
      ->capture_default_str();
  command->add_option("--detector", options->detector, "Only groups of this detector")->type_name("KEY");
  command->add_option("--limit", options->limit, "At most this many")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kMostGroups))
      ->capture_default_str();
  command->add_flag("--json", options->json, "An array of objects with the names of GET /v1/clusters");
  command->footer("Example:\n  runwarden clusters list --tenant acme --state regressed");
  command->callback([&context, options] { context.exit_code = list(context, *options); });
}

void add_show(CLI::App& clusters, Context& context) {
  CLI::App* command = clusters.add_subcommand("show", "Show a group and the decisions about it, newest first");
  auto options = std::make_shared<ClusterOptions>();
  add_cluster(*command, *options);
  command->add_flag("--json", options->json, "One object, with history");
  command->footer("Example:\n  runwarden clusters show --tenant acme cl_3f9a0c517be24d863f9a");
  command->callback([&context, options] { context.exit_code = show(context, *options); });
}

CLI::App* add_decision(CLI::App& clusters, Context& context, model::TriageAction action, const char* about,
                       const std::shared_ptr<ClusterOptions>& options) {
  CLI::App* command = clusters.add_subcommand(model::name(action), about);
  add_cluster(*command, *options);
  command->add_option("--note", options->note, "The reason; it is stored in the group's history")->type_name("TEXT");
  command->add_flag("--json", options->json, "The group as an object");
  command->callback([&context, action, options] { context.exit_code = decide(context, action, *options); });
  return command;
}

}  // namespace

void add_clusters(CLI::App& app, Context& context) {
  CLI::App* clusters = app.add_subcommand("clusters", "Show groups of failures, and resolve, ignore or reopen them");
  need_subcommand(*clusters);
  clusters->footer(
      "Can run while the service is running. Decisions are recorded under the logged-in user's name.\n\nExample:\n  runwarden clusters "
      "list --tenant acme");
  add_list(*clusters, context);
  add_show(*clusters, context);
  auto resolve = std::make_shared<ClusterOptions>();
  CLI::App* command = add_decision(*clusters, context, model::TriageAction::resolve,
                                   "Mark a group as fixed; a later run that fails the same way reopens it", resolve);
  command->add_option("--fixed-by", resolve->fixed_by, "The change that fixed it: only runs after that change reopen the group")
      ->type_name("CHANGE");
  command->footer("Example:\n  runwarden clusters resolve --tenant acme cl_3f9a0c517be24d863f9a --note 'Fixed in 2.4.2'");
  auto ignore = std::make_shared<ClusterOptions>();
  command = add_decision(*clusters, context, model::TriageAction::ignore,
                         "Hide a group from the open ones, permanently or until a condition is met", ignore);
  command
      ->add_option("--until", ignore->until,
                   "A time, a duration from now (7d), failures=N for N more failures, or share=0.05 of the last hour's runs")
      ->type_name("UNTIL")
      ->check(check_until);
  command->footer("Example:\n  runwarden clusters ignore --tenant acme cl_3f9a0c517be24d863f9a --until failures=100");
  auto reopen = std::make_shared<ClusterOptions>();
  command = add_decision(*clusters, context, model::TriageAction::reopen, "Reopen a resolved or ignored group", reopen);
  command->footer("Example:\n  runwarden clusters reopen --tenant acme cl_3f9a0c517be24d863f9a");
}

}  // namespace runwarden::cli
