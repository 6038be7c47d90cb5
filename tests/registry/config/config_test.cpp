// The configuration: defaults, every key, every complaint, and that rows and document agree.
#include "registry/config/config.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>

#include "lib/base/text/text.hpp"
#include "registry/config/index_rules.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using registry::parse_config;

namespace {

const std::string start = "config_version = 1\n";
const std::string index = "[[index]]\nname = \"main\"\n";

std::string error_of(const std::string& text) {
    const auto config = parse_config(text, "/etc/wheelyard/registry.toml");
    return config ? std::string() : config.error().text();
}

}  // namespace

TEST_CASE("the minimal configuration is one index; everything else has its default") {
    const auto config = parse_config(start + index, "/etc/wheelyard/registry.toml");
    REQUIRE(config.has_value());
    REQUIRE(config->server.listen.size() == 1);
    CHECK(config->server.listen[0].address == "127.0.0.1");
    CHECK(config->server.listen[0].port == 8080);
    CHECK_FALSE(config->server.listen[0].tls);
    CHECK(config->store == "/etc/wheelyard/data");
    CHECK(config->store == "/etc/wheelyard/data");
    CHECK(config->published() == "/etc/wheelyard/data/public");
    REQUIRE(config->indexes.size() == 1);
    CHECK(config->indexes[0].max_file_bytes == 8192ull << 20);
    CHECK(config->find_index("main") == &config->indexes[0]);
    CHECK(config->find_index("Main") == nullptr);
    CHECK(config->index_names() == std::vector<std::string>{"main"});
}

TEST_CASE("every key is read") {
    const auto config = parse_config(
        start +
            "[server]\nlisten = \"[::1]:0\"\nio_threads = 3\nupload_threads = 5\nmax_connections = "
            "7\nmax_uploads = 9\nmax_token_uploads = 2\ntrusted_fields = [\"Forwarded\"]\n"
            "header_timeout_s = 1\nidle_timeout_s = 2\nstall_timeout_s = 3\ndrain_timeout_s = 4\npage_wait_s "
            "= 5\n"
            "[store]\ndirectory = \"../wheels\"\n" +
            index +
            "title = \"All\"\nmax_file_mib = 10\n[index.policy]\npreset = \"manylinux-strict\"\n"
            "rpath_prefixes = [\"/cvmfs/soft.example\"]\nlicenses = [\"MIT\", "
            "\"LicenseRef-Site\"]\nunpacked_gib = 200\nunpacked_ratio = 20\n"
            "unpacked_ratio_from_mib = 8\n\"record.hash_mismatch\" = \"quarantine\"\n"
            "[[index]]\nname = \"bede-gh200\"\ninherits = [\"main\"]\nowns = [\"Torch.Vision\"]\n",
        "/etc/wheelyard/registry.toml");
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    CHECK(config->server.listen[0].address == "::1");
    CHECK(config->server.listen[0].port == 0);
    CHECK(config->server.io_threads == 3);
    CHECK(config->server.upload_threads == 5);
    CHECK(config->server.max_connections == 7);
    CHECK(config->server.max_uploads == 9);
    CHECK(config->server.max_token_uploads == 2);
    CHECK(config->server.trusted_fields == std::vector<std::string>{"Forwarded"});
    CHECK(config->server.header_timeout_ms == 1000);
    CHECK(config->server.idle_timeout_ms == 2000);
    CHECK(config->server.stall_timeout_ms == 3000);
    CHECK(config->server.drain_timeout_ms == 4000);
    CHECK(config->server.page_wait_ms == 5000);
    CHECK(config->store.lexically_normal() == "/etc/wheels");
    REQUIRE(config->indexes.size() == 2);
    CHECK(config->indexes[0].title == "All");
    CHECK(config->indexes[0].max_file_bytes == 10u << 20);
    const inspect::Policy& policy = config->indexes[0].policy;
    CHECK(policy.severities.at("record.hash_mismatch") == inspect::Severity::quarantine);
    CHECK(policy.severities.at("tag.linux_only") == inspect::Severity::reject);  // the preset's
    CHECK(policy.search_path_prefixes == std::vector<std::string>{"/cvmfs/soft.example"});
    CHECK(policy.licenses == std::vector<std::string>{"MIT", "LicenseRef-Site"});
    CHECK(policy.sizes.unpacked_bytes == std::uint64_t{200} << 30);
    CHECK(policy.sizes.ratio == 20);
    CHECK(policy.sizes.ratio_from_bytes == 8u << 20);
    CHECK(config->indexes[1].inherits == std::vector<std::string>{"main"});
    CHECK(config->indexes[1].owns == std::set<std::string>{"torch-vision"});
    const auto rules = registry::index_rules(*config);
    REQUIRE(rules.size() == 2);
    CHECK(rules[0] == catalog::IndexRule{.index = "main"});
    CHECK(rules[1] == catalog::IndexRule{"bede-gh200", {"main"}, {"torch-vision"}});
    CHECK(config->indexes[1].policy.severities.empty());
    CHECK(config->indexes[1].policy.sizes.unpacked_bytes == std::uint64_t{64} << 30);
}

