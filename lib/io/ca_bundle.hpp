// Finds the system's CA bundle for a libcurl that was compiled without the path of one.
#pragma once

#include <filesystem>
#include <string>

namespace wheelyard::io {

// The first file with the certificates of trusted authorities that exists below `root`, or "". Distributions have
// different names for it.
[[nodiscard]] std::string find_ca_bundle(const std::filesystem::path& root = "/");

}  // namespace wheelyard::io
