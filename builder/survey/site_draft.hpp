// A commented site.toml from what a login node reports. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/survey/survey.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::builder {

// What a person decides; empty: what the survey suggests.
struct SiteRequest {
    std::string name;
    std::string registry;                  // the URL; empty: wheels stay in the work folder
    std::string index;                     // default: the name
    std::string token_file;                // default: "NAME.token" in the folder of site.toml
    std::string queue;                     // default: that of the batch system
    std::string account;                   // default: the user's only one
    std::filesystem::path folder;          // absolute, of state and work; empty: the home and scratch
    std::filesystem::path common_recipes;  // an installed site-configs/common; empty: there is none

    bool operator==(const SiteRequest&) const = default;
};

// Asks a person one question; an empty answer is `fallback`.
using AskPerson = std::function<std::string(const std::string& question, const std::string& fallback)>;

// What is wrong with the request so far; empty: nothing.
using CheckRequest = std::function<std::string(const SiteRequest& request)>;

// Asks for what the request lacks and the survey did not find; again, with what is wrong, until `check`
// accepts the answer.
[[nodiscard]] SiteRequest complete_request(const Survey& survey, SiteRequest request, const AskPerson& ask,
                                           const CheckRequest& check = {});

// "Yard 2" → "yard-2": a valid site name. Empty where nothing of the text can be part of one.
[[nodiscard]] std::string site_name_of(std::string_view text);
[[nodiscard]] std::string suggested_name(const Survey& survey);

// As many names of a list as fit into a comment.
[[nodiscard]] std::string some_of(const std::vector<std::string>& texts);

inline constexpr std::uint64_t min_build_bytes = 2 * base::gib;  // a work folder's, to build sdists

struct SiteDraft {
    std::string text;
    std::vector<std::string>
        fill_in;  // what a person must decide before `site check` passes; marked in the text
};

[[nodiscard]] SiteDraft draft_site(const Survey& survey, const SiteRequest& request);

}  // namespace wheelyard::builder
