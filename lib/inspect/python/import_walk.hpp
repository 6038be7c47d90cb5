// What an import of a wheel's modules reaches: other modules of the wheel, libraries that Python code opens,
// names of the standard library that some Pythons lack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/inspect/python/module_source.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_source_bytes = base::mib;  // of one module; hand-written ones have less
inline constexpr std::size_t max_opened = 64;                 // libraries in the facts of a wheel

// Says whether something happens in an import, and whether it matters.
enum class Reach : std::uint8_t {
    never,  // also: what is caught where it fails
    maybe,  // in a branch whose condition is not known
    always,
};

// One of the libraries `any` is opened; none is named where the name is computed.
struct OpenedLibrary {
    std::vector<std::string> any;  // "libmagic.so.1"; "-lmagic": what ctypes.util.find_library("magic") finds
    std::string by;                // the module: "magic.loader"
    bool is_certain = false;
    bool operator==(const OpenedLibrary&) const = default;
};

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
    // The caller's numbers of the files of the wheel that one of these names opens.
    std::function<std::vector<std::size_t>(const std::vector<std::string>& any)> own_libraries;
    std::vector<std::size_t> loose_libraries;  // that are no modules: what a computed name may open
};

struct ImportWalk {
    bool is_whole = true;  // false: a limit was reached, and nothing follows from what is missing
    std::map<std::size_t, Reach>
        files;  // extension modules and own libraries; those that are not in it are not reached at all
    std::vector<OpenedLibrary> opened;
    std::map<std::string, std::string>
        gone;  // of gone_names: {"distutils.version", the module that needs it}
    // What neither the wheel nor any standard library has: {"botocore", the module that imports it}.
    std::map<std::string, std::string> foreign;
    // A module of gone_names where a handler imports a foreign one instead: {"audioop", {"pyaudioop", the
    // module}}.
    std::map<std::string, std::pair<std::string, std::string>> replaced;
};
// `roots`: what users import. A package whose import reaches no other module of the wheel stands for the
// extension modules beside its __init__, as PyQt's does, and for the module of its own name, as pyzbar's
// does.
[[nodiscard]] ImportWalk walk_imports(const WheelModules& wheel, const std::vector<std::string>& roots);

}  // namespace wheelyard::inspect
