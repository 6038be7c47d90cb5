// Conclusions about torch's version and strings from imported names.
#include "lib/inspect/elf/torch_abi.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>

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
          "_ZTVN3c105ErrorE", "aoti_torch_call_dispatcher", "torch_call_dispatcher", "torch_from_blob"})
        CHECK(inspect::is_torch_api(name));
    for (const std::string_view name : {"_ZN4c10x3fooEv", "_ZNSt6vectorIN2at6TensorESaIS1_EED1Ev",
                                        "torch_init", "torch_from_blob_v9", "PyList_New", ""})
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
             Row{"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_ib", "0.0", "2.10"},
             Row{"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb", "0.0", "2.14"},
             Row{"_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jbPNS0_19CUDAErrorLogCaptureE", "2.14",
                 "0.0"},
             Row{"_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE", "2.3", "2.13"},
             Row{"torch_device_from_pyobject", "2.15", "0.0"},
             Row{"_ZNK2at10TensorBase4sizeEl", "0.0", "0.0"},
         }) {
        CAPTURE(row.name);
        const TorchImports imports = taking({row.name});
        CHECK(imports.at_least.text() == row.at_least);
        CHECK(imports.below.text() == row.below);
    }
}

// Names that these wheels import (PyPI, x86_64). With which torches they load: bench/abi_matrix/results.tsv.
TEST_CASE("published companions are bounded to the torch that they are for") {
    constexpr std::string_view def_of_at =
        "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorIN2at3TagESaIS8_EENS_"
        "17_RegisterOrVerifyE";
    constexpr std::string_view def_of_headeronly =
        "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_"
        "10headeronly3TagESaIS8_EENS_17_RegisterOrVerifyE";
    constexpr std::string_view cow = "_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE";
    constexpr std::string_view check = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb";
    struct Row {
        std::string_view wheel;
        std::initializer_list<std::string_view> names;
        std::string_view at_least, below;
    };
    for (const Row& row : {
             Row{"torchao 0.16.0", {cow, check, "torch_call_dispatcher"}, "2.10", "2.13"},
             Row{"torchao 0.18.0", {"torch_call_dispatcher", "torch_dtype_float8_e8m0fnu"}, "2.11", "0.0"},
             Row{"torchvision 0.26.0",
                 {cow, check, def_of_at, "_ZNK3c104cuda10CUDAStream11synchronizeEv"},
                 "2.11",
                 "2.12"},
             Row{"torchvision 0.27.1", {cow, check, def_of_headeronly}, "2.12", "2.13"},
             Row{"torchvision 0.29.1", {"torch_from_blob", "torch_exception_get_what"}, "2.13", "0.0"},
         }) {
        CAPTURE(row.wheel);
        const TorchImports imports = taking(row.names);
        CHECK(imports.at_least.text() == row.at_least);
        CHECK(imports.below.text() == row.below);
    }
}

TEST_CASE("of alternatives the widest bounds apply") {
    const TorchImports of_212 = taking(
        {"_ZN3c104impl3cow23materialize_cow_storageERNS_11StorageImplE", "torch_library_def_with_tags"});
    const TorchImports of_213 = taking({"torch_exception_get_what"});
    for (const auto& [first, second] : {std::pair{of_212, of_213}, {of_213, of_212}}) {
        TorchImports either = first;
        either.add_alternative(second);
        CHECK(either.at_least.text() == "2.12");
        CHECK(either.at_least_symbol == "torch_library_def_with_tags");
        CHECK_FALSE(either.below.known());
        CHECK(either.count == 3);
    }
    TorchImports either = of_212;
    either.add_alternative(taking({"_ZN3c1015report_overflowEPKc"}));
    CHECK_FALSE(either.at_least.known());
    CHECK(either.below.text() == "2.15");
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
