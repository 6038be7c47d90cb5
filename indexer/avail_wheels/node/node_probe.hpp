// Finding out what this node is: from /proc, /sys and files where they say it, else from nvidia-smi,
// rocminfo, amd-smi and the Python itself. What was found is kept, so that the next call starts no process.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/avail_wheels/node/node.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process.hpp"

namespace wheelyard::avail_wheels {

using EnvironmentMap = std::map<std::string, std::string>;

// Everything that probing touches; tests put a folder and recorded answers in its place.
struct Ground {
    std::filesystem::path root = "/";  // where /proc, /sys and /lib are looked for
    EnvironmentMap environment;
    std::string host;
    std::string machine;  // uname -m
    std::function<base::Result<base::Finished>(const base::Command&)> run;
};
[[nodiscard]] Ground this_ground(EnvironmentMap environment);

// Never fails: what cannot be found out stays unknown.
[[nodiscard]] Node probe_node(const Ground& ground);
// From the cache where it was made on this host, since its last boot, in this job and with this Python, and
// not longer than a day ago; else by probing, and kept. Loaded modules are always those of the environment.
[[nodiscard]] Node known_node(const Ground& ground, const base::Clock& clock);

// $XDG_CACHE_HOME/wheelyard, else ~/.cache/wheelyard; empty where neither is set.
[[nodiscard]] std::filesystem::path cache_folder(const EnvironmentMap& environment);

// `nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader`: one line a GPU. Nothing is
// set where the text is no such list.
void read_nvidia_smi(std::string_view text, Node& node);
// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …".
[[nodiscard]] std::optional<Dotted> driver_of_proc(std::string_view text);
// rocminfo: "  Name:                    gfx90a" and the ISA "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" of
// agents.
void read_rocminfo(std::string_view text, Node& node);
// `amd-smi static --asic --json`: {"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI210",
// "target_graphics_version": "gfx90a", …}}, …]}; up to ROCm 6.3 the array alone, and "gfx9008" for gfx908
// (https://rocm.docs.amd.com/projects/amdsmi, its changelog). Tools of a site may write warnings before it.
void read_amd_smi(std::string_view text, Node& node);
// The text "… stable release version 2.36." inside of a libc.so.6.
[[nodiscard]] std::optional<Dotted> glibc_of_library(std::string_view bytes);

}  // namespace wheelyard::avail_wheels
