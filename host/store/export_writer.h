// The engine-independent half of an export: gathers lines, passes them on with a header before and an end line after them, and notes the
// rows that cannot be read. An engine's export derives from it. Internal to store/; one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "store/errors.h"
#include "store/maintenance_progress.h"
#include "store/record_lines.h"

namespace runwarden::store {

class ExportWriter {
 protected:
  // Keeps references to all three.
  ExportWriter(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink)
      : context_(maintenance), query_(query), sink_(sink) {}
  ~ExportWriter() = default;

  void begin();
  Exported end();

  void add(const char* kind, const std::string& line);
  std::size_t gathered_bytes() const { return text_.size(); }

  // Call it outside of transactions, because the sink may be slow. Throws Stopped.
  void hand_over();

  // A row that cannot be read is named in the last line; the others are exported.
  template <class Read>
  void leave_out_unreadable(const char* table, std::string_view key, Read read) {
    try {
      read();
    } catch (const StoreError& bad) {
      left_out(table, key, bad.what());
    }
  }
  // Counts a row once, however often it is visited.
  void left_out(const char* table, std::string_view key, std::string detail);
  // All rows from a key on up to another, or to the end, which is empty: nobody knows how many.
  void left_out_from(const char* table, std::string_view from, std::string_view to, const std::string& why);
  bool is_left_out(const char* table, std::string_view key) const;

  const MaintenanceContext& context_;
  const ExportQuery& query_;
  std::uint64_t runs_seen_ = 0;
  std::uint64_t all_ = 0;  // runs of all tenants, perhaps an estimate

 private:
  const LineSink& sink_;
  std::string text_;
  Sha256 digest_;
  Exported exported_;
  std::set<std::pair<std::string, std::string>> left_out_;  // by table and key
};

}  // namespace runwarden::store
