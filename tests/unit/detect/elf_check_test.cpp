#include "detect/elf_check.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace runwarden::detect {
namespace {

constexpr ElfTarget kX86{ELFDATA2LSB, EM_X86_64};
constexpr ElfTarget kArm{ELFDATA2LSB, EM_AARCH64};
constexpr ElfTarget kS390{ELFDATA2MSB, EM_S390};

struct Parts {
  std::vector<Elf64_Dyn> dynamic = {{DT_STRTAB, {8}}, {DT_SYMTAB, {16}}, {DT_GNU_HASH, {24}}, {DT_NULL, {0}}};
  std::string sections = std::string(sizeof(Elf64_Shdr), '\0') + std::string(sizeof(Elf64_Shdr), 's');
};

template <class T>
void append(std::string& bytes, const T& part) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
}

// The least that the check takes for a whole shared library: a header, one segment of each kind that it asks for, and their content.
std::string library_for(ElfTarget target, const Parts& parts = {}) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = target.byte_order;
  header.e_type = ET_DYN;
  header.e_machine = target.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  const std::size_t dynamic_at = sizeof header + 3 * sizeof(Elf64_Phdr);
  const std::size_t dynamic_size = parts.dynamic.size() * sizeof(Elf64_Dyn);
  header.e_shoff = dynamic_at + dynamic_size;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  std::string bytes;
  append(bytes, header);
  for (const std::uint32_t type : {PT_LOAD, PT_DYNAMIC, PT_GNU_STACK}) {
    Elf64_Phdr segment{};
    segment.p_type = type;
    if (type == PT_DYNAMIC) segment.p_offset = dynamic_at;
    if (type != PT_GNU_STACK) segment.p_filesz = segment.p_memsz = type == PT_DYNAMIC ? dynamic_size : sizeof header;
    append(bytes, segment);
  }
  for (const Elf64_Dyn& entry : parts.dynamic) append(bytes, entry);
  return bytes + parts.sections;
}

TEST(ElfCheck, ALibraryWhoseTailIsZeros_IsDamaged) {
  const std::string whole = library_for(kX86);
  const auto with_zeros = [&](std::size_t from) { return whole.substr(0, from) + std::string(whole.size() - from, '\0'); };
  EXPECT_EQ(elf_fault(with_zeros(whole.size() - 2 * sizeof(Elf64_Shdr)), kX86),
            "is damaged: its section table is all zeros. Copy it again.");
  for (std::size_t entries = 0; entries < 3; ++entries) {
    const std::size_t dynamic_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    EXPECT_EQ(elf_fault(with_zeros(dynamic_at + entries * sizeof(Elf64_Dyn)), kX86),
              "is damaged: its dynamic section is incomplete. Copy it again.");
  }
}

TEST(ElfCheck, ASectionTableBeyondTheFile_IsTruncated_AndNoneIsFine) {
  std::string bytes = library_for(kX86);
  bytes.pop_back();
  EXPECT_EQ(elf_fault(bytes, kX86),
            "is truncated: its section table ends beyond the file's " + std::to_string(bytes.size()) + " bytes. Copy it again.");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_EQ(elf_fault(bytes, kX86), "");
}

TEST(ElfCheck, ADynamicSectionThatPointsOutsideOfWhatIsLoaded_OrDoesNotEnd_IsDamaged) {
  const auto fault = [](std::vector<Elf64_Dyn> dynamic) { return elf_fault(library_for(kX86, {.dynamic = std::move(dynamic)}), kX86); };
  const std::string damaged = "is damaged: its dynamic section is incomplete. Copy it again.";
  EXPECT_EQ(fault({{DT_STRTAB, {8}}, {DT_SYMTAB, {16}}, {DT_HASH, {24}}, {DT_NULL, {0}}}), "");
  EXPECT_EQ(fault({{DT_STRTAB, {8}}, {DT_SYMTAB, {16}}, {DT_HASH, {24}}}), damaged);
  EXPECT_EQ(fault({{DT_STRTAB, {8}}, {DT_SYMTAB, {16}}, {DT_HASH, {sizeof(Elf64_Ehdr)}}, {DT_NULL, {0}}}), damaged);
  EXPECT_EQ(fault({{DT_STRTAB, {8}}, {DT_HASH, {24}}, {DT_NULL, {0}}}), damaged);
  EXPECT_EQ(fault({}), damaged);
}

TEST(ElfCheck, ALibraryForTheHostsMachineIsTaken) {
  EXPECT_EQ(elf_fault(library_for(kX86), kX86), "");
  EXPECT_EQ(elf_fault(library_for(kArm), kArm), "");
  EXPECT_EQ(elf_fault(library_for(host_target())), "");
}

TEST(ElfCheck, ALibraryForAnotherMachineIsRefused_WithBothNames) {
  EXPECT_EQ(elf_fault(library_for(kX86), kArm),
            "is built for x86-64 (ELF machine 62), this host is arm64 (ELF machine 183). Build it with runwarden_add_detector on arm64.");
  EXPECT_EQ(elf_fault(library_for(kArm), kX86),
            "is built for arm64 (ELF machine 183), this host is x86-64 (ELF machine 62). Build it with runwarden_add_detector on x86-64.");
  EXPECT_EQ(
      elf_fault(library_for({ELFDATA2LSB, 1234}), kArm),
      "is built for another machine (ELF machine 1234), this host is arm64 (ELF machine 183). Build it with runwarden_add_detector on "
      "arm64.");
  EXPECT_EQ(elf_fault(library_for(kS390), kArm), "has the byte order of another machine. Build it with runwarden_add_detector on arm64.");
}

TEST(ElfCheck, TheHostsMachineIsTheCompilers) {
#if defined(__x86_64__)
  EXPECT_EQ(host_target().machine, EM_X86_64);
#elif defined(__aarch64__)
  EXPECT_EQ(host_target().machine, EM_AARCH64);
#endif
  EXPECT_EQ(host_target().byte_order, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

}  // namespace
}  // namespace runwarden::detect
