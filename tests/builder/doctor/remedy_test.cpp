// The keys and commands that remedies name exist: in the schema of site.toml and of recipes, and on the command line.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "builder/attempt/job_end.hpp"
#include "builder/doctor/rule_book.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/documented_keys.hpp"

namespace wheelyard::builder {
namespace {

// What the pages document; other tests compare the pages with the readers and with `--help`.
struct Schema {
    std::string keys = testing::read_repository_file("docs/reference/site.md") +
                       testing::read_repository_file("docs/reference/recipe.md");
    std::string commands = testing::read_repository_file("docs/reference/cli/wheelyard-builder.md");

    [[nodiscard]] bool has_table(const std::string& name) const {
        return keys.find("[" + name + "]") != std::string::npos ||
               keys.find("`" + name + ".") != std::string::npos;
    }
    [[nodiscard]] bool has_key(const std::string& table, const std::string& key) const {
        return keys.find("`" + (table.empty() ? "" : table + ".") + key + "`") != std::string::npos;
    }
    [[nodiscard]] bool has_any_key(const std::string& key) const {
        return keys.find("." + key + "`") != std::string::npos || has_key("", key);
    }
    [[nodiscard]] bool has_command(const std::string& name) const {
        return commands.find("## wheelyard-builder " + name + "\n") != std::string::npos;
    }
};

std::vector<std::vector<std::string>> matches(const std::string& text, const char* pattern) {
    const std::regex regex(pattern);
    std::vector<std::vector<std::string>> all;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), regex); at != std::sregex_iterator(); ++at)
        all.emplace_back(at->begin(), at->end());
    return all;
}

// The names in a remedy that neither schema nor command line knows.
std::vector<std::string> unknown_names(const std::string& text) {
    static const Schema schema;
    static const std::set<std::string> others = {"x86_64", "https_proxy", "compiler_compat",
                                                 "libmpi_gtl"};  // not keys
    std::vector<std::string> unknown;
    for (const auto& table : matches(text, R"(\[+([a-z_.]+)\]+)")) {
        if (!schema.has_table(table[1])) unknown.push_back(table[0]);
    }
    for (const auto& key : matches(text, R"(`([a-z_]+)`(?: of| in) (?:the )?\[+([a-z_.]+)\]+)")) {
        if (!schema.has_key(key[2], key[1])) unknown.push_back(key[2] + "." + key[1]);
    }
    for (const auto& key : matches(text, R"(`([a-z_]+) = )")) {
        if (!schema.has_any_key(key[1])) unknown.push_back(key[1]);
    }
    for (const auto& key : matches(text, R"((^|[ (`.])([a-z0-9]+(?:_[a-z0-9]+)+))")) {
        if (!schema.has_any_key(key[2]) && !others.contains(key[2])) unknown.push_back(key[2]);
    }
    for (const auto& command : matches(text, R"(wheelyard-builder ([a-z-]+))")) {
        if (!schema.has_command(command[1])) unknown.push_back(command[0]);
    }
    return unknown;
}

TEST_CASE("a name that does not exist is found") {
    struct Row {
        const char* text;
        std::vector<std::string> unknown;
    };
    const Row rows[] = {
        {"Add `ninja` to `requires` in [build] of the recipe.", {}},
        {"Add `ninja` to build_requires of the recipe.", {"build_requires"}},
        {"Add `ninja` to `build_requires` in [build] of the recipe.",
         {"build.build_requires", "build_requires"}},
        {"Set TMPDIR in [environments] of site.toml.", {"[environments]"}},
        {"Restrict `versions` of the [[patch]] in the recipe.", {}},
        {"Restrict `version` of the [[patch]] in the recipe.", {"patch.version"}},
        {"set `offline = true` there", {"offline"}},
        {"raise memory_mib and min_memory_mib in site.toml", {"min_memory_mib"}},
        {"run `wheelyard-builder retry` or wheelyard-builder again", {"wheelyard-builder again"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(unknown_names(row.text) == row.unknown);
    }
}

TEST_CASE("every key and command that a remedy names exists") {
    for (const auto& rule : RuleBook::ours()->rules()) {
        for (const std::string& text :
             {rule.remedy,  // The code of a rule looks like a key.
              base::replace_all(automatic_sentence(rule), " --code " + rule.code, "")}) {
            CAPTURE(text);
            CHECK(unknown_names(text) == std::vector<std::string>{});
        }
    }
    for (const EndCause cause :
         {EndCause::unexplained, EndCause::failed, EndCause::killed, EndCause::time_limit,
          EndCause::out_of_memory, EndCause::node_failure, EndCause::preempted, EndCause::cancelled,
          EndCause::not_launched, EndCause::cannot_ever_run, EndCause::tree_busy, EndCause::never_started,
          EndCause::lost, EndCause::over_limit, EndCause::network}) {
        CAPTURE(end_row(cause).advice);
        CHECK(unknown_names(std::string(end_row(cause).advice)) == std::vector<std::string>{});
    }
}

}  // namespace
}  // namespace wheelyard::builder
