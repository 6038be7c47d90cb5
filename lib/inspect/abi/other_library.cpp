#include "lib/inspect/abi/other_library.hpp"

#include <algorithm>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::inspect {
namespace {

// Of one kind a process has one version: "libcudart" and "libcudart.so.12", "MPI" and "MPICH ABI".
struct Versioned {
    std::string_view kind, version;  // empty: a library that does not count
};

Versioned versioned(std::string_view library) {
    if (const auto abi = mpi_abi(library); !abi.empty()) return {"MPI", abi};
    if (accelerator::kind_of_library(library) == nullptr) return {};
    return {library.substr(0, library.find(".so")), library};
}

std::string text_of(std::string_view library) {
    const auto abi = mpi_abi(library);
    return std::string(library) + (abi.empty() ? "" : " (" + std::string(abi) + ")");
}

}  // namespace

std::optional<OtherLibrary> other_library(const std::set<std::string>& companion,
                                          const std::set<std::string>& torch,
                                          std::string_view torch_version) {
    for (const std::string& ours : companion) {
        const std::string_view kind = versioned(ours).kind;
        if (kind.empty()) continue;
        const auto theirs = std::find_if(torch.begin(), torch.end(), [&](const std::string& library) {
            return versioned(library).kind == kind;
        });
        // A wheel with an extension for each version has one that fits.
        const bool has_that_of_torch =
            std::any_of(companion.begin(), companion.end(), [&](const std::string& one) {
                return versioned(one).kind == kind &&
                       std::any_of(torch.begin(), torch.end(), [&](const std::string& other) {
                           return versioned(other).version == versioned(one).version;
                       });
            });
        if (theirs != torch.end() && !has_that_of_torch)
            return OtherLibrary{kind == "MPI", "needs " + text_of(ours) + ", and torch " +
                                                   std::string(torch_version) + " is linked to " +
                                                   text_of(*theirs)};
    }
    return std::nullopt;
}

std::string_view mpi_abi(std::string_view soname) {
    if (soname.starts_with("libmpi_abi.so")) return "MPI 5 standard ABI";
    if (soname == "libmpi.so.40") return "Open MPI 3 to 5";
    if (soname == "libmpi.so.20") return "Open MPI 2";
    // Cray's libraries have the compiler in their name: libmpi_gnu_123.so.12.
    const bool is_mpich = soname.starts_with("libmpi.so.") || soname.starts_with("libmpi_");
    return is_mpich && soname.ends_with(".so.12") ? "MPICH ABI" : std::string_view();
}

}  // namespace wheelyard::inspect
