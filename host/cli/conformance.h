// `detectors conformance`: runs every case of the kit on a library, each in a child process. [main] only.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace runwarden::cli {

struct Conformance {
  std::string library;
  std::string key;                 // of the one detector to check; empty: all of the library
  std::vector<std::string> cases;  // the only ones to run; empty: all
  std::string settings;            // JSON text, or a file's name; empty: none
  int timeout_s = 60;              // for one case; a child that takes longer is killed
  bool json = false;
};

int check_conformance(Context& context, const Conformance& wanted);

}  // namespace runwarden::cli
