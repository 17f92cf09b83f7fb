#include "model/verdict.h"

namespace runwarden::model {

const char* name(Severity severity) {
  switch (severity) {
    case Severity::low: return "low";
    case Severity::medium: return "medium";
    case Severity::high: return "high";
    case Severity::critical: return "critical";
  }
  return "medium";
}

const char* name(Source source) {
  switch (source) {
    case Source::tool: return "tool";
    case Source::runtime: return "runtime";
    case Source::context: return "context";
    case Source::coordination: return "coordination";
  }
  return "tool";
}

const char* name(DetectorStatus status) {
  switch (status) {
    case DetectorStatus::fired: return "fired";
    case DetectorStatus::clean: return "clean";
    case DetectorStatus::not_evaluable: return "not_evaluable";
    case DetectorStatus::error: return "error";
    case DetectorStatus::timeout: return "timeout";
    case DetectorStatus::quarantined: return "quarantined";
  }
  return "error";
}

}  // namespace runwarden::model
