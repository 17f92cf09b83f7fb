// The API as OpenAPI 3.1: config/openapi.json, built into the program. Any thread.
#pragma once

#include <string_view>

namespace runwarden::api {

std::string_view openapi_json();

}  // namespace runwarden::api
