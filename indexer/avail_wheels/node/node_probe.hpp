// Detects the properties of this node: from /proc, /sys and files where possible, otherwise from nvidia-smi,
// rocminfo, amd-smi and the Python itself. The result is cached, so that the next call starts no process.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/avail_wheels/node/node.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/process.hpp"

namespace wheelyard::avail_wheels {

using EnvironmentMap = std::map<std::string, std::string>;

// All access to the host; tests substitute a folder and recorded command output.
struct HostProbe {
    std::filesystem::path root = "/";  // the parent of /proc, /sys and /lib
    EnvironmentMap environment;
    std::string host;
    std::string machine;  // uname -m
    std::function<base::Result<base::Finished>(const base::Command&)> run;
};
[[nodiscard]] HostProbe local_host_probe(EnvironmentMap environment);

// True if programs of this host run on musl: its loader exists and no glibc. Starts no process.
[[nodiscard]] bool is_musl_host(const HostProbe& probe);

// Never fails; undetected properties stay unknown.
[[nodiscard]] Node probe_node(const HostProbe& probe);
// Uses the cache if it is at most a day old and was written on this host, since its last boot, in this job
// and with this Python; otherwise probes and writes the cache. Modules are always those of the environment.
[[nodiscard]] Node known_node(const HostProbe& probe, const base::Clock& clock);

// $XDG_CACHE_HOME/wheelyard or ~/.cache/wheelyard; empty if neither variable is set.
[[nodiscard]] std::filesystem::path cache_folder(const EnvironmentMap& environment);

// Parses `nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader`: one line per GPU.
// Ignores other lines.
void read_nvidia_smi(std::string_view text, Node& node);
// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …".
[[nodiscard]] std::optional<Dotted> driver_of_proc(std::string_view text);
// rocminfo: "  Name:                    gfx90a" and the ISA "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" of
// agents.
void read_rocminfo(std::string_view text, Node& node);
// `amd-smi static --asic --json`: {"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI210",
// "target_graphics_version": "gfx90a", …}}, …]}; up to ROCm 6.3 only the array, and "gfx9008" for gfx908
// (changelog of https://rocm.docs.amd.com/projects/amdsmi). A site's tools may print warnings before it.
void read_amd_smi(std::string_view text, Node& node);
// Finds the text "… stable release version 2.36." in a libc.so.6.
[[nodiscard]] std::optional<Dotted> glibc_of_library(std::string_view bytes);

}  // namespace wheelyard::avail_wheels
