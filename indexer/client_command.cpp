// From options to node types, to texts, to standard output or files.
#include "indexer/commands.hpp"

#include <algorithm>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client_config.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;
using simple::NodeType;

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr std::string_view constraints_file = "constraints.txt";
constexpr std::string_view pages = "simple";  // an index's folder of pages (docs/reference/published-tree.md)

base::Result<std::pair<std::string, std::string>> named_value(const std::string& option) {
    const auto equals = option.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == option.size())
        return base::fail("client.option", "Expected NAME=VALUE", option,
                          "for example --node gpu=https://wheels.example.org/gpu/simple/");
    return std::pair(option.substr(0, equals), option.substr(equals + 1));
}

// The place as a client needs it: a local index folder becomes a file: URL.
std::string place_of(std::string place) {
    if (place.starts_with("file:") && !place.ends_with('/')) place += '/';
    if (!place.starts_with('/')) return place;
    fs::path folder = fs::path(place).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    std::error_code ignored;
    if (fs::is_regular_file(folder / pages / "index.html", ignored)) folder /= pages;
    return folder.filename() == pages ? base::file_url(folder.native()) + "/" : place;
}

base::Status set_condition(std::vector<NodeType>& nodes, const std::string& option,
                           std::string NodeType::*member) {
    WHEELYARD_ASSIGN(const auto named, named_value(option));
    for (auto& node : nodes) {
        if (node.source.name != named.first) continue;
        node.*member = named.second;
        return {};
    }
    return base::fail("client.option", "There is no --node with this name", named.first,
                      "add --node for this name");
}

// The index's folder of pages, of its file: URL.
fs::path folder_of(const simple::ClientSource& source) {
    const auto url = base::parse_url(source.place);
    const auto path = url.and_then(base::file_path);
    return path ? fs::path(*path) : fs::path();
}

base::Status check_fallback(const std::vector<NodeType>& nodes, const ClientOptions& options) {
    WHEELYARD_TRY(simple::check_client_source({"fallback", options.fallback}));
    if (options.fallback.starts_with('/'))
        return base::fail("client.fallback", "--fallback is the URL of a Simple index", options.fallback);
    if (options.to.empty())
        return base::fail("client.fallback", "--fallback writes a constraints file beside pip.conf",
                          options.fallback, "add --to DIR");
    for (const NodeType& node : nodes) {
        if (!folder_of(node.source).empty()) continue;
        return base::fail("client.fallback",
                          "The constraints for pip are made of the index's pages in a folder",
                          node.source.name + "=" + node.source.place,
                          "name the index's folder in the published tree; a server does the same for all "
                          "clients with [[index.upstream]]");
    }
    return {};
}

base::Result<std::vector<NodeType>> node_types(const ClientOptions& options) {
    std::vector<NodeType> nodes;
    for (const auto& option : options.nodes) {
        WHEELYARD_ASSIGN(auto named, named_value(option));
        nodes.push_back({{std::move(named.first), place_of(std::move(named.second)), false}, {}, {}});
    }
    for (const auto& option : options.machines)
        WHEELYARD_TRY(set_condition(nodes, option, &NodeType::machine));
    for (const auto& option : options.hosts)
        WHEELYARD_TRY(set_condition(nodes, option, &NodeType::host));
    for (const auto& name : options.with_token) {
        const auto node = std::find_if(nodes.begin(), nodes.end(),
                                       [&](const NodeType& one) { return one.source.name == name; });
        if (node == nodes.end())
            return base::fail("client.option", "There is no --node with this name", name,
                              "add --node for this name");
        node->source.needs_token = true;
    }
    WHEELYARD_TRY(simple::check_node_types(nodes));
    WHEELYARD_TRY(simple::check_client_source({options.site, nodes.front().source.place}));
    if (!options.fallback.empty()) WHEELYARD_TRY(check_fallback(nodes, options));
    return nodes;
}

struct Text {
    std::string kind;  // "pip"
    std::string node;  // empty: for the whole site
    fs::path file;     // below --to
    std::string hint;
    std::string text;
};

