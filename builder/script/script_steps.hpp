// The steps of a build script that recipe and site control: compiler cache, patches, `before`, `configure`, the front end, the
// wheel's metadata, the tests. Pure.
#pragma once

#include <string>

#include "builder/script/script.hpp"
#include "builder/site/script_setup.hpp"

namespace wheelyard::builder {

// The site's compiler cache (work.compiler_cache_gib of site.toml): ccache in the work folder, shared by all builds of the
// site. Runs in the project's folder, after its requirements are installed and before anything of it is compiled. Empty
// for a site without a cache, and for a reproduction.
//
// An object is found again whichever attempt's folder its source is in: paths below the build's folder are relative in
// the keys (CCACHE_BASEDIR), and the current folder is no part of them (CCACHE_NOHASHDIR).
// https://ccache.dev/manual/latest.html#_configuration_options
[[nodiscard]] std::string render_compiler_cache(const ScriptInput& input);

// Patches and `before` (both once per build tree), then `configure`.
[[nodiscard]] std::string render_tree_steps(const ScriptInput& input, const Placeholders& values);
// `before` of a wheel that is taken from an upstream: it has no tree, and runs in the attempt's folder.
[[nodiscard]] std::string render_upstream_steps(const ScriptInput& input, const Placeholders& values);

// Downloads an upstream wheel into the folder `to`: from the job's wheelhouse, else from the recipe's index, else
// from the index that the agent's pip is configured to use; of a closure's cell by its hash.
[[nodiscard]] std::string render_upstream_download(const ScriptInput& input, bool from_wheelhouse,
                                                   const std::string& to);

// `governor` is the command prefix that runs the build under the governor; empty: without it.
[[nodiscard]] std::string render_build_step(const ScriptInput& input, const std::string& governor);

// Sets the wheel's full version and pins the package that it was built against; empty where neither is
// needed.
[[nodiscard]] std::string render_metadata_step(const ScriptInput& input);

[[nodiscard]] std::string render_smoke_step(const ScriptInput& input, const Placeholders& values);

}  // namespace wheelyard::builder
