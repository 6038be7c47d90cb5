// What site.toml says of a batch system's queue.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::builder {

// The batch system's options of every job, apart from its name and its size.
struct QueueSettings {
    std::string queue;  // Slurm: partition
    std::string account;
    int gpus = 0;                      // per node
    std::vector<std::string> options;  // one directive line each: "--qos=standard", "-l place=excl"
};

}  // namespace wheelyard::builder
