// What the host says of each library that it does not take, word by word.
#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "detect/elf_check.h"
#include "zoo.h"

namespace runwarden::detect {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

#if defined(__x86_64__)
constexpr const char* kThisMachine = "x86-64";
#elif defined(__aarch64__)
constexpr const char* kThisMachine = "arm64";
#else
constexpr const char* kThisMachine = "?";
#endif

std::string build_it() {
  return std::string(" Build it with runwarden_add_detector on ") + kThisMachine + ".";
}

#define VERSIONS " (built with SDK 1.2 for host ABI 1.0, this host has 1.2)."

class Refusal : public Zoo {
 protected:
  std::string refused(const std::string& animal) {
    enable(animal);
    const std::string prefix = "config: detector \"zoo\" (runwarden.yaml:41:5): " + animal + ".so: refused: ";
    const std::string text = refusal();
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(std::min(prefix.size(), text.size()));
  }
  std::string refused_bytes(const std::string& bytes) {
    put("x.so", bytes);
    settings.entries.push_back({"zoo", "x.so", {}, false, {}});
    const std::string text = refusal();
    const std::string prefix = "config: detector \"zoo\": x.so: refused: ";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(std::min(prefix.size(), text.size()));
  }
  std::string with_header(void (*change)(Elf64_Ehdr&)) {
    std::string bytes = bytes_of("good");
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return refused_bytes(bytes);
  }
};

TEST_F(Refusal, WhenTheFileIsGood_ThereIsNone) {
  enable("good");
  EXPECT_EQ(refusal(), "loaded");
}

TEST_F(Refusal, WhenTheFileIsNoElf_SaysSo) {
  EXPECT_EQ(refused_bytes("#!/bin/sh\n"), "is not an ELF file." + build_it());
}

TEST_F(Refusal, WhenTheFileIsEmpty_SaysSo) {
  EXPECT_EQ(refused_bytes(""), "is not an ELF file." + build_it());
}

TEST_F(Refusal, WhenTheFileIsForAnotherMachine_SaysSo) {
  const std::string number = std::to_string(host_target().machine);
  EXPECT_EQ(
      with_header([](Elf64_Ehdr& header) { header.e_machine = EM_RISCV; }),
      "is built for riscv64 (ELF machine 243), this host is " + std::string(kThisMachine) + " (ELF machine " + number + ")." + build_it());
}

TEST_F(Refusal, WhenTheFileIs32Bit_SaysSo) {
  EXPECT_EQ(with_header([](Elf64_Ehdr& header) { header.e_ident[EI_CLASS] = ELFCLASS32; }), "is not a 64-bit library." + build_it());
}

TEST_F(Refusal, WhenTheFileIsAnObject_SaysSo) {
  EXPECT_EQ(with_header([](Elf64_Ehdr& header) { header.e_type = ET_REL; }),
            "is not a shared library (ELF type 1, expected 3)." + build_it());
}

TEST_F(Refusal, WhenTheFileIsCutShort_SaysSoAtEveryLength) {
  const std::string whole = bytes_of("good");
  for (const std::size_t size : {std::size_t{40}, std::size_t{100}, std::size_t{500}, whole.size() / 4}) {
    settings.entries.clear();
    EXPECT_THAT(refused_bytes(whole.substr(0, size)), testing::AllOf(HasSubstr("is truncated: "), EndsWith("Copy it again."))) << size;
  }
}

TEST_F(Refusal, WhenTheStackIsExecutable_SaysSo) {
  EXPECT_EQ(refused("exec_stack"),
            "requests an executable stack. Link it with -z noexecstack (an assembler file without a .note.GNU-stack section is the usual "
            "cause).");
}

TEST_F(Refusal, WhenThereIsNoEntry_SaysSo) {
  EXPECT_EQ(refused("no_symbol"),
            "exports no runwarden_entry_v1, as every library for this host's ABI 1.2 does: it is not a detector library. Build it with "
            "runwarden_add_detector and RW_DETECTORS or RW_ENTRY.");
}

TEST_F(Refusal, WhenASymbolIsUnresolved_RepeatsTheLoadersWords) {
  EXPECT_EQ(
      refused("unresolved"),
      "the loader reports: unresolved.so: undefined symbol: nobody_has_this_function. Build it against the libraries of this machine.");
}

TEST_F(Refusal, WhenTheMajorIsAnother_SaysSo) {
  EXPECT_EQ(refused("other_major"), "needs host ABI 2.1, this host has 1.2. Install the runwarden of that ABI or rebuild with SDK 1.x.");
}

TEST_F(Refusal, WhenTheEntryIsOfAnotherMajor_SaysSo) {
  EXPECT_EQ(refused("entry_v2"), "needs host ABI 2.x, this host has 1.2. Install the runwarden of that ABI or rebuild with SDK 1.x.");
}

TEST_F(Refusal, WhenTheHostIsTooOld_NamesBothVersionsAndTheRemedy) {
  EXPECT_EQ(refused("host_too_old"),
            "needs host ABI 1.3, this host has 1.2 (built with SDK 1.4). Install runwarden >= 2.2 or rebuild with RW_TARGET_MINOR=2.");
}

TEST_F(Refusal, WhenTheRunSchemaIsTooNew_SaysSo) {
  EXPECT_EQ(refused("schema_too_new"),
            "the detector \"zoo\" needs run schema 1.7, this host has 1.0" VERSIONS
            " Install a newer runwarden or rebuild with min_schema_minor=0 in its info if it can do without newer fields.");
}

TEST_F(Refusal, WhenARequiredCapabilityIsUnknown_SaysSo) {
  EXPECT_EQ(refused("required_cap"),
            "the detector \"zoo\" requires capability bit 5, which this host does not know (built with SDK 1.2 for host ABI 1.0, this host "
            "has 1.2). Install a newer runwarden or move the bit to optional_caps.");
}

TEST_F(Refusal, WhenAnOptionalCapabilityIsUnknown_ThereIsNone) {
  enable("optional_cap");
  EXPECT_EQ(refusal(), "loaded");
}

TEST_F(Refusal, WhenAFunctionIsNull_NamesIt) {
  EXPECT_EQ(refused("null_function"),
            "the detector \"zoo\" has no function evaluate, but a null pointer (built with SDK 1.2 for host ABI 1.0, this host has 1.2). "
            "Give it one.");
}

TEST_F(Refusal, WhenAKeyStandsTwice_SaysSo) {
  EXPECT_EQ(refused("duplicate_key"),
            "has two detectors with the key \"zoo\" (built with SDK 1.2 for host ABI 1.0, this host has 1.2). Rename one.");
}

TEST_F(Refusal, WhenAKeyIsMalformed_SaysSo) {
  EXPECT_EQ(refused("bad_key"), "a detector's key does not match [a-z][a-z0-9_]{0,63}" VERSIONS " Rename it.");
}

TEST_F(Refusal, WhenAStructIsTooSmall_NamesIt) {
  EXPECT_EQ(refused("small_entry"), "the entry has struct_size 16, ABI 1.0 has 32. Set it to sizeof of the struct.");
  settings.entries.clear();
  EXPECT_EQ(refused("small_detector"), "a detector has struct_size 24, ABI 1.0 has 48" VERSIONS " Set it to sizeof of the struct.");
  settings.entries.clear();
  EXPECT_EQ(refused("small_info"), "the info of a detector has struct_size 24, ABI 1.0 has 88" VERSIONS " Set it to sizeof of the struct.");
}

TEST_F(Refusal, WhenThereAreNoDetectors_SaysSo) {
  EXPECT_EQ(refused("no_detectors"), "has 0 detectors, expected 1 to 256" VERSIONS " Name them in RW_DETECTORS or RW_ENTRY.");
}

TEST_F(Refusal, WhenTheSchemaIsFaulty_SaysSo) {
  EXPECT_EQ(
      refused("bad_schema"),
      "the detector \"zoo\" has a settings schema with a fault at /pattern: the keyword \"pattern\" is not supported: remove it" VERSIONS
      " Correct config_schema_json.");
}

TEST_F(Refusal, WhenTheSchemaHasAMemberTwice_SaysSo) {
  EXPECT_EQ(refused("schema_says_it_twice"),
            "the detector \"zoo\" has a settings schema with a fault at /type: the member appears twice: write it once" VERSIONS
            " Correct config_schema_json.");
}

TEST_F(Refusal, WhenCreateFails_RepeatsThePluginsText) {
  EXPECT_EQ(refused("create_fails"), "the detector \"zoo\" could not be created: no licence for today");
}

TEST_F(Refusal, WhenCreateFailsInSeveralLines_IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(refused("create_fails_in_two_lines"), "the detector \"zoo\" could not be created: no licence  [2J config: all is well");
}

TEST_F(Refusal, WhenCreateGivesNothing_SaysSo) {
  EXPECT_EQ(refused("create_forgets"), "the detector \"zoo\" could not be created: create returned RW_OK without an instance");
}

TEST_F(Refusal, WhenCreateThrowsAcross_SaysSo) {
  EXPECT_EQ(refused("throws_create"), "the detector \"zoo\" could not be created: threw an exception across the ABI: boom in create");
}

TEST_F(Refusal, WhenCreateRefusesASetting_TellsItsPlace) {
  enable("create_refuses_setting").settings_json = R"({"repeats":3})";
  EXPECT_EQ(refusal(), "config: detector \"zoo\" (runwarden.yaml:41:5): settings/repeats: must be even");
}

TEST_F(Refusal, WhenTheLayerRefusesASetting_TellsItsPlace) {
  enable("layer_throws").settings_json = R"({"boom":1})";
  context.settings_fault = [](const std::string& tenant, const std::string& key, const FieldFault& fault) {
    return "[" + tenant + "|" + key + "|" + fault.pointer + "|" + fault.detail + "]";
  };
  EXPECT_EQ(refusal(), "[|zoo|/boom|is not wanted]");
}

TEST_F(Refusal, WhenTheKeyIsNotInTheLibrary_NamesThoseThatAre) {
  enable("good").key = "tiger";
  EXPECT_THAT(refusal(), EndsWith("good.so: refused: it has no detector \"tiger\", but zoo, zoo_two. Correct the key or the library."));
}

TEST_F(Refusal, WhenTheFileOrFolderIsWritableByOthers_SaysSo) {
  const auto file = put("good.so", bytes_of("good"));
  settings.entries.push_back({"zoo", "good.so", {}, false, {}});
  ::chmod(file.c_str(), 0664);
  EXPECT_THAT(refusal(), EndsWith("good.so: refused: the file is writable by its group. Run chmod go-w on it."));
  ::chmod(file.c_str(), 0646);
  EXPECT_THAT(refusal(), EndsWith("good.so: refused: the file is writable by everyone. Run chmod go-w on it."));
  ::chmod(file.c_str(), 0644);
  ::chmod(detectors.c_str(), 0775);
  EXPECT_THAT(refusal(),
              EndsWith("good.so: refused: the folder " + detectors.string() + " is writable by its group. Run chmod go-w on it."));
}

TEST_F(Refusal, WhenTheFileBelongsToAnother_SaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto file = put("good.so", bytes_of("good"));
  settings.entries.push_back({"zoo", "good.so", {}, false, {}});
  ASSERT_EQ(::chown(file.c_str(), 12345, 0), 0);
  EXPECT_THAT(refusal(),
              EndsWith("good.so: refused: the file belongs to user 12345. It must belong to root or to the service's user (0): chown it."));
}

TEST_F(Refusal, WhenTheFileLiesOutside_SaysSo) {
  put("good.so", bytes_of("good"));
  const auto outside = folder / "elsewhere.so";
  std::filesystem::copy_file(detectors / "good.so", outside);
  settings.entries.push_back({"zoo", outside.string(), {}, false, {}});
  EXPECT_THAT(refusal(), EndsWith("elsewhere.so: refused: " + outside.string() + " is outside " + detectors.string() +
                                  ". Move it into one of these folders, or add its own to detectors.search_path."));
  settings.entries[0].library = "../elsewhere.so";
  EXPECT_THAT(refusal(), HasSubstr("\"../elsewhere.so\" leaves detectors.search_path."));
  settings.entries[0].library = (detectors / ".." / "elsewhere.so").string();
  EXPECT_THAT(refusal(), HasSubstr(" is outside "));
}

TEST_F(Refusal, WhenTheFileIsALink_SaysSo) {
  const auto outside = folder / "elsewhere.so";
  std::ofstream(outside, std::ios::binary) << bytes_of("good");
  std::filesystem::create_symlink(outside, detectors / "linked.so");
  settings.entries.push_back({"zoo", "linked.so", {}, false, {}});
  EXPECT_THAT(refusal(), EndsWith("linked.so: refused: is a symbolic link. Put the library itself into " + detectors.string() + "."));
}

TEST_F(Refusal, WhenAFolderOnTheWayIsALink_SaysSo) {
  const auto outside = folder / "outside";
  std::filesystem::create_directory(outside);
  std::ofstream(outside / "good.so", std::ios::binary) << bytes_of("good");
  std::filesystem::create_directory_symlink(outside, detectors / "sub");
  settings.entries.push_back({"zoo", "sub/good.so", {}, false, {}});
  EXPECT_THAT(refusal(), HasSubstr("good.so: refused: cannot open the folder"));
  settings.entries[0].library = (detectors / "sub" / "good.so").string();
  EXPECT_THAT(refusal(), HasSubstr(" is outside "));
}

TEST_F(Refusal, WhenThereIsNoSuchFile_SaysWhereItWasLookedFor) {
  settings.entries.push_back({"zoo", "gone.so", {}, false, "runwarden.yaml:3:1"});
  EXPECT_EQ(refusal(), "config: detector \"zoo\" (runwarden.yaml:3:1): gone.so: refused: not found in " + detectors.string() +
                           ". Install it there, or add its folder to detectors.search_path.");
  std::ofstream(detectors / "false_success.so", std::ios::binary) << bytes_of("good");
  settings.entries[0].library = "false_succes.so";
  EXPECT_THAT(refusal(), HasSubstr("not found in " + detectors.string() + ", where there is false_success.so. Install"));
  settings.entries[0].library = (detectors / "gone.so").string();
  EXPECT_THAT(refusal(), HasSubstr("gone.so: refused: cannot be opened: No such file or directory."));
}

TEST_F(Refusal, WhenTheFileIsAFolderOrAPipe_SaysSo) {
  std::filesystem::create_directory(detectors / "dir.so");
  settings.entries.push_back({"zoo", "dir.so", {}, false, {}});
  EXPECT_THAT(refusal(), EndsWith("dir.so: refused: is not a regular file."));
  ASSERT_EQ(::mkfifo((detectors / "pipe.so").c_str(), 0644), 0);
  settings.entries[0].library = "pipe.so";
  EXPECT_THAT(refusal(), EndsWith("pipe.so: refused: is not a regular file."));
}

TEST_F(Refusal, WhenSeveralAreFaulty_TellsAllOfThem) {
  enable("host_too_old").key = "a";
  enable("no_symbol").key = "b";
  enable("good").settings_json = R"({"repeats":"ten","x":1})";
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("host_too_old.so: refused: needs host ABI 1.3"));
  EXPECT_THAT(text, HasSubstr("\nconfig: detector \"b\" (runwarden.yaml:41:5): no_symbol.so: refused: exports no "));
  EXPECT_THAT(text, HasSubstr("settings/repeats: expected an integer from 2 to 1000, got \"ten\""));
  EXPECT_THAT(text, HasSubstr("settings/x: unknown setting \"x\""));
}

