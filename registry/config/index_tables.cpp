#include "registry/config/index_tables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/problem.hpp"
#include "lib/wire/task.hpp"
#include "registry/config/config_rows.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

constexpr std::int64_t max_file_mib_limit = 1024 * 1024;
constexpr std::int64_t max_quota_files = 1'000'000'000;

constexpr auto read_words = base::words<bool>({{false, "public"}, {true, "token"}});
constexpr auto log_words = base::words<bool>({{false, "index"}, {true, "token"}});
constexpr auto ask_words = base::words<bool>({{false, "token"}, {true, "anyone"}});

// 0 is no limit.
bool read_quota(io::TomlTable& table, const io::TomlFacts& facts, std::uint64_t& quota) {
    std::int64_t value = quota == no_quota ? 0 : static_cast<std::int64_t>(quota);
    const bool is_given = io::read_value(table, facts, value);
    quota = value == 0 ? no_quota : static_cast<std::uint64_t>(value);
    return is_given;
}

std::string show_quota(const io::TomlFacts& facts, const std::uint64_t& quota) {
    return quota == no_quota ? "0" : io::show_member(facts, quota);
}

io::TomlRows<Quota> quota_rows(const std::string& prefix, std::string of_bytes, std::string of_files) {
    return {
        io::key_read_by(
            prefix + "_mib", &Quota::bytes,
            {.type = "integer", .range = {0, max_quota_mib}, .unit = base::mib, .hint = std::move(of_bytes)},
            read_quota, show_quota),
        io::key_read_by(prefix + "_files", &Quota::files,
                        {.type = "integer", .range = {0, max_quota_files}, .hint = std::move(of_files)},
                        read_quota, show_quota),
    };
}

void check_inherits(io::TomlTable& table, const std::vector<std::string>& inherits) {
    for (auto name = inherits.begin(); name != inherits.end(); ++name) {
        if (std::find(inherits.begin(), name, *name) != name)
            table.report("inherits", "`" + *name + "` is listed twice");
    }
}

io::TomlRow<IndexConfig> build_row() {
    using B = BuildTarget;
    using io::key;
    return io::table(
        "build", &IndexConfig::builds,
        {
            key("index", &B::index, {.is_required = true})
                .hint("the index whose site builds them", R"("main")"),
            key("pythons", &B::pythons,
                {.if_empty = "name at least one, for example [\"3.11\"]",
                 .check = io::must(wire::is_python_version, "a version such as 3.11")})
                .sample(R"(["3.11"])"),
            key("accelerators", &B::accelerators).hint("names of the site's; empty: a wheel without one"),
        },
        {.hint = "Wheels to request of each source distribution that is uploaded to this index; somebody "
                 "approves each request."},
        [](io::TomlTable&, B& target, IndexConfig&) {
            if (target.accelerators.empty()) target.accelerators.emplace_back();
        });
}

void check_index(io::TomlTable& table, IndexConfig& index, RegistryConfig& so_far) {
    check_inherits(table, index.inherits);
    if (!index.name.empty() && so_far.find_index(index.name) != nullptr)
        table.report("name", "two indexes are named `" + index.name + "`");
}

std::string render_key(std::string_view key) {
    const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '_' || c == '-';
    });
    return is_bare ? std::string(key) : Json(key).render();
}

bool is_table(const Json& value) {
    return value.as_object() != nullptr;
}

bool is_array_of_tables(const Json& value) {
    return !value.items().empty() && std::all_of(value.items().begin(), value.items().end(), is_table);
}

// JSON's texts, numbers and arrays of them are TOML's, except that TOML escapes DEL.
void render_keys(const std::string& path, const Json& table, std::string& text) {
    for (const auto& [key, value] : *table.as_object()) {
        if (is_table(value) || is_array_of_tables(value)) continue;
        text += render_key(key) + " = " + base::replace_all(value.render(), "\x7f", "\\u007f") + "\n";
    }
    for (const auto& [key, value] : *table.as_object()) {
        const std::string inner = path + "." + render_key(key);
        if (is_table(value)) {
            text += "\n[" + inner + "]\n";
            render_keys(inner, value, text);
        } else if (is_array_of_tables(value)) {
            for (const Json& item : value.items()) {
                text += "\n[[" + inner + "]]\n";
                render_keys(inner, item, text);
            }
        }
    }
}

}  // namespace

