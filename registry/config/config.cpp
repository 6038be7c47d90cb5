#include "registry/config/config.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_min_free_mib = 1024 * 1024;
constexpr std::int64_t max_scrub_mib_per_s = 100'000;
constexpr std::size_t max_index_name = 64;
constexpr std::int64_t max_task_attempts = 10;  // claims per task
constexpr std::int64_t max_kept_days = 36'500;  // of an ended task; 100 years means "forever"

// First path segments that are the server's own routes.
constexpr std::array<std::string_view, 6> reserved_names{"api",     "healthz", "readyz",
                                                         "metrics", "legacy",  "packages"};

constexpr std::int64_t max_timeout_s = 24 * 3600;

std::int64_t seconds_as_ms(io::TomlTable& table, std::string_view key, std::int64_t default_ms) {
    return table.integer_or(key, default_ms / 1000, 1, max_timeout_s) * 1000;
}

void read_listen(io::TomlTable& table, http::ServerSettings& server, const std::filesystem::path& folder) {
    server.listen.clear();
    const auto add = [&](std::string_view key, const std::string& text) {
        if (auto parsed = parse_listen(text, folder))
            server.listen.push_back(*std::move(parsed));
        else
            table.report(key, parsed.error().text());
    };
    add("listen", table.string_or("listen", "127.0.0.1:8080"));
    for (const std::string& text : table.strings_or("also_listen", {}))
        add("also_listen", text);
    server.certificate_file = table.path_if("certificate_file").value_or("");
    server.key_file = table.path_if("certificate_key_file").value_or("");
    const bool has_tls = std::any_of(server.listen.begin(), server.listen.end(),
                                     [](const http::ListenPoint& point) { return point.tls; });
    if (has_tls && (server.certificate_file.empty() || server.key_file.empty()))
        table.report("certificate_file",
                     "an https:// address requires certificate_file and certificate_key_file");
    if (!has_tls && !(server.certificate_file.empty() && server.key_file.empty()))
        table.report(
            "certificate_file",
            "no address of listen and also_listen begins with https://, so this would encrypt nothing");
}

// Four octal digits, of which the first is 0: "0660".
std::optional<unsigned> parse_mode(std::string_view text) {
    if (text.size() != 4 || text[0] != '0') return std::nullopt;
    unsigned mode = 0;
    for (const char c : text) {
        if (c < '0' || c > '7') return std::nullopt;
        mode = mode * 8 + static_cast<unsigned>(c - '0');
    }
    return mode;
}

// How clients and proxies see this server.
void read_proxy(io::TomlTable& table, http::ServerSettings& server) {
    server.public_url = table.string_or("public_url", "");
    const bool is_url = server.public_url.starts_with("http://") || server.public_url.starts_with("https://");
    if (!server.public_url.empty() && (!is_url || server.public_url.ends_with('/')))
        table.report("public_url", "must be a URL like https://wheels.example.org, without a trailing slash");
    const std::string mode = table.string_or("unix_socket_mode", "0660");
    if (const auto parsed = parse_mode(mode))
        server.unix_socket_mode = *parsed;
    else
        table.report("unix_socket_mode", "must be an octal mode like 0660 or 0666");
    server.trusted_proxies = table.strings_or("trusted_proxies", {});
    server.trusted_fields = table.strings_or("trusted_fields", server.trusted_fields);
    for (const std::string& name : server.trusted_fields) {
        const bool is_known = std::any_of(http::proxy_fields.begin(), http::proxy_fields.end(),
                                          [&](const http::ProxyField& field) { return field.name == name; });
        if (!is_known)
            table.report("trusted_fields",
                         "has X-Forwarded-For, -Host, -Prefix, -Proto and Forwarded only: " + name);
    }
    server.accel_prefix = table.string_or("x_accel_redirect", "");
    if (!server.accel_prefix.empty() &&
        (!server.accel_prefix.starts_with('/') || server.accel_prefix.ends_with('/')))
        table.report("x_accel_redirect", "must be a path like /wheelyard-files, without a trailing slash");
    server.log_requests = table.boolean_or("log_requests", false);
}

