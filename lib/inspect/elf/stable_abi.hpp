// Which symbols of the Python C API an abi3 module may use, and from which Python on (PEP 384, PEP 652).
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::inspect {

// The minor version of Python 3 whose Stable ABI was the first to have `symbol`: 2 for the original one;
// nothing where it is not part of it.
[[nodiscard]] std::optional<unsigned> stable_abi_since(std::string_view symbol);

// The minor version from which on CPython exports it at all, which may be earlier; nothing for what is in no
// Stable ABI.
[[nodiscard]] std::optional<unsigned> exported_since(std::string_view symbol);

// Whether it is named as CPython names its C API: PyList_New, _PyObject_New, Py_Exit.
[[nodiscard]] bool is_python_api(std::string_view symbol);

}  // namespace wheelyard::inspect
