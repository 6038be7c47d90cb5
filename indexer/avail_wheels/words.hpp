// The raw values of the command line, and the options in the form that help, the manual page and completion
// need.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"

namespace wheelyard::avail_wheels {

struct Words {
    std::vector<std::string> wheels;
    std::vector<std::string> names;
    std::vector<std::string> requirement_files;
    std::string lock_file;
    std::vector<std::string> lock_extras;
    std::vector<std::string> lock_groups;
    std::string version;
    std::vector<std::string> pythons;
    std::vector<std::string> archs;
    std::vector<std::string> columns;
    std::string format;  // empty: simple
    std::string index_url;
    std::string wheelhouse;
    std::string site_file;
    std::string on;
    std::string color = "auto";
    std::string completion;     // bash, zsh, fish
    std::string complete_name;  // the prefix to complete
    std::vector<std::string> assumptions;
    std::vector<std::string> requests;
    bool all = false;
    bool all_versions = false;
    bool all_pythons = false;
    bool all_archs = false;
    bool raw = false;
    bool condense = false;
    bool not_available = false;
    bool not_available_only = false;
    bool json = false;
    bool mediawiki = false;
    bool here = false;
    bool why = false;
    bool modules = false;
    bool install_line = false;
    bool request_missing = false;
    bool status = false;
    bool web = false;
    bool refresh = false;
    bool no_pager = false;
    bool manual = false;
    bool completes_name = false;  // --complete-name was given, possibly empty
};

// Reads requirements files and the site file; no other I/O. Errors "usage.*" and those of the
// files; ErrorKind::missing: no index and no folder is set.
[[nodiscard]] base::Result<Options> understand(const Words& words, const EnvironmentMap& environment);

[[nodiscard]] const std::vector<std::string>& color_choices();

struct OptionHelp {
    std::vector<std::string> names;  // "-p", "--python"; empty: the positional names
    std::string value;               // "PYTHON"; empty: a flag
    bool takes_many = false;
    std::string help;
    std::string group;
    std::vector<std::string> choices;
};

// Prints a script for `eval "$(avail_wheels --completion bash)"`. `shell` is one of completion_shells().
[[nodiscard]] const std::vector<std::string>& completion_shells();
[[nodiscard]] std::string render_completion(const std::string& shell, const std::vector<OptionHelp>& options);
// man(7): `avail_wheels --man | man -l -`.
[[nodiscard]] std::string render_manual(const std::vector<OptionHelp>& options,
                                        const std::string& description, const std::string& examples);

}  // namespace wheelyard::avail_wheels
