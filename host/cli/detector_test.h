// `detectors test`: runs one library's detectors on runs. [main] only.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace runwarden::cli {

struct DetectorTest {
  std::string library;
  std::string key;                   // of the one detector to test; empty: all of the library
  std::vector<std::string> files;    // each a run, lines of runs, or an export
  std::string tenant;                // the owner of the stored runs, and the tenant that the detector sees
  std::vector<std::string> run_ids;  // of stored runs
  std::string settings;              // JSON text, or a file's name; empty: none
  int timeout_s = 60;                // for one run; a child that takes longer is killed
  bool in_process = false;           // for a debugger: no child, no time limit, and a crash ends this process
  bool ndjson = false;
  bool json = false;
  bool explain = false;
};

// The library runs in a child process: a crash costs only the run that it happened on.
int test_detectors(Context& context, const DetectorTest& test);

}  // namespace runwarden::cli
