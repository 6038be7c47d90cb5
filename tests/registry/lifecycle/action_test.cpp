// Actions on the wire: what is said is read back, and what makes no sense is refused with a reason.
#include "registry/lifecycle/action.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace wheelyard;
using namespace wheelyard::lifecycle;

namespace {

Action of_file(Verb verb) {
    Action action;
    action.verb = verb;
    action.index = "main";
    action.filename = "six-1.16.0+cu1-py2.py3-none-any.whl";
    action.reason = "broken on ppc64le";
    return action;
}

}  // namespace

TEST_CASE("every verb has a row, an operation and a word of its own") {
    std::set<std::string_view> words;
    std::set<std::string_view> operations;
    for (const VerbRow& row : verbs()) {
        words.insert(row.word);
        operations.insert(row.operation);
        CHECK(row_of(row.verb).word == row.word);
        CHECK(find_operation(row.operation) == &row_of(row.verb));
    }
    CHECK(words.size() == verbs().size());
    CHECK(operations.size() == verbs().size());
    CHECK(words.size() == 11);
    CHECK(find_operation("upload") == nullptr);
}

TEST_CASE("addresses name what a change is about, encoded") {
    CHECK(address_of(of_file(Verb::yank)) ==
          "/api/v1/indexes/main/files/six-1.16.0%2Bcu1-py2.py3-none-any.whl/yank");
    Action action;
    action.verb = Verb::set_status;
    action.index = "main";
    action.project = "six";
    CHECK(address_of(action) == "/api/v1/indexes/main/projects/six/status");
    action.verb = Verb::retain;
    CHECK(address_of(action) == "/api/v1/indexes/main/retain");
    action.verb = Verb::collect;
    CHECK(address_of(action) == "/api/v1/gc");
}

TEST_CASE("a body says what the address does not, and is read back") {
    Action action = of_file(Verb::promote);
    action.to_index = "stable";
    CHECK(render_body(action) ==
          R"({"format":"wheelyard.change/1","reason":"broken on ppc64le","to":"stable"})");
    Action read;
    read.verb = Verb::promote;
    REQUIRE(read_body(render_body(action), read));
    CHECK(read.reason == action.reason);
    CHECK(read.to_index == "stable");
    CHECK(read.with.empty());

    action.with = {"torchvision-0.19.0-py3-none-any.whl", "torchaudio-2.4.0-py3-none-any.whl"};
    REQUIRE(read_body(render_body(action), read));
    CHECK(read.with == action.with);
    CHECK_FALSE(read.from_upstream);
    action.from_upstream = true;
    Action explicit_one{.verb = Verb::promote};
    REQUIRE(read_body(render_body(action), explicit_one));
    CHECK(explicit_one.from_upstream);
    read.filename = action.filename;
    CHECK(filenames_of(read) == std::vector<std::string>{action.filename, action.with[0], action.with[1]});

    action = {};
    action.verb = Verb::retain;
    action.keep = 3;
    action.project = "torch";
    action.dry_run = true;
    read = {};
    read.verb = Verb::retain;
    REQUIRE(read_body(render_body(action), read));
    CHECK(read.keep == 3);
    CHECK(read.project == "torch");
    CHECK(read.dry_run);

    action = {};
    action.verb = Verb::set_status;
    action.status = catalog::ProjectStatus::deprecated;
    read = {};
    read.verb = Verb::set_status;
    REQUIRE(read_body(render_body(action), read));
    CHECK(read.status == catalog::ProjectStatus::deprecated);

    action = {};
    action.verb = Verb::collect;
    action.grace_ms = 7'200'000;
    read = {};
    read.verb = Verb::collect;
    REQUIRE(read_body(render_body(action), read));
    CHECK(read.grace_ms == 7'200'000);
}

TEST_CASE("bodies that are not understood are refused, and never half read as something else") {
    struct Row {
        Verb verb;
        const char* body;
    };
    for (const Row& row : {
             Row{Verb::yank, ""},
             Row{Verb::yank, "[]"},
             Row{Verb::yank, "{}"},
             Row{Verb::yank, R"({"format":"wheelyard.change/2"})"},
             Row{Verb::yank, R"({"format":"wheelyard.change/1","reason":7})"},
             Row{Verb::yank, R"({"format":"wheelyard.change/1","dry_run":true})"},
             Row{Verb::remove, R"({"format":"wheelyard.change/1","reason":"x","dry_run":true})"},
             Row{Verb::promote, R"({"format":"wheelyard.change/1","to":["main"]})"},
             Row{Verb::promote, R"({"format":"wheelyard.change/1","to":"main","with":"six.whl"})"},
             Row{Verb::promote, R"({"format":"wheelyard.change/1","to":"main","with":[1]})"},
             Row{Verb::promote, R"({"format":"wheelyard.change/1","to":"main","from_upstream":"yes"})"},
             Row{Verb::set_status, R"({"format":"wheelyard.change/1","status":"gone"})"},
             Row{Verb::set_status, R"({"format":"wheelyard.change/1"})"},
             Row{Verb::retain, R"({"format":"wheelyard.change/1","keep":"3"})"},
             Row{Verb::retain, R"({"format":"wheelyard.change/1","keep":3,"dry_run":"yes"})"},
             Row{Verb::collect, R"({"format":"wheelyard.change/1","grace_ms":1.5})"},
         }) {
        CAPTURE(row.body);
        Action action;
        action.verb = row.verb;
        const auto read = read_body(row.body, action);
        REQUIRE(!read);
        CHECK(read.error().code == "lifecycle.body");
        CHECK(read.error().kind == base::ErrorKind::invalid);
    }
    Action action;
    action.verb = Verb::yank;
    CHECK(read_body(R"({"format":"wheelyard.change/1","reason":null,"colour":"red"})", action));
}

