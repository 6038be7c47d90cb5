#include "registry/config/shared_settings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "lib/base/digest/digest.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

// What is one machine's: its addresses, folders, size and network. [stores] and the key of [attest] are
// compared by what they are when a node starts (ThisNode), as is [node] lease_s; a name of this list is a
// key, or a table with all of its keys.
constexpr std::array<std::string_view, 22> of_one_machine{"attest.key",
                                                          "attest.trusted_root",
                                                          "node",
                                                          "pages.logo",
                                                          "server.also_listen",
                                                          "server.io_threads",
                                                          "server.listen",
                                                          "server.log_json",
                                                          "server.log_requests",
                                                          "server.max_connections",
                                                          "server.max_token_uploads",
                                                          "server.max_uploads",
                                                          "server.trusted_fields",
                                                          "server.trusted_proxies",
                                                          "server.unix_socket_mode",
                                                          "server.upload_threads",
                                                          "server.x_accel_redirect",
                                                          "store.directory",
                                                          "store.min_free_mib",
                                                          "store.scrub_mib_per_s",
                                                          "stores",
                                                          "config_version"};

// Also every `password_file`, `certificate_file` and the like.
bool is_of_one_machine(std::string_view path) {
    const bool is_rule = path.find(".policy.") != std::string_view::npos;  // "zip.special_file"
    return (path.ends_with("_file") && !is_rule) ||
           std::find(of_one_machine.begin(), of_one_machine.end(), path) != of_one_machine.end();
}

bool has_keys(const Json& value) {
    return value.as_object() != nullptr;
}

bool has_tables(const Json& value) {
    return !value.items().empty() && has_keys(value.items().front());
}

// One line for each key.
void add_lines(const std::string& path, const Json& value, std::string& lines) {
    if (is_of_one_machine(path)) return;
    if (has_keys(value)) {
        std::map<std::string_view, const Json*> sorted;
        for (const auto& [key, member] : *value.as_object())
            sorted.emplace(key, &member);
        for (const auto& [key, member] : sorted)
            add_lines(path + "." + std::string(key), *member, lines);
    } else if (has_tables(value)) {
        for (const Json& item : value.items()) {
            lines += path + "\n";
            add_lines(path, item, lines);
        }
    } else {
        lines += path + " = " + value.render() + "\n";
    }
}

}  // namespace

nodes::SharedSettings shared_settings(const Json& document) {
    constexpr std::size_t digits = 8;
    nodes::SharedSettings digests;
    for (const auto& [table, value] : *document.as_object()) {
        std::string lines;
        add_lines(table, value, lines);
        const std::string name = has_tables(value) ? "[[" + table + "]]" : "[" + table + "]";
        if (!lines.empty()) digests[name] = base::sha256_hex(lines).substr(0, digits);
    }
    return digests;
}

}  // namespace wheelyard::registry
