// `[stores]`.
#include "registry/config/config.hpp"

#include <string_view>

#include "registry/engine/place.hpp"

namespace wheelyard::registry {
namespace {

void check_endpoint(io::TomlTable& table, std::string_view key, const std::string& url) {
    if (url.empty()) return;
    if ((!url.starts_with("http://") && !url.starts_with("https://")) || url.ends_with('/'))
        table.report(key, "must be a URL like https://s3.example.org, without a trailing slash");
}

}  // namespace

StoresConfig read_stores(io::TomlTable table) {
    StoresConfig stores;
    stores.database = table.string_or("database", "");
    if (const std::string fault = database::fault_of_url(stores.database); !fault.empty())
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
