#include "detect/elf_check.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

// The mapped ELF header of the file that contains this code. The linker defines the symbol.
extern "C" const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

namespace runwarden::detect {
namespace {

struct MachineName {
  std::uint16_t machine;
  const char* name;
};
constexpr MachineName kMachineNames[] = {
    {EM_X86_64, "x86-64"}, {EM_AARCH64, "arm64"}, {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64"}, {EM_S390, "s390x"},
};

std::string machine_name(std::uint16_t machine) {
  for (const MachineName& one : kMachineNames) {
    if (one.machine == machine) return one.name;
  }
  return "another machine";
}

std::string machine_and_number(std::uint16_t machine) {
  return machine_name(machine) + " (ELF machine " + std::to_string(machine) + ")";
}

std::string build_it(ElfTarget host) {
  return " Build it with runwarden_add_detector on " + machine_name(host.machine) + ".";
}

std::string header_fault(const Elf64_Ehdr& header, ElfTarget host) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "is not a 64-bit library." + build_it(host);
  if (header.e_ident[EI_DATA] != host.byte_order) return "has the byte order of another machine." + build_it(host);
  if (header.e_machine != host.machine) {
    return "is built for " + machine_and_number(header.e_machine) + ", this host is " + machine_and_number(host.machine) + "." +
           build_it(host);
  }
  if (header.e_type != ET_DYN)
    return "is not a shared library (ELF type " + std::to_string(header.e_type) + ", expected 3)." + build_it(host);
  return {};
}

std::string segment_fault(const Elf64_Phdr& segment, std::uint64_t size, ElfTarget host) {
  const bool inside = segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
  const bool matters = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC || segment.p_type == PT_NOTE || segment.p_type == PT_TLS;
  if (matters && !inside) return "is truncated: a segment ends beyond the file's " + std::to_string(size) + " bytes. Copy it again.";
  if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
    return "is damaged: a segment is larger than its memory. Copy it again.";
  if (segment.p_type == PT_INTERP) return "is a program, not a library." + build_it(host);
  if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0) {
    return "requests an executable stack. Link it with -z noexecstack (an assembler file without a .note.GNU-stack section is the usual "
           "cause).";
  }
  return {};
}

bool has_segment(const std::vector<Elf64_Phdr>& segments, std::uint32_t type) {
  return std::any_of(segments.begin(), segments.end(), [type](const Elf64_Phdr& one) { return one.p_type == type; });
}

using Segments = std::vector<Elf64_Phdr>;

bool is_loaded(const Segments& segments, std::uint64_t address) {
  return std::any_of(segments.begin(), segments.end(), [address](const Elf64_Phdr& one) {
    return one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz;
  });
}

// What the loader follows without a check of its own. It is near the end of the file, so an interrupted copy may leave zeros in its place.
bool is_whole_dynamic(std::string_view bytes, const Segments& segments, const Elf64_Phdr& dynamic) {
  bool strings = false;
  bool symbols = false;
  bool hash = false;
  for (std::uint64_t at = 0; dynamic.p_filesz - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, bytes.data() + dynamic.p_offset + at, sizeof entry);
    if (entry.d_tag == DT_NULL) return strings && symbols && hash;
    const bool loaded = is_loaded(segments, entry.d_un.d_ptr);
    strings = strings || (entry.d_tag == DT_STRTAB && loaded);
    symbols = symbols || (entry.d_tag == DT_SYMTAB && loaded);
    hash = hash || ((entry.d_tag == DT_HASH || entry.d_tag == DT_GNU_HASH) && loaded);
  }
  return false;
}

// The table is the last thing in most files. A library may do without it.
std::string section_table_fault(std::string_view bytes, const Elf64_Ehdr& header) {
  if (header.e_shoff == 0) return {};
  const std::uint64_t size = std::uint64_t{std::max<std::uint16_t>(header.e_shnum, 1)} * header.e_shentsize;
  if (header.e_shoff > bytes.size() || size > bytes.size() - header.e_shoff)
    return "is truncated: its section table ends beyond the file's " + std::to_string(bytes.size()) + " bytes. Copy it again.";
  const std::string_view table = bytes.substr(header.e_shoff, size);
  return table.find_first_not_of('\0') == std::string_view::npos ? "is damaged: its section table is all zeros. Copy it again." : "";
}

}  // namespace

ElfTarget host_target() {
  return {__ehdr_start.e_ident[EI_DATA], __ehdr_start.e_machine};
}

std::string elf_fault(std::string_view bytes, ElfTarget host) {
  Elf64_Ehdr header;
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return "is not an ELF file." + build_it(host);
  if (bytes.size() < sizeof header)
    return "is truncated: " + std::to_string(bytes.size()) + " bytes are too few for an ELF header. Copy it again.";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string fault = header_fault(header, host); !fault.empty()) return fault;
  const std::uint64_t table_bytes = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > bytes.size() || table_bytes > bytes.size() - header.e_phoff) {
    return "is truncated: its segment table ends beyond the file's " + std::to_string(bytes.size()) + " bytes. Copy it again.";
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!segments.empty()) std::memcpy(segments.data(), bytes.data() + header.e_phoff, table_bytes);
  for (const Elf64_Phdr& segment : segments) {
    if (std::string fault = segment_fault(segment, bytes.size(), host); !fault.empty()) return fault;
  }
  if (!has_segment(segments, PT_LOAD) || !has_segment(segments, PT_DYNAMIC))
    return "is damaged: it has no loadable segment. Copy it again.";
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_DYNAMIC && !is_whole_dynamic(bytes, segments, segment))
      return "is damaged: its dynamic section is incomplete. Copy it again.";
  }
  if (std::string fault = section_table_fault(bytes, header); !fault.empty()) return fault;
  if (!has_segment(segments, PT_GNU_STACK)) return "requests an executable stack (it has no PT_GNU_STACK). Link it with -z noexecstack.";
  return {};
}

}  // namespace runwarden::detect
