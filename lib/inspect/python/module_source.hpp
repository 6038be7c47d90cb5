// What one module of Python imports, as far as its source says it.
//
//     from . import loader               "magic", {"loader"}     plain
//     try: from . import _fast           "magic", {"_fast"}      never: it may be missing
//     except ImportError: _fast = None
//     def load(): import magic.compat    "magic.compat"          maybe
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// Says whether something happens in an import, and whether it matters.
enum class Reach : std::uint8_t {
    never,   // also: in a `try` with a handler that goes on without it
    maybe,   // in a function, an `if` or another block, whose condition nobody asks
    always,  // in a `try` whose handlers all raise, and in a class
    plain,   // by statements at the top of modules alone, outside of all blocks
};

struct Import {
    std::string module;              // absolute; empty: the name is computed
    std::vector<std::string> names;  // that are imported from it
    Reach reach = Reach::never;
};

struct ModuleSource {
    std::vector<Import> imports;
    bool opens_libraries = false;  // by ctypes, or by cffi
    bool changes_imports = false;  // it changes where Python finds modules: sys.path, sys.modules
};

// `module`: "magic.loader"; `is_package`: it is the __init__ of a folder.
[[nodiscard]] ModuleSource read_module_source(std::string_view source, std::string_view module,
                                              bool is_package);

}  // namespace wheelyard::inspect
