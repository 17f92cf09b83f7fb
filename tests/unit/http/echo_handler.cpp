#include "unit/http/echo_handler.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <utility>

#include "http/problem.h"

namespace runwarden::http {

class EchoHandler::EchoRequestHandler final : public RequestHandler {
 public:
  EchoRequestHandler(EchoHandler& handler, std::string path, std::string query)
      : handler_(handler), path_(std::move(path)), query_(std::move(query)) {}

  void on_body(std::string body, Responder responder) override {
    if (path_ == "/throw-body") throw std::runtime_error("on purpose");
    if (path_ == "/drop") return;
    if (path_ == "/hang-up") return responder.hang_up();
    if (path_ == "/big") return responder.send(handler_.leased_reply_of(std::string(std::stoull(query_), 'x')));
    if (path_ == "/empty") {
      Reply reply;
      reply.status = 204;
      return responder.send(std::move(reply));
    }
    if (path_ == "/late") return handler_.hold(handler_.late_, {std::move(body), std::move(responder)});
    if (path_ == "/hold") return handler_.hold(handler_.held_, {std::move(body), std::move(responder)});
    responder.send(reply_of(std::move(body)));
  }

  std::optional<Error> recheck() override {
    ++handler_.rechecks;
    if (!handler_.refuse_at_recheck) return std::nullopt;
    return Error{Code::unauthorized, "the key was revoked", {}, {}};
  }

  void on_lines(LineBatch batch, Responder responder) override {
    const bool last = batch.last;
    const auto end = batch.end;
    const int fault = http_status(batch.fault.code);
    const std::lock_guard lock(handler_.mutex_);
    lines_ += batch.lines.size();
    handler_.batches_.push_back(std::move(batch));
    if (last) {
      Reply reply = reply_of(query_.empty() ? std::to_string(lines_) : std::string(std::stoull(query_), 'x'));
      if (end != LineBatch::End::complete) reply.status = end == LineBatch::End::broken_off ? fault : 413;
      return responder.send(std::move(reply));
    }
    if (handler_.hold_batches) {
      handler_.held_batch_ = std::make_unique<Responder>(std::move(responder));
      handler_.changed_.notify_all();
      return;
    }
    responder.read_more();
  }

 private:
  EchoHandler& handler_;
  std::string path_;
  std::string query_;
  std::size_t lines_ = 0;
};

EchoHandler::EchoHandler(int late_threads) {
  for (int i = 0; i < late_threads; ++i) pool_.emplace_back([this, i] { answer_late(static_cast<unsigned>(i)); });
}

EchoHandler::~EchoHandler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : pool_) thread.join();
}

std::variant<Reply, Accepted> EchoHandler::on_head(const RequestHead& head) {
  if (head.path == "/throw-head") throw std::runtime_error("on purpose");
  if (head.path == "/missing" || head.path.size() > 4000) return problem({Code::not_found, "nothing is there", {}, {}}, head.request_id);
  Accepted accepted;
  accepted.request_handler = std::make_unique<EchoRequestHandler>(*this, head.path, head.query);
  accepted.form = head.path == "/lines" ? BodyForm::lines : BodyForm::whole;
  accepted.max_body_bytes = max_body_bytes;
  accepted.max_batch_bytes = max_batch_bytes;
  accepted.max_lines = max_lines;
  const std::lock_guard lock(mutex_);
  last_client_ = head.client;
  last_path_ = head.path;
  last_query_ = head.query;
  workers_.insert(std::this_thread::get_id());
  return accepted;
}

void EchoHandler::on_answered(const AccessRecord& record) {
  const std::lock_guard lock(mutex_);
  seen_.push_back({record.status, record.head ? record.head->path : std::string(), record.request_id, record.client, record.request_bytes,
                   record.answer_bytes, record.request_handler != nullptr, record.delivered});
  changed_.notify_all();
}

void EchoHandler::release() {
  std::deque<Held> held;
  {
    const std::lock_guard lock(mutex_);
    held.swap(held_);
  }
  for (auto& one : held) one.responder.send(leased_reply_of(std::move(one.body)));
}

bool EchoHandler::wait_held(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return held_.size() >= count; });
}

std::vector<SeenAnswer> EchoHandler::wait_seen(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(10), [&] { return seen_.size() >= count; });
  return seen_;
}

bool EchoHandler::wait_undelivered() {
  std::unique_lock lock(mutex_);
  const auto undelivered = [](const SeenAnswer& answer) { return !answer.delivered; };
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return std::any_of(seen_.begin(), seen_.end(), undelivered); });
}

bool EchoHandler::wait_leases_ended() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (budget.state().bytes > 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return budget.state().bytes == 0;
}

std::size_t EchoHandler::workers_seen() {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

std::vector<LineBatch> EchoHandler::batches() {
  const std::lock_guard lock(mutex_);
  return std::move(batches_);
}

bool EchoHandler::wait_batch_held() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return bool(held_batch_); });
}

void EchoHandler::release_batch() {
  std::unique_ptr<Responder> responder;
  {
    const std::lock_guard lock(mutex_);
    responder = std::move(held_batch_);
  }
  if (responder) responder->read_more();
}

Reply EchoHandler::leased_reply_of(std::string body) {
  Reply reply = reply_of(std::move(body));
  reply.lease = std::move(*budget.take(1, reply.body.size()));
  return reply;
}

Reply EchoHandler::reply_of(std::string body) {
  Reply reply;
  reply.body = std::move(body);
  return reply;
}

std::string EchoHandler::locked(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return text;
}

void EchoHandler::hold(std::deque<Held>& where, Held held) {
  {
    const std::lock_guard lock(mutex_);
    where.push_back(std::move(held));
  }
  changed_.notify_all();
}

void EchoHandler::answer_late(unsigned seed) {
  std::minstd_rand random(seed + 1);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !late_.empty(); });
    if (stopping_) return;
    auto place = late_.begin() + static_cast<std::ptrdiff_t>(random() % late_.size());
    Held one = std::move(*place);
    late_.erase(place);
    lock.unlock();
    for (unsigned i = random() % 64; i > 0; --i) std::this_thread::yield();
    one.responder.send(reply_of(std::move(one.body)));
    lock.lock();
  }
}

Running::Running(ServerSettings settings, int late_threads) : handler(late_threads) {
  if (settings.address.empty()) settings.address = "127.0.0.1:0";
  auto started = Server::start(std::move(settings), handler);
  if (!started) throw std::runtime_error(started.error().detail);
  server = std::move(*started);
}

Running::~Running() {
  handler.release();
  server->drain();
}

}  // namespace runwarden::http
