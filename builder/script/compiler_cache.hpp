// The site's compiler cache (work.compiler_cache_gib of site.toml) in a build's script: ccache in the work folder, shared
// by all builds of the site. Pure.
//
// An object is found again whichever attempt's folder its source is in: paths below the build's folder are relative in
// the keys (CCACHE_BASEDIR), and the current folder is no part of them (CCACHE_NOHASHDIR).
// https://ccache.dev/manual/latest.html#_configuration_options
#pragma once

#include <string>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// Runs in the project's folder, after its requirements are installed and before anything of it is compiled. Empty for a
// site without a cache, and for a reproduction.
[[nodiscard]] std::string render_compiler_cache(const ScriptInput& input);

}  // namespace wheelyard::builder
