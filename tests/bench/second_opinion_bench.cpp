// What a model's second opinion makes of the detectors' answers on labelled runs, and what it costs.
//
//   bench_second_opinion PLUGIN_FOLDER --runs FILE --labels FILE (--oracle | --url URL --model NAME [--api-key-file FILE] [--no-schema])
//                        [--max-input-tokens 8000] [--max-output-tokens 800] [--verbose]
//
// The files are as `runwarden score` takes them. Each run is judged by the five detectors of PLUGIN_FOLDER with their default settings.
// About each candidate, of a detector that did not fire the one of the highest confidence, and about each alarm, of one that did the
// finding of the highest score, the endpoint is asked once, as the service asks it. --oracle answers from the labels in its place: what is
// right then is the most that a model can reach, as it is asked about nothing else; a run without a label of its own counts as absent
// there.
//
// Prints, for each detector, right, false and missed of the detectors alone and with second_opinion.ask as candidates, alarms and all. A
// denied alarm counts as silenced (may_silence) unless the detector told a confidence above 0.9. Then what was asked and answered, tokens
// and seconds, and the tokens of a thousand runs: of prompts by our own estimate, and as the server counts them.
#include <curl/curl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/opinion_prompts.h"
#include "detect/detector_set.h"
#include "ingest/opinion_rules.h"
#include "opinion/answer.h"
#include "opinion/outcome.h"
#include "opinion/request.h"

namespace {

using namespace runwarden;
using nlohmann::json;

constexpr std::array kKeys{"context_overflow", "expensive_loop", "false_success", "missing_tool_call", "schema_ghost"};

struct Options {
  std::string plugins;
  std::string runs;
  std::string labels;
  std::string url;
  std::string api_key_file;
  bool oracle = false;
  bool no_schema = false;
  bool verbose = false;
  opinion::RequestSettings request;
};

struct LabelledRun {
  std::string id;
  std::string text;
  std::map<std::string, std::string> labels;  // by detector
};

std::vector<json> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(json::parse(line));
  }
  return lines;
}

std::vector<LabelledRun> labelled_runs(const Options& options) {
  std::map<std::string, json> labels;
  for (const json& line : lines_of(options.labels)) labels[line.at("id")] = line.at("labels");
  std::vector<LabelledRun> runs;
  for (const json& line : lines_of(options.runs)) {
    const auto found = labels.find(line.at("id"));
    if (found != labels.end()) runs.push_back({line.at("id"), line.at("run").dump(), found->second});
  }
  if (runs.empty()) throw std::runtime_error("no run of " + options.runs + " has a label in " + options.labels);
  return runs;
}

std::shared_ptr<detect::DetectorSet> load(const std::filesystem::path& folder, const Clock& clock) {
  model::DetectorSettings settings;
  settings.search_path = {folder.string()};
  for (const char* key : kKeys) settings.entries.push_back({key, std::string(key) + ".so", {}, false, key});
  detect::LoadContext context;
  context.clock = &clock;
  auto set = detect::DetectorSet::load(settings, std::move(context));
  if (!set.ok()) throw std::runtime_error(set.error().detail);
  return std::move(*set);
}

struct Asked {
  model::Opinion opinion;
  opinion::Focus focus;
};

// As the service asks with `ask: all`.
std::optional<Asked> asked_about(const model::Verdict& verdict, const std::string& key) {
  auto questions = ingest::questions_of(verdict, {}, {.candidates = true, .alarms = true, .detectors = {key}});
  if (questions.empty()) return std::nullopt;
  Asked asked{std::move(questions.front()), {}};
  asked.focus.primary_step_id = asked.opinion.primary_step_id;
  if (!asked.opinion.of_alarm) return asked;
  const auto found =
      std::find_if(verdict.findings.begin(), verdict.findings.end(), [&](const auto& one) { return one.detector_key == key; });
  for (const model::Evidence& evidence : found->evidence) asked.focus.pointers.push_back(evidence.pointer);
  return asked;
}

// The body of an answer to the body of a request.
using Ask = std::function<std::string(const std::string& body, const std::string& label)>;

std::string from_label(const std::string& /*body*/, const std::string& label) {
  const json answer = {{"verdict", label.empty() ? "absent" : label}, {"reason", "as labelled"}, {"evidence", json::array()}};
  return json{{"choices", {{{"message", {{"content", answer.dump()}}}}}}}.dump();
}

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* into) {
  auto& text = *static_cast<std::string*>(into);
  if (text.size() + size * count > opinion::kMostAnswerBytes) return 0;
  text.append(bytes, size * count);
  return size * count;
}

