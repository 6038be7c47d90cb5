// What one module of Python does when it is imported, as far as its source says it: the effects of its own
// statements, and those of its functions, which count where they are called.
//
//     from . import loader                        imports  "magic.loader"
//     libmagic = loader.load_lib()                calls    "magic.loader.load_lib"
//
//     def load_lib():
//         for lib in _lib_candidates():           calls    "_lib_candidates"
//             try: return ctypes.CDLL(lib)        opens    a computed name, OSError caught
//             except OSError: continue
//         else: raise ImportError("…")            raises
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// Under which conditions a statement runs, and what of its failure is caught.
struct Guard {
    bool maybe = false;       // in an `if` whose condition is not known, or in a handler
    bool in_handler = false;  // of a `try` around other effects
    std::uint8_t caught = 0;  // Caught, where the handler does not raise again

    [[nodiscard]] Guard within(const Guard& outer) const {
        return {maybe || outer.maybe, in_handler, static_cast<std::uint8_t>(caught | outer.caught)};
    }
    auto operator<=>(const Guard&) const = default;
};

enum class EffectKind : std::uint8_t {
    imports,  // `name`: a module, absolute; `texts`: the names that are imported from it. Computed: `name` is empty
    opens,  // `texts`: libraries, one of which is enough; computed: also others
    calls,  // `name`: what is called, "loader.load_lib"; `texts`: libraries among its arguments
    raises,
    uses,  // `name`: of gone_names, "collections.Mapping"
};

struct Effect {
    EffectKind kind = EffectKind::raises;
    Guard guard;
    std::string name = {};
    std::vector<std::string> texts = {};
    bool is_computed = false;
};

struct FunctionSource {
    std::vector<Effect> effects;
    // Names of libraries in it, "libmagic.so.1", and of what it has searched: "-lmagic", as a linker writes
    // it.
    std::vector<std::string> candidates;
};

struct ModuleSource {
    FunctionSource body;  // also of its classes, without their methods
    std::map<std::string, FunctionSource, std::less<>>
        functions;  // "load_lib", "Library.open"; "Library" is its constructor
    std::map<std::string, std::string, std::less<>> imported;  // local names: {"loader", "magic.loader"}
};

// `module`: "magic.loader"; `is_package`: it is the __init__ of a folder.
[[nodiscard]] ModuleSource read_module_source(std::string_view source, std::string_view module,
                                              bool is_package);

// "libmagic.so", "libmagic.so.1.0", also with folders before it.
[[nodiscard]] bool is_library_name(std::string_view text);

}  // namespace wheelyard::inspect
