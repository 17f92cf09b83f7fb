#include "cli/junit.h"

#include <algorithm>

#include "base/utf8.h"

namespace runwarden::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Whether XML 1.0 (section 2.2) forbids the character, even as a reference.
bool is_no_xml(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x20) return first != '\t' && first != '\n' && first != '\r';
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

void append_character(std::string& xml, std::string_view character) {
  switch (character[0]) {
    case '&': xml += "&amp;"; return;
    case '<': xml += "&lt;"; return;
    case '>': xml += "&gt;"; return;
    case '"': xml += "&quot;"; return;
    case '\t': xml += "&#9;"; return;
    case '\n': xml += "&#10;"; return;
    case '\r': xml += "&#13;"; return;
    default: xml += is_no_xml(character) ? kReplacement : character; return;
  }
}

std::string xml_text(std::string_view text) {
  std::string xml;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length_at(text, at);
    length == 0 ? xml.append(kReplacement) : (append_character(xml, text.substr(at, length)), xml);
    at += std::max<std::size_t>(length, 1);
  }
  return xml;
}

std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xml_text(value) + "\"";
}

std::string count(const char* name, std::uint64_t value) {
  return std::string(" ") + name + "=\"" + std::to_string(value) + "\"";
}

std::string element(const char* name, const JunitReport::Case& one) {
  return std::string("      <") + name + attribute("message", one.message) + ">" + xml_text(one.text) + "</" + name + ">\n";
}

}  // namespace

void JunitReport::add(const std::string& suite_name, const RunOrigin& place, const Case& one) {
  Suite& suite = suites_[suite_name];
  ++suite.tests;
  std::string& xml = suite.cases;
  xml += "    <testcase" + attribute("name", name_of(place)) + attribute("classname", suite_name) + attribute("file", place.file);
  if (place.line > 0) xml += count("line", place.line);
  if (one.status == CaseStatus::passed && one.text.empty()) {
    xml += "/>\n";
    return;
  }
  xml += ">\n";
  switch (one.status) {
    case CaseStatus::passed: xml += "      <system-out>" + xml_text(one.text) + "</system-out>\n"; break;
    case CaseStatus::failed:
      ++suite.failures;
      xml += element("failure", one);
      break;
    case CaseStatus::error:
      ++suite.errors;
      xml += element("error", one);
      break;
    case CaseStatus::skipped:
      ++suite.skipped;
      xml += element("skipped", one);
      break;
  }
  xml += "    </testcase>\n";
}

bool JunitReport::write(ResultOutput& output) const {
  const auto counts = [](const Suite& suite) {
    return count("tests", suite.tests) + count("failures", suite.failures) + count("errors", suite.errors) +
           count("skipped", suite.skipped);
  };
  Suite all;
  for (const auto& [name, suite] : suites_) {
    all.tests += suite.tests;
    all.failures += suite.failures;
    all.errors += suite.errors;
    all.skipped += suite.skipped;
  }
  output.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", name_) + counts(all) + ">\n");
  for (const auto& [name, suite] : suites_) {
    output.write("  <testsuite" + attribute("name", name) + counts(suite) + ">\n");
    output.write(suite.cases);
    output.write("  </testsuite>\n");
  }
  return output.write("</testsuites>\n");
}

}  // namespace runwarden::cli
