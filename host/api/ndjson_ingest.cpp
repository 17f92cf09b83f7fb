#include "api/ndjson_ingest.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error_json.h"
#include "http/problem.h"

namespace runwarden::api {
namespace {

using http::LineBatch;

// Lines per pool task: enough to make posting cheap, few enough to use every core.
constexpr std::size_t kLinesPerChunk = 4;
// The most lines of a request in work at a time: two full commits. More would fill the queue to the store and delay the requests of other
// clients.
constexpr std::size_t kLinesInWork = 1024;
// Reserved for the result of each line before it is known; most results are smaller.
constexpr std::size_t kResultBytes = 256;
// Only the first lines with warnings report them, because a mistake is usually the same in every line.
constexpr std::size_t kLinesWithWarnings = 100;

std::string fault_json(std::uint64_t line, const Error& error) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("line").integer(static_cast<std::int64_t>(line));
  write_error(out, error);
  out.end_object();
  return text;
}

std::string stored_json(std::uint64_t line, const ingest::IngestAnswer& answer) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("line").integer(static_cast<std::int64_t>(line));
  out.key("status").integer(answer.kind == ingest::IngestAnswer::Kind::created ? 201 : 200);
  out.key("runId").string(answer.run_id).key("failures").raw(answer.failures_json).end_object();
  return text;
}

enum class StoredSoFar : std::uint8_t { nothing, lines };

// Explains why the body broke off and what to send again: all of it if nothing was stored.
Error end_error(LineBatch& lines, const ApiLimits& limits, StoredSoFar stored) {
  const auto error = [stored](Code code, const std::string& detail, const char* whole, const char* rest) {
    return Error{
        code, detail + (stored == StoredSoFar::nothing ? std::string("; nothing was stored, ") + whole : std::string("; ") + rest), {}, {}};
  };
  constexpr const char* kInParts = "send the whole batch again in parts";
  switch (lines.end) {
    case LineBatch::End::line_too_long:
      return error(Code::payload_too_large,
                   "line " + std::to_string(lines.end_line) + " is larger than limits.max_body_bytes (" +
                       std::to_string(limits.max_body_bytes) + ")",
                   "send the whole batch again without that line", "send the batch from there without it");
    case LineBatch::End::over_lines:
      return error(Code::payload_too_large,
                   "the batch has more than limits.max_batch_runs (" + std::to_string(limits.max_batch_runs) + ") runs", kInParts,
                   "send it in parts");
    case LineBatch::End::over_batch_bytes:
      return error(Code::payload_too_large,
                   "the batch is larger than limits.max_batch_bytes (" + std::to_string(limits.max_batch_bytes) + ")", kInParts,
                   "send it in parts");
    case LineBatch::End::bad_encoding:
      return error(Code::bad_request, "the body's gzip stream is damaged or truncated", "send the whole batch again",
                   "send the rest again");
    default: break;
  }
  if (stored == StoredSoFar::nothing) lines.fault.detail += "; nothing of the batch was stored";
  return std::move(lines.fault);
}

std::uint64_t first_line(const LineBatch& lines) {
  return lines.lines.empty() ? lines.end_line : lines.lines.front().number;
}

}  // namespace

NdjsonIngest::NdjsonIngest(ApiParts& parts, const Admission& admission, std::string request_id, Permit permit)
    : parts_(parts),
      request_id_(std::move(request_id)),
      permit_(std::move(permit)),
      tenant_(admission.principal->tenant),
      tenant_name_(admission.principal->tenant_name),
      idempotency_key_(admission.idempotency_key),
      route_(admission.route->pattern) {}

