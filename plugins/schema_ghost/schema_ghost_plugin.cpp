#include "adapter/plugin.h"
#include "schema_ghost/schema_ghost.h"

using SchemaGhost = runwarden::plugins::Plugin<runwarden::plugins::SchemaGhost>;

RW_DETECTORS(SchemaGhost);
