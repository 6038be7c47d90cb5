#include "registry/config/index_keys.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_file_mib_limit = 1024 * 1024;
constexpr std::int64_t max_quota_files = 1'000'000'000;

std::string in_quotes(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string list_of(const auto& names) {
    std::vector<std::string> texts;
    for (const std::string& name : names)
        texts.push_back(in_quotes(name));
    return "[" + base::join(texts, ", ") + "]";
}

// `of` is the member: a pointer to it, or a function that returns it.
IndexKey text_key(std::string_view name, auto of, std::string_view meaning) {
    return {name, meaning,
            [=](io::TomlTable& table, IndexConfig& index) {
                std::invoke(of, index) = table.string_or(name, std::invoke(of, index));
            },
            [=](const IndexConfig& index) { return in_quotes(std::invoke(of, index)); }};
}

IndexKey flag_key(std::string_view name, auto of, std::string_view meaning) {
    return {name, meaning,
            [=](io::TomlTable& table, IndexConfig& index) {
                std::invoke(of, index) = table.boolean_or(name, std::invoke(of, index));
            },
            [=](const IndexConfig& index) { return std::invoke(of, index) ? "true" : "false"; }};
}

// A flag that is written as one of two words.
IndexKey word_key(std::string_view name, bool IndexConfig::*of, std::string_view no, std::string_view yes,
                  std::string_view meaning) {
    return {name, meaning,
            [=](io::TomlTable& table, IndexConfig& index) {
                const std::string word = table.string_or(name, std::string(no));
                index.*of = word == yes;
                if (word != yes && word != no)
                    table.report(name, "must be " + in_quotes(no) + " or " + in_quotes(yes));
            },
            [=](const IndexConfig& index) { return in_quotes(index.*of ? yes : no); }};
}

// `min` 0: 0 is no limit.
IndexKey limit_key(std::string_view name, auto of, std::uint64_t unit, std::int64_t min, std::int64_t max,
                   std::string_view meaning) {
    const auto value_of = [=](const IndexConfig& index) {
        const std::uint64_t value = std::invoke(of, index);
        return value == no_quota ? 0 : static_cast<std::int64_t>(value / unit);
    };
    return {name, meaning,
            [=](io::TomlTable& table, IndexConfig& index) {
                const std::int64_t value = table.integer_or(name, value_of(index), min, max);
                std::invoke(of, index) = value <= 0 ? no_quota : static_cast<std::uint64_t>(value) * unit;
            },
            [=](const IndexConfig& index) { return std::to_string(value_of(index)); }};
}

void read_inherits(io::TomlTable& table, IndexConfig& index) {
    index.inherits = table.strings_or("inherits", {});
    for (auto name = index.inherits.begin(); name != index.inherits.end(); ++name) {
        if (std::find(index.inherits.begin(), name, *name) != name)
            table.report("inherits", "`" + *name + "` is listed twice");
    }
}

void read_owns(io::TomlTable& table, IndexConfig& index) {
    for (const std::string& name : table.strings_or("owns", {})) {
        if (!wheel::is_valid_name(name))
            table.report("owns",
                         "`" + name + "` is not a valid project name (letters, digits, `-`, `_`, `.`)");
        index.owns.insert(wheel::normalize_name(name));
    }
}

}  // namespace

const std::vector<IndexKey>& index_keys() {
    constexpr auto mib = base::mib;
    const auto variants = [](auto& index) -> auto& {
        return index.policy.variants;
    };
    const auto bytes = [](auto& index) -> auto& {
        return index.quota.bytes;
    };
    const auto files = [](auto& index) -> auto& {
        return index.quota.files;
    };
    const auto token_bytes = [](auto& index) -> auto& {
        return index.token_quota.bytes;
    };
    const auto token_files = [](auto& index) -> auto& {
        return index.token_quota.files;
    };
    static const std::vector<IndexKey> keys{
        text_key("title", &IndexConfig::title, ""),
        word_key("read", &IndexConfig::is_private, "public", "token",
                 R"("token": only tokens with the action `read` may read this index)"),
        word_key("read_logs", &IndexConfig::are_logs_for_tokens, "index", "token",
                 R"(who reads logs of builds: all readers of it; "token": only tokens with `read`)"),
        word_key("ask", &IndexConfig::may_strangers_ask, "token", "anyone",
                 R"("anyone" asks for wheels without a token; an operator approves each request)"),
        flag_key("archived", &IndexConfig::is_archived,
                 "it keeps its files, takes no new ones, and is not on the front page"),
        flag_key("pages", &IndexConfig::has_pages, "this index has a web UI"),
        flag_key("sdists", &IndexConfig::sdists,
                 "true: takes source distributions, too, and offers those of its upstreams"),
        flag_key("variants", variants, "true: takes wheels with a variant label (PEP 825, provisional)"),
        limit_key("max_file_mib", &IndexConfig::max_file_bytes, mib, 1, max_file_mib_limit,
                  "the largest file"),
        limit_key("quota_mib", bytes, mib, 0, max_quota_mib,
                  "what uploads may keep in this index: bytes ..."),
        limit_key("quota_files", files, 1, 0, max_quota_files, "... and files; 0: no limit"),
        limit_key("token_quota_mib", token_bytes, mib, 0, max_quota_mib,
                  "the same for the uploads of one token"),
        limit_key("token_quota_files", token_files, 1, 0, max_quota_files, "their number"),
        {"inherits", R"(other indexes whose projects this one also shows, in order: ["base"])", read_inherits,
         [](const IndexConfig& index) { return list_of(index.inherits); }},
        {"owns", R"(projects that are never inherited: ["torch"])", read_owns,
         [](const IndexConfig& index) { return list_of(index.owns); }},
        text_key("staging", &IndexConfig::staging,
                 "another index that receives the wheels of tasks; promote them from there"),
    };
    return keys;
}

}  // namespace wheelyard::registry
