// A pattern matches file names in one folder, like a shell wildcard. A series is quilt's (quilt(1), "SERIES
// FILE"): a file name in a line, `#` begins a comment.
#include "builder/script/job_inputs.hpp"

#include <algorithm>
#include <string_view>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_patch_bytes = 16 * base::mib;
constexpr std::uint64_t max_series_bytes = base::mib;

}  // namespace

namespace fs = std::filesystem;

namespace {

using Paths = std::vector<fs::path>;

tl::unexpected<base::Error> no_patch(std::string sentence, const fs::path& value) {
    return base::fail("recipe.patch", std::move(sentence), value.string(),
                      "correct `files`, `series` or `versions` of that [[patch]]");
}

base::Result<Paths> matching_files(const fs::path& pattern, const std::string& version) {
    Paths found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(pattern.parent_path(), error)) {
        if (base::matches_glob(pattern.filename().string(), entry.path().filename().string()))
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    if (found.empty()) return no_patch("No patch of this name for version " + version, pattern);
    return found;
}

bool stays_inside(const fs::path& path) {
    return path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

base::Result<Paths> files_of_series(const fs::path& beside, const std::string& series) {
    const fs::path file = beside / series;
    const auto text = base::read_untrusted_file(file, max_series_bytes);
    if (!stays_inside(series) || !text)
        return no_patch("The series of patches cannot be read" + (text ? "" : ": " + text.error().sentence),
                        series);
    Paths found;
    for (const auto line : base::split_lines(*text)) {
        const std::string_view words = base::trim(line.substr(0, line.find('#')));
        if (words.empty()) continue;
        const fs::path name(words.substr(0, words.find_first_of(" \t")));
        const std::string_view options = base::trim(words.substr(name.native().size()));
        if (!options.empty() && options != "-p1")
            return no_patch("A series of patches has an option other than -p1", fs::path(words));
        if (!stays_inside(name) || found.size() >= max_patches)
            return no_patch("A series names a file outside of its folder, or more than " +
                                std::to_string(max_patches) + " patches",
                            name);
        found.push_back(file.parent_path() / name);
    }
    if (found.empty()) return no_patch("The series of patches is empty", series);
    return found;
}

}  // namespace

base::Result<Paths> find_patches(const Recipe& recipe, const std::string& version, const fs::path& beside) {
    Paths patches;
    const auto parsed = wheel::Version::parse(without_label(version));
    for (const auto& rule : recipe.patches) {
        if (parsed && !rule.versions.contains(*parsed, wheel::Prereleases::allowed)) continue;
        if (!rule.series.empty() && beside.empty()) continue;
        WHEELYARD_ASSIGN(const auto found, rule.series.empty() ? matching_files(rule.pattern, version)
                                                               : files_of_series(beside, rule.series));
        patches.insert(patches.end(), found.begin(), found.end());
    }
    return patches;
}

base::Result<std::string> digest_of_patches(const Paths& patches) {
    if (patches.empty()) return std::string();
    std::string all;
    for (const auto& patch : patches) {
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(patch, max_patch_bytes));
        all += patch.filename().string() + '\0' + bytes + '\0';
    }
    return base::sha256_hex(all);
}

base::Status put_patches(const Paths& patches, const fs::path& folder) {
    const fs::path into = folder / "patches";
    WHEELYARD_TRY(base::remove_tree(into));  // those of a recipe that has changed since
    if (patches.empty()) return {};
    WHEELYARD_TRY(base::make_directories(into));
    for (std::size_t i = 0; i < patches.size(); ++i) {
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(patches[i], max_patch_bytes));
        const std::string number = std::to_string(max_patches + 2 + i).substr(1);
        WHEELYARD_TRY(base::replace_file(into / (number + "-" + patches[i].filename().string()), bytes));
    }
    return {};
}

}  // namespace wheelyard::builder
