// What changes in the indexes, and what a running server may not change.
#include "registry/config/index_changes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "registry/config/live_config.hpp"

using namespace wheelyard;
using registry::RegistryConfig;

namespace {

RegistryConfig parse(const std::string& indexes) {
    auto config = registry::parse_config("config_version = 1\n" + indexes, "/etc/wheelyard/registry.toml");
    REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
    return *config;
}

std::string index(const std::string& name, const std::string& keys = {}) {
    return "[[index]]\nname = \"" + name + "\"\n" + keys + "\n";
}

std::string texts(const std::string& before, const std::string& after) {
    std::string all;
    for (const auto& change : registry::list_index_changes(parse(before), parse(after)))
        all += change.index + ": " + change.text() + "\n";
    return all;
}

const std::string upstream =
    "[[index.upstream]]\nname = \"public\"\nurl = \"https://index.example.org/simple/\"\n";

}  // namespace

TEST_CASE("changes are listed key by key") {
    struct Row {
        std::string before, after, expected;
    };
    const Row rows[] = {
        {index("a"), index("a"), ""},
        {index("a"), index("a") + index("b"), "b: created\n"},
        {index("a"), index("b", "read = \"token\"") + index("a"), "b: created\n"},
        {index("a"), index("a", "title = \"T\"\nquota_mib = 5"),
         "a: title: \"\" -> \"T\"\na: quota_mib: 0 -> 5\n"},
        {index("a"), index("a", "archived = true"), "a: archived: false -> true\n"},
        {index("a") + index("b"), index("a", "inherits = [\"b\"]\nowns = [\"Torch\"]") + index("b"),
         "a: inherits: [] -> [\"b\"]\na: owns: [] -> [\"torch\"]\n"},
        {index("a"), index("a", "read = \"token\""), "a: read: \"public\" -> \"token\"\n"},
        {index("a") + index("b"), index("a", upstream), "a: upstream: changed\nb: removed\n"},
        {index("a"), index("a", "[index.policy]\npreset = \"mirror\""), "a: policy: changed\n"},
    };
    for (const Row& row : rows)
        CHECK(texts(row.before, row.after) == row.expected);
}

TEST_CASE("the changed keys outside [[index]] are those that a running server ignores") {
    struct Row {
        std::string before, after, expected;
    };
    const std::string listen = "[server]\nlisten = \"127.0.0.1:8080\"\n";
    const std::string busy = "[server]\nlisten = \"127.0.0.1:8080\"\nmax_connections = 9\n";
    const std::string notify = "[notify]\ncommand = \"mail operator\"\n";
    const Row rows[] = {
        {listen, listen, ""},
        {listen, busy, "server.max_connections "},
        {busy, listen, "server.max_connections "},
        {"", busy + notify, "notify.command server.listen server.max_connections "},
        {busy, notify, "notify.command server.listen server.max_connections "},
        {"[store]\nmin_free_mib = 100\n", "[store]\nmin_free_mib = 200\n", "store.min_free_mib "},
        {"[attest]\ntrusted_root = \"/a.json\"\n", "[attest]\ntrusted_root = \"/b.json\"\n",
         "attest.trusted_root "},
    };
    for (const Row& row : rows) {
        std::string keys;
        for (const std::string& key : registry::settings_that_wait(
                 parse(row.before + index("a")), parse(row.after + index("a", "title = \"T\""))))
            keys += key + " ";
        CHECK(keys == row.expected);
    }
}

TEST_CASE("a running server keeps its store") {
    const RegistryConfig moved = parse("[store]\ndirectory = \"elsewhere\"\n" + index("a"));
    CHECK(registry::check_same_store(moved, moved).has_value());
    const auto refused = registry::check_same_store(parse(index("a")), moved);
    CHECK(refused.error().code == "config.needs_restart");
    CHECK(refused.error().value == "[store] directory");
}

TEST_CASE("the audit log gets one reason for each changed index") {
    const auto changes = registry::list_index_changes(
        parse(index("a")), parse(index("a", "quota_files = 1\npages = false") + index("b")));
    const auto reasons = registry::reasons_of(changes);
    CHECK(reasons.at("a") == "pages: true -> false; quota_files: 0 -> 1");
    CHECK(reasons.at("b") == "created");
}

TEST_CASE("a view shows the newest configuration, and what is held stays as it is until its holder ends") {
    registry::LiveConfig live(parse(index("a")));
    const registry::ConfigView view(live);
    std::weak_ptr<const RegistryConfig> first = live.now();
    {
        const registry::ConfigView held = view.held();
        const registry::IndexConfig* before = held->find_index("a");
        live.replace(parse(index("a") + index("b")));
        CHECK(view.held()->find_index("b") != nullptr);
        CHECK(held->find_index("b") == nullptr);
        CHECK(held.held()->find_index("a") == before);
        CHECK(!first.expired());
    }
    CHECK(first.expired());
    const RegistryConfig fixed = parse(index("c"));
    CHECK(registry::ConfigView(fixed)->find_index("c") == &fixed.indexes.front());
    CHECK(!registry::ConfigView(fixed).lock_runs().owns_lock());
}
