// Parses names, globs and specifiers.
#include "indexer/avail_wheels/query/wanted.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::string_view glob_characters = "*?";

// Names that people import, of projects with another name. Those that may install it are separated by spaces.
struct ImportName {
    std::string_view module;  // normalised
    std::string_view projects;
};
constexpr ImportName import_names[] = {
    {"bio", "biopython"},
    {"bs4", "beautifulsoup4"},
    {"cv2", "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless"},
    {"crypto", "pycryptodome"},
    {"dateutil", "python-dateutil"},
    {"dotenv", "python-dotenv"},
    {"faiss", "faiss-cpu faiss-gpu"},
    {"git", "gitpython"},
    {"jwt", "pyjwt"},
    {"opencv", "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless"},
    {"pil", "pillow"},
    {"pytorch", "torch"},
    {"serial", "pyserial"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn"},
    {"umap", "umap-learn"},
    {"yaml", "pyyaml"},
    {"zmq", "pyzmq"},
};

std::vector<std::string> projects_of_module(std::string_view module) {
    std::vector<std::string> projects;
    for (const auto& one : import_names) {
        if (one.module != module) continue;
        for (const auto project : base::split(one.projects, ' '))
            projects.emplace_back(project);
    }
    return projects;
}

}  // namespace

std::vector<std::string> modules_of_project(std::string_view project) {
    std::vector<std::string> modules;
    for (const auto& one : import_names) {
        const auto projects = base::split(one.projects, ' ');
        if (std::find(projects.begin(), projects.end(), project) != projects.end())
            modules.emplace_back(one.module);
    }
    return modules;
}

namespace {

bool is_pattern_character(char c) {
    return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.' ||
           glob_characters.find(c) != std::string_view::npos;
}

tl::unexpected<base::Error> fail_wanted(std::string_view text, const std::string& why) {
    constexpr std::size_t max_shown = 100;
    return base::fail("wanted.invalid", why, std::string(text.substr(0, max_shown)),
                      "give a name, a glob or a requirement, as in: numpy '*cdf*' 'numpy<1.23'");
}

// The text without "==*", which any version satisfies, and without a local version that follows the name.
std::string simplified(std::string_view text) {
    const auto plus = text.find('+');
    if (plus != std::string_view::npos && text.find_first_of("<>=!~;@ ") > plus) text = text.substr(0, plus);
    std::string simple;
    for (auto part : base::split(text, ',')) {
        const auto equals = part.find("==");
        const bool is_any = equals != std::string_view::npos && base::trim(part.substr(equals + 2)) == "*";
        if (is_any) part = part.substr(0, equals);
        if (base::trim(part).empty()) continue;
        // What preceded "==*" is the name; the next specifier follows it directly.
        const bool follows_name = simple.find_first_of("<>=!~[") == std::string::npos &&
                                  base::trim(part).find_first_of("<>=!~") == 0;
        simple.append(simple.empty() || follows_name ? "" : ",").append(part);
    }
    return simple;
}

// A version as others separate it from its name: numpy=1.26 (conda), numpy/1.26 (modules), numpy:1.26
// (images), numpy@latest (npm), numpy 1.26. How it is said here; empty: nothing of that kind.
std::string misspelt_version(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_pattern_character(text[length]))
        ++length;
    const std::string name(text.substr(0, length));
    std::string_view rest = base::trim(text.substr(length));
    if (rest.starts_with('[')) rest = base::trim(rest.substr(std::min(rest.find(']'), rest.size() - 1) + 1));
    const auto version_begin = rest.find_first_not_of("@:/=");
    if (name.empty() || version_begin == std::string_view::npos) return {};
    const auto sign = base::trim(rest.substr(0, version_begin));
    const auto version = base::trim(rest.substr(version_begin));
    if (version == "latest" || version == "newest") return name + " alone lists the newest version";
    if (sign.starts_with("==")) return {};
    const auto plain = version.ends_with(".*") ? version.substr(0, version.size() - 2) : version;
    if (wheel::Version::parse(plain))
        return "A version follows ==, as in " + name + "==" + std::string(version);
    if (sign == "@" && version.find(':') == std::string_view::npos)
        return "An address follows @, and a version follows ==";
    return {};
}

// What a person typed in place of a name, and how it is said here; empty: nothing that is known.
std::string mistaken(std::string_view text) {
    constexpr std::string_view general_punctuation =
        "\xE2\x80";  // the dashes and quotes of texts: U+2010 to U+201F
    if (text.starts_with(general_punctuation))
        return "This dash or quote is that of a text, not of a shell: type - or '";
    const auto name_end = text.find_first_of("@<>=!~;[ ");
    const auto name = text.substr(0, name_end);
    if (name.find("://") != std::string_view::npos) return "An address is no name: give the project's name";
    if (name.find(',') != std::string_view::npos) return "Names are separated by spaces, not by commas";
    const bool is_path = text.starts_with('/') || text.starts_with('.') || text.starts_with('~');
    if (is_path && !text.ends_with(".whl"))
        return "A path is no name: a folder of wheels follows --wheelhouse, a file of requirements -r";
    return misspelt_version(text);
}

}  // namespace

bool Wanted::is_glob() const {
    return pattern.find_first_of(glob_characters) != std::string::npos;
}

bool Wanted::matches(std::string_view project) const {
    if (is_glob()) return base::matches_glob(pattern, project);
    return pattern == project || std::find(projects.begin(), projects.end(), project) != projects.end();
}

base::Result<Wanted> parse_wanted(std::string_view text) {
    if (const std::string mistake = mistaken(base::trim(text)); !mistake.empty())
        return fail_wanted(text, mistake);
    if (const auto slash = text.rfind('/'); text.ends_with(".whl")) {
        if (const auto file = wheel::parse_wheel_filename(text.substr(slash + 1)))  // npos + 1 is 0
            return parse_wanted(file->name + "==" + file->version.text());
        return fail_wanted(text, "This is not the file name of a wheel: give the project's name");
    }
    const std::string simple = simplified(base::trim(text));
    if (!simple.empty()) text = simple;
    const auto glob = text.find_first_of(glob_characters);
    if (glob == std::string_view::npos || glob > text.find_first_of("<>=!~;@")) {
        auto requirement = wheel::Requirement::parse(text);
        if (!requirement) return fail_wanted(text, requirement.error().sentence);
        Wanted wanted{requirement->name, requirement->project, std::move(requirement->specifiers),
                      std::move(requirement->marker)};
        wanted.projects = projects_of_module(wanted.pattern);
        wanted.asked_extras = std::move(requirement->extras);
        return wanted;
    }
    std::size_t length = 0;
    while (length < text.size() && is_pattern_character(text[length]))
        ++length;
    Wanted wanted;
    wanted.name = std::string(text.substr(0, length));
    wanted.pattern = wheel::normalize_name(wanted.name);
    auto specifiers = wheel::SpecifierSet::parse(base::trim(text.substr(length)));
    if (!specifiers) return fail_wanted(text, specifiers.error().sentence);
    wanted.specifiers = std::move(*specifiers);
    return wanted;
}

}  // namespace wheelyard::avail_wheels
