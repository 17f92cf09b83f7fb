// second-opinion try: shows what a model would be asked about a run, and the effect of its answer.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/decimals.h"
#include "cli/context.h"
#include "cli/loaded_detectors.h"
#include "cli/run_input.h"
#include "cli/stored_run.h"
#include "config/opinion_prompts.h"
#include "http_client/http_sender.h"
#include "ingest/answers.h"
#include "ingest/opinion_rules.h"
#include "ingest/redaction.h"
#include "intake/run_reader.h"
#include "model/record_ids.h"
#include "opinion/answer.h"
#include "opinion/endpoint.h"
#include "opinion/outcome.h"
#include "opinion/request.h"
#include "part_settings/part_settings.h"

namespace runwarden::cli {
namespace {

constexpr std::int64_t kMostTurnMs = 1000;

struct TryOptions {
  std::string run;
  std::string tenant;
  std::string detector;  // empty: all of second_opinion.detectors
  bool dry_run = false;
};

// Escapes characters that could control a terminal: the texts come from the run and the model.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1 || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", c1 ? static_cast<unsigned char>(text[++i]) : byte);
      out += hex;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct TriedQuestion {
  model::Opinion opinion;
  std::string failure_json;  // for an alarm
  bool is_asked = false;     // false: the detector found nothing, so the service never asks this
};

// What the service would ask with `ask: all`, or else a question about the whole run.
TriedQuestion question_about(const model::Verdict& verdict, const std::string& detector_key, std::string_view run_id, std::int64_t now_ms) {
  std::vector<model::FailureRecord> failures(verdict.findings.size());
  for (std::size_t i = 0; i < failures.size(); ++i) failures[i].id = model::make_failure_id({now_ms, i + 1});
  auto questions = ingest::questions_of(verdict, failures, {.candidates = true, .alarms = true, .detectors = {detector_key}});
  TriedQuestion question;
  question.is_asked = !questions.empty();
  if (question.is_asked) question.opinion = std::move(questions.front());
  question.opinion.key = {now_ms, failures.size() + 1};
  question.opinion.id = model::make_candidate_id(question.opinion.key);
  question.opinion.run_id = run_id;
  question.opinion.detector_key = detector_key;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (failures[i].id == question.opinion.failure_id)
      question.failure_json = ingest::failure_json(verdict.findings[i], failures[i].id, run_id, 1, now_ms);
  }
  return question;
}

std::string about(const TriedQuestion& tried) {
  const model::Opinion& question = tried.opinion;
  if (question.of_alarm) return "an alarm: " + question.reason;
  if (!tried.is_asked) return "no candidate: the detector found nothing in this run";
  const std::string confidence = fixed_decimals(question.confidence.value_or(0), 2);
  return "a candidate (" + question.rule + ", confidence " + confidence + "): " + question.reason;
}

class Trial {
 public:
  Trial(Context& context, const TryOptions& options, const config::Settings& settings)
      : context_(context), options_(options), settings_(settings), prompts_(config::built_in_opinion_prompts()) {}

  int run();

 private:
  std::optional<std::vector<std::string>> detectors() const;
  std::optional<std::string> document();
  bool try_detector(const std::string& key, const model::Run& run, const model::Verdict& verdict);
  bool ask(const model::OpinionPrompt& prompt, TriedQuestion question, const model::Run& run, opinion::Request request);
  Result<opinion::Request> request_of(const model::OpinionPrompt& prompt, const TriedQuestion& question, const model::Run& run,
                                      opinion::AnswerFormat format) const;
  http_client::SendResult send(const model::Opinion& question, std::string body);
  void print_part(const char* title, std::string_view text) const { context_.out << "-- " << title << "\n" << printable(text) << "\n"; }

