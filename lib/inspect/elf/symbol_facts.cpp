// Facts from the dynamic symbols of one ELF file: which Python, C++ library and torch it was built for. Keeps
// only counts and examples, so that memory is bounded.
#include "lib/inspect/elf/elf.hpp"

#include <algorithm>
#include <cstddef>

#include "lib/inspect/elf/private_symbols.hpp"
#include "lib/inspect/elf/torch_names.hpp"

namespace wheelyard::inspect {
namespace {

void take_python(std::string_view name, PythonImports& python) {
    ++python.count;
    const auto stable = stable_abi_since(name);
    const auto exported = exported_since(name);
    if (!stable || !exported) {
        if (python.outside.size() < max_python_names) python.outside.emplace_back(name);
        return;
    }
    if (*stable > python.stable_since) {
        python.stable_since = *stable;
        python.newest = name;
    }
    if (*exported > python.exported_since) {
        python.exported_since = *exported;
        python.newest_exported = name;
    }
}

void count(const StringUse& use, StringNames& names) {
    names.cxx11 += use.cxx11 ? 1 : 0;
    names.old += use.old ? 1 : 0;
}

}  // namespace

StringAbi SymbolFacts::string_abi() const {
    const StringAbi api = api_strings.abi();
    return api != StringAbi::unknown ? api : std_strings.abi();
}

void SymbolFacts::take(const DynamicSymbol& symbol) {
    const StringUse use = string_use(symbol.name);
    count(use, use.in_std ? std_strings : api_strings);
    if (!symbol.imported && is_python_api(symbol.name) && python.exported.size() < max_python_names)
        python.exported.emplace_back(symbol.name);
    if (symbol.imported && (symbol.name == "getauxval" || symbol.name == "__getauxval"))
        asks_processor = true;
    if (!symbol.imported || symbol.weak) return;
    if (is_python_api(symbol.name)) take_python(symbol.name, python);
    if (symbol.name == "PyFPE_jbuf") needs_fpectl = true;
    if (is_torch_api(symbol.name)) torch.take(symbol.name, use);
    if (is_torch_name(symbol.name) && !is_stable_torch_name(symbol.name)) ++torch.outside_stable;
    if (!private_symbols(symbol.name).empty() &&
        std::find(private_imports.begin(), private_imports.end(), symbol.name) == private_imports.end())
        private_imports.emplace_back(symbol.name);
}

base::Result<SymbolFacts> read_symbol_facts(const base::Reader& bytes, const SymbolTable& table,
                                            const TakeSymbol& also) {
    SymbolFacts facts;
    WHEELYARD_TRY(for_each_symbol(bytes, table, [&](const DynamicSymbol& symbol) {
        facts.take(symbol);
        if (also) also(symbol);
    }));
    return facts;
}

}  // namespace wheelyard::inspect
