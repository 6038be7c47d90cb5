// Detects which std::string a C++ symbol uses, from its mangled name. libstdc++ has two: since GCC 5 the one
// in namespace std::__cxx11 (_GLIBCXX_USE_CXX11_ABI=1); before that, and with =0, the one that the Itanium
// C++ ABI abbreviates to `Ss`. Libraries built for different ones cannot be linked together.
//
//     _ZN3c105ErrorC2ENS_14SourceLocationESs                       =0: torch wheels before 2.6
//     _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_st…   =1
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::inspect {

struct StringUse {
    bool cxx11 = false;  // names a member of std::__cxx11
    bool old = false;    // names the old std::string (`Ss`) or basic_string (`Sb`)
    bool in_std =
        false;  // is itself a member of namespace std: part of libstdc++, not of a library's own interface
};

// All false if `name` is not a mangled C++ name (Itanium C++ ABI 5.1: `_Z…`).
[[nodiscard]] StringUse string_use(std::string_view name);

// The summary of all names of one library.
enum class StringAbi { unknown, old, cxx11, mixed };
[[nodiscard]] std::string_view string_abi_text(StringAbi abi);  // "unknown", "false", "true", "mixed"

struct StringNames {
    std::uint64_t cxx11 = 0;
    std::uint64_t old = 0;
    // Mixed requires at least one in twenty of the rarer kind: fewer may be a misread name or a static part
    // of libstdc++ that uses both.
    [[nodiscard]] StringAbi abi() const;
};

}  // namespace wheelyard::inspect