  Context& context_;
  const TryOptions& options_;
  const config::Settings& settings_;
  const model::OpinionPrompts& prompts_;
  SystemClock clock_;
  std::optional<part_settings::SecondOpinion> with_;  // nothing: a dry run
};

// The detectors to ask about; nothing, after a message, if one has no prompt.
std::optional<std::vector<std::string>> Trial::detectors() const {
  if (options_.detector.empty()) return settings_.second_opinion.detectors;
  if (prompts_.find(options_.detector) != nullptr) return std::vector<std::string>{options_.detector};
  std::string known;
  for (const model::OpinionPrompt& one : prompts_.prompts) known += (known.empty() ? "" : ", ") + one.detector_key;
  context_.refuse("no prompt for detector \"" + options_.detector + "\"; prompts exist for " + known);
  return std::nullopt;
}

std::optional<std::string> Trial::document() {
  std::optional<InputRun> found;
  if (options_.tenant.empty()) {
    RunInput input(static_cast<std::size_t>(settings_.limits.max_body_bytes), RunInput::Lines::if_export);
    input.read(options_.run, [&](InputRun one) {
      found = std::move(one);
      return false;
    });
    if (!found) context_.refuse(options_.run + ": the file contains no run");
  } else if (auto runs = stored_runs(context_, options_.tenant, {options_.run})) {
    found = std::move(runs->front());
  }
  if (!found) return std::nullopt;
  if (found->text.ok()) return std::move(*found->text);
  context_.refuse(found->file + ": " + found->text.error().detail);
  return std::nullopt;
}

int Trial::run() {
  const auto keys = detectors();
  if (!keys) return kWanting;
  if (!options_.dry_run) {
    if (settings_.second_opinion.url.empty() || settings_.second_opinion.model.empty()) {
      return context_.refuse(
          "second_opinion.url and second_opinion.model are required to send a request; set both, or pass --dry-run to see only the prompt");
    }
    auto with = part_settings::second_opinion(settings_);
    if (!with.ok()) return context_.refuse(with.error().detail);
    with_ = std::move(*with);
  }
  const auto text = document();
  if (!text) return kWanting;
  const auto set = load_detectors(context_, settings_, 1);
  if (!set) return kWanting;
  const intake::RunLimits of_file{.max_json_depth = static_cast<int>(settings_.limits.max_json_depth)};
  auto read = options_.tenant.empty() ? intake::read_run(*text, of_file, {}) : ingest::read_stored_run(*text, options_.run);
  if (!read.ok()) return context_.refuse(options_.run + ": " + read.error().detail);
  const ingest::Redaction redaction([redactor = ingest::make_redactor(settings_.redact)] { return redactor; }, {});
  const auto redacted = redaction.run(std::move(*read));
  if (!redacted.ok()) return context_.refuse(options_.run + ": " + redacted.error().detail);
  const auto shown = ingest::read_stored_run(redacted->document(), redacted->seen.id);
  if (!shown.ok()) return context_.refuse(options_.run + ": " + shown.error().detail);
  model::Verdict verdict = set->evaluate(redacted->seen, options_.tenant, 0);
  redacted->clean(verdict);
  bool all = true;
  for (const std::string& key : *keys) all = try_detector(key, *shown, verdict) && all;
  const int written = context_.finish();
  return all ? written : kWanting;
}

Result<opinion::Request> Trial::request_of(const model::OpinionPrompt& prompt, const TriedQuestion& question, const model::Run& run,
                                           opinion::AnswerFormat format) const {
  opinion::RequestSettings with;
  with.model = settings_.second_opinion.model;
  with.max_input_tokens = static_cast<std::size_t>(settings_.second_opinion.max_input_tokens);
  with.format = format;
  auto nonce = opinion::make_nonce();
  if (!nonce.ok()) return std::move(nonce.error());
  const opinion::Focus focus = opinion::focus_of(question.opinion, question.failure_json);
  return opinion::make_request({prompts_.frame, prompt, question.opinion, run, focus}, with, *nonce);
}

bool Trial::try_detector(const std::string& key, const model::Run& run, const model::Verdict& verdict) {
  const model::OpinionPrompt* const prompt = prompts_.find(key);
  if (prompt == nullptr) {
    context_.refuse("no prompt for detector \"" + key + "\" in second_opinion.detectors");
    return false;
  }
  TriedQuestion question =
      question_about(verdict, key, options_.tenant.empty() ? run.id : std::string_view(options_.run), clock_.wall_ms());
  auto request = request_of(*prompt, question, run, opinion::AnswerFormat::json_schema);
  if (!request.ok()) {
    context_.refuse(request.error().detail);
    return false;
  }
  context_.out << "== " << key << " (" << model::prompt_version(prompts_.frame, *prompt) << ")\n"
               << printable(about(question)) << "\n"
               << "about " << request->input_tokens << " tokens" << (request->whole_run ? "" : "; the run is truncated") << "\n";
  print_part("system", request->system);
  print_part("user", request->user);
  return options_.dry_run || ask(*prompt, std::move(question), run, std::move(*request));
}

http_client::SendResult Trial::send(const model::Opinion& question, std::string body) {
  http_client::HttpSender sender(with_->endpoint.rules, with_->endpoint.timeout_ms);
  sender.post(0, opinion::to_send_request(with_->endpoint, with_->worker.api_key, question, std::move(body)));
  for (;;) {
    auto ended = sender.work(kMostTurnMs);
    if (!ended.empty()) return std::move(ended.front());
  }
}

bool Trial::ask(const model::OpinionPrompt& prompt, TriedQuestion question, const model::Run& run, opinion::Request request) {
  const std::int64_t begun_ns = clock_.monotonic_ns();
  http_client::SendResult result = send(question.opinion, std::move(request.body));
  if (opinion::refuses_format(result)) {
    auto plain = request_of(prompt, question, run, opinion::AnswerFormat::none);
    if (plain.ok()) result = send(question.opinion, std::move(plain->body));
  }
  const std::int64_t elapsed_ms = (clock_.monotonic_ns() - begun_ns) / 1'000'000;
  if (!result.error.empty()) {
    context_.refuse("the endpoint of second_opinion.url did not answer: " + opinion::fault_of(result).reason);
    return false;
  }
  auto answer = opinion::read_answer(result.body);
  if (!answer.ok()) {
    context_.refuse(printable(answer.error().detail));
    return false;
  }
  const std::int64_t now_ms = clock_.wall_ms();
  const bool is_asked = question.is_asked;
  opinion::AnsweredOpinion answered{.tenant = 0,
                                    .opinion = std::move(question.opinion),
                                    .prompt = prompt,
                                    .prompt_version = model::prompt_version(prompts_.frame, prompt),
                                    .answer = opinion::with_checked_quotes(std::move(*answer), run),
                                    .elapsed_ms = elapsed_ms,
                                    .executed_ms = now_ms,
                                    .cluster_id = {},
                                    .reviews = {}};
  const store::OpinionWrite write = opinion::outcome_of(
      std::move(answered), run, {with_->endpoint.model, with_->worker.may_confirm, with_->worker.may_silence}, {{now_ms, 1}, 2});
  print_part("answer", write.opinion.review);
  if (!is_asked) {
    context_.out << "-- nothing would be recorded: the service does not ask about a run in which the detector found nothing\n";
    return true;
  }
  print_part("would be recorded", model::candidate_json(write.opinion));
  if (write.failure) print_part("with the failure", write.failure->json);
  for (const model::Review& review : write.reviews) {
    context_.out << "-- with a review of the " << (review.failure_id.empty() ? "run" : "failure") << ": "
                 << model::name(review.verdict) << "\n";
  }
  return true;
}

int try_run(Context& context, const TryOptions& options) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  return Trial(context, options, *settings).run();
}

}  // namespace

void add_second_opinion(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("second-opinion", "Ask a model about what detectors found, or nearly found");
  need_subcommand(*group);
  group->footer("Example:\n  runwarden second-opinion try --dry-run run.json");
  CLI::App* command = group->add_subcommand("try", "Show the request about a run, the model's answer, and what would be recorded");
  auto options = std::make_shared<TryOptions>();
  command->add_option("run", options->run, "A file with a run, or - for standard input; with --tenant, the runId of a stored run")
      ->required()
      ->type_name("RUN");
  command->add_option("--tenant", options->tenant, "The tenant of the stored run")->type_name("TENANT");
  command->add_option("--detector", options->detector, "Only this one; default all of second_opinion.detectors")->type_name("KEY");
  command->add_flag("--dry-run", options->dry_run, "Show only the prompt, and send nothing");
  command->footer(
      "Nothing is stored. Sends the redacted run, truncated to second_opinion.max_input_tokens; works even if second_opinion.enabled is\n"
      "false. Exits with 1 if the model does not answer, or if its answer cannot be read.\n\n"
      "Example:\n  runwarden second-opinion try --dry-run --detector false_success run.json");
  command->callback([&context, options] { context.exit_code = try_run(context, *options); });
}

}  // namespace runwarden::cli
