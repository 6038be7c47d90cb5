#include "lib/inspect/dist_info/installed_tree.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view data_suffix = ".data";

// Removes and returns what precedes the first `/` of `path`; empty, and nothing is removed, if there is none.
std::string_view take_part(std::string_view& path) {
    const auto slash = path.find('/');
    if (slash == std::string_view::npos) return {};
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    return part;
}

bool is_python_folder(std::string_view part) {
    return part.starts_with("python") || part.starts_with("pypy");
}

// What the data scheme puts below the prefix. The layouts are those of sysconfig: posix_prefix, posix_local (Debian),
// posix_home, and nt, whose names differ in case.
InstalledPath path_in_prefix(std::string_view path) {
    constexpr std::string_view scheme = "data";
    const InstalledPath other{InstallFolder::prefix, path, scheme, {}};
    std::string first = base::ascii_lower(take_part(path));
    if (first == "local") first = base::ascii_lower(take_part(path));
    if (first == "bin" || first == "scripts") return {InstallFolder::programs, path, scheme, {}};
    std::string_view part = take_part(path);
    if (first == "include") {
        if (part == "site") part = take_part(path);
        const bool is_of_python = is_python_folder(part) && !take_part(path).empty();
        return is_of_python ? InstalledPath{InstallFolder::headers, path, scheme, {}} : other;
    }
    if (!first.starts_with("lib")) return other;
    if (part == "python") return {InstallFolder::site, path, scheme, {}};  // posix_home
    std::string_view python;
    if (is_python_folder(part)) {
        if (part != "python3") python = part;  // Debian's folder of all
        part = take_part(path);
    }
    const std::string packages = base::ascii_lower(part);
    if (packages != "site-packages" && packages != "dist-packages") return other;
    return {InstallFolder::site, path, scheme, python};
}

void check_scheme(const Member& member, Findings& findings) {
    const InstalledPath place = installed_path(member.name);
    if (place.folder == InstallFolder::none) {
        constexpr std::string_view known = "a file in purelib, platlib, headers, scripts or data";
        // pip skips folders.
        member.is_directory() ? findings.add("data_folder.scheme", member.name, known, place.scheme)
                              : findings.add_final("data_folder.scheme", member.name, known, place.scheme);
    } else if (place.scheme == "scripts" && place.path.find('/') != std::string_view::npos) {
        findings.add("data_folder.scheme", member.name, "no folders in scripts, which uv refuses",
                     place.path);
    }
}

// pip moves what is in any `*.data`, uv only what is in the one of the .dist-info folder's exact name.
void check_data_folders(const Frame& frame, const DistInfo& info, const wheel::WheelFilename& filename,
                        Findings& findings) {
    const std::string_view stem = std::string_view(info.folder).substr(0, info.folder.rfind('.'));
    const std::string own = std::string(stem) + std::string(data_suffix);
    std::map<std::string_view, bool> others;  // whether installers disagree on a file in it
    for (const Member& member : frame.members) {
        std::string_view rest = member.name;
        const std::string_view top = take_part(rest);
        if (!base::ascii_lower(top).ends_with(data_suffix)) continue;
        if (top == own) {
            check_scheme(member, findings);
            continue;
        }
        const bool is_moved = top.ends_with(data_suffix);
        if (is_moved || is_named_after(top.substr(0, top.size() - data_suffix.size()), filename))
            others[top] |=
                !member.is_directory() && installed_path(member.name).folder != InstallFolder::none;
    }
    for (const auto& [top, do_installers_disagree] : others)
        do_installers_disagree ? findings.add_final("data_folder.name_mismatch", top, own, "")
                               : findings.add("data_folder.name_mismatch", top, own, "");
}

// Whether Python lists a distribution for this name in site-packages (importlib.metadata ignores the case).
bool is_metadata(std::string_view top) {
    const std::string name = base::ascii_lower(top);
    return name.ends_with(dist_info_suffix) || name.ends_with(".egg-info") || name.ends_with(".egg-link") ||
           name.ends_with(".egg");
}

void check_metadata_of_others(const Frame& frame, Findings& findings) {
    std::set<std::string_view> reported;
    for (const Member& member : frame.members) {
        if (member.is_directory()) continue;
        const InstalledPath place = installed_path(member.name);
        // With --target the prefix is the folder of modules, too.
        if (place.folder != InstallFolder::site && place.folder != InstallFolder::prefix) continue;
        const std::string_view top = place.path.substr(0, place.path.find('/'));
        if (!is_metadata(top)) continue;
        // Of these folders, dist_info.several and dist_info.name_mismatch allow one.
        const bool is_folder_of_archive = place.scheme.empty() && top.size() < place.path.size() &&
                                          base::ascii_lower(top).ends_with(dist_info_suffix);
        if (is_folder_of_archive || !reported.insert(top).second) continue;
        findings.add_final("installed.distribution", member.name,
                           "no metadata but the one .dist-info folder at the top of the archive", top);
    }
}

// "python", "python3", "python3.12", "pythonw", "pypy3".
bool is_interpreter(std::string_view program) {
    for (const std::string_view name : {"pythonw", "python", "pypy"}) {
        if (!program.starts_with(name)) continue;
        return program.substr(name.size()).find_first_not_of("0123456789.t") == std::string_view::npos;
    }
    return false;
}

void check_interpreter(std::string_view member, const InstalledPath& place, Findings& findings) {
    const bool is_replaced = (place.folder == InstallFolder::programs && is_interpreter(place.path)) ||
                             (place.folder == InstallFolder::prefix && place.path == "pyvenv.cfg");
    if (is_replaced) findings.add_final("installed.interpreter", member, {}, place.path);
}

