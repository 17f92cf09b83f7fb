#include "api/openapi.h"

namespace runwarden::embedded {

std::string_view openapi();  // config/openapi.json, by cmake/embed_text.cmake

}

namespace runwarden::api {

std::string_view openapi_json() {
  return embedded::openapi();
}

}  // namespace runwarden::api
