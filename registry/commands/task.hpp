// `wheelyard-registry task add|list|show|log|approve|reject|cancel`: on the data folder (--config, beside a running server
// or without one) or over HTTP (--url and --token-file).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct TaskArguments {
    wire::TaskRequest request;
    // of `add`: a wheel for each Python on each accelerator of each index
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::vector<std::string> more_indexes;
    std::string
        source_index;  // of `add`: that has the uploaded source distribution; empty: the recipe's source
    std::string id;
    std::string state;  // of `list`; empty: all
    std::string reason;
    std::filesystem::path config;      // of a local data folder; or:
    std::string url;                   // of a remote registry
    std::filesystem::path token_file;  // with url
    bool json = false;
    bool raw = false;  // of `log`: as it is, also on a terminal
};

void add_task_add_options(CLI::App& command, TaskArguments& arguments);
void add_task_list_options(CLI::App& command, TaskArguments& arguments);
void add_task_show_options(CLI::App& command, TaskArguments& arguments);
void add_task_log_options(CLI::App& command, TaskArguments& arguments);
void add_task_approve_options(CLI::App& command, TaskArguments& arguments);
void add_task_end_options(CLI::App& command, TaskArguments& arguments);  // of `reject` and `cancel`
[[nodiscard]] base::Status run_task_add(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_list(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_show(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_log(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_approve(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_reject(const TaskArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_task_cancel(const TaskArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
