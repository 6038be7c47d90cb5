// Where pip would look for packages: pip's own configuration, read as pip reads it, so that the agent takes
// sources from wherever the person's pip takes them (a mirror, a proxy, a folder).
//
// Precedence (https://pip.pypa.io/en/stable/topics/configuration/): environment PIP_* over files; among files
// PIP_CONFIG_FILE over site over user over global; within them [download] over [global].
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/ini.hpp"

namespace wheelyard::simple {

using Environment = std::map<std::string, std::string>;

struct PipFile {
    std::string kind;  // "global", "user", "site", "env"
    std::filesystem::path path;
};

// The files that pip would read, later ones winning; none when PIP_CONFIG_FILE is /dev/null.
[[nodiscard]] std::vector<PipFile> pip_files(const Environment& environment,
                                             const std::filesystem::path& prefix, bool config_file_exists);

// One value and the place it came from ("PIP_INDEX_URL", "/etc/pip.conf [global]").
struct PipValue {
    std::string value;
    std::string origin;
};

struct PipConfig {
    std::map<std::string, PipValue> values;  // option name → winner

    [[nodiscard]] std::string value(std::string_view option) const;
    [[nodiscard]] std::string origin(std::string_view option) const;
    [[nodiscard]] std::string index_url() const;  // empty: pip's default
    [[nodiscard]] std::vector<std::string> extra_index_urls() const;
    [[nodiscard]] std::vector<std::string> find_links() const;
    [[nodiscard]] std::vector<std::string> trusted_hosts() const;
    [[nodiscard]] bool no_index() const;
    // cert, proxy, timeout for our own requests.
    [[nodiscard]] io::HttpSettings http_settings() const;
};

// Pure: what wins, of environment and files (parsed, in the order of pip_files).
[[nodiscard]] PipConfig resolve_pip_config(const Environment& environment,
                                           const std::vector<std::pair<PipFile, Ini>>& files);

// A pip.conf that makes another pip find packages as this configuration does, whatever environment and files
// it sees otherwise: PIP_CONFIG_FILE names it. A proxy with a password in `environment` stands in it too.
// Holds what the configuration holds, passwords included.
[[nodiscard]] std::string render_pip_conf(const PipConfig& config, const Environment& environment);

// Whether `url` carries a user or a password, in any form that a proxy may be written in.
[[nodiscard]] bool holds_credentials(std::string_view url);

// Reads the files that exist. `prefix` is the interpreter's sys.prefix.
[[nodiscard]] base::Result<PipConfig> read_pip_config(const Environment& environment,
                                                      const std::filesystem::path& prefix);

// The index that a pip without any configuration uses, from the text of `pip download --help`; empty if it
// does not say.
[[nodiscard]] std::string parse_default_index(std::string_view help);

}  // namespace wheelyard::simple