void read_server(io::TomlTable table, http::ServerSettings& server, const std::filesystem::path& folder) {
    read_listen(table, server, folder);
    read_proxy(table, server);
    server.io_threads = static_cast<unsigned>(table.integer_or("io_threads", server.io_threads, 1, 256));
    server.upload_threads =
        static_cast<unsigned>(table.integer_or("upload_threads", server.upload_threads, 1, 256));
    server.max_uploads = static_cast<std::size_t>(
        table.integer_or("max_uploads", static_cast<std::int64_t>(server.max_uploads), 1, 4096));
    server.max_token_uploads = static_cast<std::size_t>(table.integer_or(
        "max_token_uploads", static_cast<std::int64_t>(std::max<std::size_t>(1, server.max_uploads / 2)), 1,
        4096));
    server.max_connections = static_cast<std::size_t>(
        table.integer_or("max_connections", static_cast<std::int64_t>(server.max_connections), 1, 1'000'000));
    server.header_timeout_ms = seconds_as_ms(table, "header_timeout_s", server.header_timeout_ms);
    server.idle_timeout_ms = seconds_as_ms(table, "idle_timeout_s", server.idle_timeout_ms);
    server.stall_timeout_ms = seconds_as_ms(table, "stall_timeout_s", server.stall_timeout_ms);
    server.drain_timeout_ms = seconds_as_ms(table, "drain_timeout_s", server.drain_timeout_ms);
    server.page_wait_ms = seconds_as_ms(table, "page_wait_s", server.page_wait_ms);
}

void read_tasks(io::TomlTable table, tasks::TaskRules& rules) {
    rules.lease_s = table.integer_or("lease_s", rules.lease_s, 1, max_lease_s);
    rules.max_attempts = table.integer_or("max_attempts", rules.max_attempts, 1, max_task_attempts);
    rules.kept_days = table.integer_or("kept_days", rules.kept_days, 1, max_kept_days);
}

base::Result<RegistryConfig> read_document(io::TomlDocument document, const std::filesystem::path& file) {
    RegistryConfig config;
    config.file = file;
    io::TomlTable root = document.root();
    root.integer("config_version", 1, 1);
    const io::Json all = document.json();
    for (const auto& [table, value] : *all.as_object()) {
        if (table != "config_version" && table != "index") config.settings.set(table, value);
    }
    read_server(root.table_or_empty("server"), config.server, file.parent_path());
    io::TomlTable store = root.table_or_empty("store");
    // Default if the key or its table is missing: "data" in the file's folder.
    config.store = store.path_if("directory").value_or(file.parent_path() / "data");
    config.pages = store.boolean_or("pages", true);
    config.look = read_pages(root.table_or_empty("pages"));
    config.stores = read_stores(root.table_or_empty("stores"));
    config.node = read_node(root.table_or_empty("node"));
    config.attest = read_attest(root.table_or_empty("attest"));
    if (!config.look.style.empty())
        config.server.farm_files.emplace_back(config.look.farm.style, config.look.style);
    if (!config.look.logo.empty())
        config.server.farm_files.emplace_back(config.look.farm.logo, config.look.logo);
    config.min_free_bytes = static_cast<std::uint64_t>(
                                store.integer_or("min_free_mib", default_min_free_mib, 1, max_min_free_mib)) *
                            base::mib;
    config.scrub_mib_per_s =
        store.integer_or("scrub_mib_per_s", default_scrub_mib_per_s, 0, max_scrub_mib_per_s);
    read_tasks(root.table_or_empty("tasks"), config.tasks);
    config.notify_command = root.table_or_empty("notify").string_or("command", "");
    config.identities = read_identities(root, config.server.public_url);
    if (!config.identities.empty()) config.look.farm.login = config.server.public_url + "/api/v1/login/";
    config.server.farm = config.look.farm;
    config.publishers = read_publishers(root, config.server.public_url, config.identities);
    read_index_tables(root, config);
    WHEELYARD_TRY(document.finish());
    return config;
}

}  // namespace

blobs::Place RegistryConfig::blob_place() const {
    blobs::Place place(store, stores.blobs);
    place.endpoint = stores.blobs_endpoint;
    place.public_endpoint = stores.blobs_public_endpoint;
    place.region = stores.blobs_region;
    place.path_style = stores.blobs_path_style;
    place.credentials_file = stores.blobs_credentials_file;
    return place;
}

const IndexConfig* RegistryConfig::find_index(std::string_view name) const {
    const auto found = std::find_if(indexes.begin(), indexes.end(),
                                    [name](const IndexConfig& index) { return index.name == name; });
    return found == indexes.end() ? nullptr : &*found;
}

