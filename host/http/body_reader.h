// Takes a request body as it arrives (transfer coding already off), decodes gzip, and makes one string or batches of
// lines of it. One owner, one thread. Never keeps more than a limit and one decoding step beyond it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/gunzip.h"
#include "http/server.h"

namespace runwarden::http {

struct BodyPlan {
  BodyForm form = BodyForm::whole;
  bool gzip = false;
  std::uint64_t max_body_bytes = 0;
  std::uint64_t max_batch_bytes = 0;
  std::uint64_t max_lines = 0;
  std::uint64_t expected_bytes = 0;  // Content-Length; 0 when unknown
};

class BodyReader {
 public:
  // too_large and bad_encoding are for BodyForm::whole; lines say so in their last batch.
  enum class State : std::uint8_t { reading, batch_ready, whole_ready, too_large, bad_encoding };

  explicit BodyReader(const BodyPlan& plan);

  // Returns how many bytes it took: fewer than given when a batch is ready or the body is refused.
  std::size_t put(std::string_view bytes);
  // The body has no further bytes.
  void end();
  // BodyForm::lines: the body ends here, for that reason. What came whole is ready in a last batch.
  void break_off(Error fault);
  BodyForm form() const { return plan_.form; }
  State state() const { return state_; }
  // The decoded bytes that a body in BodyForm::whole may have.
  std::uint64_t limit() const { return plan_.max_body_bytes; }
  std::uint64_t kept_bytes() const { return body_.size() + line_.size() + batch_bytes_ + held_.size(); }

  std::string take_body() { return std::move(body_); }
  // After batch_ready; unless it is the last, reading goes on (with what is decoded already, too) at resume().
  LineBatch take_batch();
  void resume();

 private:
  std::size_t decode(std::string_view bytes);
  void deliver_held();
  std::size_t deliver(std::string_view decoded);
  std::size_t deliver_lines(std::string_view decoded);
  // False: the line is over the limit, and the body has ended with it.
  bool take_piece(std::string_view piece);
  bool finish_line();
  void finish();
  bool batch_full() const;
  void last_batch(LineBatch::End end);

  BodyPlan plan_;
  State state_ = State::reading;
  std::optional<Gunzip> gunzip_;
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
