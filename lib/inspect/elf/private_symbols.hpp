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

// The Python 3 minor version that added `symbol` to the Stable ABI: 2 for the original one; nullopt if it is
// not part of it.
[[nodiscard]] std::optional<unsigned> stable_abi_since(std::string_view symbol);

// The Python 3 minor version since which CPython exports `symbol`, possibly earlier than it joined the Stable
// ABI; nullopt if it is not part of any.
[[nodiscard]] std::optional<unsigned> exported_since(std::string_view symbol);

// Says whether `symbol` has the name of a C API symbol: PyList_New, _PyObject_New, Py_Exit.
[[nodiscard]] bool is_python_api(std::string_view symbol);

}  // namespace wheelyard::inspect
