#include "http/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "http/problem.h"

namespace runwarden::http {
namespace {

constexpr std::size_t kMaxPending = 64 * 1024;          // beyond it reading pauses until the answer is sent
constexpr std::size_t kKeepPending = 16 * 1024;         // a larger buffer is freed when empty
constexpr std::uint64_t kMaxDropped = 64 * 1024;        // bytes of a refused body read to keep the connection
constexpr std::uint64_t kMaxLinger = 16 * 1024 * 1024;  // bytes of an unread body discarded so that the client sees the answer
constexpr std::uint64_t kSlowestBytesPerSecond = 1024;  // enforced after the first timeout has passed
constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool visible_ascii(const std::string& text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

Error too_large(std::uint64_t limit, std::string_view name, std::string_view remedy) {
  const std::string bytes = std::to_string(limit) + " bytes";
  const std::string over = name.empty() ? "the limit of " + bytes + " (decoded)" : std::string(name) + " (" + bytes + ", decoded)";
  return {Code::payload_too_large,
          "the body exceeds " + over + "; " + std::string(remedy) + (name.empty() ? "" : ", or raise the limit"),
          {},
          {}};
}

}  // namespace

void report(WorkerContext& context, const Request* request, AccessRecord record) {
  if (request) {
    record.head = request->framed ? &request->head : nullptr;
    record.request_handler = request->request_handler.get();
    record.request_bytes = request->body_wire_bytes;
  }
  if (!record.delivered) context.counters.answers_dropped.fetch_add(1, std::memory_order_relaxed);
  context.handler.on_answered(record);
}

Connection::Connection(WorkerContext& context, UniqueFd socket, const IpAddress& peer, std::uint64_t id)
    : context_(context), socket_(std::move(socket)), peer_(peer), id_(id), scan_(context.settings.max_header_bytes) {}

bool Connection::wants_read() const {
  if (read_closed_) return false;
  switch (phase_) {
    case Phase::head:
    case Phase::body:
    case Phase::dropping:
    case Phase::linger: return true;
    case Phase::app: return !(request_ && request_->reader) && pending_.size() - pending_at_ < kMaxPending;
    // A client may send its whole body before it reads the answer. Read it to avoid a deadlock.
    case Phase::sending: return out_after_ == After::close && lingered_bytes_ <= kMaxLinger;
    case Phase::dead: return false;
  }
  return false;
}

Connection::Wait Connection::waits_for() const {
  switch (phase_) {
    case Phase::head: return head_began_ns_ == 0 ? Wait::idle : Wait::header;
    case Phase::body:
    case Phase::dropping: return Wait::body;
    case Phase::sending: return Wait::write;
    case Phase::linger: return Wait::linger;
    case Phase::app:
    case Phase::dead: return Wait::app;
  }
  return Wait::app;
}

void Connection::on_readable(char* scratch, std::size_t size) {
  const ssize_t got = ::recv(socket_.get(), scratch, size, MSG_DONTWAIT);
  if (got > 0) return consume({scratch, static_cast<std::size_t>(got)});
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) on_gone();
    return;
  }
  read_closed_ = true;
  if (phase_ == Phase::linger) die();
  end_if_half_closed();
}

void Connection::consume(std::string_view bytes) {
  if (phase_ == Phase::linger || phase_ == Phase::sending) {
    lingered_bytes_ += bytes.size();
    if (phase_ == Phase::linger && lingered_bytes_ > kMaxLinger) die();
    return;
  }
  if (pending_at_ < pending_.size()) {
    if (pending_at_ > 0) pending_.erase(0, std::exchange(pending_at_, 0));
    pending_.append(bytes);
    return advance_pending();
  }
  pending_.clear();
  pending_at_ = 0;
  const std::size_t used = advance(bytes);
  if (!dead()) pending_.assign(bytes.substr(used));
}

