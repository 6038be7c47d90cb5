#include "registry/config/stores_config.hpp"

#include <algorithm>

namespace wheelyard::registry {
namespace {

// libpq reads both (PostgreSQL manual, 34.1.1.2 and 34.1.1.1).
bool is_url(std::string_view text) {
    return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

// In "postgres://USER:PASSWORD@HOST", or a parameter "password=". "passfile=" is a file.
bool has_password(std::string_view text) {
    if (text.find("password=") != std::string_view::npos) return true;
    if (!is_url(text)) return text.find("password ") != std::string_view::npos;
    text.remove_prefix(text.find("://") + 3);
    const std::string_view authority = text.substr(0, text.find_first_of("/?"));
    const std::size_t at = authority.rfind('@');
    return at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos;
}

void check_endpoint(io::TomlTable& table, std::string_view key, const std::string& url) {
    if (url.empty()) return;
    if ((!url.starts_with("http://") && !url.starts_with("https://")) || url.ends_with('/'))
        table.report(key, "must be a URL like https://s3.example.org, without a trailing slash");
}

}  // namespace

std::string database_fault(std::string_view text) {
    if (text.empty()) return {};
    if (!is_url(text) && text.find('=') == std::string_view::npos)
        return "must be a URL like postgres://wheelyard@db.example.org/wheelyard?sslmode=verify-full, or "
               "parameters of libpq like \"service=wheelyard\"";
    if (has_password(text))
        return "must not contain a password: write it into a file of mode 0600 and name that one as "
               "database_password_file";
    return {};
}

StoresConfig read_stores(io::TomlTable table) {
    StoresConfig stores;
    stores.database = table.string_or("database", "");
    if (const std::string fault = database_fault(stores.database); !fault.empty())
        table.report("database", fault);
    stores.database_password_file = table.path_if("database_password_file").value_or("");
    stores.blobs = table.string_or("blobs", "");
    if (!stores.blobs.empty() && (!stores.blobs.starts_with("s3://") || stores.blobs.size() == 5))
        table.report("blobs", "must have the form s3://BUCKET or s3://BUCKET/PREFIX");
    stores.blobs_endpoint = table.string_or("blobs_endpoint", "");
    check_endpoint(table, "blobs_endpoint", stores.blobs_endpoint);
    stores.blobs_public_endpoint = table.string_or("blobs_public_endpoint", "");
    check_endpoint(table, "blobs_public_endpoint", stores.blobs_public_endpoint);
    stores.blobs_region = table.string_or("blobs_region", "");
    stores.blobs_path_style = table.boolean_or("blobs_path_style", false);
    stores.blobs_credentials_file = table.path_if("blobs_credentials_file").value_or("");
    return stores;
}

}  // namespace wheelyard::registry
