// Checks a file's bytes before the dynamic loader sees them: whether it is a complete shared library for this machine. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runwarden::detect {

// What a library must be built for: the fields e_ident[EI_DATA] and e_machine of an ELF header.
struct ElfTarget {
  unsigned char byte_order = 0;
  std::uint16_t machine = 0;
};

// The target of this program, from its own ELF header.
ElfTarget host_target();

// Describes what is wrong with the file and the remedy. Empty if it is an ELF64 shared library for `host` whose segments and tables lie
// inside the file and are not zeros from a copy that broke off, and that does not request an executable stack.
std::string elf_fault(std::string_view bytes, ElfTarget host = host_target());

}  // namespace runwarden::detect
