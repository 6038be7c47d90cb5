// The numbers by which an ELF file says what it is for: its machine (e_machine) and its system (EI_OSABI).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::inspect {

struct MachineIdentity {
    std::string name;        // as platform tags say it: "x86_64", "ppc64le"; "machine 1234" for others
    bool is_device = false;  // runs on a GPU or other device, not on the host
};
[[nodiscard]] MachineIdentity machine_identity(std::uint16_t number, unsigned bits, bool big_endian);

// "System V", "GNU", "FreeBSD"; "OS ABI 12" for those without a name here.
[[nodiscard]] std::string os_abi_text(std::uint8_t os_abi);
// Whether the dynamic linkers of Linux load it: glibc asks for System V's or GNU's, on 32-bit ARM also for
// its own.
[[nodiscard]] bool is_linux_abi(std::uint8_t os_abi, std::string_view machine);

}  // namespace wheelyard::inspect
