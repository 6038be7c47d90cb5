// [build-system] of pyproject.toml (PEP 518, PEP 517): what a project needs before its back end can run.
// Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct BuildSystem {
    std::vector<std::string> build_requires = {"setuptools>=40.8.0"};  // PEP 518's default
    std::string back_end = "setuptools.build_meta:__legacy__";         // PEP 517's default
    std::vector<std::string> back_end_path;
};

// Errors: "source.pyproject" (not TOML, a requirement that is none, or a back end that is not a module name).
[[nodiscard]] base::Result<BuildSystem> parse_build_system(std::string_view pyproject);
// Returns the default if `project` has no pyproject.toml. Errors: those above; "file.not_regular" (lib/base/files/untrusted_file.hpp).
[[nodiscard]] base::Result<BuildSystem> read_build_system(const std::filesystem::path& project);

}  // namespace wheelyard::builder
