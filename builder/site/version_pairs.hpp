// versions.toml: which versions go together, each row with its source. docs/reference/version-pairs.md is
// generated from site-configs/common/versions.toml.
//
//     pair = [
//         { package = "torch", versions = "<2.7", with = "cmake", allowed = "<4", use = "build",
//           source = "torch-cmake", why = "third_party/protobuf requires a policy that CMake 4 has removed" },
//     ]
//
//     [sources]
//     torch-cmake = "https://github.com/pytorch/pytorch/issues/150167"
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

enum class PairUse {
    companion,  // `package` of this version is built against `with`
    build,      // bounds a build requirement
    run,        // bounds a requirement of the installed wheel, and of its build
    tested,     // of the same as `machine`: what upstream builds, though its source refuses nothing else
    machine,  // of what the site provides, which the source refuses otherwise: a Python, a module, a library
    limit,    // of the version itself: what it does wrong until a later one. It bounds nothing
};

// Of what the site provides.
[[nodiscard]] constexpr bool is_of_machine(PairUse use) {
    return use == PairUse::machine || use == PairUse::tested;
}

// `with` of a row whose `allowed` are GPU architectures, of a package or of a toolkit ("cuda", "rocm").
inline constexpr std::string_view with_gpu = "gpu";
// The same of what is built against the package, for which the package chooses the compiler's options.
inline constexpr std::string_view with_extension_gpu = "extension-gpu";
// `with` of a limit: it holds everywhere, or where the site compiles the package; else on that processor, such
// as "x86_64".
inline constexpr std::string_view limit_anywhere = "any";
inline constexpr std::string_view limit_compiled = "compiled";

struct VersionPair {
    std::string package;  // normalised
    std::string versions;
    wheel::SpecifierSet version_set;
    std::string with;                 // "cmake", "python", "cuda", "libfabric"; with_gpu; limit_anywhere
    std::string allowed;              // empty: a limit
    wheel::SpecifierSet allowed_set;  // empty where is_of_gpu(), and of a limit
    PairUse use = PairUse::build;
    // A companion's wheel works with the version that it is built against and every newer one that is
    // allowed.
    bool stable_abi = false;
    std::vector<std::string> unless;  // variables: a build that has one of them does not meet the row
    std::string why;
    std::string source;  // a URL
    std::string place;   // "versions.toml:12:1"

    // "cmake<4"; "gpu sm_75 sm_80"
    [[nodiscard]] std::string bound() const;
    // "cmake<4 (torch<2.7: WHY; SOURCE; versions.toml:12:1)"
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool is_of_gpu() const { return with == with_gpu || with == with_extension_gpu; }
    // Whether such a row lets this GPU's code be compiled. "sm_80" allows that one, "sm_80+" each newer
    // one, too; "!gfx950" allows all but that. Suffixes ("sm_90a") do not count; features (":xnack-") count
    // in a package's row, which compares the names, and not in a toolkit's. A row says nothing of the GPUs of
    // a kind that it does not name: it allows them.
    [[nodiscard]] bool allows_gpu(std::string_view architecture) const;
};

// Errors: those of io::TomlDocument.
[[nodiscard]] base::Result<std::vector<VersionPair>> read_version_pairs(const std::filesystem::path& file);
[[nodiscard]] base::Result<std::vector<VersionPair>> parse_version_pairs(std::string_view text,
                                                                         const std::filesystem::path& file);

// A package and its version, as installed or built together.
using PackageVersion = std::pair<std::string, wheel::Version>;

// "torch==2.4.0+cu123" → torch, 2.4.0+cu123. Empty: no exact version.
[[nodiscard]] std::optional<PackageVersion> exact_version(std::string_view requirement);

// The rows of one of `uses` for any of `packages`.
[[nodiscard]] std::vector<VersionPair> pairs_for(const std::vector<VersionPair>& pairs,
                                                 const std::vector<PackageVersion>& packages,
                                                 const std::vector<PairUse>& uses);

// One constraint of pip for each package that the rows bound: "cmake<4", "setuptools<82,<70", sorted by name.
[[nodiscard]] std::vector<std::string> constraints_of(const std::vector<VersionPair>& pairs);

// The text of docs/reference/version-pairs.md.
[[nodiscard]] std::string render_version_pairs_markdown(const std::vector<VersionPair>& pairs);

}  // namespace wheelyard::builder
