// The wheel that an attempt's job wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "builder/attempt/attempt.hpp"
#include "builder/site/recipe.hpp"
#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Error "wheel.count": not exactly one.
[[nodiscard]] base::Result<std::filesystem::path> find_wheel(const Attempt& attempt, const Ports& ports);
// Inspects `file`, or returns the last inspection if it was of this file. Valid until the next call.
[[nodiscard]] base::Result<const inspect::Inspection*> inspection_of(const Attempt& attempt, Ports& ports,
                                                                     const std::filesystem::path& file);
// Where the wheel stays on a site without a registry.
[[nodiscard]] std::filesystem::path kept_wheel(const Attempt& attempt, const Ports& ports);

// The variant (PEP 825) of the wheel that an attempt built, for the index of `registry.variants_to`.

// Says whether one is made: its accelerator declares one, and the wheel has a platform. Never for a task,
// which has one wheel.
[[nodiscard]] bool wants_variant(const Attempt& attempt, const Ports& ports);

// Writes it into the attempt's folder and records it. Errors: those of inspect::prove_variant(),
// inspect::write_variant_wheel(), "variant.refused" (the registry's rules).
[[nodiscard]] base::Status make_variant(Attempt& attempt, Ports& ports);

// A wheel without compiled code, of a source that has an extension module: the build went on without it. Most
// projects do so silently where there is no compiler, and the wheel is slow, or lacks what its users came
// for.

// A line of a log.
struct LogLine {
    std::uint64_t number = 0;  // from 1
    std::string text;
};

// Pure: where the log of a build says that an extension was begun or left out; the reason, if a line after
// that gives one.
//
//     building 'markupsafe._speedups' extension
//     error: command 'gcc' failed: No such file or directory                    ← this one
//     WARNING: The C extension could not be compiled, speedups are not enabled.
//
// Only of the build itself: what it requires may be built before, in the same job.
[[nodiscard]] std::optional<LogLine> find_left_out_extension(std::string_view log);

// What in the project's own build files says that it can have an extension: "mypycify in setup.py"; empty:
// nothing.
[[nodiscard]] std::string extension_in_source(const std::filesystem::path& project);

// What people should know of a pure wheel; empty: nothing.
[[nodiscard]] std::string notice_of_pure_wheel(const Recipe& recipe, const std::filesystem::path& project);

}  // namespace wheelyard::builder
