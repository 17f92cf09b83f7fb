#include "http/body_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace runwarden::http {
namespace {

constexpr std::size_t kDecodeStep = 16 * 1024;
constexpr std::uint64_t kReserveAtMost = 256 * 1024;  // a declared length may be false
constexpr std::uint64_t kEncodingSlack = 64 * 1024;   // headers and trailers of a body's members
// The first batch is large, so that a body over the limit is usually refused before any line is processed.
constexpr std::uint64_t kFirstBatchBytes = 8 * 1024 * 1024;
constexpr std::size_t kFirstBatchLines = 128 * 1024;
constexpr std::uint64_t kBatchBytes = 512 * 1024;
constexpr std::size_t kBatchLines = 512;

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace

std::uint64_t BodyPlan::max_sent_bytes() const {
  if (coding == Coding::identity) return max_bytes();
  return max_bytes() + max_bytes() / 1000 + kEncodingSlack;
}

BodyReader::BodyReader(const BodyPlan& plan) : plan_(plan) {
  if (plan.coding != Coding::identity) gunzip_.emplace(plan.coding);
  if (plan.form == BodyForm::whole && plan.coding == Coding::identity)
    body_.reserve(std::min({plan.expected_bytes, plan.max_body_bytes, kReserveAtMost}));
}

void BodyReader::announce(std::uint64_t bytes) {
  if (state_ != State::reading) return;
  const std::uint64_t arrived = gunzip_ ? encoded_bytes_ : plan_.form == BodyForm::lines ? decoded_bytes_ : body_.size();
  if (bytes > plan_.max_sent_bytes() - arrived) refuse_too_large();
}

std::size_t BodyReader::put(std::string_view bytes) {
  if (state_ != State::reading) return 0;
  return gunzip_ ? decode(bytes) : deliver(bytes);
}

std::size_t BodyReader::decode(std::string_view bytes) {
  const std::uint64_t room = plan_.max_sent_bytes() - encoded_bytes_;
  const std::size_t taken = decode_within_limit(bytes.substr(0, std::min<std::uint64_t>(room, bytes.size())));
  encoded_bytes_ += taken;
  if (state_ == State::reading && taken == room && bytes.size() > taken) refuse_too_large();
  return taken;
}

std::size_t BodyReader::decode_within_limit(std::string_view bytes) {
  std::array<char, kDecodeStep> out;
  std::size_t taken = 0;
  while (state_ == State::reading) {
    const auto step = gunzip_->step(bytes.substr(taken), out.data(), out.size());
    taken += step.taken;
    const std::string_view made(out.data(), step.made);
    const std::size_t delivered = deliver(made);
    if (state_ == State::batch_ready) held_.assign(made.substr(delivered));
    if (state_ != State::reading) break;
    if (step.corrupt) {
      if (plan_.form == BodyForm::lines) {
        last_batch(LineBatch::End::bad_encoding);
      } else {
        state_ = State::bad_encoding;
      }
    }
    if (step.taken == 0 && step.made == 0) break;
  }
  return taken;
}

void BodyReader::end() {
  ended_ = true;
  if (state_ == State::reading) finish();
}

void BodyReader::finish() {
  if (gunzip_ && !gunzip_->whole()) {
    if (plan_.form == BodyForm::lines) return last_batch(LineBatch::End::bad_encoding);
    state_ = State::bad_encoding;
    return;
  }
  if (plan_.form == BodyForm::whole) {
    state_ = State::whole_ready;
    return;
  }
  if (line_open_ && !finish_line()) return;
  if (lines_ > plan_.max_lines) return last_batch(LineBatch::End::over_lines);
  last_batch(LineBatch::End::complete);
}

void BodyReader::break_off(Error fault) {
  if (state_ == State::batch_ready && batch_.last) return;
  batch_.fault = std::move(fault);
  last_batch(LineBatch::End::broken_off);
}

LineBatch BodyReader::take_batch() {
  batch_bytes_ = 0;
  return std::exchange(batch_, {});
}

void BodyReader::resume() {
  state_ = State::reading;
  if (!held_.empty()) {
    const std::string held = std::exchange(held_, {});
    const std::size_t delivered = deliver(held);
    if (state_ == State::batch_ready) held_.assign(held, delivered);
  }
  if (gunzip_) decode({});
  if (ended_ && state_ == State::reading) finish();
}

std::size_t BodyReader::deliver(std::string_view decoded) {
  if (plan_.form == BodyForm::lines) return deliver_lines(decoded);
  if (decoded.size() > plan_.max_body_bytes - body_.size()) {
    refuse_too_large();
    return 0;
  }
  body_.append(decoded);
  return decoded.size();
}

void BodyReader::refuse_too_large() {
  if (plan_.form == BodyForm::lines) return last_batch(LineBatch::End::over_batch_bytes);
  state_ = State::too_large;
  body_ = {};
}

std::size_t BodyReader::deliver_lines(std::string_view decoded) {
  std::size_t taken = 0;
  while (taken < decoded.size()) {
    const std::string_view rest = decoded.substr(taken);
    const auto feed = rest.find('\n');
    const bool whole = feed != std::string_view::npos;
    const std::size_t used = whole ? feed + 1 : rest.size();
    if (used > plan_.max_batch_bytes - decoded_bytes_) {
      refuse_too_large();
      return taken;
    }
    decoded_bytes_ += used;
    taken += used;
    if (!take_piece(rest.substr(0, whole ? feed : used))) return taken;
    if (!whole) break;
    if (!finish_line()) return taken;
    if (lines_ > plan_.max_lines) {
      last_batch(LineBatch::End::over_lines);
      return taken;
    }
    if (batch_full()) {
      state_ = State::batch_ready;
      first_batch_ = false;
      return taken;
    }
  }
  return taken;
}

bool BodyReader::take_piece(std::string_view piece) {
  line_open_ = true;
  // Allow one byte over the limit: it may be the carriage return before the line feed.
  if (piece.size() > plan_.max_body_bytes + 1 - line_.size()) {
    last_batch(LineBatch::End::line_too_long);
    return false;
  }
  line_.append(piece);
  return true;
}

bool BodyReader::finish_line() {
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (line_.size() > plan_.max_body_bytes) {
    last_batch(LineBatch::End::line_too_long);
    return false;
  }
  if (!blank(line_) && ++lines_ > plan_.max_lines) return true;  // one too many: line_number_ stays on it
  if (!blank(line_)) {
    batch_bytes_ += line_.size();
    batch_.lines.push_back({line_number_, std::move(line_)});
  }
  line_ = {};
  line_open_ = false;
  ++line_number_;
  return true;
}

bool BodyReader::batch_full() const {
  if (first_batch_) return batch_bytes_ >= kFirstBatchBytes || batch_.lines.size() >= kFirstBatchLines;
  return batch_bytes_ >= kBatchBytes || batch_.lines.size() >= kBatchLines;
}

void BodyReader::last_batch(LineBatch::End end) {
  batch_.last = true;
  batch_.end = end;
  batch_.end_line = line_number_;
  line_ = {};
  held_ = {};
  state_ = State::batch_ready;
}

}  // namespace runwarden::http
