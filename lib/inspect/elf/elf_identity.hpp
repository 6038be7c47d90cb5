// The target of an ELF file: its machine (e_machine) and operating system ABI (EI_OSABI).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::inspect {

struct MachineIdentity {
    std::string name;        // as in platform tags: "x86_64", "ppc64le"; others: "machine 1234"
    bool is_device = false;  // runs on a GPU or other device, not on the host
};
[[nodiscard]] MachineIdentity machine_identity(std::uint16_t number, unsigned bits, bool big_endian);

// Says whether the table names `machine`, as platform tags do: what is compiled for others cannot be judged.
[[nodiscard]] bool is_known_machine(std::string_view machine);

// "System V", "GNU", "FreeBSD"; "OS ABI 12" for unknown numbers.
[[nodiscard]] std::string os_abi_text(std::uint8_t os_abi);
// Says whether Linux dynamic linkers load it: glibc accepts the System V and GNU ABIs and, on 32-bit ARM, the
// ARM ABI.
[[nodiscard]] bool is_linux_abi(std::uint8_t os_abi, std::string_view machine);

}  // namespace wheelyard::inspect