void NdjsonIngest::take(LineBatch lines, http::Responder responder) {
  if (auto refusal = refusal_of(lines)) return cut_short(first_line(lines), std::move(*refusal), std::move(responder));
  std::uint64_t bytes = 0;
  for (const auto& line : lines.lines) bytes += line.text.size();
  auto lease = parts_.in_flight.take(tenant_, bytes);
  if (!lease && nothing_stored()) {
    return responder.send(
        http::problem({Code::unavailable, "too many requests are in flight; nothing was stored, retry in a moment", {}, {}}, request_id_));
  }
  {
    const MutexLock lock(mutex_);
    responder_ = std::move(responder);
    last_ = lines.last;
    if (lines.end != LineBatch::End::complete) break_off(lines.end_line, end_error(lines, parts_.limits, StoredSoFar::lines));
    outstanding_ = lines.lines.size() + 1;  // one for this call itself, so that the batch cannot end during it
    if (lease) {
      lease_ = std::move(*lease);
      lines_ = std::move(lines.lines);
      dispatched_ = 0;
    }
  }
  if (lease) {
    dispatch();
    return end_of_batch();
  }
  const Error full{Code::unavailable, "too many requests are in flight; this line was not stored, retry it in a moment", {}, {}};
  for (const auto& line : lines.lines) {
    refuse(line.number, full);
    end_of_batch();
  }
  end_of_batch();
}

// Reserves memory for the lines' results. Returns an error if none of these lines can be taken.
std::optional<Error> NdjsonIngest::refusal_of(LineBatch& lines) {
  const bool whole = lines.end == LineBatch::End::complete;
  if (!whole && nothing_stored()) return end_error(lines, parts_.limits, StoredSoFar::nothing);  // the whole request can still be refused
  if (auto refusal = whole && lines.lines.empty() ? std::nullopt : (*permit_)()) return refusal;
  if (reserve_results(lines.lines.size())) return std::nullopt;
  return Error{
      Code::unavailable, "too many batch results are waiting to be sent; nothing from here on was stored, retry it in a moment", {}, {}};
}

// False if the results of all batches would take too much memory.
bool NdjsonIngest::reserve_results(std::size_t lines) {
  const MutexLock lock(mutex_);
  if (!results_lease_) {
    auto lease = parts_.results.take(tenant_, lines * kResultBytes);
    if (!lease) return false;
    results_lease_ = std::move(*lease);
    return true;
  }
  return results_lease_.try_resize(results_lease_.bytes() + lines * kResultBytes);
}

// Ends the request: answers with the results of the lines before this one.
void NdjsonIngest::cut_short(std::uint64_t line, Error why, http::Responder responder) {
  {
    const MutexLock lock(mutex_);
    break_off(line, std::move(why));
  }
  responder.send(reply());
}

// Of several faults, keeps the first one in the body.
void NdjsonIngest::break_off(std::uint64_t line, Error why) {
  if (broken_off_ && first_not_taken_ <= line) return;
  broken_off_ = std::move(why);
  first_not_taken_ = line;
}

bool NdjsonIngest::nothing_stored() {
  const MutexLock lock(mutex_);
  return accepted_ == 0;
}

void NdjsonIngest::dispatch() {
  while (const auto chunk = next_chunk()) {
    parts_.pool.post([self = shared_from_this(), chunk](std::size_t worker) { self->read_chunk(worker, *chunk); }, tenant_);
  }
}

// Null if all lines are dispatched or enough are in work; the next result calls this again.
std::shared_ptr<NdjsonIngest::Chunk> NdjsonIngest::next_chunk() {
  auto refusal = (*permit_)();
  const MutexLock lock(mutex_);
  if (refusal && dispatched_ < lines_.size()) {
    break_off(lines_[dispatched_].number, std::move(*refusal));
    outstanding_ -= lines_.size() - dispatched_;
    lines_.resize(dispatched_);
  }
  const std::size_t count = std::min(kLinesPerChunk, lines_.size() - dispatched_);
  if (count == 0 || in_work_ >= kLinesInWork) return nullptr;
  const auto from = lines_.begin() + static_cast<std::ptrdiff_t>(dispatched_);
  auto chunk = std::make_shared<Chunk>();
  chunk->number = chunks_++;
  chunk->lines.assign(std::make_move_iterator(from), std::make_move_iterator(from + static_cast<std::ptrdiff_t>(count)));
  dispatched_ += count;
  in_work_ += count;
  return chunk;
}

