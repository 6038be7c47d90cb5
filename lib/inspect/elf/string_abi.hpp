// Which std::string a C++ symbol speaks of, seen in its mangled name. libstdc++ has two: since GCC 5 the one
// of namespace std::__cxx11 (_GLIBCXX_USE_CXX11_ABI=1), before that, and still with =0, the one that the
// Itanium C++ ABI abbreviates to `Ss`. A library built for one cannot be linked with code built for the
// other.
//
//     _ZN3c105ErrorC2ENS_14SourceLocationESs                       =0: torch wheels before 2.6
//     _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_st…   =1
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::inspect {

struct StringUse {
    bool cxx11 = false;   // names something of std::__cxx11
    bool old = false;     // names the old std::string (`Ss`) or basic_string (`Sb`)
    bool in_std = false;  // is itself a member of namespace std: the library's, not an interface of others
};

// All false where `name` is no mangled C++ name (Itanium C++ ABI 5.1: `_Z…`).
[[nodiscard]] StringUse string_use(std::string_view name);

// What the names of one library add up to.
enum class StringAbi { unknown, old, cxx11, mixed };
[[nodiscard]] std::string_view string_abi_text(StringAbi abi);  // "unknown", "false", "true", "mixed"

struct StringNames {
    std::uint64_t cxx11 = 0;
    std::uint64_t old = 0;
    // Mixed from one in twenty on: below that it may be one name that was read wrongly, or a static part of
    // libstdc++ that speaks both.
    [[nodiscard]] StringAbi abi() const;
};

}  // namespace wheelyard::inspect
