// Environment variables of a governed build. The interposer, which links nothing, reads them too.
#pragma once

namespace wheelyard::governor {

inline constexpr const char* socket_variable = "WHEELYARD_GOVERNOR_SOCKET";
inline constexpr const char* root_variable = "WHEELYARD_GOVERNOR_ROOT";
inline constexpr const char* held_variable = "WHEELYARD_GOVERNOR_HELD";  // set below a governed compile
inline constexpr const char* jobs_variable = "WHEELYARD_GOVERNOR_JOBS";  // the window, or the cap
// Set if a form of calling a compiler does not pass through the launcher: no -j may be raised.
inline constexpr const char* capped_variable = "WHEELYARD_GOVERNOR_CAPPED";
inline constexpr const char* cores_variable = "WHEELYARD_GOVERNOR_CORES";
// Set below a make that got the window.
inline constexpr const char* raised_variable = "WHEELYARD_GOVERNOR_RAISED";
inline constexpr const char* shims_variable = "WHEELYARD_GOVERNOR_SHIMS";      // folder of the links on PATH
inline constexpr const char* program_variable = "WHEELYARD_GOVERNOR_PROGRAM";  // path of wheelyard-governor
inline constexpr const char* interposer_variable = "WHEELYARD_GOVERNOR_INTERPOSER";  // path in LD_PRELOAD
// Set in the self-test: the launcher answers instead of running its compiler.
inline constexpr const char* probe_variable = "WHEELYARD_GOVERNOR_PROBE";

// GCC's AddressSanitizer refuses to start behind another preloaded library unless this option is set.
inline constexpr const char* asan_option = "verify_asan_link_order=0";

}  // namespace wheelyard::governor
