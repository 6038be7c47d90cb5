// Reads pip's own configuration as pip does, so that the agent fetches sources from the same places as the
// user's pip (a mirror, a proxy, a folder).
//
// Precedence (https://pip.pypa.io/en/stable/topics/configuration/): environment PIP_* over files; among files
// PIP_CONFIG_FILE over site over user over global; within a file [download] over [global].
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

namespace wheelyard::simple {

// INI files with the rules of Python's strict configparser.RawConfigParser (no duplicate sections or
// options), which pip uses for its configuration:
// https://docs.python.org/3/library/configparser.html#supported-ini-file-structure

// section → option (lower case) → value. Continuation lines are joined by '\n'. Every section includes the
// options of [DEFAULT].
using Ini = std::map<std::string, std::map<std::string, std::string>>;

// Error "ini.syntax" includes `place` and the line number.
[[nodiscard]] base::Result<Ini> parse_ini(std::string_view text, std::string_view place);

using Environment = std::map<std::string, std::string>;

struct PipFile {
    std::string kind;  // "global", "user", "site", "env"
    std::filesystem::path path;
};

// The files that pip reads, in increasing precedence; none if PIP_CONFIG_FILE is /dev/null.
[[nodiscard]] std::vector<PipFile> pip_files(const Environment& environment,
                                             const std::filesystem::path& prefix, bool config_file_exists);

// A value and its origin ("PIP_INDEX_URL", "/etc/pip.conf [global]").
struct PipValue {
    std::string value;
    std::string origin;
};

struct PipConfig {
    std::map<std::string, PipValue> values;  // option name → winning value

    [[nodiscard]] std::string value(std::string_view option) const;
    [[nodiscard]] std::string origin(std::string_view option) const;
    [[nodiscard]] std::string index_url() const;  // empty: pip's default
    [[nodiscard]] std::vector<std::string> extra_index_urls() const;
    [[nodiscard]] std::vector<std::string> find_links() const;
    [[nodiscard]] std::vector<std::string> trusted_hosts() const;
    [[nodiscard]] bool no_index() const;
    // cert, proxy and timeout, for our own requests.
    [[nodiscard]] io::HttpSettings http_settings() const;
};

// Merges environment and files (parsed, in the order of pip_files). Pure.
[[nodiscard]] PipConfig resolve_pip_config(const Environment& environment,
                                           const std::vector<std::pair<PipFile, Ini>>& files);

// Renders a pip.conf for PIP_CONFIG_FILE that makes another pip find packages as this configuration does,
// regardless of its environment and files. Includes a proxy with credentials from `environment`. The result
// contains the configuration's passwords.
[[nodiscard]] std::string render_pip_conf(const PipConfig& config, const Environment& environment);

// Says whether `url` contains a user or a password, in any notation that proxy settings allow.
[[nodiscard]] bool holds_credentials(std::string_view url);

// Reads the files that exist. `prefix` is the interpreter's sys.prefix.
[[nodiscard]] base::Result<PipConfig> read_pip_config(const Environment& environment,
                                                      const std::filesystem::path& prefix);

// The default index of an unconfigured pip, from the output of `pip download --help`; empty if not found.
[[nodiscard]] std::string parse_default_index(std::string_view help);

}  // namespace wheelyard::simple
