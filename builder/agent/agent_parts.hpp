// The agent's dependencies: the steps' Ports, and more: the journal and the registry's tasks. main constructs
// them; referenced objects must outlive the agent.
#pragma once

#include "builder/attempt/journal.hpp"
#include "builder/remote/task_service.hpp"
#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

struct AgentParts : Ports {
    const Journal& journal;
    TaskService* tasks = nullptr;                 // nullptr: the site does not claim the registry's tasks
    bool is_unchecked = false;                    // jobs begin also while `site check` fails
    std::function<void()> resolve_closures = {};  // may change the wants of `site`; called under the lock
};

}  // namespace wheelyard::builder
