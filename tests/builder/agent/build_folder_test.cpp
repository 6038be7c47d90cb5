// Which build tree a new attempt gets.
#include "builder/agent/build_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace wheelyard::builder {
namespace {

Attempt attempt_at(const std::string& cell, State state, const std::string& tree, int number = 1) {
    Attempt attempt;
    attempt.id = cell + "/" + std::to_string(number);
    attempt.asked.cell = cell;
    attempt.asked.package = "torch";
    attempt.number = number;
    attempt.state = state;
    attempt.job.tree = tree;
    return attempt;
}

bool none_busy(const std::string&) {
    return false;
}

TEST_CASE("the lowest number that no attempt at another cell holds") {
    struct Row {
        const char* name;
        std::vector<Attempt> attempts;
        const char* expected;
    };
    Attempt removed = attempt_at("other", State::failed, "torch-1");
    removed.tree.removed = 1;
    const Row rows[] = {
        {"the first build", {}, "torch-1"},
        {"another one runs", {attempt_at("other", State::running, "torch-1")}, "torch-2"},
        {"a gap",
         {attempt_at("a", State::running, "torch-1"), attempt_at("b", State::running, "torch-3")},
         "torch-2"},
        {"another one is done", {attempt_at("other", State::done, "torch-1")}, "torch-1"},
        {"a failed one may go on, or a person looks at it",
         {attempt_at("other", State::failed, "torch-1")},
         "torch-2"},
        {"its tree was removed", {removed}, "torch-1"},
        {"a later one at its cell succeeded",
         {attempt_at("other", State::failed, "torch-1"), attempt_at("other", State::done, "torch-2", 2)},
         "torch-1"},
        {"an older one at the same cell", {attempt_at("mine", State::failed, "torch-1")}, "torch-1"},
        {"another package", {attempt_at("vision", State::running, "torchvision-1")}, "torch-1"},
    };
    for (const auto& [name, attempts, expected] : rows) {
        INFO(std::string(name));
        CHECK(choose_tree(attempt_at("mine", State::planned, "", 2), attempts, none_busy) == expected);
    }
}

TEST_CASE("a tree with a running job is left alone") {
    const auto first_busy = [](const std::string& tree) { return tree == "torch-1"; };
    CHECK(choose_tree(attempt_at("mine", State::planned, ""), {}, first_busy) == "torch-2");
}

TEST_CASE("an attempt that continues a tree stays in it") {
    Attempt next = attempt_at("mine", State::planned, "torch-7", 2);
    next.job.builds_in = "mine/1";
    CHECK(choose_tree(next, {attempt_at("mine", State::failed, "torch-7")}, none_busy) == "torch-7");
}

TEST_CASE("a reproduction gets the path of the recorded build, if it is free") {
    Attempt again = attempt_at("mine-reproduction", State::planned, "");
    again.reproduced.tree = "torch-3";
    CHECK(choose_tree(again, {}, none_busy) == "torch-3");
    CHECK(choose_tree(again, {attempt_at("other", State::running, "torch-3")}, none_busy) == "torch-1");
}

}  // namespace
}  // namespace wheelyard::builder