constexpr std::size_t max_files_compared =
    64;  // of one name in any case and for any Python: the wheel chooses both

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// The files at their final paths.
class Tree {
  public:
    Tree(const DistInfo& info, Findings& findings) : info_(info), findings_(findings) {}

    void add(std::string_view member, const InstalledPath& place) {
        const std::string path = text_of(place);
        std::string folded = base::ascii_lower(path);
        std::size_t compared = 0;
        std::string_view other;
        for (auto [file, end] = files_.equal_range(folded); file != end; ++file, ++compared) {
            const InstalledPath& there = file->second.place;
            if (!is_of_one_python(there, place)) continue;
            if (there.path == place.path) return report_twice(member, file->second.member);
            other = file->second.member;
        }
        if (!other.empty()) report_case(member, place, other);
        if (compared < max_files_compared) files_.emplace(std::move(folded), File{member, place});
    }

    // Call after all files were added.
    void check_folders(const Member& member, const InstalledPath& place) {
        const std::string path = text_of(place);
        const auto depth = path.rfind('/');
        if (path.substr(0, depth) == checked_) return;  // members of one folder follow each other
        const std::string folded = base::ascii_lower(path);
        for (auto slash = path.find('/', 2); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            for (auto [file, end] = files_.equal_range(std::string_view(folded).substr(0, slash));
                 file != end; ++file) {
                const InstalledPath& there = file->second.place;
                if (!is_of_one_python(there, place) || there.path != place.path.substr(0, slash - 2))
                    continue;
                const std::string found = "a file " + std::string(file->second.member);
                if (member.is_directory())  // pip skips folders
                    findings_.add("zip.name_conflict", member.name, {}, found);
                else
                    findings_.add_final("zip.name_conflict", member.name, {}, found);
                return;
            }
        }
        checked_ = path.substr(0, depth);
    }

  private:
    struct File {
        std::string_view member;
        InstalledPath place;
    };

    static std::string text_of(const InstalledPath& place) {
        std::string text(1, static_cast<char>('0' + static_cast<int>(place.folder)));
        return text.append("/").append(place.path);
    }
    static bool is_of_one_python(const InstalledPath& a, const InstalledPath& b) {
        return a.python.empty() || b.python.empty() || a.python == b.python;
    }

    void report_twice(std::string_view member, std::string_view other) {
        // One name twice in the archive is zip.name_duplicate.
        if (member != other) findings_.add_final("installed.path_twice", member, {}, other);
    }
    void report_case(std::string_view member, const InstalledPath& place, std::string_view other) {
        // Linux keeps both files, and published wheels have such ones: only what .data or metadata may hide is final.
        const bool is_plain = place.scheme.empty() && installed_path(other).scheme.empty() &&
                              !member.starts_with(info_.folder + "/");
        is_plain ? findings_.add("zip.name_case", member, {}, other)
                 : findings_.add_final("zip.name_case", member, {}, other);
    }

    const DistInfo& info_;
    Findings& findings_;
    std::unordered_multimap<std::string, File, Hash, std::equal_to<>>
        files_;            // by folder and path in lower case
    std::string checked_;  // the last folder, in which and above which there is no conflict
};

// setuptools once wrote the scripts of entry points into the wheel; pip and uv leave these out.
bool is_left_out(const InstalledPath& place, const std::set<std::string_view>& scripts) {
    if (place.scheme != "scripts") return false;
    std::string_view name = base::base_name(place.path);
    for (const std::string_view suffix : {".exe", "-script.py", ".pya"}) {
        if (base::ascii_lower(name).ends_with(suffix)) {
            name.remove_suffix(suffix.size());
            break;
        }
    }
    return scripts.count(name) != 0;
}

void check_collisions(const Frame& frame, const DistInfo& info, Findings& findings) {
    Tree tree(info, findings);
    const std::vector<std::string_view> names = script_names(info.entry_points);
    const std::set<std::string_view> scripts(names.begin(), names.end());
    for (const Member& member : frame.members) {
        if (member.is_directory()) continue;
        const InstalledPath place = installed_path(member.name);
        if (place.folder == InstallFolder::none || is_left_out(place, scripts)) continue;
        check_interpreter(member.name, place, findings);
        tree.add(member.name, place);
    }
    const std::string entry_points = info.folder + "/entry_points.txt";
    for (const std::string_view script : scripts) {
        const InstalledPath place{InstallFolder::programs, script, {}, {}};
        check_interpreter(entry_points, place, findings);
        tree.add(entry_points, place);
    }
    for (const Member& member : frame.members) {
        const InstalledPath place = installed_path(member.name);
        if (place.folder != InstallFolder::none && !is_left_out(place, scripts))
            tree.check_folders(member, place);
    }
}

}  // namespace

InstalledPath installed_path(std::string_view member) {
    std::string_view rest = member;
    if (!take_part(rest).ends_with(data_suffix)) return {InstallFolder::site, member, {}, {}};
    const std::string_view scheme = take_part(rest);
    if (rest.empty()) return {InstallFolder::none, rest, scheme, {}};
    if (scheme == "purelib" || scheme == "platlib") return {InstallFolder::site, rest, scheme, {}};
    if (scheme == "scripts") return {InstallFolder::programs, rest, scheme, {}};
    if (scheme == "headers") return {InstallFolder::headers, rest, scheme, {}};
    if (scheme == "data") return path_in_prefix(rest);
    return {InstallFolder::none, rest, scheme, {}};
}

void check_installed_tree(const Frame& frame, const DistInfo& info, const wheel::WheelFilename& filename,
                          Findings& findings) {
    check_data_folders(frame, info, filename, findings);
    check_metadata_of_others(frame, findings);
    check_collisions(frame, info, findings);
}

}  // namespace wheelyard::inspect
