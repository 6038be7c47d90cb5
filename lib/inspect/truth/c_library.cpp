#include "lib/inspect/truth/c_library.hpp"

#include <algorithm>

#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/module_suffix.hpp"

namespace wheelyard::inspect {
namespace {

// The NDK's note, bionic's dynamic linker, or a version of bionic's symbols: LIBC, LIBC_N, LIBC_PRIVATE.
bool is_for_bionic(const ElfFacts& elf) {
    const auto& needs = elf.version_needs;
    return elf.notes.android || elf.interpreter.starts_with("/system/bin/linker") ||
           std::any_of(needs.begin(), needs.end(), [](const ElfVersionNeed& need) {
               return need.file == "libc.so" && need.version.starts_with("LIBC");
           });
}

}  // namespace

std::set<std::string_view> c_libraries(const ElfMember& member) {
    const ElfFacts& elf = member.elf;
    std::set<std::string_view> found;
    const bool bionic = is_for_bionic(elf);
    if (bionic) found.insert("bionic");
    const auto suffix = module_suffix(member.name);
    const bool musl = elf.interpreter.find("/ld-musl-") != std::string::npos ||
                      (suffix && suffix->names_musl()) ||
                      std::any_of(elf.needed.begin(), elf.needed.end(), is_musl);
    if (musl && !bionic) found.insert("musl");
    if (std::any_of(elf.needed.begin(), elf.needed.end(), is_glibc)) found.insert("glibc");
    return found;
}

}  // namespace wheelyard::inspect
