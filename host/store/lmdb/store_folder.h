// What a folder shows of the store that it holds or held, before anything is opened. For store/ and the commands that name a store; any
// thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace runwarden::store {

enum class FolderState {
  no_store,  // no trace of one
  store,     // data.mdb is there and not empty
  lost,      // data.mdb is missing or empty, but other files of a store are there
};

FolderState look_at_folder(const std::filesystem::path& folder);

// Refuses a folder that this user may not look into or whose store is lost, with the remedy. Waits for a store that another process is
// just making.
Status refuse_lost_store(const std::filesystem::path& folder);

}  // namespace runwarden::store
