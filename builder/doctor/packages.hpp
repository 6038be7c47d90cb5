// What to install for a header, library, program or package that a line of a log misses: the table
// templates/packages.tsv, and the notations in which tools name what they miss.
//
//     fatal error: H5public.h: No such file or directory
//       Debian, Ubuntu: apt-get install libhdf5-dev; Red Hat: dnf install hdf5-devel; SUSE: zypper install hdf5-devel;
//       modules: module spider hdf5
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

enum class WantedKind { nothing, header, library, program, package };

struct Wanted {
    WantedKind kind = WantedKind::nothing;
    std::string name;  // in lower case: "h5public.h", "hdf5", "nc-config"
};
// What the line misses.
[[nodiscard]] Wanted wanted_by(std::string_view line);

// Commands to paste; empty: the table does not know it.
[[nodiscard]] std::string install_commands(const Wanted& wanted);
// Commands that find the package of one that the table does not know; empty for nothing.
[[nodiscard]] std::string search_commands(const Wanted& wanted);

}  // namespace wheelyard::builder