class AskedEndpoint {
 public:
  explicit AskedEndpoint(const Options& options) : curl_(curl_easy_init(), curl_easy_cleanup) {
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    if (!options.api_key_file.empty()) {
      std::string key;
      std::ifstream(options.api_key_file) >> key;
      headers_ = curl_slist_append(headers_, ("Authorization: Bearer " + key).c_str());
    }
    curl_easy_setopt(curl_.get(), CURLOPT_URL, options.url.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(curl_.get(), CURLOPT_TIMEOUT, 300L);
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEFUNCTION, take);
  }
  ~AskedEndpoint() { curl_slist_free_all(headers_); }
  AskedEndpoint(const AskedEndpoint&) = delete;
  AskedEndpoint& operator=(const AskedEndpoint&) = delete;

  std::string post(const std::string& body) {
    std::string answer;
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEDATA, &answer);
    if (const CURLcode code = curl_easy_perform(curl_.get()); code != CURLE_OK) return curl_easy_strerror(code);
    return answer;
  }

 private:
  std::unique_ptr<CURL, void (*)(CURL*)> curl_;
  curl_slist* headers_ = nullptr;
};

struct Counts {
  int right = 0;
  int wrong = 0;
  int missed = 0;
  void add(bool fired, const std::string& label) {
    if (label == "present") ++(fired ? right : missed);
    if (label == "absent" && fired) ++wrong;
  }
};

struct Totals {
  Counts alone, candidates, alarms, all;
  int asked_candidates = 0;
  int asked_alarms = 0;
  std::map<std::string, int> answers;
  std::uint64_t candidate_prompt_tokens = 0;  // estimated
  std::uint64_t alarm_prompt_tokens = 0;
  std::uint64_t tokens = 0;  // as the server counts them
  int cut_runs = 0;
  double seconds = 0;
};

// Asks, and counts what it takes. Nothing: no answer that can be read.
std::optional<opinion::OpinionVerdict> said_of(const Asked& asked, const model::Run& run, const std::string& label, const Options& options,
                                               const Ask& ask, Totals& totals) {
  const model::OpinionPrompts& prompts = config::built_in_opinion_prompts();
  const auto request = opinion::make_request({prompts.frame, *prompts.find(asked.opinion.detector_key), asked.opinion, run, asked.focus},
                                             options.request, std::to_string(totals.tokens) + asked.opinion.reason);
  if (!request.ok()) throw std::runtime_error(request.error().detail);
  (asked.opinion.of_alarm ? totals.alarm_prompt_tokens : totals.candidate_prompt_tokens) += request->input_tokens;
  totals.cut_runs += request->whole_run ? 0 : 1;
  const auto began = std::chrono::steady_clock::now();
  const std::string body = ask(request->body, label);
  totals.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  auto answer = opinion::read_answer(body);
  if (!answer.ok()) {
    ++totals.answers["failed"];
    std::fprintf(stderr, "%s: %s\n", asked.opinion.detector_key.c_str(), answer.error().detail.c_str());
    return std::nullopt;
  }
  totals.tokens += answer->tokens;
  const opinion::ParsedAnswer checked = opinion::with_checked_quotes(std::move(*answer), run);
  ++totals.answers[opinion::name(checked.verdict)];
  if (options.verbose && opinion::name(checked.verdict) != label) {
    std::printf("%s %s: labelled %s, answered %s: %s\n", std::string(run.id).c_str(), asked.opinion.detector_key.c_str(), label.c_str(),
                opinion::name(checked.verdict), checked.reason.c_str());
  }
  return checked.verdict;
}

void judge(const LabelledRun& labelled, detect::DetectorSet& detectors, const Options& options, const Ask& ask,
           std::map<std::string, Totals>& totals) {
  const auto run = opinion::read_document(labelled.text, labelled.id);
  if (!run.ok()) throw std::runtime_error(labelled.id + ": " + run.error().detail);
  const model::Verdict verdict = detectors.evaluate(*run, "bench", 0);
  for (const char* key : kKeys) {
    Totals& sum = totals[key];
    const auto found = labelled.labels.find(key);
    const std::string label = found == labelled.labels.end() ? "" : found->second;
    const auto question = asked_about(verdict, key);
    const bool fired = question && question->opinion.of_alarm;
    sum.asked_alarms += fired ? 1 : 0;
    sum.asked_candidates += question && !fired ? 1 : 0;
    std::optional<opinion::OpinionVerdict> said;
    if (question) said = said_of(*question, *run, label, options, ask, sum);
    const auto confidence = fired ? question->opinion.confidence : std::nullopt;
    const bool may_silence = confidence && *confidence <= opinion::kMostSilencedConfidence;
    const bool silenced = may_silence && said == opinion::OpinionVerdict::absent;
    const bool confirmed = question && !fired && said == opinion::OpinionVerdict::present;
    sum.alone.add(fired, label);
    sum.candidates.add(fired || confirmed, label);
    sum.alarms.add(fired && !silenced, label);
    sum.all.add((fired && !silenced) || confirmed, label);
  }
}

