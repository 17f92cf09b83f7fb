// One NDJSON request of runs: each line is ingested by itself, and the answer tells what became of each.
//
// take() is called by the worker, a batch of lines at a time; results come from any thread. The answer is sent when the last line
// of the last batch has its result. A body that breaks off is answered with the results of the lines that were taken, and
// `brokenOff` for the first one that was not; if nothing of it was stored, with the plain error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/admission.h"
#include "api/api.h"
#include "base/mutex.h"
#include "http/server.h"
#include "ingest/run_ingest.h"

namespace runwarden::api {

class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(ApiParts& parts, const Admission& admission, std::string request_id, Permit permit);

  void take(http::LineBatch lines, http::Responder responder);

 private:
  struct LineResult {
    std::uint64_t line = 0;
    bool accepted = false;
    std::string json;
  };

  // Some lines that go to the pool together; hands are numbered as they are dealt.
  struct Hand {
    std::uint64_t number = 0;
    std::vector<http::LineBatch::Line> lines;
  };
  // A line that was read: what is left of it when it is refused later is its number.
  struct ReadLine {
    std::uint64_t number = 0;
    ingest::RunIngest::Place place;
  };

  void deal();
  std::shared_ptr<Hand> next_hand();
  // Lines that were read and may go on, one after the other.
  struct Ready {
    std::vector<ReadLine> lines;
    std::size_t next = 0;
  };
  void take_in(std::size_t worker, Hand& hand);
  void go_on(std::size_t worker, const std::shared_ptr<Ready>& ready);
  std::optional<ReadLine> read(http::LineBatch::Line& line);
  std::vector<ReadLine> line_up(std::uint64_t hand, std::vector<ReadLine> read);
  void failed(std::uint64_t line, const char* why);
  void refuse(std::uint64_t line, const Error& error);
  ingest::IngestRequest request_for(http::LineBatch::Line& line) const;
  void note(std::uint64_t line, const ingest::IngestAnswer& answer);
  void note(LineResult result);
  void note_warnings(std::uint64_t line, const std::vector<Warning>& warnings);
  void end_of_line();
  void end_of_batch();
  http::Reply reply();
  bool reserve_results(std::size_t lines);
  std::optional<Error> refusal_of(http::LineBatch& lines);
  void cut_short(std::uint64_t line, Error why, http::Responder responder);
  void break_off(std::uint64_t line, Error why) RW_REQUIRES(mutex_);
  bool nothing_stored();

  ApiParts& parts_;
  const std::string request_id_;
  const Permit permit_;
  model::TenantId tenant_;
  std::string tenant_name_;
  std::optional<std::string> idempotency_key_;
  std::string_view route_;

  // Hands are read side by side, but their runs line up in the order of the lines: of two with one runId the first is the first.
  Mutex order_mutex_;
  std::uint64_t next_hand_ RW_GUARDED_BY(order_mutex_) = 0;
  std::map<std::uint64_t, std::vector<ReadLine>> early_hands_ RW_GUARDED_BY(order_mutex_);  // read before one that was dealt earlier

  Mutex mutex_;
  std::vector<LineResult> results_ RW_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::string> warnings_ RW_GUARDED_BY(mutex_);  // of the first lines that have any, as JSON
  std::int64_t warned_lines_ RW_GUARDED_BY(mutex_) = 0;
  std::vector<http::LineBatch::Line> lines_ RW_GUARDED_BY(mutex_);  // of this batch; those before dealt_ have been moved out
  std::size_t dealt_ RW_GUARDED_BY(mutex_) = 0;
  std::uint64_t hands_ RW_GUARDED_BY(mutex_) = 0;      // dealt so far
  std::size_t in_work_ RW_GUARDED_BY(mutex_) = 0;      // lines that were dealt and have no result yet
  std::size_t outstanding_ RW_GUARDED_BY(mutex_) = 0;  // lines of this batch without a result, and the hand-over of the batch itself
  bool last_ RW_GUARDED_BY(mutex_) = false;
  std::size_t accepted_ RW_GUARDED_BY(mutex_) = 0;
  std::optional<Error> broken_off_ RW_GUARDED_BY(mutex_);    // why not all lines were taken
  bool in_doubt_ RW_GUARDED_BY(mutex_) = false;              // nobody can say of a line whether it was stored: there is no answer to give
  std::uint64_t first_not_taken_ RW_GUARDED_BY(mutex_) = 0;  // with it
  http::Responder responder_ RW_GUARDED_BY(mutex_);
  FairBudget::Lease lease_ RW_GUARDED_BY(mutex_);
  FairBudget::Lease results_lease_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::api
