// Configuration: every mistake is reported with its place, all at once.
#include "lib/io/toml.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"

using namespace wheelyard::io;
namespace base = wheelyard::base;
namespace fs = std::filesystem;

namespace {

TomlDocument parsed(std::string_view text) {
    return TomlDocument::parse(text, "/etc/farm/site.toml").value();
}

// The report of finish() after `use` has read the document; "" if there are no problems.
template <typename Use>
std::string problems_of(std::string_view text, Use use) {
    auto document = parsed(text);
    auto root = document.root();
    use(root);
    const auto status = document.finish();
    if (!status) CHECK(status.error().code == "config.invalid");
    return status ? "" : status.error().sentence;
}

}  // namespace

TEST_CASE("values are returned as in the file, or the defaults") {
    auto document = parsed(R"(
name = "bede"
port = 8080
fast = true
cache = "cache/blobs"
data = "/srv/data"
modules = ["gcc/12", "cuda"]
level = "warn"
[registry]
url = "https://farm"
[[index]]
name = "a"
[[index]]
name = "b"
[environment]
CC = "gcc"
"with space" = "x"
)");
    auto root = document.root();
    CHECK(root.string("name") == "bede");
    CHECK(root.integer("port", 1, 65535) == 8080);
    CHECK(root.boolean_or("fast", false));
    CHECK(root.path_if("cache") == "/etc/farm/cache/blobs");
    CHECK(root.path_if("data") == fs::path("/srv/data"));
    CHECK(root.strings_or("modules", {}) == std::vector<std::string>{"gcc/12", "cuda"});
    CHECK(root.choice_or("level", "info", {"info", "warn"}) == "warn");
    CHECK(root.table("registry").string("url") == "https://farm");
    std::vector<std::string> names;
    for (auto index : root.tables("index"))
        names.push_back(index.string("name"));
    CHECK(names == std::vector<std::string>{"a", "b"});
    CHECK(root.string_map("environment") ==
          std::vector<std::pair<std::string, std::string>>{{"CC", "gcc"}, {"with space", "x"}});
    CHECK(root.string_or("absent", "d") == "d");
    CHECK_FALSE(root.string_if("absent"));
    CHECK(root.integer_or("absent", 5, 0, 9) == 5);
    CHECK_FALSE(root.path_if("absent"));
    CHECK(root.strings_or("absent", {"x"}) == std::vector<std::string>{"x"});
    CHECK(root.choice_or("absent", "info", {"info"}) == "info");
    CHECK(root.table_or_empty("absent").string_or("x", "d") == "d");
    CHECK(root.tables("absent").empty());
    CHECK(root.string_map("absent").empty());
    CHECK(document.finish());
}

TEST_CASE("a text without quotes is an error that says so, at its place") {
    const auto document = TomlDocument::parse("name = 1\nkind = slurm\n", "site.toml");
    REQUIRE(!document.has_value());
    CHECK(document.error().text().find("site.toml:2:") != std::string::npos);
    CHECK(document.error().text().find("strings need quotes") != std::string::npos);
}

TEST_CASE("a table that is written twice is an error that says what to do") {
    const auto document = TomlDocument::parse("[store]\nname = 1\n[store]\nkind = 2\n", "site.toml");
    REQUIRE(!document.has_value());
    CHECK(document.error().text().find("site.toml:3:") != std::string::npos);
    CHECK(document.error().text().find("add these keys to the table that is there") != std::string::npos);
}

TEST_CASE("an unknown key is reported with its place and the nearest known key") {
    CHECK(problems_of("name = \"x\"\nprot = 80\n", [](TomlTable& root) {
              root.string("name");
              root.integer_or("port", 1, 1, 9);
          }) == "/etc/farm/site.toml:2:1: unknown key `prot`; did you mean `port`?");
    CHECK(problems_of("colour = 1\n", [](TomlTable& root) { root.integer_or("port", 1, 1, 9); }) ==
          "/etc/farm/site.toml:1:1: unknown key `colour`");
    // Keys that are present are not suggested.
    CHECK(problems_of("port = 1\n\"ports\" = 2\n", [](TomlTable& root) {
              root.integer_or("port", 1, 1, 9);
          }) == "/etc/farm/site.toml:2:1: unknown key `ports`");
}

