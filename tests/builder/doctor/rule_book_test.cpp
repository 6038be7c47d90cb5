// A site's own rules: read beside ours, checked one by one, and tried on their excerpts.
#include "builder/doctor/rule_book.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "builder/doctor/doctor.hpp"
#include "lib/io/json.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr const char* licence = R"([[rule]]
code = "site.licence"
patterns = ["flexlm error -5", "licence pool * is empty"]
cause = "No licence of the vendor's compiler is free."
remedy = "Ask for one at the service desk."
automatic = "wait"
source = "provoked: the compiler, with all licences taken"
excerpt = 'error: licence pool "nv" is empty'
)";

// The rule above with a line in place of another.
std::string with(std::string_view key, std::string_view line) {
    std::string text;
    for (const auto one : base::split_lines(std::string_view(licence)))
        text.append(one.starts_with(std::string(key) + " ") ? line : one).append("\n");
    return text;
}

struct Site {
    base::TempDir folder = *base::TempDir::make("rules");
    void add(const std::string& name, const std::string& text) const {
        testing::write(folder.path() / name, text);
    }
    [[nodiscard]] RuleBook book() const { return RuleBook(folder.path()); }
};

std::string cause_of_log(const RuleBook& book, std::string_view log) {
    Doctor doctor(book);
    doctor.feed(log);
    const Examination seen = doctor.finish();
    return seen.likeliest() == nullptr ? "" : seen.likeliest()->rule->code;
}

TEST_CASE("a site's rule is asked before ours, and its words decide what the agent does") {
    const Site site;
    site.add("licences.toml", licence);
    site.add("notes.txt", "not read");
    const RuleBook book = site.book();
    CHECK(book.problems() == std::vector<std::string>{});
    CHECK(check_rules(book) == std::vector<std::string>{});
    CHECK(book.rules().size() == RuleBook::ours()->rules().size() + 1);
    CHECK(book.rules().front().code == "site.licence");
    REQUIRE(book.find("site.licence") != nullptr);
    CHECK(book.find("site.licence")->automatic == Automatic::wait);
    CHECK(book.find("site.licence")->place == (site.folder.path() / "licences.toml").string() + ":1:1");
    CHECK(RuleBook::ours()->find("site.licence") == nullptr);
    CHECK(cause_of_log(book, "nvc: licence pool hpc is empty\n") == "site.licence");
    CHECK(cause_of_log(*RuleBook::ours(), "nvc: licence pool hpc is empty\n") == "");
    CHECK(cause_of_log(book, "x.c:1:10: fatal error: Python.h: No such file or directory\n") ==
          "python.headers_missing");
}

TEST_CASE("a rule that overrides one of ours keeps what it does not say, and its place") {
    const Site site;
    site.add("disk.toml", R"([[rule]]
code = "disk.quota"
override = true
remedy = "Write to quota@hpc.example.org."
)");
    const RuleBook book = site.book();
    CHECK(book.problems() == std::vector<std::string>{});
    CHECK(check_rules(book) == std::vector<std::string>{});
    REQUIRE(book.find("disk.quota") != nullptr);
    const DoctorRule& now = *book.find("disk.quota");
    const DoctorRule& before = *RuleBook::ours()->find("disk.quota");
    CHECK(now.remedy == "Write to quota@hpc.example.org.");
    CHECK(now.cause == before.cause);
    CHECK(now.patterns == before.patterns);
    CHECK(now.weight == before.weight);
    CHECK(&now - book.rules().data() == &before - RuleBook::ours()->rules().data());
}

