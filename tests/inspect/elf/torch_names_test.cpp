// Which names are torch's, how they are counted, and how they read.
#include "lib/inspect/elf/torch_names.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/inspect/elf/elf.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using inspect::TorchNames;

TEST_CASE("names that torch's libraries define are torch's, and those of libstdc++ are not") {
    for (const std::string_view name :
         {"_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEESt8optionalINS2_10ScalarTypeEE",
          "aoti_torch_cpu_empty_strided", "torch_library_impl",
          "_ZN8pybind116detail11type_casterIN2at6TensorEvE4loadENS_6handleEb", "_ZNKR2at10TensorBase3optEv",
          "_ZTVN5torch8autograd4NodeE"})
        CHECK_MESSAGE(inspect::is_torch_name(name), name);
    for (const std::string_view name :
         {"_ZNSt6vectorIN2at6TensorESaIS1_EED1Ev", "torchInit", "PyList_New", "cudaMalloc", "",
          "_ZN8pybind116detail11type_casterIN2at", "_ZN11torchvision3ops3nmsERKN2at6TensorES4_d"}) {
        const bool is_truncated = name.ends_with("IN2at");
        CHECK_MESSAGE(inspect::is_torch_name(name) == is_truncated, name);
    }
    CHECK(inspect::is_stable_torch_name("torch_call_dispatcher"));
    CHECK_FALSE(inspect::is_stable_torch_name("_ZN5torch7LibraryD1Ev"));
}

// The right column is what `c++filt` prints, without parameters and template arguments.
TEST_CASE("a missing name is shown as a person would write it") {
    struct Row {
        std::string_view symbol, text;
    };
    for (const Row& row : {
             Row{"_ZN2at4_ops5zeros4callEN3c108ArrayRefINS2_6SymIntEEE", "at::_ops::zeros::call"},
             Row{"_ZN3c105ErrorC2ENS_14SourceLocationESs", "c10::Error::Error"},
             Row{"_ZN5torch7LibraryD1Ev", "torch::Library::~Library"},
             Row{"_ZNK3c106SymInteqERKS0_", "c10::SymInt::operator=="},
             Row{"_ZTIN3c105ErrorE", "typeinfo for c10::Error"},
             Row{"_ZNK5torch8autograd4Node4nameB5cxx11Ev", "torch::autograd::Node::name"},
             Row{"_ZNK2at10TensorBase8data_ptrIfEEPT_v", "at::TensorBase::data_ptr<…>"},
             Row{"aoti_torch_empty_strided", "aoti_torch_empty_strided"},
             // Not valid, or not nested: as it is.
             Row{"_Z3fooN2at6TensorE", "_Z3fooN2at6TensorE"},
             Row{"_ZN99999999999999999999atE", "_ZN99999999999999999999atE"},
             Row{"_ZN9at", "_ZN9at"},
             Row{"_ZN", "_ZN"},
             Row{"_ZN2at9", "at"},
         })
        CHECK(inspect::readable_torch_name(row.symbol) == row.text);
    const std::string deep = "_ZN" + std::string(100'000, 'K') + "2at" + std::string(100'000, '1');
    CHECK(inspect::readable_torch_name(deep) == "at");
}

TEST_CASE("imports keep their names, definitions a hash, and weak imports do not count") {
    test_support::ElfImage image;
    image.imports = {"_ZN3c1021throwNullDataPtrErrorEv", "PyList_New"};
    image.weak_imports = {"_ZN3c104weakEv"};
    image.exports = {"_ZN2at6TensorC1Ev", "PyInit__C"};
    const std::string bytes = test_support::write_elf(image);
    TorchNames names;
    const auto elf = inspect::parse_elf(base::MemoryReader(bytes),
                                        [&](const inspect::DynamicSymbol& symbol) { names.take(symbol); });
    REQUIRE(elf);
    CHECK(elf->has_all_symbols);
    CHECK(names.imports == std::vector<std::string>{"_ZN3c1021throwNullDataPtrErrorEv"});
    CHECK(names.definitions == std::vector<std::uint64_t>{inspect::torch_name_hash("_ZN2at6TensorC1Ev")});
    // printf %s _ZN2at6TensorC1Ev | sha256sum | cut -c1-16
    CHECK(names.definitions.front() == 0x76f2dd50dca4d8b1);
}

TEST_CASE("more names than any real file has are not kept, and that is said") {
    TorchNames names;
    for (int i = 0; i < 20'000; ++i)
        names.take({"torch_" + std::to_string(i), true, false});
    CHECK(names.is_cut);
    CHECK(names.imports.size() < 20'000);
    TorchNames long_names;
    const std::string name = "torch_" + std::string(15'000, 'x');
    for (int i = 0; i < 1'000; ++i)
        long_names.take({name, true, false});
    CHECK(long_names.is_cut);
    CHECK(long_names.bytes() < 4U << 20U);
}

TEST_CASE("the builds of an extension for several torches have a common name") {
    struct Row {
        std::string_view member, name;
    };
    for (const Row& row : {
             Row{"ep/_cpp_torch212.cpython-312-x86_64-linux-gnu.so",
                 "ep/_cpp_torch#.cpython-312-x86_64-linux-gnu.so"},
             Row{"ep/_cpp_torch2.13.so", "ep/_cpp_torch#.so"},
             Row{"ep/_cpp_torch2_9.so", "ep/_cpp_torch#.so"},
             Row{"torchvision/torch29/_C.so", "torchvision/torch#/_C.so"},
             Row{"torchvision/_C.so", "torchvision/_C.so"},
             Row{"torch/lib/libtorch_cpu.so.2", "torch/lib/libtorch_cpu.so.2"},
             Row{"ep/torch_", "ep/torch_"},
             Row{"ep/torch.", "ep/torch."},
             Row{"", ""},
         })
        CHECK(inspect::name_for_any_torch(row.member) == row.name);
}

TEST_CASE("a symbol table with a flaw is known not to be complete") {
    test_support::ElfImage image;
    image.imports = {"_ZN3c1021throwNullDataPtrErrorEv"};
    image.gnu_hash = false;
    image.hashed_symbols = 5'000'000;
    const auto elf = inspect::parse_elf(base::MemoryReader(test_support::write_elf(image)));
    REQUIRE(elf);
    CHECK_FALSE(elf->flaw.empty());
    CHECK_FALSE(elf->has_all_symbols);
}
