#include "lib/inspect/dist_info/installed_tree.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

namespace {

constexpr std::string_view data_suffix = ".data";

struct Named {
    std::string_view name;  // of the member
    std::string_view path;  // the same as installers read it
    [[nodiscard]] bool is_directory() const { return path.ends_with('/'); }
};

// `name` without empty and `.` parts, which only a policy such as a mirror's tolerates; kept in `cleaned` if
// it differs.
std::string_view clean_path(std::string_view name, std::deque<std::string>& cleaned) {
    if (!name.starts_with("./") && name.find("//") == std::string_view::npos &&
        name.find("/./") == std::string_view::npos)
        return name;
    std::string path;
    for (const std::string_view part : base::split(name, '/')) {
        if (!part.empty() && part != ".") path.append(path.empty() ? "" : "/").append(part);
    }
    if (name.ends_with('/')) path += '/';
    return cleaned.emplace_back(std::move(path));
}

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

// "python", "python3", "python3.12", "pythonw", "pypy3".
bool is_interpreter(std::string_view program) {
    for (const std::string_view name : {"pythonw", "python", "pypy"}) {
        if (!program.starts_with(name)) continue;
        return program.substr(name.size()).find_first_not_of("0123456789.t") == std::string_view::npos;
    }
    return false;
}

// What the data scheme puts below the prefix. The layouts are those of sysconfig: posix_prefix, posix_local
// (Debian), posix_home, and nt, whose names differ in case.
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
    const std::string_view standard = path;
    if (is_python_folder(part)) {
        if (part != "python3") python = part;  // Debian's folder of all
        part = take_part(path);
    }
    const std::string packages = base::ascii_lower(part);
    if (packages == "site-packages" || packages == "dist-packages")
        return {InstallFolder::site, path, scheme, python};
    return is_interpreter(python) ? InstalledPath{InstallFolder::standard, standard, scheme, python} : other;
}

bool is_scheme(std::string_view name) {
    constexpr std::string_view schemes[] = {"purelib", "platlib", "headers", "scripts", "data"};
    return std::find(std::begin(schemes), std::end(schemes), name) != std::end(schemes);
}