TEST_CASE("a rule with a mistake is named and left out; the others of its file hold") {
    struct Row {
        std::string text;
        std::string problem;
    };
    const std::string long_pattern(max_pattern_bytes + 1, 'x');
    const Row rows[] = {
        {with("cause", ""), "`cause` is no sentence"},
        {with("cause", "cause = 'No full stop'"), "`cause` is no sentence"},
        {with("remedy", "remedy = ''"), "`remedy` is no sentence"},
        {with("source", ""), "`source` is missing or empty"},
        {with("excerpt", "excerpt = ' '"), "`excerpt` is missing or empty"},
        {with("code", "code = 'licence'"), "is not GROUP.NAME"},
        {with("code", "code = 'Site.licence'"), "is not GROUP.NAME"},
        {with("code", "code = 'disk.full'"), "Wheelyard's own rules have disk.full"},
        {with("code", "code = 'site.new'\noverride = true"), "Wheelyard's own rules have no site.new"},
        {with("automatic", "automatic = 'soon'"), "automatic"},
        {with("automatic", "weight = 'heavy'"), "weight"},
        {with("automatic", "speakers = ['python']"), "`mpi`, `remote login`, `download`, found `python`"},
        {with("automatic", "retry = 'wait'"), "unknown key `retry`"},
        {with("patterns", ""), "`patterns` is missing or empty"},
        {with("patterns", "patterns = ['Licence pool']"), "is not lower case"},
        {with("patterns", "patterns = ['empty*a']"), "has no piece of 6 bytes"},
        {with("patterns", "patterns = ['licence pöol']"), "printable ASCII"},
        {with("patterns", "patterns = ['" + long_pattern + "']"), "is longer than"},
        {std::string(licence) + licence, "an earlier rule has the code site.licence"},
        {"[[rule]]\ncode = \n", "a.toml:2:"},
        {"[[rules]]\n", "unknown key `rules`"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const Site site;
        std::string other = licence;
        other = base::replace_all(base::replace_all(other, "site.licence", "site.other"), "licence pool",
                                  "other pool");
        site.add("a.toml", row.text);
        site.add("b.toml", other);
        const RuleBook book = site.book();
        REQUIRE(book.problems().size() == 1);
        CHECK(book.problems().front().find(row.problem) != std::string::npos);
        CHECK(book.problems().front().find("a.toml") != std::string::npos);
        CHECK(cause_of_log(book, "the other pool hpc is empty\n") == "site.other");
        CHECK(book.find("disk.full") != nullptr);
    }
    const Site site;
    site.add("one.toml", with("cause", "") + base::replace_all(licence, "site.licence", "site.kept"));
    CHECK(site.book().problems().size() == 1);
    CHECK(site.book().find("site.kept") != nullptr);
    CHECK(site.book().find("site.licence") == nullptr);
}

TEST_CASE("a file that cannot be read is named, and no folder is no mistake") {
    const Site site;
    fs::create_directory(site.folder.path() / "folder.toml");
    CHECK(site.book().problems().size() == 1);
    CHECK(RuleBook(site.folder.path() / "none").problems().empty());
    CHECK(RuleBook(site.folder.path() / "none").rules().size() == RuleBook::ours()->rules().size());
}

TEST_CASE("more rules than the search for words has room for are left out") {
    const Site site;
    std::string text;
    for (std::size_t i = 0; i <= max_site_rules; ++i) {
        const std::string name = "site.rule" + std::to_string(i);
        text += base::replace_all(licence, "site.licence", name);
    }
    site.add("many.toml", text);
    const RuleBook book = site.book();
    CHECK(book.problems().size() == 1);
    CHECK(book.rules().size() == RuleBook::ours()->rules().size() + max_site_rules);
}

TEST_CASE("a rule is tried on its excerpt, and one that an earlier rule hides is named") {
    struct Row {
        std::string text;
        std::string problem;
    };
    const Row rows[] = {
        {with("excerpt", "excerpt = 'x.c:1:1: error: something else'"), "no rule matches its excerpt"},
        {with("excerpt", "excerpt = \"error: licence pool nv is empty\\nNo space left on device\""),
         "its excerpt's cause is disk.full"},
        {std::string(licence) + base::replace_all(base::replace_all(licence, "site.licence", "site.hidden"),
                                                  "flexlm error -5", "the flexlm error -5 of"),
         "site.hidden: no line comes to it: site.licence is asked before"},
        {with("patterns", "patterns = ['flexlm error -5', 'licences with 0 errors']"), "never comes to it"},
        {std::string(licence) + "lookalikes = ['the flexlm error -5 of another pool']\n",
         "only looks like it"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const Site site;
        site.add("a.toml", row.text);
        const RuleBook book = site.book();
        CHECK(book.problems() == std::vector<std::string>{});
        const auto wrong = check_rules(book);
        REQUIRE(!wrong.empty());
        CHECK(wrong.front().find(row.problem) != std::string::npos);
        CHECK(wrong.front().find("a.toml:") != std::string::npos);
    }
}

TEST_CASE("a site's rule says where it stands") {
    const Site site;
    site.add("licences.toml", licence);
    const RuleBook book = site.book();
    CHECK(render_rule(*book.find("site.licence")).find("a rule of this site: ") != std::string::npos);
    CHECK(render_rule(*book.find("disk.full")).find("a rule of this site: ") == std::string::npos);
    const auto json = io::parse_json(render_rules_json(book.rules()));
    REQUIRE(json.has_value());
    CHECK(json->find("rules")->as_array()->front().string_or("code", "") == "site.licence");
}

}  // namespace
}  // namespace wheelyard::builder
