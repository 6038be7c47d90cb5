// By what a wheel was built: what the job said of its machine and tools, and its environment without secrets.
//
// `built_by` in the attempt's folder is written by script.sh before the build:
//
//     host <TAB> nid001234
//     system <TAB> Linux 5.14.21 x86_64
//     modules <TAB> PrgEnv-gnu/8.5.0:cray-mpich/8.1.28
//     tool <TAB> c++ <TAB> c++ (Debian 12.2.0-14) 12.2.0
#pragma once

#include <string_view>

#include "builder/attempt/job_files.hpp"
#include "builder/site/environment.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

// Pure. The job runs other people's code: what is malformed or too much is left out.
[[nodiscard]] wire::Provenance parse_built_by(std::string_view text);

// Of an attempt: as above, with the hash of its script and `environment`, in which values that may be secret
// are replaced.
[[nodiscard]] wire::Provenance read_provenance(const AttemptFolder& folder,
                                               const EnvironmentMap& environment);

// Pure: "(hidden)" for what a name (API_TOKEN) or a value (https://me:secret@proxy) gives away as secret.
[[nodiscard]] wire::NamedTexts without_secrets(const EnvironmentMap& environment);

}  // namespace wheelyard::builder
