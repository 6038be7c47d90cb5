// What pip, uv, poetry, pdm and environment modules need to be told so that a plain `pip install torch` takes
// this site's wheels. Pure; every text that is not ours is quoted for the file that it goes into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::simple {

// Where a kind of node gets its wheels: an index's pages on a server,
// "https://wheels.example.org/main/simple/"; the same pages in a folder,
// "file:///shared/wheels/main/simple/"; or the absolute path of a folder of wheels (then without any index:
// pip#10156).
struct ClientSource {
    std::string name;  // of the index, or of the node type: letters, digits, `-`, `_`, `.`
    std::string place;
    [[nodiscard]] bool is_folder() const { return place.starts_with('/'); }
    [[nodiscard]] bool is_served() const { return !is_folder() && !place.starts_with("file:"); }
};

// One kind of node of a site. The first whose conditions hold is taken; one without any is the default.
struct NodeType {
    ClientSource source;
    std::string machine;  // `uname -m`; empty: any
    std::string host;     // a glob of the host's name, `gpu*`; empty: any
};

enum class ClientKind { pip, uv, poetry, pdm };
struct ClientFile {
    ClientKind kind;
    std::string_view word;   // "pip"
    std::string_view where;  // the file that it belongs to: "pip.conf"
    std::string_view hint;   // how it is put there, one line
};
// In the order in which they are shown.
[[nodiscard]] const std::vector<ClientFile>& client_files();

// Error "client.name" or "client.place" names what cannot be used.
[[nodiscard]] base::Status check_client_source(const ClientSource& source);

[[nodiscard]] std::string render_client_config(ClientKind kind, const ClientSource& source);

// A modulefile that sets PIP_CONFIG_FILE and UV_CONFIG_FILE to <folder>/<node type>/pip.conf and uv.toml.
enum class ModuleKind { lmod, tcl };
[[nodiscard]] std::string render_modulefile(ModuleKind kind, std::string_view site, std::string_view folder,
                                            const std::vector<NodeType>& nodes);
// At most one default, the last; each name once. "client.nodes" says what is wrong.
[[nodiscard]] base::Status check_node_types(const std::vector<NodeType>& nodes);

}  // namespace wheelyard::simple
