// Collects a request body as it arrives (transfer coding removed), decodes gzip or deflate, and produces one string or batches of lines.
// One owner, one thread. Buffers at most the limit plus one decoding step, and reads at most BodyPlan::max_sent_bytes().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/gunzip.h"
#include "http/handler.h"

namespace runwarden::http {

struct BodyPlan {
  BodyForm form = BodyForm::whole;
  Coding coding = Coding::identity;
  std::uint64_t max_body_bytes = 0;
  std::uint64_t max_batch_bytes = 0;
  std::uint64_t max_lines = 0;
  std::uint64_t expected_bytes = 0;  // Content-Length; 0 when unknown

  // The limit on decoded bytes of the whole body.
  std::uint64_t max_bytes() const { return form == BodyForm::lines ? max_batch_bytes : max_body_bytes; }
  // The limit on bytes as sent. A coding adds little even to data that it cannot compress.
  std::uint64_t max_sent_bytes() const;
};

class BodyReader {
 public:
  // too_large and bad_encoding apply to BodyForm::whole; lines report them in their last batch.
  enum class State : std::uint8_t { reading, batch_ready, whole_ready, too_large, bad_encoding };

  explicit BodyReader(const BodyPlan& plan);

  // More bytes are announced to follow: a body that would exceed its limit is refused before they arrive.
  void announce(std::uint64_t bytes);
  // Returns how many bytes it consumed: fewer than given if a batch is ready or the body is refused.
  std::size_t put(std::string_view bytes);
  // The body has no further bytes.
  void end();
  // BodyForm::lines: ends the body for that reason. The complete lines are ready in a last batch.
  void break_off(Error fault);
  BodyForm form() const { return plan_.form; }
  State state() const { return state_; }
  // The limit on decoded bytes for BodyForm::whole.
  std::uint64_t limit() const { return plan_.max_body_bytes; }
  std::uint64_t kept_bytes() const { return body_.size() + line_.size() + batch_bytes_ + held_.size(); }

  std::string take_body() { return std::move(body_); }
  // After batch_ready. Unless it is the last batch, resume() continues, first with bytes decoded already.
  LineBatch take_batch();
  void resume();

 private:
  std::size_t decode(std::string_view bytes);
  std::size_t decode_within_limit(std::string_view bytes);
  void refuse_too_large();
  std::size_t deliver(std::string_view decoded);
  std::size_t deliver_lines(std::string_view decoded);
  // False: the line exceeds the limit, which ends the body.
  bool take_piece(std::string_view piece);
  bool finish_line();
  void finish();
  bool batch_full() const;
  void last_batch(LineBatch::End end);

  BodyPlan plan_;
  State state_ = State::reading;
  std::optional<Gunzip> gunzip_;
  std::uint64_t encoded_bytes_ = 0;
  std::string held_;  // decoded, not yet delivered because a batch was ready
  std::uint64_t decoded_bytes_ = 0;
  bool ended_ = false;

  std::string body_;

  LineBatch batch_;
  std::string line_;
  bool line_open_ = false;
  bool first_batch_ = true;
  std::uint64_t line_number_ = 1;
  std::uint64_t lines_ = 0;
  std::uint64_t batch_bytes_ = 0;
};

}  // namespace runwarden::http
