// Symbols that system libraries do not guarantee: some builds of zlib and glibc export them, others do not,
// and a module that imports one fails to load there. These are auditwheel's symbol blacklists (auditwheel
// 6.8, manylinux-policy.json and musllinux-policy.json).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

struct PrivateSymbol {
    std::string_view name;
    std::string_view library;  // the module must need this library for the row to apply
    int last_glibc_minor;      // manylinux_2_N up to this N does not guarantee the symbol
    bool musl = false;         // musllinux does not guarantee it either
};
// All rows with this name: "__issignaling" occurs for both libc.so.6 and libm.so.6.
[[nodiscard]] std::vector<PrivateSymbol> private_symbols(std::string_view name);

}  // namespace wheelyard::inspect
