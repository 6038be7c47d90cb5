#include "registry/config/upstream_config.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/wheel/name.hpp"
#include "registry/config/config.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/policy_config.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_cooldown_days = 3650;
constexpr std::int64_t max_cache_mib_limit = max_quota_mib;  // of what is kept of an upstream

// Projects are compared by their normalised names, so patterns are, too: "Our_*" matches our-tools.
std::vector<std::string> read_globs(io::TomlTable& table, std::string_view key) {
    std::vector<std::string> globs;
    for (const std::string& text : table.strings_or(key, {})) {
        if (text.empty() || text.find('/') != std::string::npos)
            table.report(key, "`" + text + "` is not a pattern of project names, such as \"our-*\"");
        globs.push_back(wheel::normalize_name(text));
    }
    return globs;
}

// Over plain HTTP anybody on the way could change pages and hashes.
void read_url(io::TomlTable& table, UpstreamConfig& upstream) {
    upstream.url = table.string("url");
    if (upstream.url.empty()) return;  // reported
    if (!upstream.url.ends_with('/')) upstream.url += '/';
    const auto url = base::parse_url(upstream.url);
    const bool is_web = url && (url->scheme == "https" || url->scheme == "http") && !url->host.empty();
    if (!is_web || !url->userinfo.empty() || !url->query.empty() || !url->fragment.empty()) {
        table.report("url", "must be the URL of simple pages, such as https://index.example.org/simple/");
        return;
    }
    upstream.hosts.insert(url->port.empty() ? url->host : url->host + ":" + url->port);
    if (url->scheme == "http" && !may_be_private(upstream, *url))
        table.report("url", "http:// is accepted only for a host in private_hosts; use https://");
}

UpstreamConfig read_upstream(io::TomlTable& table, const std::string& index_name) {
    UpstreamConfig upstream;
    upstream.name = table.string("name");
    if (const std::string fault = index_name_fault(upstream.name); !upstream.name.empty() && !fault.empty())
        table.report("name", "an upstream is named like an index: " + fault);
    upstream.cache_index = index_name + "." + upstream.name;
    upstream.private_hosts = read_hosts(table, "private_hosts");
    upstream.hosts = read_hosts(table, "hosts");
    upstream.hosts.insert(upstream.private_hosts.begin(), upstream.private_hosts.end());
    read_url(table, upstream);
    upstream.allow = read_globs(table, "allow");
    upstream.deny = read_globs(table, "deny");
    upstream.cooldown_days = table.integer_or("cooldown_days", 0, 0, max_cooldown_days);
    upstream.cooldown_except = read_globs(table, "cooldown_except");
    upstream.max_cache_bytes =
        static_cast<std::uint64_t>(table.integer_or("max_cache_mib", 0, 0, max_cache_mib_limit)) * base::mib;
    upstream.inspect_first = table.boolean_or("inspect_first", false);
    upstream.policy = read_policy(table.table_or_empty("policy"), "mirror");
    upstream.proxy = table.string_or("proxy", "");
    upstream.username = table.string_or("username", "");
    upstream.password_file = table.path_if("password_file").value_or("");
    if (upstream.username.empty() != upstream.password_file.empty())
        table.report("username", "username and password_file belong together");
    return upstream;
}

}  // namespace

std::set<std::string> read_hosts(io::TomlTable& table, std::string_view key) {
    std::set<std::string> hosts;
    for (const std::string& text : table.strings_or(key, {})) {
        const auto url = base::parse_url("https://" + text + "/");
        const std::string place =
            url ? url->host + (url->port.empty() ? "" : ":" + url->port) : std::string();
        if (place.empty() || place != base::ascii_lower(text))
            table.report(key, "`" + text +
                                  "` is not the name of a host, such as \"files.example.org\" or "
                                  "\"files.example.org:8443\"");
        else
            hosts.insert(place);
    }
    return hosts;
}

std::vector<UpstreamConfig> read_upstreams(io::TomlTable& index, const std::string& index_name) {
    std::vector<UpstreamConfig> upstreams;
    for (io::TomlTable& table : index.tables("upstream")) {
        UpstreamConfig upstream = read_upstream(table, index_name);
        if (std::any_of(upstreams.begin(), upstreams.end(),
                        [&](const UpstreamConfig& other) { return other.name == upstream.name; }))
            table.report("name", "two upstreams of this index are named `" + upstream.name + "`");
        upstreams.push_back(std::move(upstream));
    }
    return upstreams;
}

bool may_be_private(const UpstreamConfig& upstream, const base::Url& url) {
    return upstream.private_hosts.contains(url.host) || upstream.private_hosts.contains(url.host_and_port());
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& project) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return base::matches_glob(pattern, project); });
}

}  // namespace wheelyard::registry