TEST_F(Refusal, WhenADetectorIsOptional_TheServiceGoesOnWithoutIt) {
  enable("host_too_old").optional = true;
  settings.entries[0].key = "future";
  enable("good");
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_THAT(log, HasSubstr("host_too_old.so: refused: needs host ABI 1.3"));
  const auto all = (*set)->list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].key, "future");
  EXPECT_FALSE(all[0].loaded);
  EXPECT_THAT(all[0].fault, HasSubstr("needs host ABI 1.3"));
  EXPECT_TRUE(all[1].loaded);
}

// A file that the detector needs, and its settings name, may be missing on this machine.
TEST_F(Refusal, WhenCreateOfAnOptionalDetectorRefusesASetting_TheServiceGoesOnWithoutIt) {
  enable("create_refuses_setting").optional = true;
  settings.entries[0].settings_json = R"({"repeats":3})";
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_THAT(log, HasSubstr("config: detector \"zoo\" (runwarden.yaml:41:5): settings/repeats: must be even. It is optional: "));
  const auto all = (*set)->list();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].loaded);
  EXPECT_EQ(all[0].fault, "/repeats: must be even");
  settings.entries[0].settings_json = R"({"repeats":"three"})";
  EXPECT_THAT(refusal(), HasSubstr("settings/repeats: expected an integer")) << "against its schema";
}

}  // namespace
}  // namespace runwarden::detect