void NdjsonIngest::read_chunk(std::size_t worker, Chunk& chunk) {
  std::vector<ReadLine> read_lines;
  for (LineBatch::Line& line : chunk.lines) {
    if (auto one = read(line)) read_lines.push_back(std::move(*one));
  }
  resume(worker, std::make_shared<Ready>(Ready{enqueue(chunk.number, std::move(read_lines)), 0}));
}

// A detector that does not return keeps its thread; another thread then continues with the remaining lines.
void NdjsonIngest::resume(std::size_t worker, const std::shared_ptr<Ready>& ready) {
  parts_.pool.on_abandoned(worker, [self = shared_from_this(), ready](std::size_t other) { self->resume(other, ready); });
  while (ready->next < ready->lines.size()) {
    const ReadLine line = std::move(ready->lines[ready->next++]);
    try {
      if (!parts_.ingest.runs.resume(worker, line.pending)) return;
    } catch (const std::exception& fault) {
      failed(line.number, fault.what());
    }
  }
}

std::optional<NdjsonIngest::ReadLine> NdjsonIngest::read(LineBatch::Line& line) {
  try {
    auto pending =
        parts_.ingest.runs.read(request_for(line), [self = shared_from_this(), number = line.number](const ingest::IngestAnswer& answer) {
          self->note(number, answer);
          self->end_of_line();
        });
    if (pending) return ReadLine{line.number, std::move(pending)};
  } catch (const std::exception& fault) {
    failed(line.number, fault.what());
  }
  return std::nullopt;
}

// Returns the lines that can resume: those of this chunk, and those of later chunks that waited for it.
std::vector<NdjsonIngest::ReadLine> NdjsonIngest::enqueue(std::uint64_t chunk, std::vector<ReadLine> read) {
  std::vector<ReadLine> ready;
  const MutexLock lock(order_mutex_);
  early_chunks_.emplace(chunk, std::move(read));
  for (; !early_chunks_.empty() && early_chunks_.begin()->first == next_chunk_; ++next_chunk_) {
    for (ReadLine& line : early_chunks_.begin()->second) {
      if (parts_.ingest.runs.enqueue(line.pending)) ready.push_back(std::move(line));
    }
    early_chunks_.erase(early_chunks_.begin());
  }
  return ready;
}

void NdjsonIngest::failed(std::uint64_t line, const char* why) {
  parts_.log.write(LogLevel::error, "line_failed", {{"requestId", std::string_view(request_id_)}, {"reason", std::string_view(why)}});
  refuse(line, {Code::internal, "the line could not be processed; retry it, and contact the operator if the problem persists", {}, {}});
  end_of_line();
}

void NdjsonIngest::refuse(std::uint64_t line, const Error& error) {
  note_retry(error);
  note({line, false, fault_json(line, error)});
}

ingest::IngestRequest NdjsonIngest::request_for(LineBatch::Line& line) const {
  ingest::IngestRequest request;
  request.tenant = tenant_;
  request.tenant_name = tenant_name_;
  request.body = std::move(line.text);
  request.max_json_depth = parts_.limits.max_json_depth;
  request.permit = permit_;
  // The first line has the identity of a run sent by itself, so that one key cannot stand for both.
  const std::uint64_t number = line.number == 1 ? 0 : line.number;
  if (idempotency_key_) request.idempotency = idempotency_identity(route_, *idempotency_key_, number);
  return request;
}