TEST_CASE("what makes no sense is refused before anything is touched") {
    struct Row {
        const char* code;  // empty: fine
        Action action;
    };
    const auto with = [](Action action, auto change) {
        change(action);
        return action;
    };
    const std::string longest(max_reason_bytes, 'x');
    const Row table[] = {
        {"", of_file(Verb::yank)},
        {"lifecycle.reason_missing", with(of_file(Verb::yank), [](Action& a) { a.reason = ""; })},
        {"lifecycle.reason_missing", with(of_file(Verb::remove), [](Action& a) { a.reason = ""; })},
        {"lifecycle.reason_missing", with(of_file(Verb::quarantine), [](Action& a) { a.reason = ""; })},
        {"", with(of_file(Verb::unyank), [](Action& a) { a.reason = ""; })},
        {"", with(of_file(Verb::yank), [&](Action& a) { a.reason = longest; })},
        {"lifecycle.reason", with(of_file(Verb::yank), [&](Action& a) { a.reason = longest + "x"; })},
        {"lifecycle.reason", with(of_file(Verb::yank), [](Action& a) { a.reason = "two\nlines"; })},
        {"lifecycle.reason", with(of_file(Verb::yank), [](Action& a) { a.reason = "\xff"; })},
        {"", with(of_file(Verb::yank), [](Action& a) { a.reason = "défectueux"; })},
        {"lifecycle.to", of_file(Verb::promote)},
        {"lifecycle.to", with(of_file(Verb::promote), [](Action& a) { a.to_index = "main"; })},
        {"", with(of_file(Verb::promote), [](Action& a) { a.to_index = "stable"; })},
        {"", with(of_file(Verb::promote),
                  [](Action& a) {
                      a.to_index = "stable";
                      a.with.resize(max_files_of_set - 1);
                  })},
        {"lifecycle.set", with(of_file(Verb::promote),
                               [](Action& a) {
                                   a.to_index = "stable";
                                   a.with.resize(max_files_of_set);
                               })},
        {"lifecycle.keep", {.verb = Verb::retain, .index = "main"}},
        {"", {.verb = Verb::retain, .index = "main", .keep = 1}},
        {"", {.verb = Verb::retain, .index = "main", .keep = max_kept_versions}},
        {"lifecycle.keep", {.verb = Verb::retain, .index = "main", .keep = max_kept_versions + 1}},
        {"", {.verb = Verb::collect, .grace_ms = min_grace_ms}},
        {"lifecycle.grace", {.verb = Verb::collect, .grace_ms = min_grace_ms - 1}},
        {"", {.verb = Verb::collect, .grace_ms = max_grace_ms}},
        {"lifecycle.grace", {.verb = Verb::collect, .grace_ms = max_grace_ms + 1}},
        {"lifecycle.grace", {.verb = Verb::collect, .grace_ms = INT64_MAX}},
        {"lifecycle.grace", {.verb = Verb::collect, .grace_ms = INT64_MIN}},
        {"", {.verb = Verb::set_status, .index = "main", .project = "six"}},
        {"lifecycle.reason_missing",
         {.verb = Verb::set_status,
          .index = "main",
          .project = "six",
          .status = catalog::ProjectStatus::quarantined}},
    };
    for (const Row& row : table) {
        CAPTURE(row_of(row.action.verb).word);
        CAPTURE(row.action.reason);
        const auto checked = check(row.action);
        if (!checked) CHECK(checked.error().kind == base::ErrorKind::invalid);
        CHECK((checked ? std::string() : checked.error().code) == row.code);
    }
}

TEST_CASE("an outcome is read back as it was") {
    Done done;
    done.changed = true;
    done.serial = 14;
    done.files = {{"main", "a.whl"}, {"main", "b.whl"}};
    done.blobs = 3;
    done.bytes = 4096;
    const auto read = parse_done(render_done(Verb::retain, done)).value();
    CHECK(read.changed);
    CHECK_FALSE(read.dry_run);
    CHECK(read.serial == 14);
    REQUIRE(read.files.size() == 2);
    CHECK(read.files[1].filename == "b.whl");
    CHECK(read.blobs == 3);
    CHECK(read.bytes == 4096);
    CHECK(parse_done(R"({"format":"other/1"})").error().code == "lifecycle.answer");
    CHECK(!parse_done("<html>"));
}
