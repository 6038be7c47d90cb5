// A pattern matches file names in one folder, like a shell wildcard.
#include "builder/script/job_inputs.hpp"

#include <algorithm>

#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

base::Result<std::vector<fs::path>> find_patches(const Recipe& recipe, const std::string& version) {
    std::vector<fs::path> patches;
    const auto parsed = wheel::Version::parse(without_label(version));
    for (const auto& rule : recipe.patches) {
        if (parsed && !rule.versions.contains(*parsed, wheel::Prereleases::allowed)) continue;
        std::vector<fs::path> found;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(rule.pattern.parent_path(), error)) {
            if (base::matches_glob(rule.pattern.filename().string(), entry.path().filename().string()))
                found.push_back(entry.path());
        }
        std::sort(found.begin(), found.end());
        if (found.empty()) {
            return base::fail("recipe.patch", "No patch of this name for version " + version,
                              rule.pattern.string(), "correct `files` or `versions` of that [[patch]]");
        }
        patches.insert(patches.end(), found.begin(), found.end());
    }
    return patches;
}

base::Result<std::string> put_patches(const std::vector<fs::path>& patches, const fs::path& folder) {
    if (patches.empty()) return std::string();
    const fs::path into = folder / "patches";
    WHEELYARD_TRY(base::make_directories(into));
    std::string all;
    for (std::size_t i = 0; i < patches.size(); ++i) {
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(patches[i], base::mib));
        const std::string number = std::to_string(i + 1);
        const std::string name =
            (number.size() < 2 ? "0" : "") + number + "-" + patches[i].filename().string();
        WHEELYARD_TRY(base::replace_file(into / name, bytes));
        all += name + '\0' + bytes + '\0';
    }
    return base::sha256_hex(all);
}

}  // namespace wheelyard::builder
