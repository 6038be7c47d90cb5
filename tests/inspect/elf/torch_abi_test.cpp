// Conclusions about torch's version and strings from imported names.
#include "lib/inspect/elf/torch_abi.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace wheelyard;
using inspect::TorchImports;

namespace {

TorchImports taking(std::initializer_list<std::string_view> names) {
    TorchImports imports;
    for (const auto name : names)
        imports.take(name, inspect::string_use(name));
    return imports;
}

}  // namespace

TEST_CASE("torch's interface consists of its namespaces and its C functions") {
    for (const std::string_view name :
         {"_ZN3c106SymInt19promote_to_negativeEv", "_ZNK2at10TensorBase4sizeEl", "_ZN5torch7LibraryD1Ev",
          "_ZTVN3c105ErrorE", "aoti_torch_call_dispatcher", "torch_call_dispatcher"})
        CHECK(inspect::is_torch_api(name));
    for (const std::string_view name :
         {"_ZN4c10x3fooEv", "_ZNSt6vectorIN2at6TensorESaIS1_EED1Ev", "torch_init", "PyList_New", ""})
        CHECK_FALSE(inspect::is_torch_api(name));
}

TEST_CASE("a name is a lower or upper bound on the torch version") {
    struct Row {
        std::string_view name, at_least, below;
    };
    for (const Row& row : {
             Row{"_ZN3c106SymInt19promote_to_negativeEv", "2.1", "0.0"},
             Row{"_ZNK2at10TensorBase16mutable_data_ptrIfEEPT_v", "2.1", "0.0"},
             Row{"_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEESt8optionalINS2_10ScalarTypeEE", "2.2",
                 "0.0"},
             Row{"_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEENS2_8optionalINS2_10ScalarTypeEEE",
                 "0.0", "2.2"},
             Row{"_ZN3c1021throwNullDataPtrErrorEv", "2.4", "0.0"},
             Row{"_ZNK3c106SymInt22maybe_as_int_slow_pathEv", "2.9", "0.0"},
             Row{"_ZNK3c106SymInt6sym_neERKS0_", "0.0", "2.9"},
             Row{"torch_call_dispatcher", "2.10", "0.0"},
             Row{"_ZNK2at10TensorBase4sizeEl", "0.0", "0.0"},
         }) {
        CAPTURE(row.name);
        const TorchImports imports = taking({row.name});
        CHECK(imports.at_least.text() == row.at_least);
        CHECK(imports.below.text() == row.below);
    }
}

TEST_CASE("the tightest bounds of all names and all libraries apply") {
    TorchImports all = taking({"_ZN3c106SymInt19promote_to_negativeEv", "_ZN3c1021throwNullDataPtrErrorEv"});
    all.add(taking({"_ZNK3c106SymInt6sym_neERKS0_", "_ZN3c105ErrorC2ENS_14SourceLocationESs"}));
    CHECK(all.at_least.text() == "2.4");
    CHECK(all.at_least_symbol == "_ZN3c1021throwNullDataPtrErrorEv");
    CHECK(all.below.text() == "2.9");
    CHECK(all.strings.abi() == inspect::StringAbi::old);
    CHECK(all.count == 4);
    CHECK(inspect::TorchVersion{2, 10} > inspect::TorchVersion{2, 9});
}
