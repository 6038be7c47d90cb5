// [[publisher]]: jobs of continuous integration that may upload with an identity token of their provider.
//
//     [[publisher]]
//     name = "solver"
//     issuer = "https://token.actions.githubusercontent.com"
//     index = "main"
//     projects = ["solver"]
//     claims = { repository_id = "740512", ref = "refs/tags/*", environment = "release" }
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "registry/identity/provider.hpp"

namespace wheelyard::registry {

struct PublisherConfig {
    std::string name;                  // in the names of its tokens: "solver"
    identity::ProviderRules provider;  // its `client_id` is the audience that tokens must have
    std::string index;
    std::vector<std::string> projects;  // "*" or normalised names
    std::vector<std::pair<std::string, std::string>>
        claims;  // exact texts, or the beginning of a ref and `*`
    std::string
        azp;  // the client that asks for the tokens, of a service account; empty: tokens are for us alone
    bool pull_requests = false;
};

}  // namespace wheelyard::registry
