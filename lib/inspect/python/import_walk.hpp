// What an import of a wheel's modules reaches: other modules of the wheel, and modules that it lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/inspect/python/module_source.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_source_bytes = base::mib;  // of one module; hand-written ones have less
inline constexpr std::size_t max_outside_modules = 64;

// The modules of a wheel, by their dotted names.
struct WheelModules {
    struct Module {
        bool is_package = false;
        bool has_source = false;
        std::vector<std::size_t> extensions = {};  // the caller's numbers of its files
    };
    std::map<std::string, Module, std::less<>> modules;
    // nullopt: it cannot be read, or is too long.
    std::function<std::optional<std::string>(std::string_view module)> read;
};

struct ImportWalk {
    bool is_whole = true;          // false: a limit was reached, and nothing follows from what is missing
    bool opens_libraries = false;  // Python code that may be imported does, by ctypes or cffi
    std::map<std::size_t, Reach>
        files;  // extension modules, never Reach::plain; those that are not in it are not reached at all
    // Imports that are Reach::plain, with the module that does: of gone_name {"distutils.version", "a.b"},
    // and of what neither the wheel nor any standard library has {"botocore", "a.b"}.
    std::map<std::string, std::string> gone, foreign;
};
// `roots`: what users import. After a package whose import reaches no other module of the wheel users may import
// the extension modules beside its __init__, as PyQt's, and the module of its own name, as pyzbar's.
[[nodiscard]] ImportWalk walk_imports(const WheelModules& wheel, const std::vector<std::string>& roots);

}  // namespace wheelyard::inspect