std::string shown(const Counts& counts) {
  return std::to_string(counts.right) + " / " + std::to_string(counts.wrong) + " / " + std::to_string(counts.missed);
}

void print(const std::map<std::string, Totals>& totals, std::size_t runs) {
  std::printf("right / false / missed over %zu runs, by second_opinion.ask\n", runs);
  std::printf("%-18s %-14s %-14s %-14s %-14s\n", "", "none", "candidates", "alarms", "all");
  for (const auto& [key, one] : totals) {
    std::printf("%-18s %-14s %-14s %-14s %-14s\n", key.c_str(), shown(one.alone).c_str(), shown(one.candidates).c_str(),
                shown(one.alarms).c_str(), shown(one.all).c_str());
  }
  const auto thousand = [&](std::uint64_t tokens) { return static_cast<unsigned long long>(tokens * 1000 / runs); };
  std::printf("\n%-18s %10s %7s  %-34s %5s  %21s %21s %16s %8s\n", "asked", "candidates", "alarms", "present/absent/unclear/failed", "cut",
              "prompts/1k candidates", "prompts/1k alarms", "tokens/1k served", "seconds");
  Totals all;
  const auto line = [&](const char* key, const Totals& one) {
    const auto count = [&](const char* name) { return one.answers.count(name) == 0 ? 0 : one.answers.at(name); };
    const std::string answers = std::to_string(count("present")) + " / " + std::to_string(count("absent")) + " / " +
                                std::to_string(count("unclear")) + " / " + std::to_string(count("failed"));
    std::printf("%-18s %10d %7d  %-34s %5d  %21llu %21llu %16llu %8.1f\n", key, one.asked_candidates, one.asked_alarms, answers.c_str(),
                one.cut_runs, thousand(one.candidate_prompt_tokens), thousand(one.alarm_prompt_tokens), thousand(one.tokens), one.seconds);
  };
  for (const auto& [key, one] : totals) {
    line(key.c_str(), one);
    all.asked_candidates += one.asked_candidates;
    all.asked_alarms += one.asked_alarms;
    for (const auto& [name, count] : one.answers) all.answers[name] += count;
    all.candidate_prompt_tokens += one.candidate_prompt_tokens;
    all.alarm_prompt_tokens += one.alarm_prompt_tokens;
    all.tokens += one.tokens;
    all.cut_runs += one.cut_runs;
    all.seconds += one.seconds;
  }
  line("together", all);
}

int measure(const Options& options) {
  const SystemClock clock;
  const auto detectors = load(std::filesystem::canonical(options.plugins), clock);
  const auto runs = labelled_runs(options);
  AskedEndpoint endpoint(options);
  const Ask ask = options.oracle ? Ask(from_label) : [&](const std::string& body, const std::string&) { return endpoint.post(body); };
  std::map<std::string, Totals> totals;
  for (const LabelledRun& run : runs) judge(run, *detectors, options, ask, totals);
  print(totals, runs.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What a model's second opinion makes of the detectors' answers on labelled runs");
  app.add_option("plugins", options.plugins)->required()->check(CLI::ExistingDirectory);
  app.add_option("--runs", options.runs)->required()->check(CLI::ExistingFile);
  app.add_option("--labels", options.labels)->required()->check(CLI::ExistingFile);
  auto* oracle = app.add_flag("--oracle", options.oracle);
  auto* url = app.add_option("--url", options.url)->excludes(oracle);
  auto* model = app.add_option("--model", options.request.model);
  url->needs(model);
  app.add_option("--api-key-file", options.api_key_file)->check(CLI::ExistingFile);
  app.add_flag("--no-schema", options.no_schema);
  app.add_flag("--verbose", options.verbose);
  app.add_option("--max-input-tokens", options.request.max_input_tokens);
  app.add_option("--max-output-tokens", options.request.max_output_tokens);
  CLI11_PARSE(app, argc, argv);
  if (options.no_schema) options.request.format = opinion::AnswerFormat::none;
  if (!options.oracle && options.url.empty()) {
    std::fprintf(stderr, "--oracle or --url is needed\n");
    return 2;
  }
  try {
    return measure(options);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}
