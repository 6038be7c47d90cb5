#include "lib/io/netrc_file.hpp"

#include <system_error>

namespace wheelyard::io {

namespace fs = std::filesystem;

std::optional<fs::path> other_netrc(const std::map<std::string, std::string>& environment) {
    if (const auto named = environment.find("NETRC"); named != environment.end()) return named->second;
    const auto home = environment.find("HOME");
    if (home == environment.end() || home->second.empty()) return std::nullopt;
    const fs::path folder = home->second;
    std::error_code ignored;
    if (fs::exists(folder / ".netrc", ignored) || !fs::exists(folder / "_netrc", ignored))
        return std::nullopt;
    return folder / "_netrc";
}

}  // namespace wheelyard::io
