// The suffix in an extension module's file name: the EXT_SUFFIX of the only Python that imports it (PEP 3149).
//
//     _six.cpython-312-aarch64-linux-gnu.so      _six.cpython-312-arm-linux-musleabihf.so      _six.abi3.so
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::inspect {

struct ModuleSuffix {
    std::string abi;       // "cp312", "cp313t", "pypy310_pp73", "abi3"
    std::string platform;  // "aarch64-linux-gnu"; may be empty

    // The machine of the platform, as in platform tags; empty if the mapping is unknown.
    [[nodiscard]] std::string machine() const;
    // "gnu" and "musl" begin the last word on every machine: gnueabihf, gnux32, musleabihf.
    [[nodiscard]] bool names_musl() const;
    // CPython names glibc in its suffix on musl too, until 3.10.
    [[nodiscard]] bool names_glibc() const;
};
[[nodiscard]] std::optional<ModuleSuffix> module_suffix(std::string_view path);

}  // namespace wheelyard::inspect
