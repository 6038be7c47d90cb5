// One renderer per client. The formats:
//   https://pip.pypa.io/en/stable/topics/configuration/
//   https://docs.astral.sh/uv/reference/settings/
//   https://python-poetry.org/docs/repositories/
//   https://pdm-project.org/latest/usage/config/
//   https://lmod.readthedocs.io/en/latest/015_writing_modules.html
//   https://modules.readthedocs.io/en/latest/modulefile.html
#include "lib/simple/client_config.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::simple {

namespace {

std::string toml(std::string_view text) {
    return in_quotes(text, "\\\"");
}

// As a comment of every format. All four clients read ~/.netrc.
std::string where_the_token_goes(const ClientSource& source) {
    const auto url = base::parse_url(source.place);
    if (!source.needs_token || !source.is_served() || !url) return {};
    return "# Only tokens may read this index. Keep yours in ~/.netrc (chmod 600 ~/.netrc), in one line:\n"
           "#     machine " +
           url->host + " login __token__ password TOKEN\n";
}

std::string render_pip(const ClientSource& source) {
    std::string text = "[global]\n";
    if (source.is_folder()) return text + "no-index = true\nfind-links = " + source.place + "\n";
    text += "index-url = " + source.place + "\n";
    const std::string host = host_to_trust(source.place);
    if (!host.empty()) text += "trusted-host = " + host + "\n";
    if (source.fallback.empty()) return text;
    return text + "extra-index-url = " + source.fallback +
           "\n# pip takes the highest version of both indexes; this holds it to ours. For another "
           "version:\n" +
           "# PIP_CONSTRAINT= pip install …\nconstraint = " + source.constraints + "\n";
}

std::string render_uv(const ClientSource& source) {
    if (source.is_folder()) return "no-index = true\nfind-links = [" + toml(source.place) + "]\n";
    std::string text;
    const std::string host = host_to_trust(source.place);
    if (!host.empty()) text += "allow-insecure-host = [" + toml(host) + "]\n\n";
    text += "[[index]]\nname = " + toml(source.name) + "\nurl = " + toml(source.place) + "\n";
    if (source.fallback.empty()) return text + "default = true\n";
    // The first index that has a project supplies it: uv's default, which never mixes.
    return text + "\n[[index]]\nname = \"fallback\"\nurl = " + toml(source.fallback) + "\ndefault = true\n";
}

std::string render_poetry(const ClientSource& source) {
    if (!source.is_served())
        return "# poetry cannot read a folder of wheels or of pages: use a wheel's path as the dependency, "
               "or serve the folder over HTTP\n";
    const std::string text = "[[tool.poetry.source]]\nname = " + toml(source.name) +
                             "\nurl = " + toml(source.place) + "\npriority = \"primary\"\n";
    if (source.fallback.empty()) return text;
    return text + "\n[[tool.poetry.source]]\nname = \"fallback\"\nurl = " + toml(source.fallback) +
           "\npriority = \"supplemental\"\n";
}

// A source with the name "pypi" replaces pdm's default.
std::string render_pdm(const ClientSource& source) {
    std::string text = "[[tool.pdm.source]]\nname = \"pypi\"\n";
    if (source.is_folder())
        return text + "url = " + toml(base::file_url(source.place)) + "\ntype = \"find_links\"\n";
    text += "url = " + toml(source.place) + "\n";
    if (!host_to_trust(source.place).empty()) text += "verify_ssl = false\n";
    if (source.fallback.empty()) return text;
    return text + "\n[[tool.pdm.source]]\nname = \"fallback\"\nurl = " + toml(source.fallback) +
           "\n\n[tool.pdm.resolution]\nrespect-source-order = true\n";
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.';
    });
}

bool is_default(const NodeType& node) {
    return node.machine.empty() && node.host.empty();
}

// Converts a glob to a Lua pattern: `*` becomes `.*`, everything else is escaped.
std::string lua_pattern(std::string_view glob) {
    std::string pattern = "^";
    for (const char c : glob) {
        if (c == '*') {
            pattern += ".*";
        } else if (base::is_ascii_alnum(c)) {
            pattern += c;
        } else {
            pattern.append("%").append(1, c);
        }
    }
    return pattern + "$";
}