void Connection::advance_pending() {
  if (pending_at_ < pending_.size()) pending_at_ += advance(std::string_view(pending_).substr(pending_at_));
  if (pending_at_ == pending_.size()) {
    if (pending_.capacity() > kKeepPending) pending_ = {};
    pending_.clear();
    pending_at_ = 0;
  }
  end_if_half_closed();
}

// The client has closed its sending side: incomplete input stays incomplete. It may still read.
void Connection::end_if_half_closed() {
  if (!read_closed_) return;
  if (phase_ == Phase::head) return die();
  if (phase_ == Phase::dropping) return answer(std::move(*request_->refusal), After::close);
  if (phase_ == Phase::body)
    break_off({Code::bad_request, "the body ended early: send as many bytes as its length or its chunks announce", {}, {}});
}

std::size_t Connection::advance(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    const Phase before = phase_;
    std::size_t taken = 0;
    switch (phase_) {
      case Phase::head: taken = take_head(bytes.substr(used)); break;
      case Phase::body: taken = take_body(bytes.substr(used)); break;
      case Phase::dropping: taken = take_dropped(bytes.substr(used)); break;
      case Phase::linger: return bytes.size();
      default: return used;
    }
    used += taken;
    if (taken == 0 && phase_ == before) break;
  }
  return used;
}

std::size_t Connection::take_head(std::string_view bytes) {
  if (head_began_ns_ == 0) head_began_ns_ = context_.now_ns;
  const auto size = scan_.scan(bytes);
  if (!size) {
    begin_unframed(bytes);
    fail(size.error());
    return bytes.size();
  }
  if (*size == 0) return 0;
  begin_request(bytes.substr(0, *size), *size < bytes.size());
  return *size;
}

void Connection::name_request() {
  RequestHead& head = request_->head;
  const std::string* theirs = head.count("x-request-id") == 1 ? head.header("x-request-id") : nullptr;
  head.request_id = theirs && visible_ascii(*theirs) ? *theirs : context_.ids.fresh();
  head.client = context_.proxies.client_of(peer_, head.headers);
  head.https = context_.proxies.https_of(peer_, head.headers);
  head.started_ns = head_began_ns_;
}

// The client's name for a request whose fields could not be read.
void Connection::name_unparsed(std::string_view head) {
  const auto theirs = only_field(head, "x-request-id");
  if (theirs && visible_ascii(*theirs)) request_->head.request_id = *theirs;
}

void Connection::begin_unframed(std::string_view head) {
  request_ = std::make_unique<Request>(context_.settings, context_.counters);
  name_request();
  name_unparsed(head);
  ++request_number_;
  head_began_ns_ = 0;
}

void Connection::begin_request(std::string_view head, bool more_follows) {
  scan_ = HeadScan(context_.settings.max_header_bytes);
  request_ = std::make_unique<Request>(context_.settings, context_.counters);
  ++request_number_;
  const auto wrong = request_->parser.read_head(head, request_->head);
  name_request();
  head_began_ns_ = 0;
  if (wrong) {
    name_unparsed(head);
    return fail(*wrong);
  }
  request_->framed = true;
  request_->body_began_ns = context_.now_ns;
  std::variant<Reply, Accepted> verdict;
  try {
    verdict = context_.handler.on_head(request_->head);
  } catch (...) {
    verdict = problem({Code::internal, "the request could not be handled", {}, {}}, request_->head.request_id);
  }
  if (auto* reply = std::get_if<Reply>(&verdict)) return refuse(std::move(*reply));
  accept(std::move(std::get<Accepted>(verdict)), more_follows);
}

// Reads and drops a small body so that the connection can be reused. Answers at once if the body is large.
void Connection::refuse(Reply reply) {
  const Framing& framing = request_->parser.framing();
  if (!framing.has_body()) return answer(std::move(reply), After::keep_open);
  if (framing.expect_continue || framing.content_length > kMaxDropped) return answer(std::move(reply), After::close);
  request_->refusal = std::move(reply);
  phase_ = Phase::dropping;
}

