// The GPUs and the driver of a host, and how a row of the table asks for them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/text/dotted.hpp"

namespace wheelyard::accelerator {

struct Gpus {
    std::vector<std::string> archs;  // "sm_90", "gfx90a:xnack-"; empty: the node has no GPU
    std::vector<std::string> names;  // "NVIDIA H100 80GB HBM3"
};

struct FoundGpus {
    std::optional<Gpus> gpus;            // absent: unknown
    std::optional<base::Dotted> driver;  // NVIDIA's, 550.54.15

    // Each architecture and name once; nothing if `arch` is empty.
    void add(const std::string& arch, std::string_view name);
};

// What a probe may use of a host. Tests give it folders and recorded output.
struct HostAccess {
    // The content of a file; empty: it cannot be read.
    std::function<std::string(const std::string& path)> read;
    // The paths of the entries of a folder, sorted.
    std::function<std::vector<std::string>(const std::string& folder)> list;
    // The output of a program of PATH; empty: there is none, or it failed or hung.
    std::function<std::string(std::vector<std::string> command)> run;
};

}  // namespace wheelyard::accelerator
