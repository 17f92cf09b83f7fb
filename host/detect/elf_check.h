// Checks a file's bytes before the dynamic loader sees them: is it a shared library for this machine, and whole? Pure; any thread.
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

// The target that this program was built for, from its own ELF header.
ElfTarget host_target();

// What is wrong with the file and what to do about it. Empty when it is an ELF64 shared library for `host` whose segments lie
// inside the file and that does not ask for an executable stack.
std::string elf_fault(std::string_view bytes, ElfTarget host = host_target());

}  // namespace runwarden::detect
