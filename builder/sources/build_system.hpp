// [build-system] of pyproject.toml (PEP 518, PEP 517): what a project needs before its back end can be asked.
// Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct BuildSystem {
    std::vector<std::string> build_requires = {
        "setuptools>=40.8.0"};  // PEP 518's default for projects that say nothing
    std::string back_end = "setuptools.build_meta:__legacy__";  // PEP 517's
    std::vector<std::string> back_end_path;
};

// Errors: "source.pyproject" (not TOML, or a back end that is no module name).
[[nodiscard]] base::Result<BuildSystem> parse_build_system(std::string_view pyproject);
// The default where `project` has no pyproject.toml.
[[nodiscard]] base::Result<BuildSystem> read_build_system(const std::filesystem::path& project);

}  // namespace wheelyard::builder
