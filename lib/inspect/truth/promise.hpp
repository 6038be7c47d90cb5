// The guarantees that a file name's platform tags give about compiled code.
//
// Only Linux tags whose machine the table of machines names are judged (elf_identity.hpp). All others, such as
// linux_mips64, android_21_arm64_v8a, macosx_11_0_arm64 and win_amd64, promise nothing here: they are listed,
// and no rule about compiled code applies to them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

struct Promise {
    std::set<std::string> machines;                       // of the linux, manylinux and musllinux tags
    std::optional<std::pair<int, int>> lowest_manylinux;  // the glibc version that must suffice
    std::string lowest_manylinux_tag;
    bool musllinux = false;
    bool manylinux = false;
    bool plain_linux = false;  // linux_x86_64: guarantees the machine only
    bool linux = false;        // any of the three kinds
    bool any = false;
    std::vector<std::string> not_judged;  // the other platform tags, as written

    [[nodiscard]] bool is_judged() const { return linux || any; }  // by at least one tag
    // Whether the tags promise `machine`, a name from the table of machines. ELF has one number for all of
    // 32-bit ARM; uname and platform tags have a name per generation.
    [[nodiscard]] bool has_machine(std::string_view machine) const;
};

[[nodiscard]] Promise read_promise(const wheel::WheelFilename& filename);

}  // namespace wheelyard::inspect
