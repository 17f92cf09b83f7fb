#include "store/export_writer.h"

#include <algorithm>
#include <optional>

#include "base/hex.h"

namespace runwarden::store {

void ExportWriter::begin() {
  HeaderLine header{query_.tenant, context_.clock.wall_ms(), std::nullopt};
  if (query_.since_ms != kBeginningMs) header.since_ms = query_.since_ms;
  text_ = line_of(header) + "\n";
}

Exported ExportWriter::end() {
  hand_over();
  std::uint64_t lines = 0;
  for (const auto& [kind, count] : exported_.lines) lines += count;
  text_ = line_of(EndLine{lines, to_hex(digest_.so_far()), exported_.unreadable, exported_.first_ones}) + "\n";
  hand_over();
  return std::move(exported_);
}

void ExportWriter::add(const char* kind, const std::string& line) {
  text_.append(line).append("\n");
  ++exported_.lines[kind];
}

void ExportWriter::hand_over() {
  if (!text_.empty()) {
    digest_.add(text_);
    if (!sink_(text_)) throw Stopped{};
    text_.clear();
  }
  report_progress(context_, {"export", "runs", "", runs_seen_, std::max(all_, runs_seen_)});
}

void ExportWriter::left_out(const char* table, std::string_view key, std::string detail) {
  if (!left_out_.emplace(table, key).second) return;
  ++exported_.unreadable;
  if (exported_.first_ones.size() < kMostTold) exported_.first_ones.push_back({table, bytes_to_hex(key), std::move(detail), ""});
}

void ExportWriter::left_out_from(const char* table, std::string_view from, std::string_view to, const std::string& why) {
  if (is_left_out(table, from)) return;
  ++exported_.stretches;
  const std::string end = to.empty() ? "the end" : "0x" + bytes_to_hex(to);
  left_out(table, from,
           std::string("a page is damaged, so all records in \"") + table + "\" from 0x" + bytes_to_hex(from) + " up to " + end +
               " were skipped: " + why);
}

bool ExportWriter::is_left_out(const char* table, std::string_view key) const {
  return !left_out_.empty() && left_out_.contains({table, std::string(key)});
}

}  // namespace runwarden::store