const io::TomlRows<IndexConfig>& index_rows() {
    using I = IndexConfig;
    using io::key;
    using io::word;
    static const io::TomlRows<I> all = [] {
        io::TomlRows<I> rows{
            key("name", &I::name, {.is_required = true, .check = index_name_fault, .is_set = true})
                .sample(R"("main")"),
            key("title", &I::title, {.is_set = true}).sample(R"("Wheels for everybody")"),
            word<read_words>("read", &I::is_private)
                .hint(R"("token": only tokens with the action `read` may read this index)"),
            word<log_words>("read_logs", &I::are_logs_for_tokens)
                .hint(R"(who reads logs of builds: all readers of it; "token": only tokens with `read`)"),
            word<ask_words>("ask", &I::may_strangers_ask)
                .hint(R"("anyone" asks for wheels without a token; an operator approves each request)"),
            key("archived", &I::is_archived)
                .hint("it keeps its files, takes no new ones, and is not on the front page"),
            key("pages", &I::has_pages).hint("this index has a web UI"),
            key("sdists", &I::sdists)
                .hint("true: takes source distributions, too, and offers those of its upstreams"),
        };
        rows.add(io::within(&I::policy,
                            {key("variants", &inspect::Policy::variants)
                                 .hint("true: takes wheels with a variant label (PEP 825, provisional)")}));
        rows.add(
            {key("max_file_mib", &I::max_file_bytes, {.range = {1, max_file_mib_limit}, .unit = base::mib})
                 .hint("the largest file")});
        rows.add(io::within(&I::quota, quota_rows("quota", "what uploads may keep in this index: bytes ...",
                                                  "... and files; 0: no limit")));
        rows.add(
            io::within(&I::token_quota,
                       quota_rows("token_quota", "the same for the uploads of one token", "their number")));
        rows.add({
            key("inherits", &I::inherits)
                .hint(R"(other indexes whose projects this one also shows, in order: ["base"])"),
            key("owns", &I::owns,
                {.check =
                     io::must(wheel::is_valid_name, "a valid project name (letters, digits, `-`, `_`, `.`)"),
                 .normal = wheel::normalize_name})
                .hint(R"(projects that are never inherited: ["torch"])"),
            key("staging", &I::staging, {.fallback = "itself"})
                .hint("another index that receives the wheels of tasks; promote them from there"),
            attested_by_row(),
            build_row(),
            upstream_row(),
            policy_row(
                &I::policy, "linux",
                {.hint = "What to do about findings in wheels: a preset (\"linux\", \"manylinux-strict\", "
                         "\"mirror\"), the site's module tree\nand GPUs, and the severity of single rules "
                         "(\"reject\", \"quarantine\", \"warn\", \"note\" or \"ignore\").\n"
                         "`wheelyard-registry check --explain all` lists the rules."}),
        });
        return rows;
    }();
    return all;
}

io::TomlRow<RegistryConfig> index_row() {
    return io::table("index", &RegistryConfig::indexes, index_rows(),
                     {.fallback = "at least one",
                      .hint = "One [[index]] per cluster: pip installs from http://HOST:PORT/NAME/simple/",
                      .is_set = true},
                     check_index);
}

void check_index_tables(io::TomlTable& root, RegistryConfig& config) {
    config.index_tables = root.json("index");
    std::vector<io::TomlTable> tables = root.tables("index");
    check_index_rules(tables, config.indexes);
    check_readers(tables, config);
    check_kinds_of_files(tables, config);
    check_builds(tables, config);
    if (config.indexes.empty()) root.report("index", "at least one [[index]] is required");
}

base::Result<RegistryConfig> with_indexes(const RegistryConfig& settings, const Json& tables) {
    if (const std::size_t bytes = tables.render().size(); bytes > max_config_bytes)
        return wire::fail(
            "config.too_large", "The indexes are larger than a configuration may be", std::to_string(bytes),
            "at most " + std::to_string(max_config_bytes) + " bytes; remove keys", base::Recovery::person);
    io::TomlDocument document = io::TomlDocument::of_json(Json::object({{"index", tables}}), settings.file);
    RegistryConfig config = settings;
    io::TomlTable root = document.root();
    config.indexes.clear();
    io::TomlRows<RegistryConfig>{index_row()}.read(root, config);
    check_index_tables(root, config);
    if (auto read = document.finish(); !read)
        return base::fail_as(base::ErrorKind::invalid, base::Recovery::person, std::move(read.error()));
    return config;
}

const Json* find_table(const Json& tables, std::string_view index) {
    const auto& items = tables.items();
    const auto found = std::find_if(items.begin(), items.end(), [index](const Json& table) {
        return table.string_or("name", "") == index;
    });
    return found == items.end() ? nullptr : &*found;
}

std::string revision_of(const Json& tables) {
    constexpr std::size_t digits = 16;
    return base::sha256_hex(tables.render()).substr(0, digits);
}

std::string render_table(const Json& table) {
    std::string text = "[[index]]\n";
    render_keys("index", table, text);
    return text;
}

}  // namespace wheelyard::registry
