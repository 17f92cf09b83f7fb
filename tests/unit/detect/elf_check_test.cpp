#include "detect/elf_check.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace runwarden::detect {
namespace {

constexpr ElfTarget kX86{ELFDATA2LSB, EM_X86_64};
constexpr ElfTarget kArm{ELFDATA2LSB, EM_AARCH64};
constexpr ElfTarget kS390{ELFDATA2MSB, EM_S390};

// The least that the check takes for a whole shared library: a header and one segment of each kind that it asks for.
std::string library_for(ElfTarget target) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = target.byte_order;
  header.e_type = ET_DYN;
  header.e_machine = target.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::uint32_t type : {PT_LOAD, PT_DYNAMIC, PT_GNU_STACK}) {
    Elf64_Phdr segment{};
    segment.p_type = type;
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  }
  return bytes;
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
