// Looks at a file's bytes before the loader does: is it a shared library for this machine, and whole? Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::detect {

// What is wrong with it and what to do about it; empty when it is an ELF64 x86-64 shared library whose segments lie inside the file
// and that does not ask for an executable stack.
std::string elf_fault(std::string_view bytes);

}  // namespace runwarden::detect
