#include "webhooks/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"

namespace runwarden::webhooks {
namespace {

// A known answer, as receivers' libraries have it in their tests.
TEST(Signature, IsThatOfTheSpecification) {
  const std::string secret = bytes_from_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").bytes;
  EXPECT_EQ(signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  EXPECT_EQ(secret_text(secret), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
}

TEST(Signature, BothSecretsSignUntilTheOverlapEnds) {
  model::Endpoint endpoint;
  endpoint.secret = "new";
  endpoint.previous_secret = "old";
  endpoint.previous_until_ms = 2000;
  EXPECT_EQ(signatures(endpoint, "msg_1", 1999, "{}"), signature("new", "msg_1", 1, "{}") + " " + signature("old", "msg_1", 1, "{}"));
  EXPECT_EQ(signatures(endpoint, "msg_1", 2000, "{}"), signature("new", "msg_1", 2, "{}"));
}

TEST(Secrets, AreLongAndNoTwoAlike) {
  const std::string one = make_secret();
  EXPECT_EQ(one.size(), 32U);
  EXPECT_NE(one, make_secret());
}

}  // namespace
}  // namespace runwarden::webhooks