base::Result<std::vector<Text>> texts_of(std::vector<NodeType> nodes, const ClientOptions& options,
                                         const std::string& folder) {
    std::vector<Text> texts;
    for (auto& node : nodes) {
        const fs::path own = node.source.name;
        if (!options.fallback.empty()) {
            node.source.fallback = options.fallback;
            node.source.constraints = (fs::path(folder) / own / constraints_file).native();
            WHEELYARD_ASSIGN(const auto wheels, simple::WheelList::open(folder_of(node.source)));
            WHEELYARD_ASSIGN(std::string text, simple::render_constraints(wheels));
            texts.push_back({"constraints", node.source.name, own / constraints_file,
                             std::string(constraints_file) + ", which pip.conf names", std::move(text)});
        }
        for (const auto& file : simple::client_files()) {
            const bool is_fragment = file.where == "pyproject.toml";
            texts.push_back({std::string(file.word), node.source.name,
                             own / (is_fragment ? std::string(file.word) + ".toml" : std::string(file.where)),
                             std::string(file.where) + ", " + std::string(file.hint),
                             simple::render_client_config(file.kind, node.source)});
        }
    }
    const fs::path modules = "modulefiles";
    texts.push_back({"lmod", "", modules / (options.site + ".lua"), "a modulefile for Lmod",
                     simple::render_modulefile(simple::ModuleKind::lmod, options.site, folder, nodes)});
    texts.push_back({"tcl", "", modules / options.site, "a modulefile for Environment Modules (Tcl)",
                     simple::render_modulefile(simple::ModuleKind::tcl, options.site, folder, nodes)});
    return texts;
}

base::Status write_texts(const std::vector<Text>& texts, const fs::path& to) {
    for (const auto& text : texts) {
        WHEELYARD_TRY(base::make_directories((to / text.file).parent_path()));
        WHEELYARD_TRY(base::replace_file(to / text.file, text.text));
    }
    return {};
}

void print_json(const std::vector<Text>& texts, std::ostream& out) {
    io::Json list = io::Json::array();
    for (const auto& text : texts)
        list.push(io::Json::object(
            {{"kind", text.kind}, {"node", text.node}, {"file", text.file.native()}, {"text", text.text}}));
    out << io::Json::object({{"format", "wheelyard.client-config/1"}, {"files", std::move(list)}}).render()
        << '\n';
}

void print(const std::vector<Text>& texts, const ClientOptions& options, std::ostream& out) {
    for (const auto& text : texts) {
        if (!options.kind.empty() && text.kind != options.kind) continue;
        if (options.kind.empty() || options.nodes.size() > 1) {
            out << "# " << text.kind << (text.node.empty() ? "" : " for " + text.node) << ": " << text.hint
                << '\n';
        }
        out << text.text << (options.kind.empty() ? "\n" : "");
    }
}

}  // namespace

int run_client_config(const ClientOptions& options, std::ostream& out, std::ostream& err) {
    const auto fail = [&](const base::Error& error, int status) {
        err << "wheelyard-indexer: " << error.text() << '\n';
        return status;
    };
    const auto nodes = node_types(options);
    if (!nodes) return fail(nodes.error(), exit_usage);
    std::error_code ignored;
    const fs::path folder =
        options.to.empty() ? fs::path("/path/to/these/files") : fs::absolute(options.to, ignored);
    const auto texts = texts_of(*nodes, options, folder.lexically_normal().native());
    if (!texts) return fail(texts.error(), exit_failed);
    if (options.json) {
        print_json(*texts, out);
    } else if (options.to.empty()) {
        print(*texts, options, out);
    }
    if (options.to.empty()) return 0;
    const auto written = write_texts(*texts, options.to);
    if (!written) return fail(written.error(), exit_failed);
    if (!options.json) {
        out << texts->size() << " files written. Users: module use "
            << base::quote_shell((folder / "modulefiles").native()) << " && module load " << options.site
            << '\n';
    }
    return 0;
}

}  // namespace wheelyard::indexer
