// One NDJSON request of runs. Each line is ingested separately, and the answer holds the result of each.
//
// The HTTP worker calls take() with each batch of lines; results arrive on any thread. The answer is sent when the last line of the last
// batch has its result. If the body breaks off, the answer has the results of the accepted lines, and `brokenOff` for the first line that
// was not taken; if nothing was stored, it is the plain error.
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
#include "http/handler.h"
#include "http/reply.h"
#include "http/responder.h"
#include "ingest/run_ingest.h"

namespace runwarden::api {

class NdjsonIngest : public std::enable_shared_from_this<NdjsonIngest> {
 public:
  NdjsonIngest(ApiParts& parts, const Admission& admission, std::string request_id, Permit permit);

  void take(http::LineBatch lines, http::Responder responder);

 private:
  struct LineResult {
    std::uint64_t line = 0;
    bool accepted = false;
    std::string json;
  };

  // Lines that go to the pool together. Chunks are numbered in the order of dispatch.
  struct Chunk {
    std::uint64_t number = 0;
    std::vector<http::LineBatch::Line> lines;
  };
  // A line that was read. If it is refused later, only its number is needed.
  struct ReadLine {
    std::uint64_t number = 0;
    ingest::RunIngest::PendingRun pending;
  };

  void dispatch();
  std::shared_ptr<Chunk> next_chunk();
  // Lines that were read and can resume, one after the other.
  struct Ready {
    std::vector<ReadLine> lines;
    std::size_t next = 0;
  };
  void read_chunk(std::size_t worker, Chunk& chunk);
  void resume(std::size_t worker, const std::shared_ptr<Ready>& ready);
  std::optional<ReadLine> read(http::LineBatch::Line& line);
  std::vector<ReadLine> enqueue(std::uint64_t chunk, std::vector<ReadLine> read);
  void failed(std::uint64_t line, const char* why);
  void refuse(std::uint64_t line, const Error& error);
  ingest::IngestRequest request_for(http::LineBatch::Line& line) const;
  void note(std::uint64_t line, const ingest::IngestAnswer& answer);
  void note(LineResult result);
  void note_retry(const Error& error);
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

  // Chunks are read in parallel, but their runs are enqueued in line order, so that of two runs with one runId the first stays first.
  Mutex order_mutex_;
  std::uint64_t next_chunk_ RW_GUARDED_BY(order_mutex_) = 0;
  std::map<std::uint64_t, std::vector<ReadLine>> early_chunks_ RW_GUARDED_BY(order_mutex_);  // read before an earlier one

  Mutex mutex_;
  std::vector<LineResult> results_ RW_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::string> warnings_ RW_GUARDED_BY(mutex_);  // of the first lines with warnings, as JSON
  std::int64_t warned_lines_ RW_GUARDED_BY(mutex_) = 0;
  std::vector<http::LineBatch::Line> lines_ RW_GUARDED_BY(mutex_);  // of this batch; those before dispatched_ are moved from
  std::size_t dispatched_ RW_GUARDED_BY(mutex_) = 0;
  std::uint64_t chunks_ RW_GUARDED_BY(mutex_) = 0;     // dispatched so far
  std::size_t in_work_ RW_GUARDED_BY(mutex_) = 0;      // dispatched lines without a result
  std::size_t outstanding_ RW_GUARDED_BY(mutex_) = 0;  // lines of this batch without a result, plus 1 while take() runs
  bool last_ RW_GUARDED_BY(mutex_) = false;
  std::size_t accepted_ RW_GUARDED_BY(mutex_) = 0;
  int retry_after_s_ RW_GUARDED_BY(mutex_) = 0;              // 0: no line was refused for want of room
  std::optional<Error> broken_off_ RW_GUARDED_BY(mutex_);    // why not all lines were taken
  bool in_doubt_ RW_GUARDED_BY(mutex_) = false;              // the outcome of a line is unknown: close without an answer
  std::uint64_t first_not_taken_ RW_GUARDED_BY(mutex_) = 0;  // set with broken_off_
  http::Responder responder_ RW_GUARDED_BY(mutex_);
  FairBudget::Lease lease_ RW_GUARDED_BY(mutex_);
  FairBudget::Lease results_lease_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::api