TEST_CASE("a private index makes the caches of its upstreams private, and may inherit from a public one") {
    const auto config = registry::parse_config(
        start + index + "[[index]]\nname = \"b\"\nread = \"token\"\ninherits = [\"main\"]\n" +
            "[[index.upstream]]\nname = \"u\"\nurl = \"https://w.example/simple\"\n",
        "/etc/registry.toml");
    REQUIRE(config);
    CHECK(config->is_private("b.u"));
    CHECK_FALSE(config->is_private("main"));
    CHECK(config->tree_of("b") == config->published_private());
    CHECK(config->tree_of("main") == config->published());
    const auto rules = registry::index_rules(*config);
    REQUIRE(rules.size() == 3);
    CHECK(rules[1].is_private);
    CHECK(rules[2] == catalog::IndexRule{.index = "b.u", .is_private = true});
}

TEST_CASE("an address of this registry is known as such") {
    const auto config = parse_config(
        start + "[server]\nlisten = \"0.0.0.0:8080\"\npublic_url = \"https://w.example/all\"\n" + index,
        "/etc/wheelyard/registry.toml");
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    for (const char* url :
         {"https://w.example/all/main/files/x.whl", "https://W.example:443/all/main/simple/x/",
          "http://127.0.0.1:8080/main/files/x.whl", "http://localhost:8080/main/simple/"}) {
        CAPTURE(url);
        CHECK(registry::own_index(url, *config) == "main");
    }
    for (const char* url : {"https://w.example/other/main/files/x.whl", "https://w.example/all/more/x.whl",
                            "http://127.0.0.1:8081/main/files/x.whl", "https://x.example/all/main/x.whl"}) {
        CAPTURE(url);
        CHECK_FALSE(registry::own_index(url, *config).has_value());
    }
}

TEST_CASE("a staging index owns the names of its index, unless it inherits them from there") {
    const std::string indexes =
        start + index + "staging = \"new\"\nowns = [\"Our.Torch\"]\n[[index]]\nname = \"new\"\n";
    for (const bool inherits : {false, true}) {
        CAPTURE(inherits);
        const auto config = parse_config(indexes + (inherits ? "inherits = [\"main\"]\n" : ""),
                                         "/etc/wheelyard/registry.toml");
        REQUIRE(config.has_value());
        const catalog::Inheritance rules(registry::index_rules(*config));
        CHECK(rules.owns("main", "our-torch"));
        CHECK(rules.owns("new", "our-torch") == !inherits);
    }
}

