#include "indexer/commands.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <sstream>

#include "lib/base/files/lock_file.hpp"
#include "lib/io/json.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

TEST_CASE("publish and check report their work as text or JSON") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    std::ostringstream out;
    std::ostringstream err;
    CHECK(run_publish({.store = {store.store}, .tree = store.tree, .indexes = {"main"}}, store.clock, out,
                      err) == 0);
    CHECK(out.str() ==
          "The tree is at serial 1: 1 events, 1 files, 1 project pages and 1 root pages written.\n");
    out.str("");
    CHECK(run_publish({.store = {store.store}, .tree = store.tree, .indexes = {"main"}, .json = true},
                      store.clock, out, err) == 0);
    const auto report = io::parse_json(out.str());
    REQUIRE(report);
    CHECK(report->int_or("serial", -1) == 1);
    CHECK(report->int_or("files_linked", -1) == 0);
    out.str("");
    CHECK(run_check({.tree = store.tree}, store.clock, out, err) == 0);
    CHECK(out.str().find("every link is valid") != std::string::npos);
    CHECK(err.str() == "");
}

// Releases another publisher's lock when someone has waited for it three times.
class ReleasingClock final : public base::Clock {
  public:
    ReleasingClock(const base::Clock& clock, std::optional<base::LockFile>& lock)
        : clock_(clock), lock_(lock) {}
    [[nodiscard]] base::UnixMicros now() const override { return clock_.now(); }
    void sleep_ms(std::int64_t /*duration_ms*/) override {
        if (++sleeps_ == 3) lock_.reset();
    }

  private:
    const base::Clock& clock_;
    std::optional<base::LockFile>& lock_;
    int sleeps_ = 0;
};

TEST_CASE("a long publish shows its progress on standard error, unless it is to be quiet") {
    // A second passes with each look at it.
    class RushingClock final : public base::Clock {
      public:
        explicit RushingClock(base::UnixMicros start) : now_(start) {}
        [[nodiscard]] base::UnixMicros now() const override { return now_ += base::second_us; }
        void sleep_ms(std::int64_t /*duration_ms*/) override {}

      private:
        mutable base::UnixMicros now_;
    };
    StoreFixture store;
    for (const char* name : {"five", "six", "seven"})
        store.add("main", name, "1.0", std::string(name) + "-1.0-py3-none-any.whl");
    for (const bool quiet : {false, true}) {
        RushingClock clock(store.clock.now());
        std::ostringstream out;
        std::ostringstream err;
        const PublishOptions options{.store = {store.store}, .tree = store.tree, .all = true, .quiet = quiet};
        CHECK(run_publish(options, clock, out, err) == 0);
        CHECK((err.str().find("publish: pages of 3 of 3 projects\n") != std::string::npos) != quiet);
        CHECK(err.str().empty() == quiet);
    }
}

TEST_CASE("publish and a repair wait until the server has published") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    std::filesystem::create_directories(store.tree / ".wheelyard");
    std::ostringstream out;
    std::ostringstream err;
    std::optional<base::LockFile> lock;
    ReleasingClock clock(store.clock, lock);
    const auto hold = [&] {
        auto held = base::LockFile::acquire(store.tree / ".wheelyard/lock", store.clock, 60'000);
        REQUIRE(held);
        lock.emplace(*std::move(held));
    };
    SUBCASE("publish") {
        hold();
        CHECK(run_publish({.store = {store.store}, .tree = store.tree, .indexes = {"main"}}, clock, out,
                          err) == 0);
    }
    SUBCASE("check --repair") {
        REQUIRE(run_publish({.store = {store.store}, .tree = store.tree, .indexes = {"main"}}, store.clock,
                            out, err) == 0);
        hold();
        CHECK(run_check({.tree = store.tree, .store = {store.store}, .repair = true}, clock, out, err) == 0);
    }
    CHECK_FALSE(lock.has_value());
    CHECK(err.str() == "");
}

TEST_CASE("a store without a catalog is rejected and not changed") {
    StoreFixture store;
    const auto elsewhere = store.folder.path() / "elsewhere";
    std::filesystem::create_directory(elsewhere);
    std::ostringstream out;
    std::ostringstream err;
    CHECK(run_publish({.store = {elsewhere}, .tree = store.tree}, store.clock, out, err) == 1);
    CHECK(err.str().find("wheelyard-indexer: ") == 0);
    CHECK(out.str() == "");
    CHECK(std::filesystem::is_empty(elsewhere));
}

TEST_CASE("check exits with 1 and prints each finding") {
    StoreFixture store;
    const auto row = store.make_row("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    store.add(row);
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE(run_publish({.store = {store.store}, .tree = store.tree, .indexes = {"main"}}, store.clock, out,
                        err) == 0);
    std::filesystem::remove_all(store.tree / "main" / "files");
    out.str("");
    CHECK(run_check({.tree = store.tree}, store.clock, out, err) == 1);
    CHECK(out.str().find("missing  main/simple/six/  main/files/") == 0);
    // Names from outside do not control a terminal.
    const std::filesystem::path hostile = store.tree / "main/files" / "\x1b[31m";
    CHECK(run_check({.tree = hostile}, store.clock, out, err) == 1);
    CHECK((out.str() + err.str()).find("?[31m") != std::string::npos);
    CHECK((out.str() + err.str()).find('\x1b') == std::string::npos);
    out.str("");
    CHECK(run_check({.tree = store.tree, .json = true}, store.clock, out, err) == 1);
    CHECK(io::parse_json(out.str())->find("findings")->as_array()->size() > 0);
}

TEST_CASE("check --repair fixes its findings") {
    StoreFixture store;
    store.add("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    std::ostringstream out;
    std::ostringstream err;
    REQUIRE(run_publish({.store = {store.store}, .tree = store.tree}, store.clock, out, err) == 0);
    std::filesystem::remove_all(store.tree / "main" / "files");
    out.str("");
    CHECK(run_check({.tree = store.tree, .store = {store.store}, .repair = true}, store.clock, out, err) ==
          0);
    CHECK(out.str().find("missing  main/simple/six/") == 0);
    CHECK(out.str().find("every link is valid") != std::string::npos);
    CHECK(run_check({.tree = store.tree, .store = {store.store}}, store.clock, out, err) == 0);
}