void Connection::accept(Accepted accepted, bool more_follows) {
  const Framing& framing = request_->parser.framing();
  request_->request_handler = std::move(accepted.request_handler);
  const bool lines = accepted.form == BodyForm::lines;
  const BodyPlan plan{accepted.form,      framing.coding,        accepted.max_body_bytes, accepted.max_batch_bytes,
                      accepted.max_lines, framing.content_length};
  if (framing.content_length > plan.max_sent_bytes())
    return fail(too_large(plan.max_bytes(), accepted.limit_name, accepted.when_too_large));
  if (accepted.refusal) return refuse(std::move(*accepted.refusal));
  if (!framing.has_body()) {
    if (!lines) return hand_body({});
    LineBatch none;
    none.last = true;
    return hand_lines(std::move(none));
  }
  request_->limit_name = accepted.limit_name;
  request_->when_too_large = accepted.when_too_large;
  request_->reader.emplace(plan);
  phase_ = Phase::body;
  if (framing.expect_continue && !more_follows) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const ssize_t sent = ::send(socket_.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // A client that gets no 100 sends its body after a while, but a partial one corrupts the stream.
    if (sent >= 0 && static_cast<std::size_t>(sent) < kContinue.size()) die();
  }
}

std::size_t Connection::take_body(std::string_view bytes) {
  const std::size_t taken = request_->parser.read_body(bytes, &*request_->reader);
  request_->body_wire_bytes += taken;
  if (taken > 0) progress_ = true;
  react_to_body();
  if (phase_ == Phase::body && !request_->charge.set(request_->reader->kept_bytes())) {
    break_off({Code::unavailable, "too many large bodies are being received at once: retry in a moment", {}, {}});
  }
  if (phase_ == Phase::body && too_slow(request_->body_wire_bytes, request_->body_began_ns, context_.settings.body_timeout_ms)) {
    context_.counters.timeouts.fetch_add(1, std::memory_order_relaxed);
    break_off({Code::request_timeout,
               "the body arrives too slowly: send at least " + std::to_string(kSlowestBytesPerSecond) + " bytes a second",
               {},
               {}});
  }
  return taken;
}

void Connection::react_to_body() {
  BodyReader& reader = *request_->reader;
  if (request_->parser.body_broken()) {
    return break_off({Code::bad_request, std::string(request_->parser.body_fault()), {}, {}});
  }
  if (reader.state() == BodyReader::State::reading && request_->parser.body_done()) reader.end();
  switch (reader.state()) {
    case BodyReader::State::reading: return;
    case BodyReader::State::batch_ready: return hand_lines(reader.take_batch());
    case BodyReader::State::whole_ready: return hand_body(reader.take_body());
    case BodyReader::State::too_large: return fail(too_large(reader.limit(), request_->limit_name, request_->when_too_large));
    case BodyReader::State::bad_encoding: {
      const std::string name = request_->parser.framing().coding == Coding::gzip ? "gzip" : "deflate";
      return fail({Code::bad_request, "Content-Encoding is " + name + ", but the body is not a complete " + name + " stream", {}, {}});
    }
  }
}

std::size_t Connection::take_dropped(std::string_view bytes) {
  const std::size_t taken = request_->parser.read_body(bytes, nullptr);
  request_->body_wire_bytes += taken;
  if (taken > 0) progress_ = true;
  const bool unreadable = request_->parser.body_broken() || request_->body_wire_bytes > 2 * kMaxDropped;
  const bool slow = too_slow(request_->body_wire_bytes, request_->body_began_ns, context_.settings.body_timeout_ms);
  if (unreadable || slow || request_->parser.announced_bytes() > kMaxDropped) {
    answer(std::move(*request_->refusal), After::close);
  } else if (request_->parser.body_done()) {
    answer(std::move(*request_->refusal), After::keep_open);
  }
  return taken;
}

