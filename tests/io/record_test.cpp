#include "lib/io/record.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/words.hpp"

namespace wheelyard::io {
namespace {

enum class Colour { red, green };
constexpr auto colours = base::words<Colour>({{Colour::red, "red"}, {Colour::green, "green"}});

struct Wheel {
    std::string name;
    std::int64_t spokes = 7;
};
struct Body {
    double metres = 0;
    std::vector<std::string> parts = {};
};
struct Cart {
    std::string name;
    Colour colour = Colour::red;
    std::optional<int> doors = {};
    std::uint32_t seats = 1;
    bool is_new = false;
    Body body = {};
    base::UnixMicros made = 0;
    std::vector<Wheel> wheels = {};
    std::optional<Wheel> spare = {};
    std::optional<std::string> note = {};
    std::set<std::string> owners = {};
};

constexpr auto wheel_record = record<Wheel>({
    field<&Wheel::name>("name", "its name", Need::required),
    field<&Wheel::spokes>("spokes", "how many", Need::valid),
});
constexpr auto cart_record = record<Cart>({
    field<&Cart::name>("name", "its name", Need::required),
    field<WordOf<colours>, &Cart::colour>("colour", "its colour", Need::valid),
    field<&Cart::doors>("doors", "null: not counted"),
    field<&Cart::seats>("seats", "for people"),
    field<&Cart::is_new>("new", "not yet used", Need::optional, Written::if_given),
    field<&Cart::body, &Body::metres>("body.metres", "its length"),
    field<&Cart::body, &Body::parts>("body.parts", "what it has"),
    field<Time, &Cart::made>("made", "when", Need::valid, Written::unless_null),
    field<ListOf<Nested<wheel_record>, 2>, &Cart::wheels>("wheels", "two at most", Need::valid),
    field<Nested<wheel_record>, &Cart::spare>("spare", "or null", Need::valid),
    field<&Cart::note>("note", "empty: there is one, and it says nothing", Need::even_empty,
                       Written::unless_null),
    field<&Cart::owners>("owners", "who has it"),
});

std::string shout(const std::string& name) {
    return name + "!";
}
constexpr auto shouted_record = record<Cart>({
    field<Made<shout, Plain<std::string>>, &Cart::name>("name", "its name, loud"),
    field<&Cart::owners>("owners", "who has it", Need::optional, Written::unless_empty),
});
constexpr auto owners_record =
    record_of<std::set<std::string>>("owners", "who has one", "wheelyard.owners/1");

base::Result<Cart> read(std::string_view text) {
    Cart cart;
    WHEELYARD_ASSIGN(const Json json, parse_json(text));
    WHEELYARD_TRY(cart_record.read(json, cart));
    return cart;
}

Cart full() {
    return {.name = "one",
            .colour = Colour::green,
            .doors = 0,
            .seats = 2,
            .is_new = true,
            .body = {1.5, {"a"}},
            .made = 1'790'000'000'000'000,
            .wheels = {{"left", 7}, {"right", 8}},
            .spare = Wheel{"third", 9},
            .note = "",
            .owners = {"b", "a"}};
}

}  // namespace

TEST_CASE("members are written in the order of the rows, and those of one group together") {
    CHECK(
        cart_record.write(full()).render() ==
        R"({"name":"one","colour":"green","doors":0,"seats":2,"new":true,"body":{"metres":1.5,"parts":["a"]},)"
        R"("made":"2026-09-21T14:13:20.000000Z","wheels":[{"name":"left","spokes":7},{"name":"right","spokes":8}],)"
        R"("spare":{"name":"third","spokes":9},"note":"","owners":["a","b"]})");
    // null where there is no value; nothing where the row says so.
    CHECK(cart_record.write({.name = ""}).render() ==
          R"({"name":"","colour":"red","doors":null,"seats":1,"body":{"metres":0.0,"parts":[]},"wheels":[],)"
          R"("spare":null,"owners":[]})");
}

TEST_CASE("a record survives a round trip") {
    const auto back = read(cart_record.write(full()).render());
    REQUIRE_MESSAGE(back.has_value(), back.error().text());
    CHECK(cart_record.write(*back) == cart_record.write(full()));
}

TEST_CASE("absent, null and the empty text are the same: the default stays") {
    const std::string bare = cart_record.write(read(R"({"name":"one"})").value()).render();
    for (const char* name :
         {"colour", "doors", "seats", "new", "body", "made", "wheels", "spare", "owners"}) {
        for (const char* value : {"null", "\"\""}) {
            const std::string text = std::string(R"({"name":"one",")") + name + "\":" + value + "}";
            CAPTURE(text);
            const auto cart = read(text);
            REQUIRE_MESSAGE(cart.has_value(), cart.error().text());
            CHECK(cart_record.write(*cart).render() == bare);
        }
    }
    for (const char* text : {"{}", R"({"name":null})", R"({"name":""})"}) {
        const auto cart = read(text);
        REQUIRE_FALSE(cart.has_value());
        CHECK(cart.error().code == "json.missing");
        CHECK(cart.error().sentence == "The member `name` is missing");
    }
    CHECK(read(R"({"name":"one","note":""})")->note == "");
    CHECK_FALSE(read(R"({"name":"one","note":null})")->note.has_value());
    // An empty list or object is a value.
    CHECK(read(R"({"name":"one","wheels":[]})")->wheels.empty());
    CHECK_FALSE(read(R"({"name":"one","spare":{}})").has_value());
}

TEST_CASE("a value of another type names the path, the type and what was found") {
    struct Row {
        const char* member;
        const char* sentence;
        const char* value;
    };
    const Row rows[] = {
        {R"("colour":"blue")", "The member `colour` is invalid: expected one of `red`, `green`", "blue"},
        {R"("made":"noon")", "The member `made` is invalid: expected time (RFC 3339)", "noon"},
        {R"("made":"1969-12-31T00:00:00Z")", "The member `made` is invalid: expected time (RFC 3339)",
         "1969-12-31T00:00:00Z"},
        {R"("spare":7)", "The member `spare` is invalid: expected object", "7"},
        {R"("spare":{"name":[]})", "The member `spare.name` is invalid: expected text", "[]"},
        {R"("spare":{"spokes":1})", "The member `spare.name` is missing", ""},
        {R"("wheels":[{"name":"a","spokes":"x"}])", "The member `wheels.spokes` is invalid: expected integer",
         "x"},
        {R"("wheels":[{"name":"a"},{}])", "The member `wheels.name` is missing", ""},
        {R"("wheels":["a"])", "The member `wheels` is invalid: expected object", "a"},
        {R"("wheels":[{"name":"a"},{"name":"b"},{"name":"c"}])",
         "The member `wheels` is invalid: expected list of at most 2: object",
         R"([{"name":"a"},{"name":"b"},{"name":"c"}])"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.member);
        const auto cart = read(std::string(R"({"name":"one",)") + row.member + "}");
        REQUIRE_FALSE(cart.has_value());
        CHECK(cart.error().sentence == row.sentence);
        CHECK(cart.error().value == row.value);
        CHECK(cart.error().kind == base::ErrorKind::malformed);
        const bool is_missing = std::string_view(row.sentence).ends_with("missing");
        CHECK(cart.error().code == (is_missing ? "json.missing" : "json.type"));
    }
    CHECK(read("[]").error().sentence == "The document is invalid: expected object");
}

TEST_CASE("an optional member of another type, or a number that does not fit, leaves the default") {
    const auto cart = read(
        R"({"name":"one","doors":"x","seats":-1,"new":1,"body":{"metres":"x","parts":"x"},"owners":[1,"a"],"x":{"y":1}})");
    REQUIRE_MESSAGE(cart.has_value(), cart.error().text());
    CHECK_FALSE(cart->doors.has_value());
    CHECK(cart->seats == 1);
    CHECK_FALSE(cart->is_new);
    CHECK(cart->body.metres == 0);
    CHECK(cart->owners == std::set<std::string>{"a"});
    CHECK(read(R"({"name":"one","seats":4294967296})")->seats == 1);
    CHECK(read(R"({"name":"one","body":{"metres":2}})")->body.metres == 2);
    CHECK(read(R"({"name":"one","body":[1]})")->body.metres == 0);
}

TEST_CASE("the document has a row for each member, and for those of a record in it") {
    CHECK(cart_record.document("cart/1") ==
          "| member | type | meaning |\n|---|---|---|\n"
          "| `format` | text, required | `cart/1` |\n"
          "| `name` | text, required | its name |\n"
          "| `colour` | one of `red`, `green` | its colour |\n"
          "| `doors` | integer | null: not counted |\n"
          "| `seats` | integer | for people |\n"
          "| `new` | `true` or `false` | not yet used |\n"
          "| `body.metres` | number | its length |\n"
          "| `body.parts` | list of: text | what it has |\n"
          "| `made` | time (RFC 3339) | when |\n"
          "| `wheels` | list of at most 2: object | two at most |\n"
          "| `wheels[].name` | text, required | its name |\n"
          "| `wheels[].spokes` | integer | how many |\n"
          "| `spare` | object | or null |\n"
          "| `spare.name` | text, required | its name |\n"
          "| `spare.spokes` | integer | how many |\n"
          "| `note` | text | empty: there is one, and it says nothing |\n"
          "| `owners` | list of: text | who has it |\n");
}

TEST_CASE("what is only written is written, and a reader passes over it") {
    CHECK(shouted_record.write(full()).render() == R"({"name":"one!","owners":["a","b"]})");
    CHECK(shouted_record.write({.name = "one"}).render() == R"({"name":"one!"})");
    Cart cart{.name = "one"};
    CHECK(shouted_record.read(*parse_json(R"({"name":"two!","owners":["a"]})"), cart));
    CHECK(cart.name == "one");
    CHECK(cart.owners == std::set<std::string>{"a"});
}

TEST_CASE("a record of one member may be that member") {
    CHECK(owners_record.write({"b", "a"}).render() ==
          R"({"format":"wheelyard.owners/1","owners":["a","b"]})");
    CHECK(owners_record.rows() == "| `owners` | list of: text | who has one |\n");
}

}  // namespace wheelyard::io