void check_scheme(const Named& member, Findings& findings) {
    const InstalledPath place = installed_path(member.path);
    // The entries of the folders themselves, which zip programs write.
    if (member.is_directory() && place.path.empty() && (place.scheme.empty() || is_scheme(place.scheme)))
        return;
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
void check_data_folders(const std::vector<Named>& members, const DistInfo& info,
                        const wheel::WheelFilename& filename, Findings& findings) {
    const std::string_view stem = std::string_view(info.folder).substr(0, info.folder.rfind('.'));
    const std::string own = std::string(stem) + std::string(data_suffix);
    std::map<std::string_view, bool> others;  // whether installers disagree on a file in it
    for (const Named& member : members) {
        std::string_view rest = member.path;
        const std::string_view top = take_part(rest);
        if (top.empty() && rest.ends_with(data_suffix))  // pip looks for a scheme in it
            findings.add("data_folder.name_mismatch", member.name, own, "a file");
        if (!base::ascii_lower(top).ends_with(data_suffix)) continue;
        if (top == own) {
            check_scheme(member, findings);
            continue;
        }
        const bool is_moved = top.ends_with(data_suffix);
        if (is_moved || is_named_after(top.substr(0, top.size() - data_suffix.size()), filename))
            others[top] |=
                !member.is_directory() && installed_path(member.path).folder != InstallFolder::none;
    }
    for (const auto& [top, do_installers_disagree] : others)
        do_installers_disagree ? findings.add_final("data_folder.name_mismatch", top, own, "")
                               : findings.add("data_folder.name_mismatch", top, own, "");
}

// Says whether Python lists a distribution for this path in site-packages (importlib.metadata ignores the
// case).
bool is_metadata(std::string_view path) {
    const std::string lower = base::ascii_lower(path);
    std::string_view rest = lower;
    const std::string_view folder = take_part(rest);
    const std::string_view name = folder.empty() ? rest : folder;
    if (name.ends_with(".egg")) return folder.empty() || rest.starts_with("egg-info/");
    return name.ends_with(dist_info_suffix) || name.ends_with(".egg-info") || name.ends_with(".egg-link");
}

void check_metadata_of_others(const std::vector<Named>& members, Findings& findings) {
    std::set<std::string_view> reported;
    for (const Named& member : members) {
        if (member.is_directory()) continue;
        const InstalledPath place = installed_path(member.path);
        // With --target the prefix is the folder of modules, too.
        if (place.folder != InstallFolder::site && place.folder != InstallFolder::prefix) continue;
        const std::string_view top = place.path.substr(0, place.path.find('/'));
        if (!is_metadata(place.path)) continue;
        // Of these folders, dist_info.several and dist_info.name_mismatch allow one.
        const bool is_folder_of_archive = place.scheme.empty() && top.size() < place.path.size() &&
                                          base::ascii_lower(top).ends_with(dist_info_suffix);
        if (is_folder_of_archive || !reported.insert(top).second) continue;
        findings.add_final("installed.distribution", member.name,
                           "no metadata but the one .dist-info folder at the top of the archive", top);
    }
}

// What venv, virtualenv and `uv venv` write for shells, with several endings, and pip, which is in most
// environments.
bool is_program_of_environment(std::string_view program, std::string_view project) {
    const std::string lower = base::ascii_lower(program);
    const std::string_view name = std::string_view(lower).substr(0, lower.find('.'));
    const bool is_pip =
        lower.starts_with("pip") && lower.find_first_not_of("0123456789.-", 3) == std::string::npos;
    return name == "activate" || name == "activate_this" || name == "deactivate" ||
           (is_pip && project != "pip");
}

// Says whether no Python but the one of the folder installs the wheel: "python3.12" and cp312-cp312.
bool is_for_this_python_only(std::string_view folder, const wheel::WheelFilename& filename) {
    std::string tag = folder.starts_with("pypy") ? "pp" : "cp";
    std::copy_if(folder.begin(), folder.end(), std::back_inserter(tag), base::is_ascii_digit);
    return filename.pythons == std::vector{tag} &&
           std::find(filename.abis.begin(), filename.abis.end(), "abi3") == filename.abis.end();
}

// What it may take from the environment, or from another Python.
void check_place(std::string_view member, const InstalledPath& place, const wheel::WheelFilename& filename,
                 Findings& findings) {
    const bool is_program = place.folder == InstallFolder::programs;
    if ((is_program && is_interpreter(place.path)) || place.folder == InstallFolder::standard ||
        (place.folder == InstallFolder::prefix && place.path == "pyvenv.cfg"))
        findings.add_final("installed.interpreter", member, {}, place.path);
    else if (is_program && is_program_of_environment(place.path, filename.project))
        findings.add("installed.program", member, {}, place.path);
    else if (!place.python.empty() && !is_for_this_python_only(place.python, filename))
        findings.add("installed.other_python", member, {}, place.python);
}

// A file where each environment has a folder.
bool is_folder_of_environment(const InstalledPath& place) {
    constexpr std::string_view folders[] = {"bin", "lib", "lib64", "include"};
    return place.folder == InstallFolder::prefix &&
           std::find(std::begin(folders), std::end(folders), place.path) != std::end(folders);
}

// What is at one final path.
struct Installed {
    std::string_view member;
    InstalledPath place;
    std::string key;  // folder and folded path, parts separated by zero bytes: what is in a folder follows it
    bool is_directory = false;
};

std::string sorting_key(const InstalledPath& place) {
    std::string key(1, static_cast<char>('0' + static_cast<int>(place.folder)));
    key.append("/").append(folded_name(place.path));
    std::replace(key.begin(), key.end(), '/', '\0');
    if (key.back() == '\0') key.pop_back();
    return key;
}

bool is_of_one_python(const InstalledPath& a, const InstalledPath& b) {
    return a.python.empty() || b.python.empty() || a.python == b.python;
}

bool is_below(const Installed& one, const Installed& file) {
    return one.key.size() > file.key.size() && one.key.starts_with(file.key) &&
           one.key[file.key.size()] == '\0';
}

// Compares each path with those before it that have its name in any case, or a name of its parents. Paths are
// sorted, so these are next to each other, and the last one is `stack_`.
class Collisions {
  public:
    Collisions(const DistInfo& info, Findings& findings) : info_(info), findings_(findings) {}

    void take(const Installed& one) {
        while (!stack_.empty() && stack_.back()->key != one.key && !is_below(one, *stack_.back()))
            stack_.pop_back();
        const Installed* other = nullptr;
        std::size_t compared = 0;
        for (auto file = stack_.rbegin(); file != stack_.rend() && compared < max_compared;
             ++file, ++compared) {
            const InstalledPath& there = (*file)->place;
            if (!is_of_one_python(there, one.place)) continue;
            if (is_below(one, **file)) {
                if (one.place.path.starts_with(there.path)) return report_conflict(one, **file);
            } else if (!one.is_directory && there.path == one.place.path) {
                return report_twice(one, **file);
            } else if (other == nullptr && may_be_one_file(there.path, one.place.path)) {
                other = *file;
            }
        }
        if (one.is_directory) return;
        if (other != nullptr) report_case(one, *other);
        if (compared < max_compared) stack_.push_back(&one);
    }

  private:
    static constexpr std::size_t max_compared =
        64;  // of one name in any case and for any Python: the wheel chooses both

    void report_conflict(const Installed& one, const Installed& file) {
        const std::string found = "a file " + std::string(file.member);
        one.is_directory ? findings_.add("zip.name_conflict", one.member, {}, found)  // pip skips folders
                         : findings_.add_final("zip.name_conflict", one.member, {}, found);
    }
    void report_twice(const Installed& one, const Installed& file) {
        // One name twice in the archive is zip.name_duplicate.
        if (one.member != file.member)
            findings_.add_final("installed.path_twice", one.member, {}, file.member);
    }
    void report_case(const Installed& one, const Installed& file) {
        // Linux keeps both files, and published wheels have such ones: only what .data or metadata may hide
        // is final.
        const bool is_plain = one.place.scheme.empty() && file.place.scheme.empty() &&
                              !one.place.path.starts_with(info_.folder + "/");
        is_plain ? findings_.add("zip.name_case", one.member, {}, file.member)
                 : findings_.add_final("zip.name_case", one.member, {}, file.member);
    }

    const DistInfo& info_;
    Findings& findings_;
    std::vector<const Installed*> stack_;  // files with the last name, and those that are its parents
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

void check_collisions(const std::vector<Named>& members, const DistInfo& info,
                      const wheel::WheelFilename& filename, Findings& findings) {
    const std::vector<std::string_view> names = script_names(info.entry_points);
    const std::set<std::string_view> scripts(names.begin(), names.end());
    std::vector<Installed> tree;
    tree.reserve(members.size() + scripts.size());
    const auto add = [&](std::string_view member, const InstalledPath& place, bool is_directory) {
        if (!is_directory) check_place(member, place, filename, findings);
        if (!is_directory && is_folder_of_environment(place))
            findings.add("zip.name_conflict", member, {}, "a folder of each environment");
        if (!place.path.empty()) tree.push_back({member, place, sorting_key(place), is_directory});
    };
    const std::string entry_points = info.folder + "/entry_points.txt";
    const std::string below_entry_points = entry_points + "/";
    for (const Named& member : members) {
        if (member.path.starts_with(below_entry_points))  // uv reads it as a file
            findings.add("zip.name_conflict", member.name, {}, entry_points);
        const InstalledPath place = installed_path(member.path);
        const bool is_twice = place.scheme == "scripts" && scripts.count(place.path) != 0;
        if (is_twice) findings.add("installed.script_twice", member.name, {}, entry_points);
        if (place.folder != InstallFolder::none && !is_left_out(place, scripts))
            add(member.name, place, member.is_directory());
    }
    for (const std::string_view script : scripts)
        add(entry_points, {InstallFolder::programs, script, {}, {}}, false);
    std::stable_sort(tree.begin(), tree.end(),
                     [](const Installed& a, const Installed& b) { return a.key < b.key; });
    Collisions collisions(info, findings);
    for (const Installed& one : tree)
        collisions.take(one);
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
    std::deque<std::string> cleaned;
    std::vector<Named> members;
    members.reserve(frame.members.size());
    for (const Member& member : frame.members)
        members.push_back({member.name, clean_path(member.name, cleaned)});
    check_data_folders(members, info, filename, findings);
    check_metadata_of_others(members, findings);
    check_collisions(members, info, filename, findings);
}

namespace {

// Accents, the voice marks of kana, vowels and last consonants of Hangul: they join the letter before.
constexpr CodePoints marks[] = {{0x300, 0x36f}, {0x1160, 0x11ff}, {0x3099, 0x309a}};
// Letters that also have a spelling with such marks, and their neighbours.
constexpr CodePoints composed[] = {{0xc0, 0x233},   {0x386, 0x390},   {0x3aa, 0x3b0},   {0x3ca, 0x3ce},
                                   {0x400, 0x40f},  {0x419, 0x419},   {0x439, 0x439},   {0x450, 0x45f},
                                   {0x4c1, 0x4f9},  {0x1100, 0x115f}, {0x1e00, 0x1fff}, {0x304b, 0x30ff},
                                   {0xac00, 0xd7a3}};

template <std::size_t count>
bool is_in(const CodePoints (&ranges)[count], char32_t point) {
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [&](const CodePoints& range) { return point >= range.first && point <= range.last; });
}

char32_t lower(char32_t point) {
    const auto is_between = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
    if (is_between('A', 'Z') || (is_between(0xc0, 0xde) && point != 0xd7) || is_between(0x391, 0x3a9) ||
        is_between(0x410, 0x42f))
        return point + 0x20;
    if (is_between(0x400, 0x40f)) return point + 0x50;
    const bool has_upper_first = is_between(0x100, 0x137) || is_between(0x14a, 0x177) ||
                                 is_between(0x460, 0x481) || is_between(0x1e00, 0x1e95) ||
                                 is_between(0x1ea0, 0x1eff);
    if (has_upper_first) return point | 1;
    if (is_between(0x139, 0x148) || is_between(0x179, 0x17e)) return point + (point & 1);
    return point;
}

bool is_ascii_name(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::u32string lower_points(std::string_view name) {
    std::u32string points;
    for (std::size_t at = 0; at < name.size();)
        points.push_back(lower(take_code_point(name, at)));
    return points;
}

}  // namespace

std::string folded_name(std::string_view name) {
    if (is_ascii_name(name) || !base::is_utf8(name)) return base::ascii_lower(name);
    constexpr char32_t placeholder = '?';
    std::u32string folded;
    for (const char32_t point : lower_points(name)) {
        if (is_in(marks, point) && !folded.empty() && folded.back() != '/')
            folded.back() = placeholder;
        else
            folded.push_back(is_in(composed, point) ? placeholder : point);
    }
    std::string key;
    for (const char32_t point : folded) {
        if (point < 0x80)
            key.push_back(static_cast<char>(point));
        else  // any bytes that are no ASCII
            for (const int shift : {14, 7, 0})
                key.push_back(static_cast<char>(0x80 | (point >> shift & 0x7f)));
    }
    return key;
}

bool may_be_one_file(std::string_view a, std::string_view b) {
    if (!base::is_utf8(a) || !base::is_utf8(b)) return base::ascii_lower(a) == base::ascii_lower(b);
    const std::u32string one = lower_points(a), other = lower_points(b);
    const auto has_mark = [](const std::u32string& points) {
        return std::any_of(points.begin(), points.end(), [](char32_t point) { return is_in(marks, point); });
    };
    return one == other || has_mark(one) != has_mark(other);
}

}  // namespace wheelyard::inspect