TEST_CASE("unknown keys are found in nested tables, inline tables and arrays of tables that were read") {
    const auto text = R"([a.b]
x = 1
why = 2
[[list]]
x = 1
[[list]]
x = 1
z = 2
[inline]
t = { x = 1, w = 2 }
[untouched]
deep = 1
)";
    const auto problems = problems_of(text, [](TomlTable& root) {
        root.table("a").table("b").integer_or("x", 0, 0, 9);
        for (auto item : root.tables("list"))
            item.integer_or("x", 0, 0, 9);
        root.table("inline").table("t").integer_or("x", 0, 0, 9);
    });
    CHECK(problems ==
          "/etc/farm/site.toml:3:1: unknown key `why`\n"
          "/etc/farm/site.toml:8:1: unknown key `z`\n"
          "/etc/farm/site.toml:10:14: unknown key `w`\n"
          "/etc/farm/site.toml:11:2: unknown key `untouched`");
}

TEST_CASE("a table of an array is finished alone, and the others hold") {
    auto document = parsed(R"(
[[rule]]
code = 3
cod = "x"
[[rule]]
code = "good"
)");
    auto rules = document.root().tables("rule");
    REQUIRE(rules.size() == 2);
    static_cast<void>(rules[0].string("code"));
    const auto first = rules[0].finish();
    REQUIRE(!first.has_value());
    CHECK(first.error().sentence.find("/etc/farm/site.toml:3:8: `rule[0].code` has the wrong type") == 0);
    CHECK(first.error().sentence.find("\n/etc/farm/site.toml:4:1: unknown key `cod`") != std::string::npos);
    CHECK(rules[1].string("code") == "good");
    CHECK(rules[1].finish().has_value());
    CHECK(document.finish().has_value());
}

TEST_CASE("a wrong type is reported with the expected and the found type") {
    struct Row {
        const char* value;
        const char* found;
    };
    for (const Row& row :
         {Row{"\"80\"", "the string \"80\""}, Row{"8.5", "a number with a fraction"}, Row{"true", "true"},
          Row{"[1]", "an array"}, Row{"{a = 1}", "a table"}, Row{"1979-05-27", "a date"},
          Row{"07:32:00", "a time"}, Row{"1979-05-27T07:32:00Z", "a date"}}) {
        CAPTURE(row.value);
        CHECK(problems_of("port = " + std::string(row.value),
                          [](TomlTable& root) { CHECK(root.integer("port", 1, 9) == 1); }) ==
              "/etc/farm/site.toml:1:8: `port` has the wrong type (expected an integer, found " +
                  std::string(row.found) + ")");
    }
    CHECK(
        problems_of("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = [\"x\", 7]\nh = [8]\ni = {x = 9}\n",
                    [](TomlTable& root) {
                        root.string("a");
                        root.boolean_or("b", false);
                        root.path_if("c");
                        root.strings_or("d", {});
                        root.table("e").string("inner");
                        root.tables("f");
                        CHECK(root.strings_or("g", {}) == std::vector<std::string>{"x"});
                        CHECK(root.tables("h").empty());
                        CHECK(root.string_map("i").empty());
                    }) ==
        "/etc/farm/site.toml:1:5: `a` has the wrong type (expected a string, found the integer 1)\n"
        "/etc/farm/site.toml:2:5: `b` has the wrong type (expected true or false, found the integer 2)\n"
        "/etc/farm/site.toml:3:5: `c` has the wrong type (expected a path, found the integer 3)\n"
        "/etc/farm/site.toml:4:5: `d` has the wrong type (expected an array of strings, found the integer "
        "4)\n"
        "/etc/farm/site.toml:5:5: `e` has the wrong type (expected a table, found the integer 5)\n"
        "/etc/farm/site.toml:6:5: `f` has the wrong type (expected an array of tables, found the integer 6)\n"
        "/etc/farm/site.toml:7:11: `g[1]` has the wrong type (expected a string, found the integer 7)\n"
        "/etc/farm/site.toml:8:6: `h[0]` has the wrong type (expected a table, found the integer 8)\n"
        "/etc/farm/site.toml:9:10: `i.x` has the wrong type (expected a string, found the integer 9)");
}

