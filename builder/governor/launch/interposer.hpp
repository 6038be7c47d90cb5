// Puts the interposer into the environment of a build, so that a compiler called by its path passes through
// the launcher (builder/governor/interposer). This program has its bytes; a file of them lies on the node
// during builds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

// The library; cmake/interposer.cmake compiles it and generates the source of these bytes.
[[nodiscard]] std::string_view interposer_bytes();

// Writes the library into the first of `folders` from which a program can be loaded. Returns its path; the
// name has the hash of the bytes, so that several versions and machines can share a folder. Error
// "governor.interposer": none is usable, for example because all are mounted noexec.
[[nodiscard]] base::Result<std::string> install_interposer(const std::vector<std::string>& folders);

// Adds `library` to this process's LD_PRELOAD, in front of what is there, and sets what the library reads.
// "": only removes what a governor around this one added.
void preload(const std::string& library);

// Values of LD_PRELOAD without `library` and of ASAN_OPTIONS without asan_option.
[[nodiscard]] std::string without_library(const std::string& preload, const std::string& library);
[[nodiscard]] std::string without_asan_option(const std::string& options);

// Nothing below this process is governed again: nvcc's gcc, ccache's compiler and a link-time optimizer's
// processes belong to this compile. Removes shims and interposer from the environment.
void mark_held();

}  // namespace wheelyard::governor
