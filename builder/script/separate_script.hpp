// The script of a job that builds an uploaded source: it runs the ordinary script in a namespace of bubblewrap, in which
// the attempt's folder is FOLDER/separate, and takes from there what the agent reads. Pure.
//
//     script.sh (the agent's user) ─► bwrap ─► separate/script.sh (claim … build … smoke) ─► separate/wheel/
//            └──────────── when all its processes are gone: wheel/, built_by, exit.json ◄────────┘
//
// The namespace has its own processes, /proc, /dev and /tmp, the system's folders and those that the site names, all
// read-only, and no variable but those listed here. It has no home, no /run, and no set-user-ID program gains rights in
// it: so no batch system or other service of the user takes its orders.
#pragma once

#include <string>
#include <string_view>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

inline constexpr std::string_view fetch_script = "fetch.sh";  // on the login node, in separate/

// The site without what belongs to the agent or to other builds: compiler cache, scratch folder.
[[nodiscard]] Site for_namespace(Site site);

enum class Network { shared, none };

// The command that runs the file of this name in FOLDER/separate. `$folder` must be set.
[[nodiscard]] std::string render_namespace(const Site& site, Network network, std::string_view file);

// `input.folder` as the job sees it.
[[nodiscard]] std::string render_separate_script(const ScriptInput& input);

}  // namespace wheelyard::builder
