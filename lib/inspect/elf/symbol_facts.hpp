// Facts from the dynamic symbols of one ELF file: which Python, C++ library and torch it was built for. Keeps
// only counts and examples, so that memory is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf_symbols.hpp"
#include "lib/inspect/elf/string_abi.hpp"
#include "lib/inspect/elf/torch_abi.hpp"

namespace wheelyard::inspect {

// Imports from CPython's C API. Weak imports are ignored: the module works without them.
struct PythonImports {
    std::uint64_t count = 0;
    unsigned stable_since =
        0;  // the first Python 3 minor version whose Stable ABI has all imports that are part of it
    std::string newest;           // an import that this version added
    unsigned exported_since = 0;  // the first Python 3 minor version that exports all of these imports
    std::string newest_exported;
    std::vector<std::string> outside;  // imports that are in no Stable ABI: at most max_symbol_examples
};

struct SymbolFacts {
    PythonImports python;
    StringNames api_strings;  // of names outside namespace std
    StringNames std_strings;  // of libstdc++'s own names: used if there are no others
    TorchImports torch;
    bool needs_fpectl = false;  // imports PyFPE_jbuf, which only Pythons configured with --with-fpectl export
    std::vector<std::string> private_imports;  // imported names of private_symbols.hpp, without duplicates

    [[nodiscard]] StringAbi string_abi() const;
    void take(const DynamicSymbol& symbol);
};

using TakeSymbol = std::function<void(const DynamicSymbol&)>;

// Passes every symbol on to `also`, which may be empty. Error "elf.malformed".
[[nodiscard]] base::Result<SymbolFacts> read_symbol_facts(const base::Reader& bytes, const SymbolTable& table,
                                                          const TakeSymbol& also);

}  // namespace wheelyard::inspect
