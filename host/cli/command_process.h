// The process of a command that calls detectors: a child of the one that the user started, which sees to it that no detector ends the
// command unnoticed or holds it up for ever. [main] only, before any other thread starts.
#pragma once

#include <cstdint>
#include <ostream>

#include "base/result.h"
#include "detect/library_thread.h"

namespace runwarden::cli {

// How long the child may be inside one call of a library's code that belongs to no run.
struct CallPatience {
  std::int64_t notice_ms = detect::LibraryThread::kNoticeMs;   // until it is told
  std::int64_t give_up_ms = detect::LibraryThread::kGiveUpMs;  // until the child is ended
};

// Returns in a child process with the same standard descriptors, with the crash messages installed (detect::CrashMessage); the next calls
// do nothing. The parent does not return: it passes signals on to the child and ends as the child does, by its exit status or signal. It
// ends with EXIT_FAILURE, after a line on `err`, if the child ends without detect::CrashMessage::finished() or is given up.
Status go_on_in_child(std::ostream& err, const CallPatience& patience = {});

}  // namespace runwarden::cli