bool Connection::too_slow(std::uint64_t bytes, std::int64_t since_ns, std::int64_t grace_ms) const {
  const std::int64_t over_ms = (context_.now_ns - since_ns) / kNsPerMs - grace_ms;
  return over_ms > 0 && bytes < static_cast<std::uint64_t>(over_ms) * kSlowestBytesPerSecond / 1000;
}

Responder Connection::make_responder() {
  request_->answer_pending = true;
  request_->paused_ns = context_.now_ns;
  phase_ = Phase::app;
  return Responder(std::make_shared<Responder::Route>(context_.completions, id_, request_number_));
}

// If the handler throws, its responder has been destroyed, which answers with 500, or another owner will answer.
void Connection::hand_body(std::string body) {
  request_->reader.reset();
  request_->charge.set(0);
  try {
    request_->request_handler->on_body(std::move(body), make_responder());
  } catch (...) {
  }
}

void Connection::hand_lines(LineBatch batch) {
  try {
    request_->request_handler->on_lines(std::move(batch), make_responder());
  } catch (...) {
  }
}

void Connection::on_completion(Completion completion) {
  if (phase_ != Phase::app || completion.request != request_number_) return;
  request_->answer_pending = false;
  if (completion.kind == Completion::Kind::hang_up) return hang_up();
  if (completion.kind == Completion::Kind::read_more) {
    if (!request_->reader) return fail({Code::internal, "the request could not be handled", {}, {}});
    phase_ = Phase::body;
    progress_ = true;
    request_->body_began_ns += context_.now_ns - request_->paused_ns;
    request_->reader->resume();
    react_to_body();
    if (context_.bodies_end) end_body();
  } else {
    const Error lost{Code::internal, "the request could not be handled", {}, {}};
    Reply reply = completion.kind == Completion::Kind::answer ? std::move(completion.reply)
                                                              : request_->request_handler->refusal(lost, request_->head.request_id);
    answer(std::move(reply), body_unread() ? After::close : After::keep_open);
  }
  if (!dead()) advance_pending();
}

// Reported like an answer that was dropped.
void Connection::hang_up() {
  die();
  out_status_ = 500;
  out_at_ = 0;
  finish_answer();
}

bool Connection::body_unread() const {
  return request_ && request_->framed && (!request_->parser.body_done() || request_->parser.body_broken());
}

void Connection::count_framing_error() {
  context_.counters.framing_errors.fetch_add(1, std::memory_order_relaxed);
}

void Connection::break_off(const Error& error) {
  const bool lines = request_->reader && request_->reader->form() == BodyForm::lines;
  if (!lines) return fail(error);
  if (request_->parser.body_broken()) count_framing_error();
  request_->reader->break_off(error);
  hand_lines(request_->reader->take_batch());
}

void Connection::recheck_body() {
  if (phase_ != Phase::body) return;
  try {
    if (const auto refusal = request_->request_handler->recheck()) break_off(*refusal);
  } catch (...) {  // retried at the next recheck
  }
}

void Connection::end_body() {
  if (phase_ == Phase::body)
    break_off({Code::unavailable, "the service is stopping before the whole body arrived: retry in a moment", {}, {}});
}

void Connection::fail(const Error& error) {
  if (!request_) begin_unframed(std::string_view(pending_).substr(pending_at_));
  if (error.code == Code::headers_too_large || (error.code == Code::bad_request && !request_->request_handler) ||
      request_->parser.body_broken()) {
    count_framing_error();
  }
  Reply reply = request_->request_handler ? request_->request_handler->refusal(error, request_->head.request_id)
                                          : problem(error, request_->head.request_id);
  answer(std::move(reply), body_unread() ? After::close : After::keep_open);  // never kept after an unframed request
}

void Connection::answer(Reply reply, After after) {
  const bool keep_alive = request_->framed && request_->parser.framing().keep_alive;
  if (reply.close || !keep_alive || context_.draining.load(std::memory_order_acquire)) after = After::close;
  const auto wall_s = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  out_head_ = answer_head(reply, {request_->head.request_id, context_.date.at(wall_s), after == After::close});
  if (status_has_body(reply.status) && request_->head.method != "HEAD") {
    out_body_ = std::move(reply.body);
    out_lease_ = std::move(reply.lease);
  }
  out_at_ = 0;
  out_status_ = reply.status;
  out_after_ = after;
  out_began_ns_ = context_.now_ns;
  phase_ = Phase::sending;
  flush();
}

