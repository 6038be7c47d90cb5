// Rows of TOML keys: what they read, refuse, give to a later layer, and document.
#include "lib/io/toml_rows.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/words.hpp"

namespace wheelyard::io {
namespace {

enum class Light { red, green };
constexpr auto lights = base::words<Light>({{Light::red, "red"}, {Light::green, "green"}});

struct Lamp {
    std::string name;
    Light colour = Light::red;
    std::optional<Light> shade;
    std::vector<std::string> rooms;
};

struct House {
    std::string title = "home";
    bool is_open = false;
    int floors = 2;
    std::filesystem::path garden;
    std::vector<std::filesystem::path> sheds;
    TomlPairs labels;
    std::map<std::string, std::vector<std::string>> keys;
    std::optional<int> doors;
    std::optional<Lamp> porch;
    std::vector<Lamp> lamps;
};

bool is_lower(const std::string& text) {
    return text.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
}

std::optional<int> count_of(const std::string& text) {
    return text == "two" ? std::optional(2) : std::nullopt;
}

TomlRows<Lamp> lamp_rows() {
    return {
        key("name", &Lamp::name, {.is_required = true, .check = must(is_lower, "lower case")}),
        word<lights>("colour", &Lamp::colour),
        word<lights>("shade", &Lamp::shade),
        key("rooms", &Lamp::rooms),
    };
}

const TomlRows<House>& house_rows() {
    static const TomlRows<House> rows{
        config_version<House>(),
        key("title", &House::title),
        key("is_open", &House::is_open),
        key("size.floors", &House::floors, {.range = {1, 20'000}}),
        key("garden", &House::garden, {.fallback = "none: a town"}).when([](const House& house) {
            return house.is_open;
        }),
        key("sheds", &House::sheds),
        key("labels", &House::labels, {.name_check = must(is_lower, "lower case")}),
        key("keys", &House::keys),
        parsed<count_of>("entry.doors", &House::doors, "`two`", {.type = "text", .is_of_table = true}),
        table("porch", &House::porch, lamp_rows()),
        table("lamp", &House::lamps, lamp_rows(), {},
              [](TomlTable& own, Lamp& lamp, House& house) {
                  if (!house.lamps.empty() && house.lamps.front().name == lamp.name)
                      own.report("name", "twice");
              }),
    };
    return rows;
}

base::Result<House> read_house(const std::string& text) {
    auto document = TomlDocument::parse("config_version = 1\n" + text, "/etc/house.toml");
    REQUIRE_MESSAGE(document.has_value(), document.error().text());
    TomlTable root = document->root();
    House house;
    house_rows().read(root, house);
    if (const auto finished = document->finish(); !finished) return base::fail(finished.error());
    return house;
}

std::string complaint(const std::string& text) {
    const auto house = read_house(text);
    return house ? "" : house.error().text();
}

TEST_CASE("rows read each type of member, and leave the default where a key is absent") {
    const auto empty = read_house("");
    REQUIRE_MESSAGE(empty.has_value(), empty.error().text());
    CHECK(empty->title == "home");
    CHECK(!empty->porch.has_value());
    const auto house = read_house(R"(title = ""
is_open = true
garden = "green/"
sheds = ["a", "/b"]
labels = { a = "1" }
keys = { front = ["x", "y"] }
[size]
floors = 3
[entry]
doors = "two"
[porch]
name = "p"
shade = "green"
[[lamp]]
name = "l"
colour = "green"
rooms = ["hall"]
)");
    REQUIRE_MESSAGE(house.has_value(), house.error().text());
    CHECK(house->title.empty());
    CHECK(house->floors == 3);
    CHECK(house->garden == "/etc/green");
    CHECK(house->sheds == std::vector<std::filesystem::path>{"/etc/a", "/b"});
    CHECK(house->labels == TomlPairs{{"a", "1"}});
    CHECK(house->keys.at("front") == std::vector<std::string>{"x", "y"});
    CHECK(house->doors == 2);
    CHECK(house->porch->shade == Light::green);
    CHECK(house->lamps.front().colour == Light::green);
    CHECK(house->lamps.front().rooms == std::vector<std::string>{"hall"});
}

TEST_CASE("a mistake is reported at its line, with what was expected") {
    struct Row {
        const char* text;
        const char* message;
    };
    for (const auto& [text, message] : {
             Row{"titel = \"a\"", "2:1: unknown key `titel`; did you mean `title`?"},
             Row{"title = 3", "2:9: `title` has the wrong type (expected a string"},
             Row{"size.floors = 0", "`size.floors` is out of range (expected 1 to 20000, found 0)"},
             Row{"garden = \"g\"", "unknown key `garden`"},
             Row{"sheds = [\"a\", \"\"]", "expected a path, found the empty text"},
             Row{"labels = { A = \"1\" }", "2:10: expected lower case, found `A`"},
             Row{"[entry]\ndoors = \"three\"", "3:9: expected `two`, found `three`"},
             Row{"[entry]\ndoors = \"\"", "3:9: expected `two`, found ``"},
             Row{"[porch]", "2:1: `porch.name` is missing (expected a string"},
             Row{"[porch]\nname = \"P\"", "3:8: expected lower case, found `P`"},
             Row{"[[lamp]]\nname = \"a\"\ncolour = \"gren\"", "did you mean `green`?"},
             Row{"[[lamp]]\nname = \"a\"\n[[lamp]]\nname = \"a\"", "5:8: twice"},
         }) {
        CAPTURE(text);
        const std::string found = complaint(text);
        CAPTURE(found);
        CHECK(found.find(message) != std::string::npos);
    }
}

TEST_CASE(
    "the given keys of a later layer replace those of an earlier one, a key of a table by its default, too") {
    const auto apply = [](const std::string& text, House& house) {
        auto document = *TomlDocument::parse(text, "/etc/house.toml");
        TomlTable root = document.root();
        House values;
        for (const auto* row : house_rows().read(root, values))
            if (row->copy) row->copy(values, house);
    };
    House house;
    apply("title = \"one\"\nsize.floors = 5\nentry.doors = \"two\"\n", house);
    apply("size.floors = 2\n", house);
    CHECK(house.title == "one");
    CHECK(house.floors == 2);
    CHECK(house.doors == 2);
    apply("[entry]\n", house);
    CHECK(!house.doors.has_value());
}

TEST_CASE("rows document their keys, types and defaults") {
    CHECK(house_rows().document() == R"(| `config_version` | 1 | required |
| `title` | text | `home` |
| `is_open` | boolean | false |
| `size.floors` | 1 to 20,000 | 2 |
| `garden` | path | none: a town |
| `sheds` | list | none |
| `labels` | table of texts | none |
| `keys` | table of texts | none |
| `entry.doors` | text | none |
| `[porch]` | table | absent |
| `porch.name` | text | required |
| `porch.colour` | `red`, `green` | `red` |
| `porch.shade` | `red`, `green` | none |
| `porch.rooms` | list | none |
| `[[lamp]]` | tables | none |
| `lamp.name` | text | required |
| `lamp.colour` | `red`, `green` | `red` |
| `lamp.shade` | `red`, `green` | none |
| `lamp.rooms` | list | none |
)");
}

}  // namespace
}  // namespace wheelyard::io