void NdjsonIngest::note(std::uint64_t line, const ingest::IngestAnswer& answer) {
  if (answer.kind == ingest::IngestAnswer::Kind::in_doubt) {
    const MutexLock lock(mutex_);
    in_doubt_ = true;
    return;
  }
  const bool accepted = answer.kind != ingest::IngestAnswer::Kind::refused;
  if (!accepted && answer.error.code == Code::unauthorized) {  // the key became invalid before the commit: the line was not taken
    const MutexLock lock(mutex_);
    return break_off(line, answer.error);
  }
  if (!accepted) note_retry(answer.error);
  if (!answer.warnings.empty()) note_warnings(line, answer.warnings);
  note({line, accepted, accepted ? stored_json(line, answer) : fault_json(line, parts_.redaction.error(answer.error, {}))});
}

// Lines for which there was no room are worth sending again; the answer says when.
void NdjsonIngest::note_retry(const Error& error) {
  if (error.code != Code::unavailable) return;
  const MutexLock lock(mutex_);
  retry_after_s_ = std::max({retry_after_s_, error.retry_after_s, 1});
}

void NdjsonIngest::note(LineResult result) {
  const MutexLock lock(mutex_);
  if (result.json.size() > kResultBytes) results_lease_.resize(results_lease_.bytes() + result.json.size() - kResultBytes);
  accepted_ += result.accepted ? 1 : 0;
  results_.push_back(std::move(result));
}

// Keeps warnings by line, not by time, so that a repeated batch gets the same answer.
void NdjsonIngest::note_warnings(std::uint64_t line, const std::vector<Warning>& warnings) {
  std::string text;
  JsonWriter out(text);
  write_warnings(out, warnings);
  const MutexLock lock(mutex_);
  ++warned_lines_;
  if (warnings_.size() < kLinesWithWarnings) results_lease_.resize(results_lease_.bytes() + text.size());
  warnings_.emplace(line, std::move(text));
  if (warnings_.size() > kLinesWithWarnings) warnings_.erase(std::prev(warnings_.end()));
}

void NdjsonIngest::end_of_line() {
  {
    const MutexLock lock(mutex_);
    --in_work_;
  }
  dispatch();
  end_of_batch();
}

void NdjsonIngest::end_of_batch() {
  http::Responder responder;
  bool over = false;
  bool in_doubt = false;
  {
    const MutexLock lock(mutex_);
    if (--outstanding_ > 0) return;
    in_doubt = in_doubt_;
    responder = std::move(responder_);
    lines_ = {};
    lease_ = {};
    over = last_ || broken_off_;
  }
  if (in_doubt) return responder.hang_up();
  if (!over) return responder.read_more();
  responder.send(reply());
}

// Called when no line is in work.
http::Reply NdjsonIngest::reply() {
  const MutexLock lock(mutex_);
  if (broken_off_ && accepted_ == 0) return http::problem(*broken_off_, request_id_);
  std::sort(results_.begin(), results_.end(), [](const LineResult& a, const LineResult& b) { return a.line < b.line; });
  http::Reply reply;
  if (retry_after_s_ > 0) reply.headers.push_back({"Retry-After", std::to_string(retry_after_s_)});
  JsonWriter out(reply.body);
  out.begin_object().key("accepted").integer(static_cast<std::int64_t>(accepted_));
  out.key("rejected").integer(static_cast<std::int64_t>(results_.size() - accepted_));
  if (warned_lines_ > 0) out.key("warned").integer(warned_lines_);
  out.key("results").begin_array();
  for (LineResult& one : results_) {
    if (const auto warned = warnings_.find(one.line); warned != warnings_.end()) {
      one.json.pop_back();
      one.json.append(",\"warnings\":").append(warned->second).append("}");
    }
    out.raw(one.json);
    one.json = {};  // to hold only one copy in memory
  }
  out.end_array();
  if (broken_off_) out.key("brokenOff").raw(fault_json(first_not_taken_, *broken_off_));
  out.end_object();
  reply.close = broken_off_.has_value();
  return reply;
}

}  // namespace runwarden::api
