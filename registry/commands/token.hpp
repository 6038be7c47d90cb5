// `wheelyard-registry token create|list|revoke|forget` and `agent enrol|revoke`: the tokens of a local data folder, beside a
// running server or without one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct TokenCreateArguments {
    std::filesystem::path config;
    std::string name;  // of `enrol` the site
    std::vector<std::string> indexes;
    std::vector<std::string> projects = {};   // none: all
    std::vector<std::string> actions = {};    // none: upload
    std::optional<std::string> expires = {};  // "90d"; none: never
    bool json = false;
    std::filesystem::path to = {};  // a new file for the token's text; empty: it is printed
};
struct TokenArguments {
    std::filesystem::path config;
    bool json = false;  // of `list`
    std::string id;     // of `revoke`; of `forget` a person's name, of `agent revoke` a site
};
void add_token_create_options(CLI::App& command, TokenCreateArguments& arguments);
void add_token_list_options(CLI::App& command, TokenArguments& arguments);
void add_token_revoke_options(CLI::App& command, TokenArguments& arguments);
void add_token_forget_options(CLI::App& command, TokenArguments& arguments);
void add_agent_enrol_options(CLI::App& command, TokenCreateArguments& arguments);
void add_agent_revoke_options(CLI::App& command, TokenArguments& arguments);

// Prints the token's text or writes it to `to`. It cannot be shown again.
[[nodiscard]] base::Status run_token_create(const TokenCreateArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_token_list(const std::filesystem::path& config, bool json,
                                          const base::Clock& clock);
[[nodiscard]] base::Status run_token_revoke(const std::filesystem::path& config, const std::string& id,
                                            const base::Clock& clock);
// Removes all log-ins of a person, and with them the name that people see.
[[nodiscard]] base::Status run_token_forget(const std::filesystem::path& config, const std::string& person);
// Makes a one-use code, by which the agent of a site enrols.
[[nodiscard]] base::Status run_agent_enrol(const TokenCreateArguments& arguments, const base::Clock& clock);
// Ends the code, the renewal and the tokens of the agent.
[[nodiscard]] base::Status run_agent_revoke(const TokenArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
