// What a token may permit. TokenRow::actions has these words, or "*" for all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::catalog {

inline constexpr std::string_view upload_action = "upload";
inline constexpr std::string_view read_action = "read";  // reads private indexes
inline constexpr std::string_view audit_action = "audit";
inline constexpr std::string_view build_action = "build";  // claims tasks of the token's indexes
inline constexpr std::string_view task_action = "task";    // adds and cancels tasks
inline constexpr std::string_view approve_action =
    "approve";  // approves tasks with uploaded sources, or rejects them
inline constexpr std::string_view token_action = "token";  // creates, lists and revokes tokens of its scope
inline constexpr std::string_view index_action = "index";  // creates and changes indexes, for all of them

// Every one, also those of lifecycle::verbs().
[[nodiscard]] inline const std::vector<std::string>& token_actions() {
    static const std::vector<std::string> actions{"upload",     "read",  "audit",   "build",  "task",
                                                  "approve",    "token", "index",   "yank",   "delete",
                                                  "quarantine", "pin",   "promote", "status", "gc"};
    return actions;
}

}  // namespace wheelyard::catalog
