// The command line of avail_wheels: the Alliance's options and additional ones.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "indexer/avail_wheels/node/node_probe.hpp"
#include "indexer/avail_wheels/node/site.hpp"
#include "indexer/avail_wheels/proof/proof.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/simple/lock.hpp"

namespace wheelyard::avail_wheels {

enum class Color { automatic, always, never };

// Where wheels come from: exactly one of the first three.
struct SourceOptions {
    std::string index_url;
    std::filesystem::path wheelhouse;
    std::vector<std::filesystem::path> find_links;  // the folders of the Alliance's pip configuration
    bool refresh = false;                           // ask the index even if the cache is recent
    [[nodiscard]] bool is_named() const {
        return !index_url.empty() || !wheelhouse.empty() || !find_links.empty();
    }
};

struct DisplayOptions {
    RowOptions rows;
    std::string format = "simple";  // one of table_formats()
    bool raw = false;               // file names only
    Color color = Color::automatic;
    bool pager = true;
};

// The node that is asked about.
struct NodeOptions {
    std::string on;                        // a node type of the site; empty: this node
    std::vector<std::string> assumptions;  // KEY=VALUE, overrides for the node
    bool has_pythons = false;              // -p was given: the node's own Pythons are not used
    bool all_pythons = false;              // --all-pythons was given
};

// What is asked, each with the options that only it has.
struct ListMode {
    bool here = false;          // list only what runs on the node
    bool why = false;           // list everything, with whether it runs and why not
    bool all_machines = false;  // wheels for other machines are asked for, too
    bool install_line = false;
};
struct LockMode {
    simple::Lock lock;             // what is asked about instead of names
    std::string file;              // as given
    bool request_missing = false;  // asks the farm for what of the lock is not here
};
struct WebMode {};
struct StatusMode {};
struct RequestMode {
    std::vector<std::string> requirements;
};
struct CompletionMode {
    std::string start;  // of the names
};
using Mode = std::variant<ListMode, LockMode, WebMode, StatusMode, RequestMode, CompletionMode>;

struct Options {
    Query query;
    SourceOptions source;
    DisplayOptions display;
    NodeOptions node;
    Site site;
    std::string warning;  // for standard error; empty: none
    Mode mode;
};

// A text to print before exiting: help or version (status 0), or a usage error (status 2).
struct Leave {
    int status = 0;
    std::string text;
};

// `arguments` does not include the program's name; the help's lines have at most `help_columns`. Reads
// requirements files and the site file; no other I/O.
[[nodiscard]] std::variant<Options, Leave> parse_command_line(const std::vector<std::string>& arguments,
                                                              const EnvironmentMap& environment,
                                                              std::size_t help_columns = base::help_columns);

// `avail_wheels login` and `avail_wheels logout`; a wheel of such a name is found with `--name`.
struct LoginWords {
    bool is_login = true;
    std::string registry;  // empty: that of the index
    std::string identity;
    std::string site_file;
};
[[nodiscard]] bool is_login_command(std::string_view word);
// `arguments` begin with the command's word. No I/O.
[[nodiscard]] std::variant<LoginWords, Leave> parse_login(const std::vector<std::string>& arguments,
                                                          std::size_t help_columns = base::help_columns);

// `avail_wheels verify`.
inline constexpr std::string_view verify_word = "verify";
struct VerifyWords {
    std::vector<std::filesystem::path> files;
    ProofQuestion question;  // without the index
    std::string index_url;   // empty: the usual one
    std::string site_file;
    bool is_offline = false;
    bool json = false;
};
[[nodiscard]] std::variant<VerifyWords, Leave> parse_verify(const std::vector<std::string>& arguments,
                                                            std::size_t help_columns = base::help_columns);

}  // namespace wheelyard::avail_wheels