std::string lua_condition(const NodeType& node) {
    std::vector<std::string> parts;
    if (!node.machine.empty()) parts.push_back("machine == " + quote_lua(node.machine));
    if (!node.host.empty()) parts.push_back("host:match(" + quote_lua(lua_pattern(node.host)) + ")");
    return base::join(parts, " and ");
}

std::string tcl_condition(const NodeType& node) {
    std::vector<std::string> parts;
    if (!node.machine.empty()) parts.push_back("$tcl_platform(machine) eq " + quote_tcl(node.machine));
    if (!node.host.empty()) parts.push_back("[string match " + quote_tcl(node.host) + " [info hostname]]");
    return base::join(parts, " && ");
}

std::string about(std::string_view site) {
    return "pip and uv take wheels built for " + std::string(site);
}

std::string render_lmod(std::string_view site, std::string_view folder, const std::vector<NodeType>& nodes) {
    std::string text = "-- Made by `wheelyard-indexer client-config`.\nhelp(" + quote_lua(about(site) + ".") +
                       ")\nwhatis(" + quote_lua(about(site)) + ")\nlocal kind = nil\n";
    if (!is_default(nodes.front()))
        text +=
            "local machine = capture(\"uname -m\"):gsub(\"%s+$\", \"\")\n"
            "local host = capture(\"uname -n\"):gsub(\"%s+$\", \"\")\n";
    std::string_view word = "if ";
    for (const auto& node : nodes) {
        if (is_default(node)) continue;
        text.append(word)
            .append(lua_condition(node))
            .append(" then\n    kind = ")
            .append(quote_lua(node.source.name)) += "\n";
        word = "elseif ";
    }
    const bool has_default = is_default(nodes.back());
    if (nodes.size() > 1 || !has_default) {
        if (has_default) text += "else\n    kind = " + quote_lua(nodes.back().source.name) + "\n";
        text += "end\n";
    } else {
        text += "kind = " + quote_lua(nodes.back().source.name) + "\n";
    }
    if (!has_default)
        text += "if not kind then\n    LmodError(\"there are no wheels for this type of node\")\nend\n";
    for (const auto& [variable, file] :
         {std::pair("PIP_CONFIG_FILE", "pip.conf"), std::pair("UV_CONFIG_FILE", "uv.toml")})
        text += "setenv(\"" + std::string(variable) + "\", pathJoin(" + quote_lua(folder) + ", kind, \"" +
                file + "\"))\n";
    return text;
}

std::string render_tcl(std::string_view site, std::string_view folder, const std::vector<NodeType>& nodes) {
    std::string text = "#%Module\n# Made by `wheelyard-indexer client-config`.\nmodule-whatis " +
                       quote_tcl(about(site)) + "\nproc ModulesHelp {} {\n    puts stderr " +
                       quote_tcl(about(site) + ".") + "\n}\nset kind \"\"\n";
    std::string_view word = "if {";
    for (const auto& node : nodes) {
        if (is_default(node)) continue;
        text.append(word)
            .append(tcl_condition(node))
            .append("} {\n    set kind ")
            .append(quote_tcl(node.source.name)) += "\n}";
        word = " elseif {";
    }
    const bool has_default = is_default(nodes.back());
    if (nodes.size() > 1 && has_default) {
        text += " else {\n    set kind " + quote_tcl(nodes.back().source.name) + "\n}\n";
    } else if (has_default) {
        text += "set kind " + quote_tcl(nodes.back().source.name) + "\n";
    } else {
        text +=
            "\nif {$kind eq \"\"} {\n    puts stderr \"there are no wheels for this type of node\"\n    "
            "break\n}\n";
    }
    text += "setenv PIP_CONFIG_FILE [file join " + quote_tcl(folder) + " $kind pip.conf]\n";
    return text + "setenv UV_CONFIG_FILE [file join " + quote_tcl(folder) + " $kind uv.toml]\n";
}

}  // namespace