bool RegistryConfig::is_private(std::string_view index) const {
    return std::any_of(indexes.begin(), indexes.end(), [index](const IndexConfig& one) {
        const auto is_cache = [index](const UpstreamConfig& upstream) {
            return upstream.cache_index == index;
        };
        return one.is_private &&
               (one.name == index || std::any_of(one.upstreams.begin(), one.upstreams.end(), is_cache));
    });
}

bool RegistryConfig::has_private() const {
    return std::any_of(indexes.begin(), indexes.end(),
                       [](const IndexConfig& index) { return index.is_private; });
}

notify::Settings RegistryConfig::notify_settings() const {
    return {.command = notify_command,
            .folder = store / "notify",
            .program = "wheelyard-registry",
            .from = server.public_url.empty() ? look.farm.name : server.public_url};
}

std::string RegistryConfig::secure_root_url() const {
    const std::string& url = server.public_url;
    if (!url.starts_with("https://")) return {};
    return url.ends_with('/') ? url : url + "/";
}

std::filesystem::path RegistryConfig::tree_of(std::string_view index) const {
    return is_private(index) ? published_private() : published();
}

std::vector<std::string> RegistryConfig::index_names() const {
    std::vector<std::string> names;
    for (const IndexConfig& index : indexes)
        names.push_back(index.name);
    return names;
}

std::vector<std::string> RegistryConfig::cache_names() const {
    std::vector<std::string> names;
    for (const IndexConfig& index : indexes) {
        for (const UpstreamConfig& upstream : index.upstreams)
            names.push_back(upstream.cache_index);
    }
    return names;
}

std::vector<std::string> IndexConfig::stored_names() const {
    std::vector<std::string> names{name};
    for (const UpstreamConfig& upstream : upstreams)
        names.push_back(upstream.cache_index);
    return names;
}

std::string index_name_fault(std::string_view name) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || base::is_ascii_digit(c) || c == '-'; };
    if (name.empty() || name.front() == '-' || name.size() > max_index_name ||
        !std::all_of(name.begin(), name.end(), fits)) {
        return "an index name consists of lower-case letters, digits and `-`, begins with a letter or digit, "
               "and has at most " +
               std::to_string(max_index_name) + " characters";
    }
    if (std::find(reserved_names.begin(), reserved_names.end(), name) != reserved_names.end())
        return "this name is reserved for the server's own routes";
    return {};
}

base::Result<http::ListenPoint> parse_listen(std::string_view text, const std::filesystem::path& folder) {
    const std::string_view whole = text;
    const auto refuse = [whole] {
        return base::fail(
            "config.listen", "An address to listen on must have the form HOST:PORT or unix:PATH",
            std::string(whole),
            "for example 127.0.0.1:8080, [::]:8080, https://0.0.0.0:8443 or unix:run/http.sock");
    };
    http::ListenPoint point;
    if (text.starts_with("unix:")) {
        text.remove_prefix(5);
        if (text.empty()) return refuse();
        point.unix_socket = folder / text;
        return point;
    }
    if (text.starts_with("https://")) {
        point.tls = true;
        text.remove_prefix(8);
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return refuse();
    std::string_view host = text.substr(0, colon);
    const auto port = base::parse_decimal(text.substr(colon + 1));
    if (!port || *port > std::numeric_limits<std::uint16_t>::max()) return refuse();
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return refuse();  // an IPv6 address without brackets is ambiguous
    }
    if (host.empty()) return refuse();
    point.address = host;
    point.port = static_cast<std::uint16_t>(*port);
    return point;
}

base::Result<RegistryConfig> read_config(const std::filesystem::path& file) {
    auto text = base::read_file(file, max_config_bytes);
    if (text) return parse_config(*text, file);
    if (text.error().os_error != ENOENT) {
        const std::string fault = base::fault_of_file(file);
        return io::fail_configuration(fault.empty() ? std::move(text.error())
                                                    : base::Error{.code = "config.unreadable",
                                                                  .sentence = fault,
                                                                  .os_error = text.error().os_error});
    }
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    return io::fail_configuration({"config.missing", "This configuration file does not exist", file.string(),
                                   "`wheelyard-registry init " + base::quote_shell(folder) + "` writes one"});
}

base::Result<RegistryConfig> parse_config(std::string_view text, const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(io::TomlDocument document, io::TomlDocument::parse(text, file));
    return read_document(std::move(document), file);
}

}  // namespace wheelyard::registry
