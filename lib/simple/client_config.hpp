// Configuration of pip, uv, poetry, pdm and environment modules that makes a plain `pip install torch` use
// this site's wheels. Pure. Quotes all external text for the file format that it goes into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::simple {

// The source of wheels for one type of node: an index's pages on a server,
// "https://wheels.example.org/main/simple/"; the same pages in a folder,
// "file:///shared/wheels/main/simple/"; or the absolute path of a folder of wheels, which then replaces any
// index (pip#10156).
struct ClientSource {
    std::string name;  // of the index or of the node type: letters, digits, `-`, `_`, `.`
    std::string place;
    bool needs_token =
        false;  // the configuration then says where the token goes: never into a URL or this file
    // The Simple index that has all the rest; never asked for a project that `place` has, as far as the
    // client can be told.
    std::string fallback = {};
    std::string constraints = {};  // with it, for pip: a file of render_constraints()
    [[nodiscard]] bool is_folder() const { return place.starts_with('/'); }
    [[nodiscard]] bool is_served() const { return !is_folder() && !place.starts_with("file:"); }
};

// One type of node of a site. The first one whose conditions match applies; one without conditions is the
// default.
struct NodeType {
    ClientSource source;
    std::string machine;  // `uname -m`; empty: any
    std::string host;     // a glob on the host name, `gpu*`; empty: any
};

enum class ClientKind { pip, uv, poetry, pdm };
struct ClientFile {
    ClientKind kind;
    std::string_view word;   // "pip"
    std::string_view where;  // the name of the configuration file: "pip.conf"
    std::string_view hint;   // how to install the file, one line
};
// In display order.
[[nodiscard]] const std::vector<ClientFile>& client_files();

// Errors "client.name" and "client.place".
[[nodiscard]] base::Status check_client_source(const ClientSource& source);

[[nodiscard]] std::string render_client_config(ClientKind kind, const ClientSource& source);

// The host that pip must be configured to trust, else empty: it ignores an index served by plain HTTP, except
// on loopback.
[[nodiscard]] std::string host_to_trust(const std::string& index_url);
// The same for a command line: " --trusted-host HOST", or empty.
[[nodiscard]] std::string pip_trust_option(const std::string& index_url);

// A modulefile that sets PIP_CONFIG_FILE and UV_CONFIG_FILE to <folder>/<node type>/pip.conf and uv.toml.
enum class ModuleKind { lmod, tcl };
[[nodiscard]] std::string render_modulefile(ModuleKind kind, std::string_view site, std::string_view folder,
                                            const std::vector<NodeType>& nodes);
// Checks that names are unique and only the last node type is a default. Error "client.nodes".
[[nodiscard]] base::Status check_node_types(const std::vector<NodeType>& nodes);

// Quoting for modulefiles: Lua for Lmod, Tcl for Environment Modules.

// `text` in double quotes, with a backslash before each character in `escaped`.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view escaped);
[[nodiscard]] std::string quote_lua(std::string_view text);
[[nodiscard]] std::string quote_tcl(std::string_view text);

}  // namespace wheelyard::simple
