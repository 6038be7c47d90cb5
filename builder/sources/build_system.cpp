// Reads [build-system] of a project.
#include "builder/sources/sources.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_pyproject_bytes = base::mib;

bool is_back_end(std::string_view text) {  // "module.path:object.path"
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '_' || c == '.' || c == ':';
    });
}

}  // namespace

base::Result<BuildSystem> parse_build_system(std::string_view pyproject) {
    auto document = io::TomlDocument::parse(pyproject, "pyproject.toml");
    if (!document) return base::fail("source.pyproject", document.error().sentence, document.error().value);
    BuildSystem system;
    io::TomlTable root = document->root();
    if (!root.has("build-system")) return system;
    // Unknown keys are accepted: the other tables of a pyproject.toml belong to other tools.
    io::TomlTable table = root.table("build-system");
    system.build_requires = table.strings_or("requires", {});
    system.back_end = table.string_or("build-backend", system.back_end);
    system.back_end_path = table.strings_or("backend-path", {});
    if (system.back_end == BuildSystem().back_end && system.build_requires.empty())
        system.build_requires = BuildSystem().build_requires;
    // pip would take any other text for an option, a file or a folder.
    for (const auto& text : system.build_requires) {
        const auto requirement = wheel::Requirement::parse(text);
        if (!requirement) {
            return base::fail("source.pyproject",
                              "An entry of build-system.requires is not a requirement (PEP 508): " +
                                  requirement.error().sentence,
                              text, "see PEP 518");
        }
    }
    if (!is_back_end(system.back_end)) {
        return base::fail("source.pyproject", "build-backend is not the name of a Python object",
                          system.back_end, "see PEP 517");
    }
    return system;
}

base::Result<BuildSystem> read_build_system(const std::filesystem::path& project) {
    const auto text = base::read_untrusted_file(project / "pyproject.toml", max_pyproject_bytes);
    if (text) return parse_build_system(*text);
    if (text.error().os_error != ENOENT) return tl::unexpected(text.error());
    return BuildSystem();
}

base::Status check_builds(const std::filesystem::path& project, const BuildSystem& system) {
    for (const auto& [file, text, does] : stub_marks()) {
        const auto content = file.empty() ? base::Result<std::string>(system.back_end)
                                          : base::read_untrusted_file(project / file, max_pyproject_bytes);
        if (!content || (file.empty() ? *content != text : content->find(text) == std::string::npos))
            continue;
        return base::fail(
            "source.stub",
            "The sdist is a stub: " + std::string(file.empty() ? text : file) + " " + std::string(does),
            project.filename().string(),
            "take the wheel: `from = \"upstream\"`, or the URL of the index that has it, in its [[want]]");
    }
    return {};
}

}  // namespace wheelyard::builder
