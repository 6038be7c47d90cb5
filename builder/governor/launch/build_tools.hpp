// What the shims for ninja and make add to a call: a -j far above the number of cores, so that ready compiles
// wait in the broker. An explicit -j and queries stay unchanged. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::governor {

enum class Jobs {
    as_given,  // the call is passed on unchanged
    window,    // -j with the window
    few,       // a small -j, for a make that cannot reach its parent's jobserver
    one,       // -j1, for such a make with several goals
};

[[nodiscard]] bool is_ninja(std::string_view name);
[[nodiscard]] bool is_make(std::string_view name);

[[nodiscard]] Jobs jobs_for_ninja(const std::vector<std::string>& arguments);

struct MakeEnvironment {
    std::string flags;            // MAKEFLAGS
    bool below_ours = false;      // a parent make got its -j from us
    bool jobserver_open = false;  // the jobserver in `flags` can be used
};
// `$(MAKE)` in a recipe shares its parent's jobserver and stays unchanged. A plain `make` cannot, because GNU
// make closes the descriptors; it would warn and continue with -j1. If the jobserver exists because of our
// -j, the shim prevents that warning. Several goals (`make clean all`) without a -j are made one after the
// other, so they must not run in parallel.
[[nodiscard]] Jobs jobs_for_make(const std::vector<std::string>& arguments,
                                 const MakeEnvironment& environment);

// The number of the last -j in the arguments of ninja or make, 0 for make's -j without one; nullopt without a -j, and
// for a call that builds nothing.
[[nodiscard]] std::optional<unsigned> given_jobs(bool of_ninja, const std::vector<std::string>& arguments);

// The jobserver in MAKEFLAGS: "3,4" (descriptors to read and to write), "fifo:PATH", or "".
[[nodiscard]] std::string jobserver_of(std::string_view makeflags);
// MAKEFLAGS without the jobserver and -j.
[[nodiscard]] std::string without_jobserver(std::string_view makeflags);

}  // namespace wheelyard::governor