TEST_CASE("a missing key is reported at its table, with its dotted name and a suggestion") {
    CHECK(problems_of("\n[registry]\nulr = \"x\"\n",
                      [](TomlTable& root) { CHECK(root.table("registry").string("url").empty()); }) ==
          "/etc/farm/site.toml:2:1: `registry.url` is missing (expected a string, found nothing)\n"
          "/etc/farm/site.toml:3:1: unknown key `ulr`; did you mean `url`?");
    CHECK(problems_of("",
                      [](TomlTable& root) {
                          root.integer("port", 1, 9);
                          root.table("registry").string("url");  // reported once, for the table
                      }) ==
          "/etc/farm/site.toml:1:1: `port` is missing (expected an integer, found nothing)\n"
          "/etc/farm/site.toml:1:1: `registry` is missing (expected a table, found nothing)");
    CHECK(problems_of("", [](TomlTable& root) { root.table_or_empty("registry").string("url"); }) ==
          "/etc/farm/site.toml:1:1: `registry.url` is missing (expected a string, found nothing)");
}

TEST_CASE("an integer has inclusive bounds") {
    const auto read = [](TomlTable& root) { root.integer("port", 1, 65535); };
    CHECK(problems_of("port = 1", read).empty());
    CHECK(problems_of("port = 65535", read).empty());
    CHECK(problems_of("port = 0", read) ==
          "/etc/farm/site.toml:1:8: `port` is out of range (expected 1 to 65535, found 0)");
    CHECK(problems_of("port = 65536", read) ==
          "/etc/farm/site.toml:1:8: `port` is out of range (expected 1 to 65535, found 65536)");
}

TEST_CASE("an invalid choice is reported with all choices") {
    CHECK(problems_of("level = \"wran\"",
                      [](TomlTable& root) {
                          CHECK(root.choice_or("level", "info", {"info", "warn"}) == "info");
                      }) ==
          "/etc/farm/site.toml:1:9: `level` is not a valid choice (expected one of `info`, `warn`, found "
          "the string "
          "\"wran\"); did you mean `warn`?");
}

TEST_CASE("a path never ends in a slash") {
    struct Row {
        std::string written;
        fs::path read;
    };
    const Row rows[] = {{"/srv/data/", "/srv/data"},
                        {"/srv//data//", "/srv/data"},
                        {"data/.", "/etc/farm/data"},
                        {".", "/etc/farm"},
                        {"/", "/"}};
    for (const auto& row : rows) {
        CAPTURE(row.written);
        auto document = parsed("data = \"" + row.written + "\"");
        CHECK(document.root().path_if("data") == row.read);
    }
}

TEST_CASE("an empty path is invalid") {
    CHECK(problems_of("data = \"\"", [](TomlTable& root) { CHECK_FALSE(root.path_if("data")); }) ==
          "/etc/farm/site.toml:1:8: `data` is empty (expected a path, found the string \"\")");
}

TEST_CASE("tables with arbitrary keys return their names, and callers may report problems") {
    CHECK(problems_of("[packages.torch]\nversion = \"x\"\n[packages.six]\n", [](TomlTable& root) {
              auto packages = root.table("packages");
              CHECK(packages.keys().size() == 2);
              for (const auto& name : packages.keys())
                  packages.table(name).string_or("version", "1");
              CHECK(packages.table("torch").place("version") == "/etc/farm/site.toml:2:1");
              CHECK(packages.table("torch").place() == "/etc/farm/site.toml:1:1");
              packages.table("torch").report("version", "`x` is not a version");
          }) == "/etc/farm/site.toml:2:11: `x` is not a version");
    CHECK(TomlTable().keys().empty());
    CHECK(TomlTable().place().empty());
    CHECK(TomlTable().string("x").empty());
}

TEST_CASE("has() does not mark a key as read") {
    CHECK(problems_of("a = 1", [](TomlTable& root) {
              CHECK(root.has("a"));
              CHECK_FALSE(root.has("b"));
          }) == "/etc/farm/site.toml:1:1: unknown key `a`");
}

TEST_CASE("a syntax error is reported with its place") {
    const auto document = TomlDocument::parse("a = 1\nb = = 2\n", "site.toml");
    REQUIRE_FALSE(document);
    CHECK(document.error().code == "config.syntax");
    CHECK(document.error().sentence.starts_with("site.toml:2:5: "));
    for (const char* refused :
         {"a = 1\na = 2", "[a]\n[a]", "a", "= 1", "a = \"\xFF\"", "[a", "a = {b = 1,, }", "[\b]", "[a.\b]",
          "a = 1979-05-27T-7:32:00Z", "a = \"\b\"", "# \x7f", "[a]\xEF\xBB\xAF"}) {
        CAPTURE(refused);
        CHECK(TomlDocument::parse(refused, "site.toml").error().code == "config.syntax");
    }
}

