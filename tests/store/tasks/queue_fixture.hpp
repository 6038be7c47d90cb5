// A task queue for a test, which runs with each implementation, and what an agent would send it.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/tasks/postgres/postgres_tasks.hpp"
#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "tests/support/postgres_server.hpp"

namespace wheelyard::tasks {

inline constexpr std::int64_t lease_s = 600;
inline constexpr std::int64_t ms_per_s = 1000;

struct InSqlite {};

struct StoreFixture {
    base::TempDir dir = base::TempDir::make("tasks").value();
    std::filesystem::path file = dir.path() / "tasks.sqlite";
    base::ManualClock clock{1'795'000'000'000'000};
    std::string database = {};  // empty: the file
    std::unique_ptr<TaskStore> store = {};

    // The whole test runs once with each.
    StoreFixture() {
        SUBCASE("in SQLite") {}
        if (test::has_postgres()) {
            SUBCASE("in PostgreSQL") {
                database = test::postgres_url();
            }
        }
        store = open();
    }
    // For what only SQLite has.
    explicit StoreFixture(InSqlite) : store(open()) {}

    [[nodiscard]] std::unique_ptr<TaskStore> open() const {
        base::Result<std::unique_ptr<TaskRows>> rows =
            database.empty() ? open_sqlite_tasks(file) : open_postgres_tasks({database, {}});
        REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
        return std::make_unique<TaskStore>(*std::move(rows), TaskRules{lease_s, 3}, clock);
    }
    static wire::TaskRequest request(const std::string& package = "torch",
                                     const std::string& python = "3.11") {
        return {"bede", package, "2.4.0", python, ""};
    }
    std::string add(const wire::TaskRequest& wanted = request()) {
        const auto added = store->add(wanted, "anna");
        REQUIRE_MESSAGE(added.has_value(), added.error().text());
        return added->task.id;
    }
    // The site that asks: each digit is one, with the token of the same digit.
    static std::string name(char digit) { return std::string("site") + digit; }
    static std::string token(char digit) { return std::string("wy_00000000000") + digit; }
    static wire::ClaimOffer offer(char digit) {
        wire::ClaimOffer offer;
        offer.index = "bede";
        offer.agent = name(digit) + ".login1";
        offer.pythons = {"3.11"};
        offer.accelerators = {"cpu"};
        offer.room = 1;
        return offer;
    }
    // All that the site has now, or a code.
    std::vector<std::string> claim_all(const wire::ClaimOffer& offered, char digit) {
        const auto claimed = store->claim(offered, token(digit), [](const wire::Task&) { return true; });
        if (!claimed) return {claimed.error().code};
        std::vector<std::string> ids;
        for (const wire::Task& task : *claimed)
            ids.push_back(task.id);
        return ids;
    }
    // The ID of the last one that the site has, "none", or a code.
    std::string claim(const wire::ClaimOffer& offered, char digit) {
        const std::vector<std::string> all = claim_all(offered, digit);
        return all.empty() ? "none" : all.back();
    }
    std::string claim(char digit) { return claim(offer(digit), digit); }
    // The site works at these, and wants no more.
    std::vector<std::string> renew(char digit, const std::vector<std::string>& tasks) {
        wire::ClaimOffer offered = offer(digit);
        offered.tasks = tasks;
        offered.room = 0;
        return claim_all(offered, digit);
    }
    wire::TaskState state(const std::string& id) { return store->find(id).value().state; }
    static wire::Outcome end(char digit, bool done) {
        wire::Outcome outcome;
        outcome.attempt = "w1";
        outcome.site = name(digit);
        outcome.cell = "torch-2.4.0-cp311";
        outcome.done = done;
        if (!done) outcome.diagnosis = wire::Diagnosis{"job", {"job.failed", "The job failed"}, ""};
        return outcome;
    }
    template <typename T>
    static std::string code(const base::Result<T>& result) {
        return result ? "ok" : result.error().code;
    }
};

}  // namespace wheelyard::tasks
