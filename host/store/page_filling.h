// How every engine fills a page of a list: how much JSON a record makes, which records match, and when a page is full. Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "store/opinion_store.h"
#include "store/queries.h"

namespace runwarden::store {

// JSON that the service adds to a run, and to a step beyond its event: longer names, its stepId, costUsd and inputTokens that an alias
// gave.
constexpr std::uint64_t kOwnRunBytes = 512;
constexpr std::uint64_t kStepBytes = 160;
// JSON that the service adds to a change or a policy, including escaped names and authors.
constexpr std::uint64_t kOwnChangeBytes = 1024;

// The most JSON that a run makes without its steps.
std::uint64_t outline_bytes(const model::RunRecord& head);

// Looks at the run alone: its highest score may be another detector's than the query's (asks_for_one_failure).
bool fits(const RunQuery& query, const model::RunRecord& run);
bool fits(const FailureQuery& query, const model::FailureRecord& failure);
// Whether the run's failures must be read to see that one of them meets the whole query.
bool asks_for_one_failure(const RunQuery& query, const model::RunRecord& run);
bool fits(const CandidateQuery& query, const model::Opinion& opinion);

// A page that is being filled. Call has_room() for each match; the first match without room shows that the list goes on.
template <class Record>
class PageFilling {
 public:
  explicit PageFilling(const Range& range) : limit_(std::max<std::size_t>(range.limit, 1)), max_bytes_(range.max_bytes) {}

  // True if a record of that size fits, or if the page is empty. False: the page is full.
  bool has_room(std::uint64_t bytes) {
    if (page_.items.empty() || (page_.items.size() < limit_ && bytes_ + bytes <= max_bytes_)) return true;
    page_.next = page_.items.back().key;
    return false;
  }
  void add(Record record, std::uint64_t bytes) {
    page_.items.push_back(std::move(record));
    bytes_ += bytes;
  }
  Page<Record> take() { return std::move(page_); }

 private:
  Page<Record> page_;
  std::size_t limit_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
};

}  // namespace runwarden::store
