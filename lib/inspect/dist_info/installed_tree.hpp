// The tree that installers make of a wheel: the final path of each member, and the rules on them. Rules judge
// this tree, not the archive: a `.data` folder can put a file over one that was checked, or beside it the
// metadata of another distribution.
//
//     vic/a.py                                                 site      vic/a.py
//     vic-1.0.data/platlib/vic/a.py                            site      vic/a.py
//     vic-1.0.data/data/lib/python3.12/site-packages/vic/a.py  site      vic/a.py, of python3.12 alone
//     vic-1.0.data/data/lib/python3.12/os.py                   standard  os.py
//     vic-1.0.data/scripts/vic                                 programs  vic
//     vic-1.0.data/data/bin/vic                                programs  vic
//     vic-1.0.data/headers/vic.h                               headers   vic.h
//     vic-1.0.data/data/share/vic/x                            prefix    share/vic/x
//
// purelib and platlib are one folder in every virtual environment. As in pip, every top folder `*.data` is
// one of schemes; data_folder.name_mismatch refuses those that uv leaves where they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/inspect/dist_info/dist_info.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

enum class InstallFolder : std::uint8_t {
    site,      // site-packages
    programs,  // bin
    headers,
    standard,  // library, of one Python
    prefix,    // of the environment
    none,      // installers do not know the scheme, or the path is empty
};

// Views into the name of the member.
struct InstalledPath {
    InstallFolder folder = InstallFolder::site;
    std::string_view path;    // below the folder
    std::string_view scheme;  // "platlib"; empty: not in a .data folder
    std::string_view python;  // "python3.12" if only this Python has the folder; empty: all
};
[[nodiscard]] InstalledPath installed_path(std::string_view member);

// Two members at one path, also in case or as file and folder; metadata that is not in `info.folder`; what
// the environment or another Python has of its own. Compares the names of .data folders with that of
// .dist-info. What changes what was checked is final.
void check_installed_tree(const Frame& frame, const DistInfo& info, const wheel::WheelFilename& filename,
                          Findings& findings);

// Names that some file system takes for one: Windows and macOS ignore case, macOS also how letters with
// accents are spelled.
//
//     "README"  "readme"       one file
//     "\u00e9"  "e\u0301"      one file: é composed, and as a letter and its accent
//     "\u00e9"  "e"            two

// The same for all names that may be one file, and for some others. Text that is not UTF-8 is folded in ASCII
// alone.
[[nodiscard]] std::string folded_name(std::string_view name);

// Says whether two names with one folded_name are one file. Letters beyond Latin, Greek and Cyrillic have no
// case here, and of two names only one with an accent after its letter counts.
[[nodiscard]] bool may_be_one_file(std::string_view a, std::string_view b);

}  // namespace wheelyard::inspect
