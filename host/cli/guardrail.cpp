// guardrail: drafts of stored failures and groups; guardrail check: runs against a draft.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/command_store.h"
#include "cli/run_input.h"
#include "config/file_text.h"
#include "config/yaml_tree.h"
#include "guardrail/evaluator.h"
#include "guardrail/stored.h"
#include "intake/run_reader.h"

namespace runwarden::cli {
namespace {

struct DraftOptions {
  std::string id;
  std::string tenant;
  std::string as = "json";
};

struct CheckOptions {
  std::string draft;
  std::vector<std::string> runs;
  bool ndjson = false;
};

bool is_cluster(const std::string& id) {
  return id.starts_with("cl_");
}

int draft(Context& context, const DraftOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto store = open_command_store(context, *settings, clock, IfMissing::refuse);
  if (!store) return kWanting;
  const model::TenantId tenant = find_tenant(context, *store, options.tenant);
  if (tenant == 0) return kWanting;
  const guardrail::ReportSources sources{*store, store->groups(), clock, tenant};
  const auto report =
      is_cluster(options.id) ? guardrail::report_of_cluster(sources, options.id) : guardrail::report_of_failure(sources, options.id);
  if (!report.ok()) return context.refuse(report.error().detail);
  const std::string text = guardrail::to_text(*report, *guardrail::format_named(options.as));
  context.out << text << (text.ends_with('\n') ? "" : "\n");
  return context.finish();
}

// Reports a bad argument as wrong usage, because exit code 1 means that a run was caught.
int refuse(Context& context, const std::string& where, const Error& error) {
  context.err << where << ": " << error.detail << "\n";
  for (std::size_t i = 1; i < error.faults.size(); ++i)  // the detail has the first
    context.err << "  " << (error.faults[i].pointer.empty() ? "/" : error.faults[i].pointer) << ": " << error.faults[i].detail << "\n";
  return kUsage;
}

// The draft as JSON. Converts YAML, which `--as yaml` writes.
Result<std::string> draft_json(const std::string& file, const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return text;
  std::vector<config::Fault> faults;
  const config::NodePtr root = config::parse_yaml(text, file, faults);
  std::string json;
  if (root && faults.empty()) config::append_json(json, *root, "", faults);
  if (root && faults.empty()) return json;
  return Error{Code::malformed_json, faults.empty() ? "is neither JSON nor YAML" : faults.front().text(), {}, {}};
}

Result<guardrail::Draft> read_draft_file(const std::string& file) {
  auto text = config::read_file(file);
  if (!text.ok()) return std::move(text.error());
  auto json = draft_json(file, *text);
  if (!json.ok()) return std::move(json.error());
  return guardrail::read_draft(*json);
}

int check(Context& context, const CheckOptions& options) {
  const auto draft = read_draft_file(options.draft);
  if (!draft.ok()) return refuse(context, options.draft, draft.error());
  guardrail::Evaluator evaluator(*draft);
  RunInput input(static_cast<std::size_t>(config::Settings{}.limits.max_body_bytes),
                 options.ndjson ? RunInput::Lines::always : RunInput::Lines::if_export);
  int code = kFine;
  const auto look = [&](const InputRun& one) {
    const std::string where = one.file + (one.line == 0 ? "" : ":" + std::to_string(one.line));
    const auto run = one.text.ok() ? intake::read_run(*one.text, intake::kStoredRun, {}) : Result<model::Run>(one.text.error());
    if (!run.ok()) {
      code = refuse(context, where, run.error());
      return true;
    }
    const bool caught = evaluator.catches(*run).value_or(false);
    if (caught && code == kFine) code = kWanting;
    context.out << (caught ? "caught " : "passed ") << where;
    if (caught) context.out << " " << guardrail::name(draft->action) << ": " << draft->say;
    context.out << "\n";
    return true;
  };
  for (const std::string& file : options.runs) input.read(file, look);
  const int told = context.finish();
  return told == kFine ? code : told;
}

void add_check_command(CLI::App& guardrail, Context& context) {
  CLI::App* command = guardrail.add_subcommand("check", "Check whether a draft catches runs; exits with 1 if it catches one");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("draft", options->draft, "A file with a draft, JSON or YAML")->required()->type_name("DRAFT");
  command->add_option("runs", options->runs, "Files with one run each, or exports; -: standard input")
      ->required()
      ->type_name("RUN.json");
  command->add_flag("--ndjson", options->ndjson, "Each line of a file is a run");
  command->footer(
      "Prints one line per run: caught or passed, the file, and what the guardrail does. Exit status: 0 no run is caught, 1 at least one\n"
      "is, 2 the draft or a run cannot be read. Needs neither store nor configuration.\n\nExample:\n  runwarden guardrail check draft.yaml "
      "run.json");
  command->callback([&context, options] { context.exit_code = check(context, *options); });
}

}  // namespace

void add_guardrail(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("guardrail", "Draft a guardrail from a failure or a group, or check runs against one");
  auto options = std::make_shared<DraftOptions>();
  command->add_option("id", options->id, "The failure's or the group's id")->type_name("FAILURE_OR_CLUSTER");
  command->add_option("--tenant", options->tenant, "Whose failure")->type_name("TENANT");
  command->add_option("--as", options->as, "json, yaml, or python: a function check(run)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "yaml", "python"}))
      ->capture_default_str();
  command->require_subcommand(0, 1);
  add_check_command(*command, context);
  command->footer(
      "Prints a rule that would have caught the failure, for a person to review: nothing is stored or enabled. `test` counts how many of\n"
      "the group's latest runs it catches, and how many other runs. Can run while the service is running.\n\n"
      "Example:\n  runwarden guardrail --tenant acme cl_3f9a0c517be24d863f9a --as yaml");
  command->callback([&context, command, options] {
    if (!command->get_subcommands().empty()) return;
    if (options->id.empty()) throw CLI::RequiredError("FAILURE_OR_CLUSTER");
    if (options->tenant.empty()) throw CLI::RequiredError("--tenant");
    context.exit_code = draft(context, *options);
  });
}

}  // namespace runwarden::cli
