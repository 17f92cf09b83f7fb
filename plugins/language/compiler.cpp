/// language_compiler OUT.cpp ACTIONS.yaml FIRST.yaml OTHER.yaml...: compiles the shipped language files into tables that need no work at
/// startup. In addition to the checks of the reader, each language must have all keys of the first, and all its verbs must be verbs of the
/// first.

#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "language/reader.h"
#include "text/fold.h"

using namespace runwarden::plugins;

namespace {

struct Source {
  std::string path;
  LanguageDocument document;
};

[[noreturn]] void refuse(const std::string& path, int line, const std::string& fault) {
  throw std::invalid_argument(path + ":" + std::to_string(line) + ": " + fault);
}

Source read_source(const std::string& path) {
  auto documents = read_language_file(path, Spelling::kFolded);
  if (documents.size() != 1) refuse(path, documents[1].line, "a shipped file has one document; move the other to its own file");
  return {path, std::move(documents.front())};
}

std::string lemma_of(const std::string& item) {
  return item.substr(0, item.find(" = "));
}

std::set<std::string> lemmas_of(const LanguageDocument& document) {
  std::set<std::string> lemmas;
  for (const auto key : {Key::kVerbs, Key::kActionVerbs}) {
    if (const auto* list = document.find(key)) {
      for (const auto& item : list->items) lemmas.insert(lemma_of(item.text));
    }
  }
  return lemmas;
}

void check_lemma(const Source& source, const LanguageItem& item, Key key, const std::string& lemma, const std::set<std::string>& known) {
  if (known.count(lemma) != 0) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  refuse(source.path, item.line, std::string(info(key).name) + ": no verb has the lemma \"" + lemma + "\"" + nearest_hint(lemma, names));
}

void check_verbs(const Source& source, const std::set<std::string>& known) {
  for (const auto& list : source.document.lists) {
    const auto form = info(list.key).form;
    for (const auto& item : list.items) {
      if (form == KeyForm::kVerbs || form == KeyForm::kNouns || form == KeyForm::kDoneBy) {
        check_lemma(source, item, list.key, lemma_of(item.text), known);
      }
      if (form != KeyForm::kLemmas && form != KeyForm::kDoneBy) continue;
      std::istringstream words(form == KeyForm::kDoneBy ? item.text.substr(item.text.find('=') + 1) : item.text);
      for (std::string word; words >> word;) check_lemma(source, item, list.key, word, known);
    }
  }
}

void check_complete(const Source& source, const Source& first) {
  for (const auto& list : first.document.lists) {
    if (source.document.find(list.key) == nullptr) {
      const std::string name(info(list.key).name);
      refuse(
          source.path, 1,
          "the key " + name + ", which " + first.path + " has, is missing; add it, `" + name + ": []` if the language has nothing for it");
    }
  }
}

void check_kinds(const Source& source, bool of_actions) {
  for (const auto& list : source.document.lists) {
    if (is_of_actions(list.key) == of_actions) continue;
    refuse(source.path, list.line,
           std::string(info(list.key).name) + (of_actions ? ": belongs to a language; move it to that language's file"
                                                          : ": belongs to no language; move it to actions.yaml"));
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void write_lists(const Source& source, int language, std::ostream& out, std::ostream& lists) {
  for (const auto& list : source.document.lists) {
    if (list.items.empty()) continue;
    const auto name = "kList" + std::to_string(language + 1) + "_" + std::string(info(list.key).name);
    out << "constexpr std::string_view " << name << "[] = {";
    for (const auto& item : list.items) out << "\n    " << quoted(item.text) << ",";
    out << "};\n";
    lists << "    {static_cast<Key>(" << static_cast<int>(list.key) << "), " << language << ", " << name << "},\n";
  }
}

std::string tables(const Source& actions, const std::vector<Source>& languages) {
  std::ostringstream out;
  std::ostringstream lists;
  out << "// Made by language_compiler from plugins/language: edit the files there.\n#include \"common/vocabulary.h\"\n\n"
      << "namespace runwarden::plugins {\nnamespace {\n\n";
  write_lists(actions, -1, out, lists);
  for (std::size_t i = 0; i < languages.size(); ++i) write_lists(languages[i], static_cast<int>(i), out, lists);
  out << "\nconstexpr std::string_view kLanguages[] = {";
  for (const auto& source : languages) out << quoted(source.document.language) << ", ";
  out << "};\n\nconstexpr ShippedList kLists[] = {\n"
      << lists.str() << "};\n\n}  // namespace\n\n"
      << "std::span<const std::string_view> shipped_languages() {\n  return kLanguages;\n}\n\n"
      << "std::span<const ShippedList> shipped_lists() {\n  return kLists;\n}\n\n}  // namespace runwarden::plugins\n";
  return out.str();
}

void compile(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) throw std::invalid_argument("usage: language_compiler OUT.cpp ACTIONS.yaml LANGUAGE.yaml...");
  const auto actions = read_source(arguments[1]);
  check_kinds(actions, true);
  std::vector<Source> languages;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    languages.push_back(read_source(arguments[i]));
    check_kinds(languages.back(), false);
    check_complete(languages.back(), languages.front());
  }
  const auto known = lemmas_of(languages.front().document);
  check_verbs(actions, known);
  for (const auto& source : languages) check_verbs(source, known);
  std::ofstream file(arguments[0]);
  file << tables(actions, languages);
  if (!file.flush()) throw std::invalid_argument(arguments[0] + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compile({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& fault) {
    std::cerr << fault.what() << "\n";
    return 1;
  }
}
