// What a batch system reports on a login node, for `site init`: its queues with their limits, its node types,
// and who may use them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/attempt/environment.hpp"

namespace wheelyard::builder {

// The lines of `wheelyard-builder site check`, and how a check queries the machine.

struct SiteLine {
    std::string what;  // "module gcc/12.2", "scheduler"
    bool good = false;
    std::string found;
    std::string advice;    // what to do when it is not good
    bool required = true;  // no build can do without it
};

// How a bash script ended, on the machine that runs the agent.
struct MachineAnswer {
    bool good = false;  // exit status 0
    std::string out;
    std::string last_line;  // of its output; if it is not good, the line of its errors that gives the reason
};
using AskMachine = std::function<MachineAnswer(const std::string& script)>;

// Runs a bash script on this machine, for at most a minute.
[[nodiscard]] MachineAnswer query_machine(const std::string& script, const EnvironmentMap& environment);

// The line of `text` that gives the reason of a failure. Pure.
[[nodiscard]] std::string reason_in(const std::string& text);

// What `site check --report` asks the machine: a command that staff could type.
struct MachineQuestion {
    std::string_view what;
    std::string_view command;  // bash
};

// The line of a query that is good if the machine has what the site asks for.
[[nodiscard]] inline SiteLine check_available(std::string what, const MachineAnswer& answer,
                                              std::string advice) {
    const std::string problem = answer.last_line.empty() ? "not found" : answer.last_line;
    return {std::move(what), answer.good, answer.good ? "available" : problem, std::move(advice)};
}

// The user who runs `site init`: some queues take jobs of certain users or groups only.
struct SurveyUser {
    std::string name;
    std::vector<std::string> groups;
};

struct QueueSurvey {
    std::string name;
    bool is_default = false;
    std::string closed;                     // why it takes no jobs of this user; empty: it takes them
    std::int64_t max_walltime_minutes = 0;  // 0: no limit
    std::int64_t max_memory_mib = 0;        // of one node; 0: no limit but the node's
    std::vector<std::string> accounts;      // the only accounts whose jobs it takes; empty: of any
    bool is_exclusive = false;              // its jobs have their nodes alone
    std::int64_t memory_per_core_mib = 0;   // that a job gets which asks for none; 0: not by the core
};

// Equal nodes of one queue.
struct NodeSurvey {
    std::string queue;  // empty: the batch system does not say which queues send jobs there
    std::int64_t count = 0;
    int cores = 0;  // physical, of one node
    std::int64_t memory_mib = 0;
    int gpus = 0;
    std::string gpu_type;               // as named by the batch system: "a100"; empty: not named
    std::vector<std::string> features;  // Slurm: for --constraint
};

struct BatchSurvey {
    std::string version;  // "slurm 22.05.8"
    std::string cluster;  // its name; empty: it has none
    std::vector<QueueSurvey> queues;
    std::vector<NodeSurvey> nodes;
    std::vector<std::string> accounts;  // of this user; empty: none, or not known
    std::vector<std::string> problems;  // what it did not answer, and why

    [[nodiscard]] const QueueSurvey* default_queue()
        const {  // nullptr: it has none that takes jobs of this user
        const QueueSurvey* first = nullptr;
        for (const QueueSurvey& queue : queues) {
            if (!queue.closed.empty()) continue;
            if (queue.is_default) return &queue;
            if (first == nullptr) first = &queue;
        }
        return first;
    }
};

// A project's account for GPUs beside the one for CPUs, whose name it extends.
struct AccountPair {
    std::string cpu, gpu;
};
// Finds those among `accounts`: "abc" and "abc-gpu" (Setonix), "m1234" and "m1234_g" (Perlmutter).
[[nodiscard]] std::vector<AccountPair> accounts_by_kind(const std::vector<std::string>& accounts);

// Says whether one of `names` is in `list`, which is separated by commas: of users or groups.
[[nodiscard]] bool lists_any(std::string_view list, const std::vector<std::string>& names);

}  // namespace wheelyard::builder
