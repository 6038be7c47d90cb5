// The graph of a closure: what is read of it, the lock and the wants that follow.
#include "builder/closure/closure.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// jinja2 runs with markupsafe, both are built by others; setuptools comes as a wheel.
constexpr std::string_view graph =
    R"({"format": "wheelyard.closure/1", "requirement": "jinja2", "mode": "source",
 "python": "3.12.4", "resolver": "pip 25.3", "root": "jinja2==3.1.6", "releases": [
 {"name": "jinja2", "version": "3.1.6", "how": "sdist", "runtime": true,
  "file": {"filename": "jinja2-3.1.6.tar.gz", "url": "https://h/jinja2-3.1.6.tar.gz", "sha256": "aa", "size": 2048},
  "why": [{"of": "", "kind": "wanted", "text": "jinja2"}],
  "after": [{"of": "markupsafe==3.0.4", "kind": "run"}, {"of": "setuptools==80.9.0", "kind": "build"}]},
 {"name": "markupsafe", "version": "3.0.4", "how": "none", "runtime": true, "note": "no Fortran",
  "why": [{"of": "jinja2==3.1.6", "kind": "run", "text": "MarkupSafe>=2.0"}], "after": []},
 {"name": "setuptools", "version": "80.9.0", "how": "wheel", "note": "a cycle: setuptools needs wheel needs setuptools",
  "file": {"filename": "setuptools-80.9.0-py3-none-any.whl", "url": "https://h/s.whl", "sha256": "bb"},
  "why": [{"of": "jinja2==3.1.6", "kind": "build", "text": "setuptools>=77"}]}]})";

std::string changed(std::string_view from, std::string_view to) {
    return base::replace_all(graph, from, to);
}

}  // namespace

TEST_CASE("a graph is read as it was written") {
    const auto closure = parse_closure(graph);
    REQUIRE(closure);
    CHECK(closure->releases.size() == 3);
    CHECK(closure->find("jinja2==3.1.6")->after.front().of == "markupsafe==3.0.4");
    const auto again = parse_closure(render_closure(*closure));
    REQUIRE(again);
    CHECK(render_closure(*again) == render_closure(*closure));
}

TEST_CASE("a graph that names what it does not have is refused") {
    CHECK(parse_closure("{}").error().code == "closure.format");
    CHECK(parse_closure(changed("closure/1", "closure/2")).error().code == "closure.format");
    const std::pair<const char*, const char*> broken[] = {
        {"\"root\": \"jinja2==3.1.6\"", "\"root\": \"jinja2==4\""},  // no such release
        {"\"of\": \"setuptools==80.9.0\"", "\"of\": \"setuptools==1\""},
        {"\"how\": \"sdist\"", "\"how\": \"magic\""},
        {"\"name\": \"markupsafe\"", "\"name\": \"--index-url\""},
        {"\"version\": \"3.0.4\"", "\"version\": \"newest\""},
        {"\"kind\": \"run\"}, {", "\"kinds\": \"run\"}, {"},
    };
    for (const auto& [from, to] : broken) {
        CAPTURE(to);
        REQUIRE(changed(from, to) != graph);
        const auto closure = parse_closure(changed(from, to));
        REQUIRE(!closure);
        CHECK(closure.error().code == "closure.broken");
    }
}

TEST_CASE("each release is a want of its version, below the want itself") {
    const auto closure = parse_closure(graph);
    Want want{"jinja2", {"latest"}, {"3.11", "3.12"}};
    want.closure = ClosureMode::source;
    want.follow_ups = {"sphinx"};
    const auto wants = wants_of(*closure, want, "3.12");
    REQUIRE(wants.size() == 3);
    CHECK(wants[0].versions == std::vector<std::string>{"3.1.6"});
    CHECK(wants[0].pythons == std::vector<std::string>{"3.12"});
    CHECK(wants[0].follow_ups == want.follow_ups);
    CHECK(wants[0].of_closure->why.empty());
    REQUIRE(wants[0].of_closure->after.size() == 2);
    CHECK(wants[0].of_closure->after[0].to_build == false);
    CHECK(wants[0].of_closure->after[1].to_build);
    CHECK(wants[0].of_closure->part->sha256 == "aa");
    CHECK(wants[1].of_closure->problem == "no Fortran");
    CHECK(wants[1].of_closure->why == "needed by jinja2 3.1.6, to run");
    CHECK(wants[1].follow_ups.empty());
    CHECK(wants[2].of_closure->part->is_taken);
    CHECK(wants[2].of_closure->why.find("an upstream's wheel: a cycle") != std::string::npos);
}

TEST_CASE("a release that a recipe makes its own way, or with a loose test, has no lock") {
    const auto made = parse_closure(changed("\"how\": \"sdist\"", "\"how\": \"recipe\""));
    const auto of_recipe = *wants_of(*made, {"jinja2", {"latest"}, {"3.12"}}, "3.12").front().of_closure;
    CHECK(!of_recipe.part);
    CHECK(of_recipe.after.empty());
    const auto loose = parse_closure(changed("\"how\": \"sdist\",", "\"how\": \"sdist\", \"loose\": true,"));
    const auto of_loose = *wants_of(*loose, {"jinja2", {"latest"}, {"3.12"}}, "3.12").front().of_closure;
    CHECK(!of_loose.part);
    CHECK(of_loose.after.size() == 2);
}

TEST_CASE("the lock has the run-time part, by hash") {
    const std::string lock = render_pylock(*parse_closure(graph));
    CHECK(lock.starts_with("lock-version = \"1.0\"\ncreated-by = \"wheelyard-builder\"\n"));
    CHECK(
        lock.find(
            "[[packages]]\nname = \"jinja2\"\nversion = \"3.1.6\"\n"
            "sdist = { name = \"jinja2-3.1.6.tar.gz\", url = \"https://h/jinja2-3.1.6.tar.gz\", size = 2048, "
            "hashes = { sha256 = \"aa\" } }\n") != std::string::npos);
    CHECK(lock.find("setuptools") == std::string::npos);
}

}  // namespace wheelyard::builder
