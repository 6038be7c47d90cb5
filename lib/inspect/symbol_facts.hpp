// What the dynamic symbols of one ELF file say about the Python, the C++ library and the torch that it was
// made for. Only sums and examples are kept, so that the memory is bounded whatever a library exports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf_symbols.hpp"
#include "lib/inspect/string_abi.hpp"
#include "lib/inspect/torch_abi.hpp"

namespace wheelyard::inspect {

// Imports from CPython's C API. Weak ones do not count: the module copes without.
struct PythonImports {
    std::uint64_t count = 0;
    unsigned stable_since = 0;    // the minor version of Python 3 whose Stable ABI has all that are in it
    std::string newest;           // one that came with it
    unsigned exported_since = 0;  // … and the one whose interpreter has all of these
    std::string newest_exported;
    std::vector<std::string> outside;  // imported, and in no Stable ABI: at most max_symbol_examples of them
};

struct SymbolFacts {
    PythonImports python;
    StringNames api_strings;  // of names outside of namespace std
    StringNames std_strings;  // of libstdc++'s own: they count where there are no others
    TorchImports torch;
    std::vector<std::string> unpromised;  // imported names of private_symbols.hpp, each once

    [[nodiscard]] StringAbi string_abi() const;
    void take(const DynamicSymbol& symbol);
};

// Error "elf.malformed".
[[nodiscard]] base::Result<SymbolFacts> read_symbol_facts(const base::Reader& bytes,
                                                          const SymbolTable& table);

}  // namespace wheelyard::inspect
