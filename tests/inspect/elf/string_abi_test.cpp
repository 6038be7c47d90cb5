// Detection of the std::string variant in mangled names.
#include "lib/inspect/elf/torch_abi.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace wheelyard;
using inspect::StringAbi;
using inspect::StringNames;

TEST_CASE("the string variant of a mangled name is detected, but not inside identifiers") {
    struct Row {
        std::string_view name;
        bool cxx11, old, in_std;
    };
    for (const Row& row : {
             Row{"_ZN3c105ErrorC2ENS_14SourceLocationESs", false, true, false},
             Row{"_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                 true, false, false},
             Row{"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", false, true, false},
             Row{"_ZNK3c106Device3strB5cxx11Ev", true, false, false},  // returns one: has the ABI tag
             Row{"_ZNSs4_Rep20_S_empty_rep_storageE", false, true, true},
             Row{"_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv", true, false, true},
             Row{"_ZNSt13runtime_errorC1ERKSs", false, true, true},
             Row{"_ZTINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", true, false, true},
             Row{"_ZGTtNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", true,
                 false, true},
             Row{"_Z3fooSbIwSt11char_traitsIwESaIwEE", false, true, false},  // the old wide string
             Row{"_ZN4SsSs3barEv", false, false, false},                     // a class named SsSs
             Row{"_ZN2at6TensorC1ERKS0_", false, false, false},
             Row{"_Z1fI3fooLj16EEvT_Ss", false, true, false},  // 16 is a number, not a length
             Row{"_Z1fILin5EEvSo", false, false, false},       // std::ostream is the same in both
             Row{"_ZNSt6vectorIiSaIiEE9push_backERKi", false, false, true},
             Row{"PyList_New", false, false, false},
             Row{"_Z", false, false, false},
             Row{"_Z999999999999x", false, false, false},
             Row{"_Z5abc", false, false, false},
         }) {
        CAPTURE(row.name);
        const auto use = inspect::string_use(row.name);
        CHECK(use.cxx11 == row.cxx11);
        CHECK(use.old == row.old);
        CHECK(use.in_std == row.in_std);
    }
}

TEST_CASE("a library is mixed only if at least one name in twenty is of the rarer kind") {
    CHECK(StringNames{0, 0}.abi() == StringAbi::unknown);
    CHECK(StringNames{1, 0}.abi() == StringAbi::cxx11);
    CHECK(StringNames{0, 1}.abi() == StringAbi::old);
    CHECK(StringNames{1, 1}.abi() == StringAbi::mixed);
    CHECK(StringNames{19, 1}.abi() == StringAbi::cxx11);
    CHECK(StringNames{18, 1}.abi() == StringAbi::mixed);
    CHECK(StringNames{1, 1000}.abi() == StringAbi::old);
    CHECK(inspect::string_abi_text(StringAbi::cxx11) == "true");
    CHECK(inspect::string_abi_text(StringAbi::old) == "false");
}
