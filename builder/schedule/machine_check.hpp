// The lines of `wheelyard-builder site check`, and how a check queries the machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "builder/attempt/environment.hpp"

namespace wheelyard::builder {

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

}  // namespace wheelyard::builder
