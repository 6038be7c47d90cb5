#include "builder/attempt/attempt.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "builder/attempt/failpoints.hpp"
#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

Attempt full() {
    Attempt attempt;
    attempt.id = "w1ng012h6crvmar";
    attempt.asked.cell = "demo-1.0-cp311";
    attempt.asked.package = "demo";
    attempt.asked.version = "1.0";
    attempt.asked.python = "3.11";
    attempt.number = 2;
    attempt.state = State::failed;
    attempt.created = 1'790'000'000'000'000;
    attempt.changed = 1'790'000'001'500'000;
    attempt.source = {
        {"sdist", "https://h/x", "x.tar.gz", "ab"}, "x-1.0", "flit_core.buildapi", {"."}, {"flit_core"}};
    attempt.job.submits = 1;
    attempt.job.submitted = 1'790'000'001'000'000;
    attempt.job.phases = {{"venv", 1'790'000'001'100'000}, {"build", 1'790'000'001'200'000}};
    attempt.job.exit_code = 137;
    attempt.job.ended = 1'790'000'001'300'000;
    attempt.job.memory_mib = 6000;
    attempt.job.cores = 8;
    attempt.job.remedy = "8 jobs at once";
    attempt.job.asked_to_end = 1'790'000'001'250'000;
    attempt.job.governed = wire::GovernedBuild{};
    attempt.job.governed->limit_bytes = 5;
    attempt.wheel = {{"x.whl", "cd", 7}, 2, 1'790'000'001'400'000, "main"};
    attempt.wheel.verdicts = {"a.b: c"};
    attempt.waiting = {WaitFor::retry, 3, 1'790'000'001'000'000, 1'790'000'002'000'000, "down"};
    attempt.failure = Failure{"build", {"job.failed", "s", "v", "a"}, "error: x", false, "link.not_pic", 77};
    attempt.tree.bytes = 4'000'000'000;
    attempt.tree.removed = 1'790'000'003'000'000;
    attempt.superseded = true;
    return attempt;
}

TEST_CASE("the agent can be stopped after it has written each state but that of a failure") {
    for (int number = 0; number < static_cast<int>(State::failed); ++number) {
        const std::string point = "journal." + std::string(state_text(static_cast<State>(number)));
        CAPTURE(point);
        CHECK(std::find(agent_failpoints.begin(), agent_failpoints.end(), point) != agent_failpoints.end());
    }
}

TEST_CASE("parsing a rendered attempt gives the same attempt") {
    const auto read = parse_attempt(render_attempt(full()));
    REQUIRE_MESSAGE(read.has_value(), read.error().text());
    CHECK(render_attempt(*read) == render_attempt(full()));
    CHECK(read->failure->try_again == false);
    CHECK(read->failure->cause == "link.not_pic");
    CHECK(read->failure->line == 77);
    CHECK(read->job.cores == 8);
    CHECK(read->job.remedy == "8 jobs at once");
    CHECK(read->job.exit_code == 137);
    CHECK(read->tree.bytes == 4'000'000'000);
    CHECK(read->tree.removed == 1'790'000'003'000'000);
    const auto empty = parse_attempt(render_attempt([] {
        Attempt attempt = full();
        attempt.failure.reset();
        attempt.job.exit_code.reset();
        attempt.tree.bytes.reset();
        return attempt;
    }()));
    REQUIRE(empty.has_value());
    CHECK(!empty->failure.has_value());
    CHECK(!empty->job.exit_code.has_value());
    CHECK(!empty->tree.bytes.has_value());
}

TEST_CASE("an attempt whose wheel has a notice keeps the wheel's name and index") {
    Attempt attempt = full();
    attempt.wheel.notice = "without an extension";
    const auto read = parse_attempt(render_attempt(attempt));
    REQUIRE_MESSAGE(read.has_value(), read.error().text());
    CHECK(read->wheel.notice == "without an extension");
    CHECK(read->wheel.filename == "x.whl");
    CHECK(read->wheel.index == "main");
}

TEST_CASE("the bytes of a journal file stay as they were written") {
    Attempt attempt = full();
    attempt.asked.uploaded = wire::UploadedSource{"ours", "demo-1.0.tar.gz", "ef"};
    attempt.job.end = JobEnd{EndCause::time_limit, {}, "TIMEOUT TimeLimit", {60, 50, 40}};
    attempt.reproduced.identical = false;
    const std::string text = render_attempt(attempt) + render_attempt(Attempt{});
    CHECK(test_support::golden_difference("builder/attempt.json", text) == "");
}

TEST_CASE("invalid attempts are rejected, and unknown members are ignored") {
    const std::string good = render_attempt(full());
    struct Row {
        std::string text;
        const char* code;
    };
    const Row rows[] = {{"", "journal.broken"},
                        {good.substr(0, good.size() / 2), "journal.broken"},
                        {base::replace_all(good, "attempt/1", "attempt/2"), "journal.format"},
                        {base::replace_all(good, "\"failed\"", "\"resting\""), "journal.broken"},
                        {base::replace_all(good, "\"cell\"", "\"sell\""), "journal.broken"},
                        {"[]", "journal.format"}};
    for (const auto& row : rows) {
        const auto read = parse_attempt(row.text);
        REQUIRE(!read.has_value());
        CHECK(read.error().code == row.code);
    }
    CHECK(parse_attempt(base::replace_all(good, "\"format\"", "\"new\": 1,\n\"format\"")).has_value());
}

TEST_CASE("the journal's page lists exactly the fields of an attempt") {
    CHECK(test_support::part_difference("reference/journal.md", "attempt fields", render_attempt_fields()) ==
          "");
}

TEST_CASE("IDs are short, begin with a letter, sort by time and are unique") {
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i)
        ids.insert(new_attempt_id(1'790'000'000'000'000));
    CHECK(ids.size() == 1000);
    CHECK(ids.begin()->size() <= max_attempt_id_bytes);
    CHECK(ids.begin()->front() == 'w');
    CHECK(*ids.rbegin() < new_attempt_id(1'790'000'001'000'000));
    CHECK(new_attempt_id(9'999'999'999'000'000).size() <= max_attempt_id_bytes);
}

TEST_CASE("every state has a name that parses to the state") {
    for (int i = 0; i <= static_cast<int>(State::failed); ++i) {
        const auto state = static_cast<State>(i);
        CHECK(state_words.find(state_text(state)) == state);
    }
    CHECK(!state_words.find("resting").has_value());
}

}  // namespace
}  // namespace wheelyard::builder