TEST_CASE("what is wrong is said with its place and what was expected") {
    struct Row {
        std::string text;
        const char* says;
    };
    const Row rows[] = {
        {index, "config_version"},
        {"config_version = 2\n" + index, "config_version"},
        {start, "[[index]]"},
        {start + "[server]\nlistn = \"a\"\n" + index, "listen"},
        {start + "[server]\nio_threads = \"two\"\n" + index, "registry.toml:3:"},
        {start + "[server]\nio_threads = 0\n" + index, "io_threads"},
        {start + "[server]\nlisten = \"8080\"\n" + index, "HOST:PORT"},
        {start + "[[index]]\nname = \"Main\"\n", "lower-case"},
        {start + "[[index]]\nname = \"api\"\n", "reserved for the server"},
        {start + "[[index]]\ntitle = \"x\"\n", "name"},
        {start + index + index, "two indexes"},
        {start + index + "max_file_mib = 0\n", "max_file_mib"},
        {start + index + "inherits = [\"base\"]\n", "registry.toml:4:12: there is no [[index]] named `base`"},
        {start + index + "inherits = [\"main\"]\n",
         "registry.toml:4:12: an index cannot inherit from itself: main from main"},
        {start + index +
             "inherits = [\"b\"]\n[[index]]\nname = \"b\"\ninherits = [\"c\"]\n"
             "[[index]]\nname = \"c\"\ninherits = [\"b\"]\n",
         "registry.toml:7:12: an index cannot inherit from itself: b from c from b"},
        {start + index + "inherits = [\"b\"]\n[[index]]\nname = \"b\"\nsdists = true\n",
         "registry.toml:4:12: `b` has sdists = true"},
        {start + index + "inherits = [\"b\"]\n[[index]]\nname = \"b\"\nvariants = true\n",
         "registry.toml:4:12: `b` has variants = true"},
        {start + index + "sdists = true\n[[index.build]]\nindex = \"x\"\npythons = [\"3.11\"]\n",
         "there is no index `x`"},
        {start + index + "sdists = true\n[[index.build]]\nindex = \"a\"\npythons = [\"cp311\"]\n",
         "expected a version such as 3.11"},
        {start + index + "sdists = true\n[[index.build]]\nindex = \"a\"\n", "name at least one"},
        {start + index +
             "sdists = true\nread = \"token\"\n[[index.build]]\nindex = \"b\"\npythons = [\"3.11\"]\n" +
             "[[index]]\nname = \"b\"\n",
         "everyone may read `b`"},
        {start + index + "read = \"me\"\n", "expected one of `public`, `token`"},
        {start + index + "inherits = [\"b\"]\n[[index]]\nname = \"b\"\nread = \"token\"\n",
         "registry.toml:4:12: everyone may read `main`, but `b` has read = \"token\""},
        {start + index + "staging = \"b\"\n[[index]]\nname = \"b\"\nread = \"token\"\n",
         "must have the same `read`"},
        {start + index + "staging = \"b\"\nread = \"token\"\n[[index]]\nname = \"b\"\n",
         "must have the same `read`"},
        {start + index + "staging = \"b\"\nread_logs = \"token\"\n[[index]]\nname = \"b\"\n",
         "must have the same `read_logs`"},
        {start + index + "staging = \"b\"\n[[index]]\nname = \"b\"\nread_logs = \"token\"\n",
         "must have the same `read_logs`"},
        {start + index + "[[index.upstream]]\nname = \"u\"\nprivate_hosts = [\"localhost\"]\n" +
             "url = \"http://localhost:8080/b/simple/\"\n[[index]]\nname = \"b\"\nread = \"token\"\n",
         "is this registry's index `b`"},
        {start + "[server]\npublic_url = \"https://w.example/all\"\n" + index +
             "[[index.upstream]]\nname = \"u\"\nurl = \"https://W.example:443/all/b/simple\"\n" +
             "[[index]]\nname = \"b\"\nread = \"token\"\n",
         "is this registry's index `b`"},
        {start + index + "inherits = [\"b\", \"b\"]\n[[index]]\nname = \"b\"\n", "is listed twice"},
        {start + index + "owns = [\"torch \"]\n",
         "registry.toml:4:8: expected a valid project name (letters, digits, `-`, `_`, `.`), found `torch `"},
        {start + index + "owns = \"torch\"\n", "owns"},
        {start + index + "[index.policy]\n\"record.hash_mismach\" = \"warn\"\n", "record.hash_mismatch"},
        {start + index + "[index.policy]\n\"record.hash_mismatch\" = \"error\"\n",
         "\"reject\", \"quarantine\", \"warn\", \"note\" or \"ignore\""},
        {start + index + "[index.policy]\n\"record.hash_mismatch\" = 1\n", "expected a string"},
        {start + index + "[index.policy]\nelf.search_path = \"warn\"\n", "elf"},  // without its quotes
        {start + index + "[index.policy]\npreset = \"manylinux_strict\"\n",
         "did you mean \"manylinux-strict\""},
        {start + index + "[index.policy]\nrpath_prefixes = [\"sw\"]\n", "not an absolute path"},
        {start + index + "[index.policy]\nrpath_prefixes = [\"//\"]\n", "not an absolute path"},
        {start + index + "[index.policy]\ngpu_architectures = [\"a100\"]\n",
         "expected a GPU architecture such as"},
        {start + index + "[index.policy]\nlicenses = [\"MIT OR 0BSD\"]\n",
         "expected one SPDX licence such as"},
        {start + index + "[index.policy]\nlicenses = [\"GPL\"]\n", "expected one SPDX licence such as"},
        {start + index + "[index.policy]\nrpath_prefixes = [\"/sw/../home\"]\n", "`..`"},
        {start + index + "[index.policy]\nunpacked_gib = 0\n", "unpacked_gib"},
        {start + index + "[index.policy]\nunpacked_ratio = 1033\n", "unpacked_ratio"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const std::string error = error_of(row.text);
        CAPTURE(error);
        CHECK(error.find(row.says) != std::string::npos);
    }
}

TEST_CASE("an upstream is read, with normalised names and its own host among the hosts") {
    const auto config = parse_config(start + index + R"(
[[index.upstream]]
name = "public"
url = "https://Index.Example.org/simple"
hosts = ["Files.example.org"]
private_hosts = ["10.0.0.1"]
allow = ["Yard_*"]
deny = ["our.[st]*"]
cooldown_days = 3
cooldown_except = ["Torch"]
max_cache_mib = 2
proxy = "http://proxy.example.org:3128"
username = "reader"
password_file = "secret"
inspect_first = true
[index.upstream.policy]
"elf.needed_unknown" = "quarantine"
[[index.upstream]]
name = "site"
url = "http://10.0.0.1/simple/"
private_hosts = ["10.0.0.1"]
)",
                                     "/etc/wheelyard/registry.toml");
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    const auto& upstreams = config->indexes[0].upstreams;
    REQUIRE(upstreams.size() == 2);
    CHECK(upstreams[0].cache_index == "main.public");
    CHECK(upstreams[0].url == "https://Index.Example.org/simple/");
    CHECK(upstreams[0].hosts == std::set<std::string>{"index.example.org", "files.example.org", "10.0.0.1"});
    CHECK(upstreams[0].allow == std::vector<std::string>{"yard-*"});
    CHECK(upstreams[0].deny == std::vector<std::string>{"our-[st]*"});
    CHECK(upstreams[0].cooldown_days == 3);
    CHECK(upstreams[0].max_cache_bytes == 2 << 20);
    CHECK(upstreams[1].max_cache_bytes == 0);
    CHECK(upstreams[0].password_file == "/etc/wheelyard/secret");
    CHECK(upstreams[0].inspect_first);
    CHECK_FALSE(upstreams[1].inspect_first);
    auto expected = inspect::make_preset("mirror").value();  // whatever the index's own preset is
    CHECK(upstreams[1].policy.severities == expected.severities);
    expected.severities.insert_or_assign("elf.needed_unknown", inspect::Severity::quarantine);
    CHECK(upstreams[0].policy.severities == expected.severities);
    const auto rules = registry::index_rules(*config);
    REQUIRE(rules.size() == 3);
    CHECK(rules[1] == catalog::IndexRule{.index = "main.public"});
    CHECK(rules[0].upstreams == std::vector<std::string>{"main.public", "main.site"});
}