const std::vector<ClientFile>& client_files() {
    static const std::vector<ClientFile> files = {
        {ClientKind::pip, "pip", "pip.conf",
         "as ~/.config/pip/pip.conf, in a venv's folder, or set PIP_CONFIG_FILE"},
        {ClientKind::uv, "uv", "uv.toml", "as ~/.config/uv/uv.toml, or set UV_CONFIG_FILE"},
        {ClientKind::poetry, "poetry", "pyproject.toml", "in the project's file"},
        {ClientKind::pdm, "pdm", "pyproject.toml", "in the project's file"},
    };
    return files;
}

base::Status check_client_source(const ClientSource& source) {
    if (!is_plain_name(source.name)) {
        return base::fail("client.name", "A name may contain only letters, digits, `-`, `_` and `.`",
                          source.name, "use the name of the index or of the node type");
    }
    // pip splits values at spaces.
    const bool odd = source.place.find(' ') != std::string::npos || !base::is_printable_line(source.place);
    const auto url = base::parse_url(source.place);
    const bool is_url = url && (url->scheme == "http" || url->scheme == "https");
    const bool is_page_folder = url && url->scheme == "file";
    const bool has_secret = source.place.find('@') != std::string::npos && is_url;
    if (odd || has_secret || !(is_url || is_page_folder || source.is_folder())) {
        return base::fail(
            "client.place",
            "The source of wheels must be an http(s) URL without a password, a file URL or an absolute path",
            has_secret ? std::string("a URL with `@`") : source.place,
            "use for example https://wheels.example.org/main/simple/, "
            "file:///shared/wheels/main/simple/ or /shared/wheels/main/find-links");
    }
    return {};
}

base::Status check_node_types(const std::vector<NodeType>& nodes) {
    std::set<std::string_view> names;
    const auto wrong = [](std::string sentence, const std::string& value) {
        return base::fail("client.nodes", std::move(sentence), value,
                          "give each node type a unique name, and each except the last a machine or a host");
    };
    if (nodes.empty()) return wrong("There are no node types", "");
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const auto& node = nodes[at];
        WHEELYARD_TRY(check_client_source(node.source));
        if (!names.insert(node.source.name).second)
            return wrong("Two node types have the same name", node.source.name);
        if (is_default(node) && at + 1 < nodes.size())
            return wrong("Only the last node type may omit both machine and host", node.source.name);
    }
    return {};
}

std::string host_to_trust(const std::string& index_url) {
    const auto url = base::parse_url(index_url);
    if (!url || url->scheme != "http" || base::is_loopback_host(url->host)) return "";
    return url->host;
}

std::string pip_trust_option(const std::string& index_url) {
    const std::string host = host_to_trust(index_url);
    return host.empty() ? "" : " --trusted-host " + base::quote_shell(host);
}

std::string render_client_config(ClientKind kind, const ClientSource& source) {
    using Render = std::string (*)(const ClientSource&);
    static constexpr std::array<std::pair<ClientKind, Render>, 4> renderers{
        {{ClientKind::pip, render_pip},
         {ClientKind::uv, render_uv},
         {ClientKind::poetry, render_poetry},
         {ClientKind::pdm, render_pdm}}};
    for (const auto& [its_kind, render] : renderers) {
        if (its_kind == kind) return where_the_token_goes(source) + render(source);
    }
    return "";
}

std::string render_modulefile(ModuleKind kind, std::string_view site, std::string_view folder,
                              const std::vector<NodeType>& nodes) {
    return kind == ModuleKind::lmod ? render_lmod(site, folder, nodes) : render_tcl(site, folder, nodes);
}

std::string in_quotes(std::string_view text, std::string_view escaped) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (escaped.find(c) != std::string_view::npos) quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

std::string quote_lua(std::string_view text) {
    return in_quotes(text, "\\\"");
}

std::string quote_tcl(std::string_view text) {
    return in_quotes(text, "\\\"$[]{};");
}

}  // namespace wheelyard::simple
