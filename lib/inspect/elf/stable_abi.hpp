// The symbols of the Python C API that abi3 modules may use, and since which Python (PEP 384, PEP 652).
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::inspect {

// The Python 3 minor version that added `symbol` to the Stable ABI: 2 for the original one; nullopt if it is
// not part of it.
[[nodiscard]] std::optional<unsigned> stable_abi_since(std::string_view symbol);

// The Python 3 minor version since which CPython exports `symbol`, possibly earlier than it joined the Stable
// ABI; nullopt if it is not part of any.
[[nodiscard]] std::optional<unsigned> exported_since(std::string_view symbol);

// Whether `symbol` has the name of a C API symbol: PyList_New, _PyObject_New, Py_Exit.
[[nodiscard]] bool is_python_api(std::string_view symbol);

}  // namespace wheelyard::inspect
