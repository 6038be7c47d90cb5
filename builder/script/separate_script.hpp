// The script of a job that builds an uploaded source: it runs the ordinary script in a namespace of
// bubblewrap, in which the attempt's folder is FOLDER/separate, and takes from there what the agent reads.
// Pure.
//
//     script.sh (the agent's user) ─► bwrap ─► separate/script.sh (claim … build … smoke) ─► separate/wheel/
//            └──────────── when all its processes are gone: wheel/, built_by, exit.json ◄────────┘
//
// A namespace has its own processes, /proc, /dev, /dev/shm and /tmp, the system's folders and those that the
// site names, all read-only, no network, and no variable but those listed here. It has no home, no /run, and
// no set-user-ID program gains rights in it: so no batch system or other service of the user takes its
// orders. `wheelyard-governor bound` runs it within the site's limits, and ends every process of it.
//
// What the build installs is in its wheelhouse before it starts (wheelhouse.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/script/script.hpp"
#include "builder/site/python.hpp"
#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::string_view fetch_script = "fetch.sh";  // in fetch/
inline constexpr std::int64_t agent_is_late_s =
    600;  // the agent ends a job that is overdue; this, one without an agent

// The site without what belongs to the agent or to other builds: compiler cache, scratch folder, network.
[[nodiscard]] Site for_namespace(Site site);

struct NamespaceBounds {  // of the job; 0: none
    std::int64_t memory_mib = 0;
    std::int64_t minutes = 0;
};
// Defines `separately FILE`, which runs the file of FOLDER/separate, and `fetching`. `$folder` must be set.
[[nodiscard]] std::string render_namespaces(const Site& site, const NamespaceBounds& job = {});
[[nodiscard]] std::string describe_namespace_bounds(const Site& site);

// `input.folder` as the job sees it.
[[nodiscard]] std::string render_separate_script(const ScriptInput& input);

// Says whether this agent can build uploaded sources so that their code cannot read what the agent keeps: its
// tokens, its state, other attempts, passwords of pip's configuration.

// The folders of the system that every such build reads.
[[nodiscard]] const std::vector<std::filesystem::path>& system_folders();

// Error "uploads.*": why it cannot, and what to change. Looks at folders and programs of this machine only.
// `user` runs the agent: the kernel bounds no processes of root, and what root's namespace may do in its own
// reaches further.
[[nodiscard]] base::Status check_separation(const Site& site,
                                            const std::map<std::string, base::Result<Python>>& pythons,
                                            std::string_view pip_conf, const EnvironmentMap& environment,
                                            uid_t user);

}  // namespace wheelyard::builder
