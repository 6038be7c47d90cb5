// The names of torch's interface that one ELF file imports and defines: what decides whether an extension can
// be loaded with a torch that it was not built with. The summary of torch_abi.hpp keeps bounds on versions;
// this keeps the names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/elf/elf_symbols.hpp"

namespace wheelyard::inspect {

// Says whether libtorch, libc10 or libtorch_python define such names: is_torch_api(), the C functions
// torch_*, and the conversions of tensors between Python and C++ that libtorch_python exports.
[[nodiscard]] bool is_torch_name(std::string_view symbol);
// Says whether it is one of the C functions aoti_torch_* and torch_*: the stable ABI, which later releases
// keep (torch/csrc/stable/README.md).
[[nodiscard]] bool is_stable_torch_name(std::string_view symbol);

// The first eight bytes of the name's SHA-256: torch 2.15 defines 41,300 names, so that a wrong match is a
// matter of 1 in 10^14.
[[nodiscard]] std::uint64_t torch_name_hash(std::string_view symbol);

// "at::_ops::zeros::call" of _ZN2at4_ops5zeros4callEN3c108ArrayRef…: the qualified name, with template
// arguments as <…> and without the types of parameters. It reads no types, so that a hostile name costs no
// more than its length. Other names are returned as they are.
[[nodiscard]] std::string readable_torch_name(std::string_view symbol);

// A wheel may have one build of an extension for each torch, and load the one that suits: nixl_cu13 1.3.2 has
// nixl_ep_cpp_torch212.cpython-312-x86_64-linux-gnu.so and …_torch213…. Their common name, with `#` for the
// release; the member's own name if it has none.
[[nodiscard]] std::string name_for_any_torch(std::string_view member);

class TorchNames {
  public:
    std::vector<std::string> imports;        // in the order of the string table; weak ones do not count
    std::vector<std::uint64_t> definitions;  // hashes
    bool is_cut = false;                     // the file has more names than any real one

    void take(const DynamicSymbol& symbol);
    [[nodiscard]] std::uint64_t bytes() const;  // memory that the lists use

  private:
    std::uint64_t import_bytes_ = 0;
};

}  // namespace wheelyard::inspect
