// keys export and keys import: copy API keys, as digests, from one store to another. [main] only.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace runwarden::cli {

void add_keys_export(CLI::App& keys, Context& context);
void add_keys_import(CLI::App& keys, Context& context);

}  // namespace runwarden::cli
