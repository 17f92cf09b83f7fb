// Reads the `redact` section: the rules for redacting clients' texts. One thread.
#pragma once

#include "config/section.h"
#include "model/redact_settings.h"

namespace runwarden::config {

void read_redact(const Node* node, Reading& reading, model::RedactSettings& out);

}  // namespace runwarden::config