void Connection::on_writable() {
  if (phase_ != Phase::sending) return;
  flush();
  if (!dead() && phase_ != Phase::sending) advance_pending();
}

void Connection::flush() {
  const std::size_t total = out_head_.size() + out_body_.size();
  while (out_at_ < total) {
    std::array<iovec, 2> parts{};
    const std::size_t head_rest = out_head_.size() - std::min(out_at_, out_head_.size());
    const std::size_t body_at = out_at_ - (out_head_.size() - head_rest);
    parts[0] = {out_head_.data() + out_head_.size() - head_rest, head_rest};
    parts[1] = {out_body_.data() + body_at, out_body_.size() - body_at};
    msghdr message{};
    message.msg_iov = head_rest > 0 ? parts.data() : parts.data() + 1;
    message.msg_iovlen = head_rest > 0 ? 2 : 1;
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      const bool full = errno == EAGAIN || errno == ENOBUFS;
      const bool slow = full && too_slow(out_at_, out_began_ns_, context_.settings.write_timeout_ms);
      if (slow) context_.counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      if (!full || slow) die();
      break;
    }
    out_at_ += static_cast<std::size_t>(sent);
    progress_ = true;
  }
  if (out_at_ == total || dead()) finish_answer();
}

void Connection::finish_answer() {
  AccessRecord record;
  record.request_id = request_->head.request_id;
  record.client = request_->head.client;
  record.status = out_status_;
  record.answer_bytes = out_at_;
  record.elapsed_us = (monotonic_ns() - request_->head.started_ns) / 1000;
  record.delivered = !dead();
  const auto request = std::move(request_);
  out_body_ = {};
  out_lease_ = {};
  try {
    report(context_, request.get(), std::move(record));
  } catch (...) {
  }
  if (dead()) return;
  phase_ = Phase::head;
  if (out_after_ == After::keep_open) return;
  // Closing now could reset the connection before the client has read the answer.
  ::shutdown(socket_.get(), SHUT_WR);
  phase_ = read_closed_ ? Phase::dead : Phase::linger;
}

void Connection::on_deadline() {
  switch (waits_for()) {
    case Wait::app: return;
    case Wait::idle:
    case Wait::linger: return die();
    case Wait::write: {
      // The client does not read: discard the kernel's buffer at once.
      const linger abort{1, 0};
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
      die();
      context_.counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      return finish_answer();
    }
    case Wait::header:
    case Wait::body: break;
  }
  context_.counters.timeouts.fetch_add(1, std::memory_order_relaxed);
  if (phase_ == Phase::dropping) return answer(std::move(*request_->refusal), After::close);
  const bool header = phase_ == Phase::head;
  const auto limit_ms = header ? context_.settings.header_timeout_ms : context_.settings.body_timeout_ms;
  const std::string what = header ? "the request head did not arrive" : "no more of the body arrived";
  const Error late{Code::request_timeout, what + " within " + std::to_string(limit_ms) + " ms: retry it", {}, {}};
  header ? fail(late) : break_off(late);
}

void Connection::on_gone() {
  if (dead()) return;
  const bool unsent = phase_ == Phase::sending;
  die();
  if (unsent) finish_answer();
}

void Connection::on_drain(char* scratch, std::size_t size) {
  if (phase_ != Phase::head || head_began_ns_ != 0) return;
  on_readable(scratch, size);  // a request may have arrived already
  if (phase_ == Phase::head && head_began_ns_ == 0) die();
}

std::unique_ptr<Request> Connection::release_request() {
  if (!request_ || !request_->answer_pending) return nullptr;
  return std::move(request_);
}

}  // namespace runwarden::http
