#include "config/second_opinion_reader.h"

#include <algorithm>

#include "config/addresses.h"
#include "config/opinion_prompts.h"

namespace runwarden::config {
namespace {

constexpr Range kTimeout{100, 600'000};
constexpr std::size_t kLongestModel = 256;

bool is_model_name(const std::string& text) {
  const bool printable = std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return printable && text.size() <= kLongestModel;
}

std::string names_of(const std::vector<model::OpinionPrompt>& prompts) {
  std::string names;
  for (const model::OpinionPrompt& one : prompts) names += (names.empty() ? "" : ", ") + one.detector_key;
  return names;
}

void read_budget(const Node* node, Reading& reading, SecondOpinionSection& out) {
  Section section(node, "second_opinion.budget", reading);
  section.integer("requests_per_hour", {1, 1'000'000'000}, out.requests_per_hour);
  section.integer("tokens_per_day", {1, 1'000'000'000'000}, out.tokens_per_day);
}

}  // namespace

void read_second_opinion(const Node* node, Reading& reading, SecondOpinionSection& out) {
  Section section(node, "second_opinion", reading);
  section.boolean("enabled", out.enabled);
  section.text("url", out.url);
  section.text("model", out.model);
  section.text("api_key_file", out.api_key_file);
  section.texts("detectors", out.detectors);
  section.choice("ask", {"candidates", "alarms", "all"}, out.ask);
  section.boolean("may_confirm", out.may_confirm);
  section.boolean("may_silence", out.may_silence);
  section.duration("timeout", kTimeout, out.timeout_ms);
  section.integer("max_in_flight", {1, 64}, out.max_in_flight);
  section.integer("max_input_tokens", {1'000, 10'000'000}, out.max_input_tokens);
  section.peers("allow", out.allow);
  read_budget(section.take("budget"), reading, out);
  const Member* const url = node ? node->member("url") : nullptr;
  if (url != nullptr && !out.url.empty() && !is_http_url(out.url)) {
    section.fault("url", *url->value, "the URL of a chat-completions endpoint, such as http://127.0.0.1:8000/v1/chat/completions");
  }
  const Member* const model = node ? node->member("model") : nullptr;
  if (model != nullptr && !is_model_name(out.model)) {
    section.fault("model", *model->value,
                  "the name of a model, at most " + std::to_string(kLongestModel) + " bytes without control characters");
  }
}

void check_second_opinion(const Node* node, const model::DetectorSettings& detectors, Reading& reading, SecondOpinionSection& out) {
  const auto is_enabled = [&](const std::string& key) {
    return std::any_of(detectors.entries.begin(), detectors.entries.end(), [&](const auto& entry) { return entry.key == key; });
  };
  const Member* const named = node ? node->member("detectors") : nullptr;
  if (named == nullptr) {
    std::erase_if(out.detectors, [&](const std::string& key) { return !is_enabled(key); });
  }
  const Member* const enabled = node ? node->member("enabled") : nullptr;
  if (!out.enabled || enabled == nullptr) return;
  const auto fault = [&](const std::string& path, const SourceLocation& where, const std::string& detail) {
    reading.faults.push_back({"second_opinion." + path, where, detail});
  };
  const SourceLocation& switched_on = enabled->value->location;
  if (out.url.empty()) {
    fault("enabled", switched_on, "true needs second_opinion.url: the endpoint to ask, such as http://127.0.0.1:8000/v1/chat/completions");
  }
  if (out.model.empty()) fault("enabled", switched_on, "true needs second_opinion.model: the model's name at the endpoint");
  const model::OpinionPrompts& prompts = built_in_opinion_prompts();
  const std::vector<NodePtr> items = named ? named->value->items : std::vector<NodePtr>();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string place = "detectors[" + std::to_string(i) + "]";
    const std::string& key = items[i]->text;
    if (!is_text(*items[i])) continue;  // a fault of its own
    if (prompts.find(key) == nullptr) {
      fault(place, items[i]->location, "no prompt for detector \"" + key + "\"; prompts exist for " + names_of(prompts.prompts));
    } else if (!is_enabled(key)) {
      fault(place, items[i]->location, "detector \"" + key + "\" is not enabled; enable it, or remove it here");
    }
  }
  if (out.detectors.empty()) {
    fault("detectors", named ? named->value->location : switched_on,
          "expected at least one enabled detector; prompts exist for " + names_of(prompts.prompts));
  }
}

}  // namespace runwarden::config
