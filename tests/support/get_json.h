#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/service_process.h"

namespace runwarden::test {

// What the service answers to a GET, which has to succeed; null where it does not.
inline nlohmann::json get_json(const ServiceProcess& service, const std::string& path, const std::string& key) {
  const HttpAnswer answer = service.get(path, key);
  EXPECT_EQ(answer.status, 200) << path << " " << answer.body;
  return answer.status == 200 ? nlohmann::json::parse(answer.body) : nlohmann::json();
}

}  // namespace runwarden::test
