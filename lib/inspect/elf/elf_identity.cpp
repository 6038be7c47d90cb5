#include "lib/inspect/elf/elf_identity.hpp"

#include <algorithm>
#include <iterator>

namespace wheelyard::inspect {
namespace {

struct MachineName {
    std::uint16_t number;
    unsigned bits;   // 0: either
    int big_endian;  // -1: either
    std::string_view name;
    bool is_device = false;
};
// e_machine and the machine part of platform tags.
constexpr MachineName machine_names[] = {
    {62, 64, 0, "x86_64"},
    {183, 64, 0, "aarch64"},
    {3, 32, 0, "i686"},
    {40, 32, 0, "armv7l"},
    {21, 64, 0, "ppc64le"},
    {21, 64, 1, "ppc64"},
    {22, 64, 1, "s390x"},
    {243, 64, 0, "riscv64"},
    {258, 64, 0, "loongarch64"},
    {62, 32, 0, "x32"},
    {190, 0, -1, "cuda", true},
    {224, 0, -1, "amdgpu", true},
    {205, 0, -1, "intelgt", true},
    {247, 0, -1, "bpf", true},
};

// Further names in platform tags of machines that have the number of a row above.
constexpr std::string_view other_machine_names[] = {"armv6l", "armv8l"};

// EI_OSABI (System V ABI, "ELF Identification").
constexpr std::uint8_t os_abi_system_v = 0, os_abi_gnu = 3, os_abi_arm = 64;
struct OsAbiName {
    std::uint8_t number;
    std::string_view name;
};
constexpr OsAbiName os_abi_names[] = {{os_abi_system_v, "System V"},
                                      {1, "HP-UX"},
                                      {2, "NetBSD"},
                                      {os_abi_gnu, "GNU"},
                                      {6, "Solaris"},
                                      {7, "AIX"},
                                      {8, "IRIX"},
                                      {9, "FreeBSD"},
                                      {12, "OpenBSD"},
                                      {os_abi_arm, "ARM EABI or HSA"},
                                      {97, "ARM"},
                                      {255, "standalone"}};

}  // namespace

MachineIdentity machine_identity(std::uint16_t number, unsigned bits, bool big_endian) {
    for (const auto& row : machine_names) {
        if (row.number == number && (row.bits == 0 || row.bits == bits) &&
            (row.big_endian < 0 || (row.big_endian == 1) == big_endian))
            return {std::string(row.name), row.is_device};
    }
    return {"machine " + std::to_string(number)};
}

bool is_known_machine(std::string_view machine) {
    const auto has_name = [machine](const MachineName& row) { return !row.is_device && row.name == machine; };
    return std::any_of(std::begin(machine_names), std::end(machine_names), has_name) ||
           std::find(std::begin(other_machine_names), std::end(other_machine_names), machine) !=
               std::end(other_machine_names);
}

std::string os_abi_text(std::uint8_t os_abi) {
    const auto* const row =
        std::find_if(std::begin(os_abi_names), std::end(os_abi_names),
                     [os_abi](const OsAbiName& candidate) { return candidate.number == os_abi; });
    return row == std::end(os_abi_names) ? "OS ABI " + std::to_string(os_abi) : std::string(row->name);
}

bool is_linux_abi(std::uint8_t os_abi, std::string_view machine) {
    return os_abi == os_abi_system_v || os_abi == os_abi_gnu || (os_abi == os_abi_arm && machine == "armv7l");
}

}  // namespace wheelyard::inspect
