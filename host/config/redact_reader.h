// Reads the `redact` section: what is to be taken out of clients' texts before they are kept. One thread.
#pragma once

#include "config/section.h"
#include "model/redact_settings.h"

namespace runwarden::config {

void read_redact(const Node* node, Reading& reading, model::RedactSettings& out);

}  // namespace runwarden::config
