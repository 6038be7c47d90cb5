// The C libraries that an ELF file is linked to. glibc's and musl's own names differ from each other; Android's
// bionic is called libc.so like musl on the systems that link by that name.
#pragma once

#include <set>
#include <string_view>

#include "lib/inspect/truth/facts.hpp"

namespace wheelyard::inspect {

// "glibc", "musl", "bionic"; empty: the file names none. The suffix of a module for musl counts too: such
// modules may need no library at all.
[[nodiscard]] std::set<std::string_view> c_libraries(const ElfMember& member);

}  // namespace wheelyard::inspect
