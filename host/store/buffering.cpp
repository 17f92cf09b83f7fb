#include "store/buffering.h"

#include <algorithm>
#include <set>
#include <utility>

namespace runwarden::store {
namespace {

enum class IdsOfContent : std::uint8_t { count_as_seen, count_as_new };

// Whether a request ends its run. One without new events does so only if it says it for the first time.
void add_final(NewEvents& fresh, const EventsWrite& write, std::span<const std::string> halves,
               const std::function<bool(std::string_view half)>& is_seen) {
  if (!write.final) return;
  const std::string& half = halves[write.events.size()];
  const bool is_new = half.empty() || !is_seen(half);
  if (is_new && !half.empty()) fresh.ids.push_back(half);
  fresh.final = is_new || !fresh.json.empty();
}

struct Unseen {
  const EventsWrite& write;
  std::span<const std::string> halves;
  const std::function<bool(std::string_view half)>& is_seen;
  std::uint64_t end_mark = 0;  // of the run's end; an event that repeats it is not new
};

NewEvents unseen(const Unseen& of, IdsOfContent ids_of_content) {
  NewEvents fresh;
  std::set<std::string_view> in_request;
  for (std::size_t i = 0; i < of.write.events.size(); ++i) {
    const EventsWrite::Event& event = of.write.events[i];
    const std::string& half = of.halves[i];
    if (event.end_mark != 0 && event.end_mark == of.end_mark) continue;
    const bool may_be_said_again = event.id_of_content && ids_of_content == IdsOfContent::count_as_new;
    if (!half.empty()) {
      const bool seen = !in_request.insert(half).second || of.is_seen(half);
      if (seen && !may_be_said_again) continue;
      if (!seen) fresh.ids.push_back(half);
    }
    fresh.json.push_back(event.json);
    fresh.outlines.push_back(&event.outline);
    fresh.bytes += event.json.size();
    if (event.end_mark != 0) fresh.end_mark = event.end_mark;
  }
  add_final(fresh, of.write, of.halves, of.is_seen);
  return fresh;
}

// The outline of a run that events open again; nothing if its events do not continue what the outline shows (ClaimedRun::whole).
std::optional<model::RunOutline> continued(std::optional<model::RunOutline> outline, const StoredRun& resolved) {
  if (resolved.run.source != model::RunSource::client) return std::nullopt;
  const bool by_whole_run = resolved.run.resolution == model::Resolution::whole && resolved.run.revision > 1;
  if (!outline || by_whole_run) return std::nullopt;
  outline->failures = outline->detectors = outline->policies = {};
  return outline;
}

Buffering begun(std::uint32_t total, std::int64_t received_ms) {
  Buffering buffering;
  buffering.previous = total;
  buffering.total = total;
  buffering.first_ms = received_ms;
  buffering.last_ms = received_ms;
  return buffering;
}

}  // namespace

void settle(Buffering& buffering) {
  if (buffering.ending) return;
  const std::uint32_t fresh = buffering.total - buffering.previous;
  if (fresh > buffering.max_events) {
    buffering.cut = buffering.previous + buffering.max_events;
    buffering.ending = model::Resolution::max_events;
    return;
  }
  if (!buffering.tail_final && fresh < buffering.max_events && buffering.bytes < buffering.max_bytes) return;
  buffering.cut = buffering.total;
  buffering.ending = buffering.tail_final ? model::Resolution::final : model::Resolution::max_events;
  buffering.tail_final = false;
}

bool has_ended(const StoredRun& stored) {
  if (!stored.buffering) return true;
  return stored.buffering->ending == model::Resolution::final || stored.buffering->tail_final;
}

Buffered how_it_stands(const model::RecordKey& place, const StoredRun& stored) {
  Buffered buffered;
  buffered.run = place;
  buffered.revision = stored.run.revision;
  if (stored.buffering) {
    buffered.buffer = stored.buffering->shown();
    buffered.ends = stored.buffering->ending;
  }
  return buffered;
}

std::string final_id(const EventsWrite& write) {
  if (write.events.empty() || write.events.back().id.empty()) return {};
  return "\xff"
         "final after: " +
         write.events.back().id;  // no id of a client begins with a byte that UTF-8 does not have
}

std::vector<std::string> halves_of(const EventsWrite& write, const std::function<std::string(const std::string& id)>& half_digest) {
  const auto half_of = [&](const std::string& id) { return id.empty() ? std::string() : half_digest(id); };
  std::vector<std::string> halves;
  halves.reserve(write.events.size() + 1);
  for (const EventsWrite::Event& event : write.events) halves.push_back(half_of(event.id));
  if (write.final) halves.push_back(half_of(final_id(write)));
  return halves;
}

// A run_finished repeats the run's end, whatever its id, only if nothing else is new: after other events, it ends the next revision.
NewEvents new_events(const EventsWrite& write, std::span<const std::string> halves, const StoredRun* stored,
                     const std::function<bool(std::string_view half)>& is_seen) {
  const std::function<bool(std::string_view)> never = [](std::string_view) { return false; };
  Unseen of{write, halves, stored != nullptr ? is_seen : never};
  if (stored != nullptr && has_ended(*stored)) {
    of.end_mark = stored->run.end_mark;
    NewEvents fresh = unseen(of, IdsOfContent::count_as_seen);
    if (fresh.json.empty()) return fresh;
    of.end_mark = 0;
  }
  return unseen(of, IdsOfContent::count_as_new);
}

StoredRun begun_run(const EventsWrite& write) {
  StoredRun fresh;
  fresh.run.key = write.key;
  fresh.run.run_id = write.run_id;
  fresh.run.state = model::RunState::open;
  fresh.run.source = write.source;
  // The outline of a trace cannot be built event by event: a span makes sense only together with the others.
  if (write.source == model::RunSource::client) fresh.run.outline.emplace();
  fresh.buffering = begun(0, write.key.time_ms);
  return fresh;
}

void reopen_run(StoredRun& stored, std::int64_t received_ms) {
  stored.run.outline = continued(std::move(stored.run.outline), stored);
  ++stored.run.revision;
  stored.run.state = model::RunState::open;
  stored.run.content = {};
  stored.buffering = begun(stored.run.events, received_ms);
}

void add_to_run(StoredRun& stored, const EventsWrite& write, const NewEvents& fresh) {
  Buffering& buffering = *stored.buffering;
  if (!fresh.json.empty()) {
    buffering.last_ms = std::max(buffering.last_ms, write.key.time_ms);
    stored.run.end_mark = fresh.end_mark;
    if (auto& outline = stored.run.outline) {
      for (const model::EventOutline* event : fresh.outlines) model::add_event(*outline, *event);
    }
  }
  buffering.total += static_cast<std::uint32_t>(fresh.json.size());
  buffering.bytes += fresh.bytes;
  stored.run.root_arrived = stored.run.root_arrived || write.has_root;
  buffering.max_events = std::max<std::uint32_t>(write.max_events, 1);
  buffering.max_bytes = write.max_bytes;
  const auto finishes = [](const EventsWrite::Event& event) { return event.end_mark != 0; };
  buffering.tail_final = buffering.tail_final || fresh.final || std::any_of(write.events.begin(), write.events.end(), finishes);
  settle(buffering);
}

bool covers(const Claim& claim, const StoredRun& stored) {
  if (!stored.buffering || stored.run.revision != claim.revision) return false;
  const Buffering& buffering = *stored.buffering;
  if (claim.upto < buffering.previous || claim.upto > buffering.total) return false;
  return !buffering.ending || claim.upto == buffering.cut;
}

StoredRun following_revision(const RunWrite& write, const StoredRun& open, const EventsBeyond& beyond) {
  StoredRun next;
  next.run.key = write.run.key;
  next.run.run_id = write.run.run_id;
  next.run.revision = write.run.revision + 1;
  next.run.state = model::RunState::open;
  next.run.max_score = write.run.max_score;
  next.run.fired = write.run.fired;
  next.run.source = open.run.source;
  next.run.root_arrived = open.run.root_arrived;
  next.run.end_mark = open.run.end_mark;
  next.run.grouped = true;
  next.run.dimensions = write.run.dimensions;
  if (write.run.resolution != model::Resolution::whole) next.run.outline = open.run.outline;  // of all events, even those beyond the cut
  for (const model::FailureRecord& failure : write.failures) next.failures.push_back(failure.key);
  Buffering buffering = *open.buffering;
  buffering.previous = write.claim->upto;
  buffering.ending.reset();
  buffering.cut = 0;
  buffering.first_ms = beyond.first_ms;
  buffering.last_ms = beyond.last_ms;
  buffering.bytes = beyond.bytes;
  settle(buffering);
  next.buffering = buffering;
  return next;
}

}  // namespace runwarden::store
