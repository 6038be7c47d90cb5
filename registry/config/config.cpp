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
#include "registry/config/config_rows.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/shared_settings.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_index_name = 64;

// First path segments that are the server's own routes.
constexpr std::array<std::string_view, 6> reserved_names{"api",     "healthz", "readyz",
                                                         "metrics", "legacy",  "packages"};

base::Result<RegistryConfig> read_document(io::TomlDocument document, const std::filesystem::path& file) {
    RegistryConfig config;
    config.file = file;
    io::TomlTable root = document.root();
    const io::Json all = document.json();
    for (const auto& [table, value] : *all.as_object()) {
        if (table != "config_version" && table != "index") config.settings.set(table, value);
    }
    config.shared = shared_settings(all);
    config.store = file.parent_path() / "data";  // unless the key is there
    config_rows().read(root, config);
    if (!config.look.style.empty())
        config.server.farm_files.emplace_back(config.look.farm.style, config.look.style);
    if (!config.look.logo.empty())
        config.server.farm_files.emplace_back(config.look.farm.logo, config.look.logo);
    if (!config.identities.empty()) config.look.farm.login = config.server.public_url + "/api/v1/login/";
    config.server.farm = config.look.farm;
    check_index_tables(root, config);
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
