// Keeps secrets out of what leaves the site: reports for the maintainers and for the registry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t max_token_bytes = 4 * base::kib;

// The site's tokens, to hide. Errors: those of reading their files.
[[nodiscard]] base::Result<std::vector<std::string>> secrets_of(const Site& site);
// Replaces each of `secrets`, everything in the form of a registry's token, and the user and password of
// every URL, by "(hidden)". Pure.
[[nodiscard]] std::string hide_secrets(const std::string& text, const std::vector<std::string>& secrets);
// The same by as many `*` as they have bytes: offsets stay those of the text. Pure.
[[nodiscard]] std::string mask_secrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace wheelyard::builder
