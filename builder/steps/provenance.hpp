// A wheel's provenance: the machine and tools that its job recorded, and the environment without secrets.
//
// script.sh writes `built_by` into the attempt's folder before the build:
//
//     host <TAB> nid001234
//     system <TAB> Linux 5.14.21 x86_64
//     modules <TAB> PrgEnv-gnu/8.5.0:cray-mpich/8.1.28
//     tool <TAB> c++ <TAB> c++ (Debian 12.2.0-14) 12.2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "builder/attempt/environment.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/steps/ports.hpp"
#include "lib/wire/wheel_provenance.hpp"

namespace wheelyard::builder {

// Lines of built_by: tools, requirements, and facts about the job's machine.
inline constexpr std::size_t max_provenance_lines = 1'000;

// Pure. The job runs untrusted code, so malformed and excess lines are omitted.
[[nodiscard]] wire::Provenance parse_built_by(std::string_view text);

// Reads an attempt's provenance: as above, with the hash of its script, and `environment` with secret values
// replaced.
[[nodiscard]] wire::Provenance read_provenance(const AttemptFolder& folder,
                                               const EnvironmentMap& environment);

// The provenance of an attempt's build, from its folder, its site and its recipe.
[[nodiscard]] wire::Provenance provenance_of_build(const Attempt& attempt, const Ports& ports);
// The same for the upload of its wheel, which everybody may read: without host, and with only the variables
// of a list in provenance.cpp.
[[nodiscard]] wire::WheelProvenance provenance_of_wheel(const Attempt& attempt, const wire::WheelFile& wheel,
                                                        const Ports& ports);

// Pure: replaces a value by "(hidden)" if its name (API_TOKEN) or the value (https://me:secret@proxy) looks
// secret.
[[nodiscard]] wire::NamedTexts without_secrets(const EnvironmentMap& environment);

}  // namespace wheelyard::builder
