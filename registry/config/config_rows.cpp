// The rows of the file as a whole, and of the tables whose keys are few: [server], [store], [stores], [node],
// [tasks] and [notify].
#include <unistd.h>

#include <algorithm>

#include "lib/base/limits.hpp"
#include "lib/store/engine/place.hpp"
#include "registry/config/config_rows.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

using io::key;
using io::must;

constexpr std::int64_t max_min_free_mib = 1024 * 1024;
constexpr std::int64_t max_scrub_mib_per_s = 100'000;
constexpr std::int64_t max_task_attempts = 10;  // claims per task
constexpr std::int64_t max_kept_days = 36'500;  // of an ended task; 100 years means "forever"
constexpr std::size_t max_node_name = 64;
constexpr std::int64_t max_timeout_s = 24 * 3600;

bool add_listen(io::TomlTable& table, std::string_view key, const std::string& text,
                http::ServerSettings& server) {
    auto point = parse_listen(text, table.resolved("."));
    if (point)
        server.listen.push_back(*std::move(point));
    else
        table.report(key, point.error().text());
    return table.has(key);
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

// "/wheelyard-files"
bool is_location(const std::string& text) {
    return text.starts_with('/') && !text.ends_with('/');
}

std::vector<std::string> names_of_fields() {
    std::vector<std::string> names;
    for (const http::ProxyField& field : http::proxy_fields)
        names.emplace_back(field.name);
    return names;
}

void check_server(io::TomlTable& table, http::ServerSettings& server, RegistryConfig&) {
    const bool has_tls = std::any_of(server.listen.begin(), server.listen.end(),
                                     [](const http::ListenPoint& point) { return point.tls; });
    if (has_tls && (server.certificate_file.empty() || server.key_file.empty()))
        table.report("certificate_file",
                     "an https:// address requires certificate_file and certificate_key_file");
    if (!has_tls && !(server.certificate_file.empty() && server.key_file.empty()))
        table.report(
            "certificate_file",
            "no address of listen and also_listen begins with https://, so this would encrypt nothing");
    if (!table.has("max_token_uploads"))
        server.max_token_uploads = std::max<std::size_t>(1, server.max_uploads / 2);
}

io::TomlRow<http::ServerSettings> timeout(std::string name, std::int64_t http::ServerSettings::*of,
                                          std::string hint) {
    return key(std::move(name), of, {.range = {1, max_timeout_s}, .unit = 1000, .hint = std::move(hint)});
}

// How the server is reached, and how clients and proxies see it.
io::TomlRows<http::ServerSettings> address_rows() {
    using S = http::ServerSettings;
    return {
        {{.type = "address",
          .fallback = "`127.0.0.1:8080`",
          .hint = "Loopback only by default. Set up TLS, here or in a proxy, before you listen on other "
                  "addresses.",
          .sample = R"("127.0.0.1:8080")",
          .is_set = true,
          .name = "listen"},
         [](io::TomlTable& table, const io::TomlFacts&, S& server) {
             server.listen.clear();
             return add_listen(table, "listen", table.string_or("listen", "127.0.0.1:8080"), server);
         }},
        {{.type = "list of addresses",
          .sample = R"(["https://[::]:8443", "unix:run/http.sock"])",
          .name = "also_listen"},
         [](io::TomlTable& table, const io::TomlFacts&, S& server) {
             for (const std::string& text : table.strings_or("also_listen", {}))
                 add_listen(table, "also_listen", text, server);
             return table.has("also_listen");
         }},
        io::parsed<parse_mode>("unix_socket_mode", &S::unix_socket_mode, "an octal mode like 0660 or 0666",
                               {.type = "octal mode", .fallback = "`0660`"})
            .hint("permissions of unix: sockets", R"("0660")"),
        key("certificate_file", &S::certificate_file)
            .hint("for https://; SIGHUP reloads both files", R"("tls/chain.pem")"),
        key("certificate_key_file", &S::key_file).sample(R"("tls/key.pem")"),
        key("public_url", &S::public_url,
            {.type = "URL",
             .fallback = "the requested one",
             .check = must_be_base_url("https://wheels.example.org")})
            .hint("base of absolute URLs, maybe with a path; default: the request's host",
                  R"("https://wheels.example.org")"),
        key("trusted_proxies", &S::trusted_proxies)
            .hint("say of their clients what is in trusted_fields; \"unix\": any Unix-socket peer",
                  R"(["127.0.0.1"])"),
        key("trusted_fields", &S::trusted_fields, {.choices = names_of_fields()})
            .hint("X-Forwarded-Prefix if they set it"),
        key("x_accel_redirect", &S::accel_prefix,
            {.fallback = "off",
             .check = must(is_location, "a path like /wheelyard-files, without a trailing slash")})
            .hint("nginx sends the files: its internal location for data/public", R"("/wheelyard-files")"),
        key("log_requests", &S::log_requests).hint("one log line per request"),
        key("log_json", &S::log_json).hint("each line of the log is a JSON object"),
    };
}

io::TomlRow<RegistryConfig> server_row() {
    using S = http::ServerSettings;
    io::TomlRows<S> rows = address_rows();
    rows.add({
        key("io_threads", &S::io_threads, {.range = {1, 256}}).hint("threads that serve pages and files"),
        key("upload_threads", &S::upload_threads, {.range = {1, 256}})
            .hint("threads that write, hash and check uploads"),
        key("max_uploads", &S::max_uploads, {.range = {1, 4096}})
            .hint("concurrent uploads, 2 MiB of memory each; beyond this the server answers 503"),
        key("max_token_uploads", &S::max_token_uploads,
            {.fallback = "half of `max_uploads`", .range = {1, 4096}})
            .hint("of them, of one token; default: half of max_uploads"),
        key("max_connections", &S::max_connections, {.range = {1, 1'000'000}}),
        timeout("header_timeout_s", &S::header_timeout_ms, "time for a complete request header"),
        timeout("idle_timeout_s", &S::idle_timeout_ms, "time between two requests of one connection"),
        timeout("stall_timeout_s", &S::stall_timeout_ms, "a body without progress for this long is aborted"),
        timeout("drain_timeout_s", &S::drain_timeout_ms,
                "time that a shutdown waits for requests in progress"),
        timeout("page_wait_s", &S::page_wait_ms,
                "time that an upload waits for its page before it answers 503"),
    });
    return io::table("server", &RegistryConfig::server, std::move(rows), {.is_always_read = true},
                     check_server);
}

io::TomlRow<RegistryConfig> tasks_row() {
    using T = tasks::TaskRules;
    return io::table(
        "tasks", &RegistryConfig::tasks,
        {
            key("lease_s", &T::lease_s, {.range = {1, max_lease_s}})
                .hint("a site that does not ask for so long loses its tasks"),
            key("max_attempts", &T::max_attempts, {.range = {1, max_task_attempts}})
                .hint("claims without an outcome before the task fails"),
            key("kept_days", &T::kept_days, {.range = {1, max_kept_days}})
                .hint("ended tasks and their logs are removed after this time"),
        },
        {.hint = "Tasks: wheels that users request and agents build. See docs/reference/task.md."});
}

void check_node(io::TomlTable& table, NodeConfig& node, RegistryConfig&) {
    if (!table.has("name")) node.name = name_of_machine();
    if (node.name.empty() || node.name.size() > max_node_name)
        table.report("name", "must have 1 to " + std::to_string(max_node_name) + " characters");
    if (node.read_without_database_ms != 0 && node.read_without_database_ms <= node.lease_ms)
        table.report("read_without_database_s", "must be 0 or more than lease_s");
}

io::TomlRow<RegistryConfig> stores_row() {
    using S = StoresConfig;
    const auto is_bucket = [](const std::string& text) {
        return text.starts_with("s3://") && text.size() > 5;
    };
    const io::TextCheck url = must_be_base_url("https://s3.example.org");
    return io::table(
        "stores", &RegistryConfig::stores,
        {
            key("database", &S::database,
                {.check = database::fault_of_url,
                 .hint =
                     R"("postgres://wheelyard@db.example.org/wheelyard?sslmode=verify-full"; "": SQLite in )"
                     "the folder"}),
            key("database_password_file", &S::database_password_file).sample(R"("secrets/database")"),
            key("blobs", &S::blobs,
                {.check = io::must(is_bucket, "the form s3://BUCKET or s3://BUCKET/PREFIX")})
                .hint(R"("s3://BUCKET/PREFIX"; "": files in the folder)"),
            key("blobs_endpoint", &S::blobs_endpoint, {.type = "URL", .fallback = "AWS's", .check = url})
                .sample(R"("https://s3.example.org")"),
            key("blobs_public_endpoint", &S::blobs_public_endpoint, {.type = "URL", .check = url})
                .hint("for clients, which then get files from the store itself"),
            key("blobs_region", &S::blobs_region, {.fallback = "`us-east-1`"}).sample(R"("us-east-1")"),
            key("blobs_path_style", &S::blobs_path_style)
                .hint("true: the bucket is part of the path, not of the host's name"),
            key("blobs_credentials_file", &S::blobs_credentials_file, {.fallback = "of the environment"})
                .sample(R"("secrets/s3")"),
        },
        {.hint = "Stores outside of the data folder, for when one machine is not enough. See "
                 "docs/reference/registry-config.md."});
}

io::TomlRow<RegistryConfig> node_row() {
    using N = NodeConfig;
    return io::table(
        "node", &RegistryConfig::node,
        {
            key("name", &N::name, {.fallback = "the machine's"})
                .hint("for people; the machine's name", R"("node-a")"),
            key("address", &N::address,
                {.type = "URL", .check = must_be_base_url("http://node-a.example.org:8080")})
                .hint(R"(where other nodes send uploads; "": this is the only server)",
                      R"("http://node-a.example.org:8080")"),
            key("lease_s", &N::lease_ms, {.range = {nodes::min_lease_s, nodes::max_lease_s}, .unit = 1000})
                .hint("how long uploads wait for a node that died"),
            key("read_without_database_s", &N::read_without_database_ms,
                {.range = {0, nodes::max_read_without_database_s},
                 .unit = 1000,
                 .hint =
                     "how long nodes go on reading while the database is away; 0: until their leases end"}),
        },
        {.is_always_read = true,
         .hint = "This server among several over one database. See docs/how-to/several-nodes.md."},
        check_node);
}

}  // namespace

std::string name_of_machine() {
    char name[max_node_name + 1] = {};
    return ::gethostname(name, max_node_name) == 0 ? name : "node";
}

// A row sees what the rows before it have read.
const io::TomlRows<RegistryConfig>& config_rows() {
    using C = RegistryConfig;
    static const io::TomlRows<C> rows{
        io::config_version<C>(),
        server_row(),
        key("store.directory", &C::store,
            {.fallback = "`data`",
             .hint =
                 "Catalog, wheels and published pages; relative to this file. Must be on one file system.",
             .is_set = true})
            .sample(R"("data")"),
        key("store.pages", &C::pages).hint("the web UI in the published tree: search, projects, builds"),
        key("store.min_free_mib", &C::min_free_bytes, {.range = {1, max_min_free_mib}, .unit = base::mib})
            .hint("uploads end while this much is free on the disk; as much is kept for administrators"),
        key("store.scrub_mib_per_s", &C::scrub_mib_per_s, {.range = {0, max_scrub_mib_per_s}})
            .hint("stored wheels are read and compared with their hashes all the time; 0: never"),
        stores_row(),
        node_row(),
        pages_row(),
        tasks_row(),
        key("notify.command", &C::notify_command)
            .hint("told what a person should know, on standard input; see docs/reference/notices.md"),
        identity_row(),
        publisher_row(),
        attest_row(),
        index_row(),
    };
    return rows;
}

io::TextCheck must_be_base_url(std::string_view example) {
    return io::must(
        [](const std::string& text) {
            return (text.starts_with("http://") || text.starts_with("https://")) && !text.ends_with('/');
        },
        "a URL like " + std::string(example) + ", without a trailing slash");
}

io::TextCheck must_be_name(const std::string& what) {
    return [what](const std::string& name) {
        const std::string fault = index_name_fault(name);
        return fault.empty() ? fault : what + " is named like an index: " + fault;
    };
}

}  // namespace wheelyard::registry
