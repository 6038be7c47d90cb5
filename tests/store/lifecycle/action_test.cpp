// Actions on the wire: what is said is read back, and what makes no sense is refused with a reason.
#include "lib/store/lifecycle/action.hpp"

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

TEST_CASE("every verb has a row and a word of its own") {
    std::set<std::string_view> words;
    for (const VerbRow& row : verbs()) {
        words.insert(row.word);
        CHECK(row_of(row.verb).word == row.word);
    }
    CHECK(words.size() == verbs().size());
    CHECK(words.size() == 11);
}

TEST_CASE("a set is its first file and what goes with it") {
    Action action = of_file(Verb::promote);
    action.with = {"torchvision-0.19.0-py3-none-any.whl", "torchaudio-2.4.0-py3-none-any.whl"};
    CHECK(filenames_of(action) == std::vector<std::string>{action.filename, action.with[0], action.with[1]});
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
        {"lifecycle.reason", with(of_file(Verb::yank), [](Action& a) { a.reason = "C1: \u009b"; })},
        {"lifecycle.reason",
         with(of_file(Verb::yank), [](Action& a) { a.reason = "from right to left: \u202e"; })},
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

TEST_CASE("an outcome is one document") {
    Done done;
    done.changed = true;
    done.serial = 14;
    done.files = {{"main", "a.whl"}, {"main", "b.whl"}};
    done.blobs = 3;
    done.bytes = 4096;
    CHECK(
        render_done(Verb::retain, done) ==
        R"({"format":"wheelyard.changed/1","action":"retain","changed":true,"dry_run":false,"serial":14,)"
        R"("files":[{"index":"main","filename":"a.whl"},{"index":"main","filename":"b.whl"}],"blobs":3,"bytes":4096})");
}
