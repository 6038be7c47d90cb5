// A folder of links named as the compilers on PATH, all to this program, at one constant place: a build that
// finds a compiler there keeps finding it, governed or not. A shim without a governor runs the real one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

// PATH without the folder of shims.
[[nodiscard]] std::string path_without(const std::string& path, const std::string& folder);
// The first executable `name` in `path` that is not this program itself; names with a slash are looked at as
// they are.
[[nodiscard]] std::optional<std::string> find_real(const std::string& name, const std::string& path);

// The file behind `name` and its links, as ccache behind the g++ of a masquerade folder; "" for none.
[[nodiscard]] std::string resolved_program(const std::string& name, const std::string& path);

// What sends a compile elsewhere where `compiler` is looked for in `path`: distcc behind the g++ of its
// masquerade folder, or of the one that a cache's masquerade folder stands before; "" for none.
[[nodiscard]] std::string masked_distributor(const std::string& compiler, std::string path);

// `command` as it was meant: compilers and caches that were found in `folder` are those further down `path`,
// since a cache tells compilers apart by their files; behind a cache we do not stand once more, nor another
// cache, nor one distributor behind another.
[[nodiscard]] std::vector<std::string> past_shims(std::vector<std::string> command, const std::string& folder,
                                                  const std::string& path);

// Makes (or completes) the folder with a link for every compiler, cache and build tool that `path` offers.
[[nodiscard]] base::Status make_shims(const std::string& folder, const std::string& path);
// WHEELYARD_GOVERNOR_SHIMS, else ~/.cache/wheelyard/governor/shims (XDG_CACHE_HOME).
[[nodiscard]] std::string shim_folder();
[[nodiscard]] std::string own_program();

}  // namespace wheelyard::governor