TEST_CASE("keys of many parts are refused before they exhaust the stack") {
    const auto many = [](std::size_t parts, const std::string& part) {
        std::string key = part;
        for (std::size_t at = 1; at < parts; ++at)
            key += "." + part;
        return key;
    };
    const auto code_of = [](const std::string& text) {
        const auto document = TomlDocument::parse(text, "pyproject.toml");
        return document ? "" : document.error().code;
    };
    for (const std::size_t parts : {std::size_t{17}, std::size_t{100'000}}) {
        for (const std::string part : {"a", R"("a")", "'a' ", "\t\"a.b\""}) {
            const std::string key = many(parts, part);
            for (const std::string& text :
                 {key + " = 1\n", "[" + key + "]\nx = 1\n", "[[" + key + "]]\nx = 1\n",
                  "x = {y = 1, " + key + " = 1}\n", key + " = 1\nand = = an error\n",
                  "x = {y = \"\"\"a\n\"\"\"\"\", " + key + " = 1}\n"}) {
                CAPTURE(text.substr(0, 80));
                CHECK(code_of(text) == "config.syntax");
            }
        }
    }
    const std::string dots(100'000, '.');
    for (const std::string& text :
         {many(16, "a") + " = 1\n", "a = \"" + dots + "\"\n", "a = '" + dots + "'\n",
          "# " + dots + "\na = 1\n", "a = \"\"\"" + dots + "\n\\\"\"\"" + dots + "\"\"\"\n",
          "a = '''" + dots + "\n''" + dots + "'''\n",
          "a = [" + base::replace_all(std::string(20, 'x'), "x", "1.5, ") + "]\n"}) {
        CAPTURE(text.substr(0, 80));
        CHECK(code_of(text) == "");
    }
    CHECK(TomlDocument::parse("x = 1\ny = 2\n  " + many(17, "a") + " = 1\n", "site.toml").error().sentence ==
          "site.toml:3:34: a key has more than 16 parts");
}

TEST_CASE("a file is read from disk; a missing one has its own error code") {
    const auto dir = base::TempDir::make("toml-test").value();
    const auto file = dir.path() / "site.toml";
    const auto absent = TomlDocument::read(file);
    REQUIRE_FALSE(absent);
    CHECK(absent.error().code == "config.missing");
    CHECK(absent.error().value == file.native());
    REQUIRE(base::replace_file(file, "data = \"../data\""));
    auto document = TomlDocument::read(file).value();
    CHECK(document.root().path_if("data") == dir.path().parent_path() / "data");
    CHECK(document.finish());
    CHECK(TomlDocument::read(dir.path()).error().code == "os.EISDIR");
    CHECK(is_of_configuration(TomlDocument::read(dir.path()).error()));
    const auto away = TomlDocument::read("/proc/self/mem");  // as of a disk or a server that does not answer
    CHECK(away.error().os_error == EIO);
    CHECK_FALSE(is_of_configuration(away.error()));
    REQUIRE(base::replace_file(file, std::string((1u << 20) + 1, '#')));
    CHECK(TomlDocument::read(file).error().code == "file.too_large");
}

TEST_CASE("a table outlives its document") {
    auto root = parsed("name = \"x\"").root();
    CHECK(root.string("name") == "x");
}

TEST_CASE("JSON is read like a file, and its problems begin with a key's path") {
    const Json json =
        parse_json(R"({"name":"x","index":[{"name":"a","limit":5},{"name":"b","limit":"6"}],"extra":{}})")
            .value();
    auto document = TomlDocument::of_json(json, "/etc/farm/registry.toml");
    auto root = document.root();
    CHECK(root.string("name") == "x");
    auto tables = root.tables("index");
    REQUIRE(tables.size() == 2);
    CHECK(tables[0].integer_or("limit", 0, 0, 9) == 5);
    CHECK(tables[1].integer_or("limit", 0, 0, 9) == 0);
    CHECK(tables[0].path_if("file") == std::nullopt);
    tables[1].report("limit", "is odd");
    for (auto& table : tables)
        CHECK(!table.string("name").empty());
    CHECK(document.finish().error().sentence ==
          "extra: unknown key `extra`\n"
          "index.b.limit: `index[1].limit` has the wrong type (expected an integer, found the string \"6\")\n"
          "index.b.limit: is odd");
    CHECK(document.json() == json);
    CHECK(root.json("index") == *json.find("index"));
}
