// [[identity]]: providers by which people log in, and what their groups may do here.
//
//     [[identity]]
//     name = "campus"
//     issuer = "https://idp.example.org/realms/campus"
//     client_id = "wheelyard"
//     [[identity.allow]]
//     group = "/hpc/builders"
//     indexes = ["main"]
//     actions = ["read", "task", "approve"]
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/provider.hpp"

namespace wheelyard::registry {

// What one group may do: the scope of a token.
struct AllowRule {
    std::string group = {};  // exact text of the groups claim; empty: everyone whom the provider knows
    std::vector<std::string> indexes = {};
    std::vector<std::string> projects = {"*"};  // "*" or normalised names
    std::vector<std::string> actions = {};
    bool operator==(const AllowRule&) const = default;
};

struct IdentityConfig {
    std::string name;   // in addresses and in names of people: "campus"
    std::string title;  // for people; empty: the name
    identity::ProviderRules provider;
    std::filesystem::path client_secret_file = {};  // empty: a public client
    std::string scopes = "openid profile";
    std::string groups_claim = "groups";
    std::vector<AllowRule> allow = {};
    std::int64_t reading_s =
        7 * 24 * 3600;                    // life of a token for reading and requests: jobs start days later
    std::int64_t publishing_s = 15 * 60;  // of one for all else
    [[nodiscard]] const std::string& shown() const { return title.empty() ? name : title; }
};

// The actions that a token for reading has at most; those of other tokens last for minutes.
[[nodiscard]] bool is_reading_action(std::string_view action);

}  // namespace wheelyard::registry
