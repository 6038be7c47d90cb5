// Determines the PyTorch version that a library was compiled against, as far as its imported names prove it.
// The table covers the published torch wheels of every minor version from 2.0 to 2.15.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::inspect {

// Detects which std::string a C++ symbol uses, from its mangled name. libstdc++ has two: since GCC 5 the one
// in namespace std::__cxx11 (_GLIBCXX_USE_CXX11_ABI=1); before that, and with =0, the one that the Itanium
// C++ ABI abbreviates to `Ss`. Libraries built for different ones cannot be linked together.
//
//     _ZN3c105ErrorC2ENS_14SourceLocationESs                       =0: torch wheels before 2.6
//     _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_st…   =1

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

// {2, 4} is "2.4"; {0, 0}: unknown.
struct TorchVersion {
    unsigned major = 0;
    unsigned minor = 0;
    [[nodiscard]] bool known() const { return major != 0; }
    [[nodiscard]] std::string text() const;
    auto operator<=>(const TorchVersion&) const = default;
};

// Says whether `symbol` belongs to torch's C++ or C interface: namespaces c10, at, torch, caffe2;
// aoti_torch_*; of torch_*, which other libraries use, too, the names of the table.
[[nodiscard]] bool is_torch_api(std::string_view symbol);

// The facts from the torch imports of one or several libraries.
struct TorchImports {
    std::uint64_t count = 0;
    std::uint64_t outside_stable = 0;  // of all names that libtorch, libc10 and libtorch_python define
    StringNames strings;  // of torch's interface only; must match the build of the installed torch
    TorchVersion at_least;
    std::string at_least_symbol;
    TorchVersion below;
    std::string below_symbol;

    void take(std::string_view symbol, const StringUse& use);  // requires is_torch_api(symbol)
    void add(const TorchImports& other);                       // what both need
    void add_alternative(const TorchImports& other);           // what one of both needs

  private:
    void add_counts(const TorchImports& other);
};

}  // namespace wheelyard::inspect
