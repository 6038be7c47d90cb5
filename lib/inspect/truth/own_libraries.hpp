// Which of the wheel's own libraries the dynamic linker finds when it loads the wheel's extension modules.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/inspect/truth/facts.hpp"

namespace wheelyard::inspect {

// Where installers put a member, below the environment's folder: "lib/python/site-packages/a/_b.so"; empty:
// nowhere. lib64 and the Python's version do not matter here: all have as many folders.
[[nodiscard]] std::string installed_at(std::string_view member);
// The folder that `rest`, what follows $ORIGIN, is there; nullopt: above the environment.
[[nodiscard]] std::optional<std::string> folder_from(std::string_view installed, std::string_view rest);

// Says whether a Python imports it, by its name or by what it imports of Python.
[[nodiscard]] bool is_extension(const ElfMember& member);

// A library that a file needs: {"a/_b.so", "libc.so"}.
using LibraryNeed = std::pair<std::string, std::string>;
// Those that the wheel has where the linker does not look, and that no extension module of it has loaded
// before. Sources: ld.so(8), glibc's elf/dl-load.c; of musl ldso/dynlink.c.
//
//     RUNPATH is that of the object itself; without one RPATH is that of the object, of what it was loaded
//     for, and so on; musl takes either for both.
[[nodiscard]] std::set<LibraryNeed> unfound_libraries(const std::vector<ElfMember>& elves);

}  // namespace wheelyard::inspect