TEST_CASE("what is wrong with an upstream is said") {
    const std::string head = start + index + "[[index.upstream]]\n";
    const std::string named = head + "name = \"public\"\n";
    const struct {
        std::string text;
        const char* phrase;
    } table[] = {
        {named + "url = \"http://index.example.org/simple/\"\n",
         "http:// is accepted only for a host in private_hosts"},
        {named + "url = \"file:///srv/simple/\"\n", "must be the URL of simple pages"},
        {named + "url = \"https://me:secret@index.example.org/simple/\"\n",
         "must be the URL of simple pages"},
        {named + "url = \"https://index.example.org/simple/?x=1\"\n", "must be the URL of simple pages"},
        {named, "url"},
        {head + "url = \"https://a.example.org/\"\n", "name"},
        {head + "name = \"../up\"\nurl = \"https://a.example.org/\"\n", "named like an index"},
        {named + "url = \"https://a.example.org/\"\nhosts = [\"https://b.example.org\"]\n",
         "expected the name of a host, such as"},
        {named + "url = \"https://a.example.org/\"\nhosts = [\"b.example.org:http\"]\n",
         "expected the name of a host, such as"},
        {named + "url = \"https://a.example.org/\"\ndeny = [\"a/b\"]\n",
         "expected a pattern of project names"},
        {named + "url = \"https://a.example.org/\"\nusername = \"me\"\n", "belong together"},
        {named + "url = \"https://a.example.org/\"\ncooldown_day = 3\n", "cooldown_days"},
        {named + "url = \"https://a.example.org/\"\nmax_cache_mib = -1\n", "max_cache_mib"},
        {named +
             "url = \"https://a.example.org/\"\n[index.upstream.policy]\n\"elf.nothing\" = \"quarantine\"\n",
         "unknown rule"},
        {named + "url = \"https://a.example.org/\"\n[[index.upstream]]\nname = \"public\"\nurl = "
                 "\"https://b.example.org/\"\n",
         "two upstreams"}};
    for (const auto& row : table) {
        CAPTURE(row.text);
        CHECK(error_of(row.text).find(row.phrase) != std::string::npos);
    }
}

