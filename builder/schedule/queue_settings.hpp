// What site.toml says of a batch system's queue.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::builder {

// The parts of a request, each set by a key of the site file or of a recipe.
enum class JobPart { minutes, memory, nodes, gpus, cores, options, account, queue };

// Those that a site's own filter may refuse to be named, and their words in site.toml.
struct NameablePart {
    JobPart part;
    std::string_view name;
};
inline constexpr std::array<NameablePart, 4> nameable_parts = {{
    {JobPart::memory, "memory"},
    {JobPart::cores, "cores"},
    {JobPart::gpus, "gpus"},
    {JobPart::nodes, "nodes"},
}};

// The batch system's options of every job, apart from its name and its size.
struct QueueSettings {
    std::string queue;  // Slurm: partition
    std::string account;
    int gpus = 0;                                // per node
    std::vector<std::string> options;            // one directive line each: "--qos=standard", "-l place=excl"
    std::vector<std::string> node_options = {};  // the same, of the nodes that its jobs are sent to
    // What no directive line may name here, because the site refuses such jobs: of cores, gpus, memory and nodes.
    std::vector<JobPart> not_asked = {};
    [[nodiscard]] std::vector<std::string> all_options() const {
        std::vector<std::string> all = options;
        all.insert(all.end(), node_options.begin(), node_options.end());
        return all;
    }
    [[nodiscard]] bool may_ask(JobPart part) const {
        return std::find(not_asked.begin(), not_asked.end(), part) == not_asked.end();
    }
};

}  // namespace wheelyard::builder
