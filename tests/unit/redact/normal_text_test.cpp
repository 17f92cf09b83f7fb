#include "redact/normal_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace runwarden::redact {
namespace {

std::string said(std::string_view written) {
  return std::string(NormalText(written).text());
}

// What of `written` is taken out with `part` of what it says.
std::string written_of(std::string_view written, std::string_view part) {
  const NormalText normal(written);
  const std::size_t at = normal.text().find(part);
  if (at == std::string_view::npos) return "not said: " + said(written);
  const TextRange range = normal.written({at, at + part.size()});
  return std::string(written.substr(range.begin, range.end - range.begin));
}

TEST(NormalText, SaysWhatIsEscaped) {
  EXPECT_EQ(said(R"(a\u0034b)"), "a4b");
  EXPECT_EQ(said(R"(a\\\\u0034b)"), "a4b");
  EXPECT_EQ(said(R"(\"a\" \\\"b\\\")"), R"("a" "b")");
  EXPECT_EQ(said(R"(\ud835\udfd2 \ud835 x)"), "4  x");
  EXPECT_EQ(said(R"(\\ud835\\udfd2)"), "4");
  EXPECT_EQ(said(R"(a\x34b\n)"), "a4b\n");
  EXPECT_EQ(said(R"(C:\Users\q)"), R"(C:\Users\q)");
  EXPECT_EQ(said("a%40b %2540 %252540 %zz 100%"), "a@b @ @ %zz 100%");
  EXPECT_EQ(said("&#52;&#x34;&quot;&amp;&nbsp;&;&#;&#1114112;"), "44\"& &;&#;&#1114112;");
  EXPECT_EQ(said("%EF%BC%94"), "4") << "a full-width digit, percent-encoded";
}

TEST(NormalText, AnEscapeThatAQuotationWasCutInSaysNothing) {
  EXPECT_EQ(said(R"(4539\u00)"), "4539");
  EXPECT_EQ(said(R"(4539\u00" then)"), "4539\" then");
  EXPECT_EQ(said(R"(\u00zz)"), R"(\u00zz)");
}

TEST(NormalText, KnowsWhatIsWrittenForWhatIsSaid) {
  EXPECT_EQ(written_of("plain 4111 text", "4111"), "4111");
  EXPECT_EQ(written_of(R"(x \u003411\u0031 y)", "4111"), R"(\u003411\u0031)");
  EXPECT_EQ(written_of("\u00FC \uFF14\u200B1\u2009\u0031 \u00FC", "41 1"), "\uFF14\u200B1\u2009\u0031");
  EXPECT_EQ(written_of("a%2540b", "@"), "%2540");
  EXPECT_EQ(written_of("a%5Cu0040b", "@"), "%5Cu0040");
}

TEST(NormalText, KnowsHowWideACharacterIsWritten) {
  const NormalText normal(R"("a\"b%22)");
  ASSERT_EQ(normal.text(), R"("a"b")");
  EXPECT_EQ(normal.width(0), 1u);
  EXPECT_EQ(normal.width(2), 2u);
  EXPECT_EQ(normal.width(4), 3u);
  EXPECT_TRUE(normal.percent_encoded(4));
  EXPECT_FALSE(normal.percent_encoded(2));
}

TEST(NormalText, OfPlainTextsAndBrokenOnesNothingChanges) {
  for (const std::string text : {"", "plain", "\u00FCber \u4E2D\u6587", "\xC3", "\xE2\x80", "a\xFFz", "1 & 2", "\\"}) {
    EXPECT_EQ(said(text), text);
    EXPECT_EQ(text.empty() ? text : written_of(text, text), text);
  }
  EXPECT_FALSE(NormalText("\u00FCber").ambiguous());
  EXPECT_TRUE(NormalText("C:\\temp").ambiguous());
  EXPECT_EQ(NormalText("a%40b", NormalText::Reading::as_written).text(), "a%40b");
}

TEST(NormalText, EachByteIsCoveredOnceAndInOrder) {
  const std::string text = "a\\u0034%40\u00FC\u200B\\\\n&#64;\\ud835\\udfd2z%252541\xFF\\";
  const NormalText normal(text);
  std::size_t last = 0;
  for (std::size_t i = 0; i < normal.text().size(); ++i) {
    const TextRange one = normal.written({i, i + 1});
    EXPECT_LT(one.begin, one.end);
    EXPECT_GE(one.end, last);
    last = one.end;
  }
  EXPECT_EQ(last, text.size());
}

TEST(NormalText, HostileTextsTakeLinearTime) {
  for (const std::string unit : {"\\", "%", "%25", "&#", "\\u00", "\\u0041", "%41", "\\\"", "\u200B", "\uFF14", "&#x41;", "%5C"}) {
    const auto time = [&](std::size_t bytes) {
      std::string text;
      while (text.size() < bytes) text += unit;
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_LE(NormalText(text).text().size(), text.size());
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
      }
      return best;
    };
    EXPECT_LT(time(std::size_t{400} << 10), time(std::size_t{50} << 10) * 8 * 4 + 0.05) << unit;
  }
}

}  // namespace
}  // namespace runwarden::redact
