#include "ops/store_reports.h"

#include <cstdlib>

namespace runwarden::ops {

store::StoreListener StoreReports::listener() {
  store::StoreListener listener;
  listener.on_unreadable = [this](const std::string& text) { unreadable(text); };
  listener.on_damage = [this](const std::string& text) {
    metrics_.unreadable_record();
    log_.write(LogLevel::error, "store_damaged", text);
  };
  listener.on_new_store = [this](const std::string& text) { log_.write(LogLevel::warn, "new_store", text); };
  listener.on_fatal = [this](const std::string& why) {
    log_.write(LogLevel::error, "store_failed", why);
    log_.flush();
    std::_Exit(EXIT_FAILURE);  // the outcome of the write is in doubt, so nothing more may be acknowledged
  };
  listener.on_fault = [this](const std::string& why) { log_.write(LogLevel::error, "store_fault", why); };
  listener.on_rejected = [this](const std::string& why) { log_.write(LogLevel::error, "write_rejected", why); };
  listener.on_commit = [this](const store::CommitReport& commit) {
    metrics_.commit(commit.records, static_cast<double>(commit.commit_ns) / 1e9);
  };
  return listener;
}

void StoreReports::unreadable(const std::string& text) {
  metrics_.unreadable_record();
  log_.write(LogLevel::error, "unreadable_record", text);
}

}  // namespace runwarden::ops
