// Which file of log-ins our programs read: the one that pip does.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace wheelyard::io {

// What $NETRC names, even where that is not there (a `~` in it is the shell's to replace); else ~/_netrc where there is no
// ~/.netrc. nullopt: ~/.netrc.
[[nodiscard]] std::optional<std::filesystem::path> other_netrc(
    const std::map<std::string, std::string>& environment);

}  // namespace wheelyard::io