TEST_CASE("all problems come at once") {
    const std::string error =
        error_of(start + "[server]\nio_threads = 0\nlisten = \"x\"\n[[index]]\nname = \"API\"\n");
    for (const char* part : {"io_threads", "listen", "lower-case"})
        CHECK(error.find(part) != std::string::npos);
}

TEST_CASE("index names") {
    for (const char* name : {"main", "bede-gh200", "a", "0", "cu126", "x--y"}) {
        CAPTURE(name);
        CHECK(registry::index_name_fault(name).empty());
    }
    for (const char* name : {"", "-a", "A", "a_b", "a.b", "a/b", "ü", "api", "healthz", "readyz", "metrics",
                             "legacy", " a", "a\n"}) {
        CAPTURE(name);
        CHECK_FALSE(registry::index_name_fault(name).empty());
    }
    CHECK(registry::index_name_fault(std::string(64, 'a')).empty());
    CHECK_FALSE(registry::index_name_fault(std::string(65, 'a')).empty());
}

TEST_CASE("addresses to listen on") {
    struct Row {
        const char* text;
        const char* address;  // empty: refused
        int port;
    };
    const Row rows[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080},
        {"0.0.0.0:0", "0.0.0.0", 0},
        {"[::1]:65535", "::1", 65535},
        {"localhost:80", "localhost", 80},
        {"127.0.0.1", "", 0},
        {":8080", "", 0},
        {"[]:1", "", 0},
        {"::1:80", "", 0},
        {"127.0.0.1:65536", "", 0},
        {"127.0.0.1:", "", 0},
        {"127.0.0.1:-1", "", 0},
        {"", "", 0},
        {"https://[::]:8443", "::", 8443},
        {"https://8443", "", 0},
        {"unix:", "", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto parsed = registry::parse_listen(row.text);
        CHECK(parsed.has_value() == (*row.address != '\0'));
        if (parsed) {
            CHECK(parsed->address == row.address);
            CHECK(parsed->port == row.port);
        }
    }
}

