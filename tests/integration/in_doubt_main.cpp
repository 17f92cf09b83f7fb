// A service whose store cannot tell what became of a write: of whatever holds the words "in doubt". All else is as ever.
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>

#include "app/service.h"
#include "config/loading.h"
#include "support/forwarding_queue.h"

namespace {

using namespace runwarden;

bool is_in_doubt(const store::Write& write) {
  const auto says_so = [](std::string_view text) { return text.find("in doubt") != std::string_view::npos; };
  if (const auto* run = std::get_if<store::RunWrite>(&write)) return says_so(run->run.document);
  if (const auto* change = std::get_if<store::ChangeWrite>(&write)) return says_so(change->change.document);
  if (const auto* triage = std::get_if<store::TriageWrite>(&write)) return says_so(triage->entry.note);
  if (const auto* traces = std::get_if<store::TracesWrite>(&write)) return says_so(traces->traces.front().events.front().json);
  const auto* events = std::get_if<store::EventsWrite>(&write);
  return events != nullptr && !events->events.empty() && says_so(events->events.front().json);
}

class DoubtfulQueue final : public test::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;

  bool submit(store::Write write, Done done, Permit permit = nullptr) override {
    if (!is_in_doubt(write)) return ForwardingQueue::submit(std::move(write), std::move(done), std::move(permit));
    store::WriteResult result;
    result.outcome = store::WriteResult::Outcome::in_doubt;
    done(std::move(result));
    return true;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc == 4 ? argv[3] : "";  // serve --config FILE
  const auto load = [&] { return config::load(config::process_options(path, {})); };
  auto settings = load();
  if (!settings.ok()) {
    std::cerr << settings.error().detail << '\n';
    return 1;
  }
  app::ServiceHooks hooks;
  hooks.wrap_queue = [](store::WriteQueue& real) { return std::make_unique<DoubtfulQueue>(real); };
  return app::run_service(*settings, load, hooks);
}
