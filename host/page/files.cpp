#include "page/files.h"

#include <algorithm>

#include "base/digest.h"

namespace runwarden::embedded {

// By cmake/embed_text.cmake, from the files beside this one.
std::string_view page_index_html();
std::string_view page_page_css();
std::string_view page_icon_svg();
std::string_view page_main_js();
std::string_view page_api_js();
std::string_view page_charts_js();
std::string_view page_dom_js();
std::string_view page_format_js();
std::string_view page_frame_js();
std::string_view page_opinion_js();
std::string_view page_view_baseline_js();
std::string_view page_view_candidates_js();
std::string_view page_view_changes_js();
std::string_view page_view_detectors_js();
std::string_view page_view_group_js();
std::string_view page_view_groups_js();
std::string_view page_view_login_js();
std::string_view page_view_run_js();
std::string_view page_view_runs_js();

}  // namespace runwarden::embedded

namespace runwarden::page {
namespace {

File file(std::string_view name, std::string_view text) {
  const auto ends = [&name](std::string_view suffix) { return name.ends_with(suffix); };
  const std::string_view type = ends(".js")    ? "text/javascript; charset=utf-8"
                                : ends(".css") ? "text/css; charset=utf-8"
                                : ends(".svg") ? "image/svg+xml"
                                               : "text/html; charset=utf-8";
  return {name, type, text, "\"" + to_hex(sha256(text)).substr(0, 32) + "\""};
}

}  // namespace

const std::vector<File>& files() {
  namespace e = embedded;
  static const std::vector<File> all{
      file("page.css", e::page_page_css()),
      file("icon.svg", e::page_icon_svg()),
      file("main.js", e::page_main_js()),
      file("api.js", e::page_api_js()),
      file("charts.js", e::page_charts_js()),
      file("dom.js", e::page_dom_js()),
      file("format.js", e::page_format_js()),
      file("frame.js", e::page_frame_js()),
      file("opinion.js", e::page_opinion_js()),
      file("view_baseline.js", e::page_view_baseline_js()),
      file("view_candidates.js", e::page_view_candidates_js()),
      file("view_changes.js", e::page_view_changes_js()),
      file("view_detectors.js", e::page_view_detectors_js()),
      file("view_group.js", e::page_view_group_js()),
      file("view_groups.js", e::page_view_groups_js()),
      file("view_login.js", e::page_view_login_js()),
      file("view_run.js", e::page_view_run_js()),
      file("view_runs.js", e::page_view_runs_js()),
  };
  return all;
}

const File* find_file(std::string_view name) {
  const auto found = std::find_if(files().begin(), files().end(), [name](const File& one) { return one.name == name; });
  return found == files().end() ? nullptr : &*found;
}

const File& index_file() {
  static const File index = file("index.html", embedded::page_index_html());
  return index;
}

}  // namespace runwarden::page
