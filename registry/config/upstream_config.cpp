#include "registry/config/upstream_config.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/name.hpp"
#include "registry/config/config_rows.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_cooldown_days = 3650;
constexpr auto removed_words = base::words<bool>({{false, "keep"}, {true, "quarantine"}});
constexpr std::int64_t max_cache_mib_limit = max_quota_mib;  // of what is kept of an upstream

// Projects are compared by their normalised names, so patterns are, too: "Our_*" matches our-tools.
io::TomlFacts globs_facts(std::string fallback) {
    const auto is_glob = [](const std::string& text) {
        return !text.empty() && text.find('/') == std::string::npos;
    };
    return {.type = "list of globs",
            .fallback = std::move(fallback),
            .check = io::must(is_glob, "a pattern of project names, such as \"our-*\""),
            .normal = wheel::normalize_name};
}

std::string host_of(const std::string& text) {
    const auto url = base::parse_url("https://" + text + "/");
    const std::string place = url ? url->host + (url->port.empty() ? "" : ":" + url->port) : std::string();
    return place == base::ascii_lower(text) ? place : std::string();
}

// Over plain HTTP anybody on the way could change pages and hashes.
void check_url(io::TomlTable& table, UpstreamConfig& upstream) {
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

void finish_upstream(io::TomlTable& table, UpstreamConfig& upstream, IndexConfig& index) {
    upstream.cache_index = index.name + "." + upstream.name;
    upstream.sdists = index.sdists;
    upstream.policy.variants = index.policy.variants;
    upstream.hosts.insert(upstream.private_hosts.begin(), upstream.private_hosts.end());
    check_url(table, upstream);
    if (upstream.username.empty() != upstream.password_file.empty())
        table.report("username", "username and password_file belong together");
    if (std::any_of(index.upstreams.begin(), index.upstreams.end(),
                    [&](const UpstreamConfig& other) { return other.name == upstream.name; }))
        table.report("name", "two upstreams of this index are named `" + upstream.name + "`");
}

}  // namespace

io::TomlFacts hosts_facts() {
    return {.type = "list of hosts",
            .check = io::must([](const std::string& text) { return !host_of(text).empty(); },
                              "the name of a host, such as \"files.example.org\" or "
                              "\"files.example.org:8443\""),
            .normal = host_of};
}

io::TomlRow<IndexConfig> upstream_row() {
    using U = UpstreamConfig;
    using io::key;
    io::TomlRows<U> rows{
        key("name", &U::name, {.is_required = true, .check = must_be_name("an upstream")})
            .sample(R"("public")"),
        key("url", &U::url, {.type = "URL", .is_required = true})
            .sample(R"("https://index.example.org/simple/")"),
        key("hosts", &U::hosts, hosts_facts())
            .hint("more hosts that its links and redirects may name", R"(["files.example.org"])"),
        key("private_hosts", &U::private_hosts, hosts_facts())
            .hint("hosts that may have private addresses, and may be asked over http"),
        key("allow", &U::allow, globs_facts("all")).hint("projects, as globs; empty: all"),
        key("deny", &U::deny, globs_facts("none")).sample(R"(["our-*"])"),
        key("cooldown_days", &U::cooldown_days, {.range = {0, max_cooldown_days}})
            .hint("files younger than this are not offered ..."),
        key("cooldown_except", &U::cooldown_except, globs_facts("none"))
            .hint("... but those of these projects are"),
        key("max_cache_mib", &U::max_cache_bytes, {.range = {0, max_cache_mib_limit}, .unit = base::mib})
            .hint("fetched files that are kept, the last used ones; 0: all"),
        io::word<removed_words>("removed", &U::quarantines_removed)
            .hint("fetched files that it no longer lists: \"keep\", or \"quarantine\""),
        key("proxy", &U::proxy, {.type = "URL"}),
        key("username", &U::username).hint("sent to the host of `url` only", R"("reader")"),
        key("password_file", &U::password_file).sample(R"("secrets/reader")"),
        key("inspect_first", &U::inspect_first)
            .hint("true: nothing of a file is sent before it is inspected"),
        policy_row(
            &U::policy, "mirror",
            {.hint = "What to do about findings in wheels of this upstream: the keys of [index.policy]; "
                     "its default preset is \"mirror\".",
             .sample = "# \"gpu.architecture_missing\" = \"quarantine\"\n"}),
    };
    return io::table("upstream", &IndexConfig::upstreams, std::move(rows),
                     {.hint = "Other indexes whose projects this one also offers: asked in order for what no "
                              "index here has or owns."},
                     finish_upstream);
}

bool may_be_private(const UpstreamConfig& upstream, const base::Url& url) {
    return upstream.private_hosts.contains(url.host) || upstream.private_hosts.contains(url.host_and_port());
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& project) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return base::matches_glob(pattern, project); });
}

}  // namespace wheelyard::registry
