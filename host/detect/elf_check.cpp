#include "detect/elf_check.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace runwarden::detect {
namespace {

constexpr const char* kBuildIt = " Build it with runwarden_add_detector on x86-64.";

std::string machine_fault(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return std::string("is no 64-bit library.") + kBuildIt;
  if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64) {
    return "is for another machine (ELF machine " + std::to_string(header.e_machine) + ", this host is x86-64, 62)." + kBuildIt;
  }
  if (header.e_type != ET_DYN) return "is no shared library (ELF type " + std::to_string(header.e_type) + ", expected 3)." + kBuildIt;
  return {};
}

std::string segment_fault(const Elf64_Phdr& segment, std::uint64_t size) {
  const bool inside = segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
  const bool matters = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC || segment.p_type == PT_NOTE || segment.p_type == PT_TLS;
  if (matters && !inside) return "is cut short: a segment ends beyond the file's " + std::to_string(size) + " bytes. Copy it again.";
  if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
    return "is damaged: a segment is larger than its memory. Copy it again.";
  if (segment.p_type == PT_INTERP) return std::string("is a program, not a library.") + kBuildIt;
  if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0) {
    return "asks for an executable stack. Link it with -z noexecstack (an assembler file without a .note.GNU-stack section is the usual "
           "cause).";
  }
  return {};
}

bool has_segment(const std::vector<Elf64_Phdr>& segments, std::uint32_t type) {
  return std::any_of(segments.begin(), segments.end(), [type](const Elf64_Phdr& one) { return one.p_type == type; });
}

}  // namespace

std::string elf_fault(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return std::string("is no ELF file.") + kBuildIt;
  if (bytes.size() < sizeof header) return "is cut short: " + std::to_string(bytes.size()) + " bytes hold no ELF header. Copy it again.";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string fault = machine_fault(header); !fault.empty()) return fault;
  const std::uint64_t table_bytes = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > bytes.size() || table_bytes > bytes.size() - header.e_phoff) {
    return "is cut short: its table of segments lies beyond the file's " + std::to_string(bytes.size()) + " bytes. Copy it again.";
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!segments.empty()) std::memcpy(segments.data(), bytes.data() + header.e_phoff, table_bytes);
  for (const Elf64_Phdr& segment : segments) {
    if (std::string fault = segment_fault(segment, bytes.size()); !fault.empty()) return fault;
  }
  if (!has_segment(segments, PT_LOAD) || !has_segment(segments, PT_DYNAMIC))
    return "is damaged: nothing in it can be loaded. Copy it again.";
  if (!has_segment(segments, PT_GNU_STACK)) return "asks for an executable stack (it has no PT_GNU_STACK). Link it with -z noexecstack.";
  return {};
}

}  // namespace runwarden::detect
