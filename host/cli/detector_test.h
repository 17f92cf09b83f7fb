// `detectors test`: one library's detectors on runs. [main] only.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace runwarden::cli {

struct DetectorTest {
  std::string library;
  std::string key;                   // of the one detector to test; empty: all of the library
  std::vector<std::string> files;    // of runs, lines of runs, or exports
  std::string tenant;                // whose stored runs, and the tenant that the detector sees
  std::vector<std::string> run_ids;  // of stored runs
  std::string settings;              // JSON text, or a file's name; empty: none
  int timeout_s = 60;                // for one run; a child that takes longer is killed
  bool in_process = false;           // for a debugger: no child, no time limit, and a crash ends this process
  bool ndjson = false;
  bool json = false;
  bool explain = false;
};

// The library runs in a child process, so that a crash costs the run that it happened on.
int test_detectors(Context& context, const DetectorTest& test);

}  // namespace runwarden::cli
