#include "ledger/checkpoint.h"

#include <gmock/gmock.h>

#include "base/base64.h"
#include "base/hex.h"

namespace runwarden::ledger {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr LogId kLog = {0x7c, 0x1f, 0x0a, 0x2b, 0xe9, 0x3d, 0x44, 0xc8};

Checkpoint sample() {
  return {make_origin("acme", kLog), {20'852'163, sha256("root")}};
}

// RFC 8032, section 7.1, test 1.
TEST(SigningKey, SignsAsTheStandardSays) {
  const std::string der = *bytes_from_hex("302e020100300506032b657004220420") +
                          *bytes_from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const std::string pem = "-----BEGIN PRIVATE KEY-----\n" + bytes_to_base64(der) + "\n-----END PRIVATE KEY-----\n";
  const auto key = SigningKey::from_pem(pem);
  ASSERT_TRUE(key.ok()) << key.error().detail;
  EXPECT_EQ(bytes_to_hex(key->public_key()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(
      bytes_to_hex(key->sign("")),
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
  EXPECT_TRUE(is_signed("", key->public_key(), key->sign("")));
  EXPECT_FALSE(is_signed("x", key->public_key(), key->sign("")));
  EXPECT_EQ(SigningKey::from_pem(key->pem())->public_key(), key->public_key());
}

TEST(SigningKey, WhatIsNone_IsRefused) {
  for (const char* text : {"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"})
    EXPECT_FALSE(SigningKey::from_pem(text).ok()) << text;
  EXPECT_FALSE(is_signed("", "short", std::string(kSignatureBytes, 'x')));
}

TEST(Origin, CharactersBeyondPlainOnes_AreUnderscores) {
  EXPECT_EQ(make_origin("acme", kLog), "runwarden/acme/7c1f0a2be93d44c8");
  EXPECT_EQ(make_origin("a b/c\n\xC3\xA9.d_e-F9", kLog), "runwarden/a_b_c___.d_e-F9/7c1f0a2be93d44c8");
}

TEST(Note, IsThreeLines_ThenSignatures) {
  const SigningKey key = SigningKey::make();
  const SigningKey* const keys[] = {&key};
  const std::string text = checkpoint_text(sample());
  EXPECT_EQ(text, "runwarden/acme/7c1f0a2be93d44c8\n20852163\n" +
                      bytes_to_base64({reinterpret_cast<const char*>(sample().tree.root.data()), 32}) + "\n");
  const std::string note = signed_note(sample(), keys);
  EXPECT_THAT(note, StartsWith(text + "\n\xE2\x80\x94 runwarden/acme/7c1f0a2be93d44c8 "));
  EXPECT_THAT(note, EndsWith("\n"));
  const auto read = read_note(note);
  ASSERT_TRUE(read.ok()) << read.error().detail;
  EXPECT_EQ(read->checkpoint.origin, sample().origin);
  EXPECT_EQ(read->checkpoint.tree.size, sample().tree.size);
  EXPECT_EQ(read->checkpoint.tree.root, sample().tree.root);
  ASSERT_EQ(read->signatures.size(), 1U);
  EXPECT_EQ(read->signatures[0].key_id, key_id(sample().origin, key.public_key()));
  EXPECT_TRUE(read->is_signed_by(key.public_key()));
  EXPECT_FALSE(read->is_signed_by(SigningKey::make().public_key()));
}

TEST(Note, KeyId_IsOfOriginAndKey) {
  const std::string key(32, 'k');
  const Hash hash = sha256("o\n\x01" + key);
  EXPECT_EQ(key_id("o", key), std::string(reinterpret_cast<const char*>(hash.data()), 4));
}

TEST(Note, OfTwoKeys_IsSignedByBoth) {
  const SigningKey one = SigningKey::make();
  const SigningKey other = SigningKey::make();
  const SigningKey* const keys[] = {&one, &other};
  const auto note = read_note(signed_note(sample(), keys));
  ASSERT_TRUE(note.ok());
  EXPECT_TRUE(note->is_signed_by(one.public_key()));
  EXPECT_TRUE(note->is_signed_by(other.public_key()));
}

TEST(Note, EveryBitTurned_IsNotedOrBreaksTheSignature) {
  const SigningKey key = SigningKey::make();
  const SigningKey* const keys[] = {&key};
  const std::string note = signed_note(sample(), keys);
  for (std::size_t bit = 0; bit < note.size() * 8; ++bit) {
    std::string turned = note;
    turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ (1 << bit % 8));
    const auto read = read_note(turned);
    ASSERT_FALSE(read.ok() && read->is_signed_by(key.public_key())) << "bit " << bit;
  }
}

TEST(Note, WhatIsNone_IsRefused) {
  const std::string root = bytes_to_base64(std::string(32, 'r'));
  for (const std::string& text :
       std::initializer_list<std::string>{std::string(), std::string("o\n1\n"), "o\n01\n" + root + "\n\n", "o\n-1\n" + root + "\n\n",
                                          "o\n1\n" + root + "\n\n", "o\n1\nAAAA\n\n", "o\n1\n" + root + "\nextension\n\n",
                                          "o\n1\n" + root + "\n\n\xE2\x80\x94 o AAAA\n", "o\n1\n" + root + "\n\n- o AAAA\n"}) {
    EXPECT_FALSE(read_note(text).ok()) << text;
  }
}

}  // namespace
}  // namespace runwarden::ledger
