// Determines the PyTorch version that a library was compiled against, as far as its imported names prove it.
// The table covers the published torch wheels of every minor version from 2.0 to 2.15.
#pragma once

#include <string>
#include <string_view>

#include "lib/inspect/elf/string_abi.hpp"

namespace wheelyard::inspect {

// {2, 4} is "2.4"; {0, 0}: unknown.
struct TorchVersion {
    unsigned major = 0;
    unsigned minor = 0;
    [[nodiscard]] bool known() const { return major != 0; }
    [[nodiscard]] std::string text() const;
    auto operator<=>(const TorchVersion&) const = default;
};

// Whether `symbol` belongs to torch's C++ or C interface: namespaces c10, at, torch, caffe2; aoti_torch_*; of torch_*, which
// other libraries use, too, the names of the table.
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
