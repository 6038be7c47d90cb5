// What a user asks for: names, globs and specifiers from the command line or requirements files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::avail_wheels {

struct Wanted {
    std::string name;     // as given, without specifiers; shown if not available
    std::string pattern;  // normalised (PEP 503); may contain `*` and `?`
    wheel::SpecifierSet specifiers;
    std::optional<wheel::Marker> marker;
    std::string extras = {};             // of a lock: those of its marker's variable that count
    std::string dependency_groups = {};  // likewise
    std::string version_glob = {};       // "1.2*" of -v, matches public versions; empty: any
    std::vector<std::string> projects =
        {};  // where `name` is that of a module: those that install it, normalised

    std::vector<std::string> asked_extras = {};  // of a requirement: "socks" of requests[socks]
    std::vector<std::string> sha256s =
        {};  // of --hash in a requirements file: installers refuse other bytes; empty: any

    [[nodiscard]] bool is_glob() const;
    [[nodiscard]] bool matches(std::string_view project) const;  // takes a normalised name
};

// The names by which people import a project that has another one: "sklearn" of scikit-learn.
[[nodiscard]] std::vector<std::string> modules_of_project(std::string_view project);

// "numpy", "*cdf*", "numpy<1.23", "flash.attn", "torch[extra]==2.4.*". As in the Alliance's program,
// "numpy==*" is any version, and "torch+cu126" is torch. "sklearn" is scikit-learn, too. The file name of a
// wheel is its version. Error "wanted.invalid".
[[nodiscard]] base::Result<Wanted> parse_wanted(std::string_view text);

// Reads requirements.txt (comments, continued lines, ${VARIABLES}, nested -r, and bounds of -c; other options
// and URLs are ignored, because they do not name a project of an index), pyproject.toml ([project]
// dependencies) or pylock.toml (PEP 751).
[[nodiscard]] base::Result<std::vector<Wanted>> read_requirements(const std::filesystem::path& file,
                                                                  const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