TEST_CASE("a Unix socket lies relative to the file, and https needs its certificate") {
    const auto point = registry::parse_listen("unix:run/http.sock", "/etc/wheelyard").value();
    CHECK(point.unix_socket == "/etc/wheelyard/run/http.sock");
    const std::string https = start + "[server]\nlisten = \"https://127.0.0.1:8443\"\n" + index;
    CHECK(error_of(https).find("certificate_file") != std::string::npos);
    const std::string with_files = start +
                                   "[server]\nlisten = \"https://127.0.0.1:8443\"\n"
                                   "certificate_file = \"c.pem\"\ncertificate_key_file = \"k.pem\"\n" +
                                   index;
    const auto config = parse_config(with_files, "/etc/wheelyard/registry.toml").value();
    CHECK(config.server.listen[0].tls);
    CHECK(config.server.key_file == "/etc/wheelyard/k.pem");
    const std::string without_tls = base::replace_all(with_files, "https://", "");
    CHECK(error_of(without_tls).find("would encrypt nothing") != std::string::npos);
    CHECK(parse_config(start + "[server]\nunix_socket_mode = \"0666\"\n" + index, "/x")
              .value()
              .server.unix_socket_mode == 0666);
    for (const char* mode : {"660", "0668", "1777", "00660", "", "u=rw"})
        CHECK(error_of(start + "[server]\nunix_socket_mode = \"" + mode + "\"\n" + index).find("octal") !=
              std::string::npos);
    CHECK(error_of(start + "[server]\npublic_url = \"wheels.example.org\"\n" + index).find("a URL like") !=
          std::string::npos);
}

TEST_CASE("a node has a name, an address for the others and a lease, or what a single server needs") {
    const std::string start = "config_version = 1\n";
    const std::string index = "[[index]]\nname = \"main\"\n";
    const auto plain = parse_config(start + index, "/x").value().node;
    CHECK_FALSE(plain.name.empty());
    CHECK(plain.address.empty());
    CHECK(plain.lease_ms == 6'000);
    CHECK(plain.read_without_database_ms == 0);
    const auto node = parse_config(start +
                                       "[node]\nname = \"a\"\naddress = \"http://a:8080\"\nlease_s = "
                                       "10\nread_without_database_s = 3600\n" +
                                       index,
                                   "/x")
                          .value()
                          .node;
    CHECK(node.name == "a");
    CHECK(node.address == "http://a:8080");
    CHECK(node.lease_ms == 10'000);
    CHECK(node.read_without_database_ms == 3'600'000);
    for (const char* wrong :
         {"name = \"\"", "address = \"a:8080\"", "address = \"http://a/\"", "lease_s = 3", "lease_s = 61",
          "read_without_database_s = 6", "read_without_database_s = 604801"})
        CHECK_FALSE(error_of(start + "[node]\n" + wrong + "\n" + index).empty());
}

TEST_CASE("the file that init writes works as it is, and with every key uncommented") {
    const std::string text = registry::config_template();
    CHECK(error_of(text).empty());
    const std::string uncommented = std::regex_replace(
        text, std::regex("(^|\n)# ([a-z_\".]+ = |\\[\\[?(?:index|identity|publisher))"), "$1$2");
    CHECK(uncommented != text);
    // The logo file does not exist.
    CHECK(error_of(base::replace_all(uncommented, "logo = \"logo.svg\"", "")).empty());
}

TEST_CASE(
    "a configuration under /etc has its store in /var/lib/wheelyard and the agents' index, any other "
    "neither") {
    for (const char* folder : {"/etc/wheelyard", "/etc", "/etc/a/../wheelyard/"}) {
        CAPTURE(folder);
        const std::string text = registry::initial_config(folder);
        CHECK(text.find("\ndirectory = \"/var/lib/wheelyard\"\n") != std::string::npos);
        CHECK(text.find("\n[[index]]\nname = \"tools\"\ntitle = ") != std::string::npos);
        CHECK(error_of(text).empty());
    }
    for (const char* folder : {"/srv/farm", "/etcetera", "/home/x/etc"}) {
        CAPTURE(folder);
        CHECK(registry::initial_config(folder) == registry::config_template());
    }
}

TEST_CASE("the reference page has each key with the type and default of its row") {
    for (const auto& [table, lines] : registry::document_config_keys()) {
        const std::string part = table.empty() ? "keys" : "keys of " + table;
        CHECK(test_support::keys_difference("reference/registry-config.md", part, lines) == "");
    }
}
