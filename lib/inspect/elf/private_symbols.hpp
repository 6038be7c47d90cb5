// Names that libraries of the system do not promise: some builds of zlib and glibc have them, others do not,
// and a module that imports one fails to load there. auditwheel calls them blacklisted; these are its lists
// (auditwheel 6.8, manylinux-policy.json and musllinux-policy.json).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

struct PrivateSymbol {
    std::string_view name;
    std::string_view library;  // that must be needed, for the name to be looked for in it
    int last_glibc_minor;      // manylinux_2_N up to this one do not promise it
    bool musl = false;         // nor does musllinux
};
// All rows of this name: "__issignaling" is no part of libc.so.6 nor of libm.so.6.
[[nodiscard]] std::vector<PrivateSymbol> private_symbols(std::string_view name);

}  // namespace wheelyard::inspect
