// Parsing, rendering and merging of the history, and the handling of a malformed file.
#include "builder/governor/admission/history.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::governor;
namespace base = wheelyard::base;

namespace {

Record record(double kib, double seconds, std::string source = "a.cpp") {
    Record made;
    made.peak_bytes = kib * 1024;
    made.seconds = seconds;
    made.runs = 1;
    made.last_day = 20777;
    made.source = std::move(source);
    made.language = "c++";
    made.compiler = "g++ 12.2.0";
    return made;
}

Observation seen(std::uint64_t key, double kib) {
    Observation made;
    made.key = key;
    made.seen = record(kib, 1);
    return made;
}

// Counts the attempts to take a lock, each of which reads the clock once, and releases `held` at the last.
class AttemptClock final : public base::Clock {
  public:
    AttemptClock(std::optional<base::LockFile>& held, int release_at)
        : held_(held), release_at_(release_at) {}
    [[nodiscard]] base::UnixMicros now() const override {
        if (++attempts_ == release_at_) held_.reset();
        return base::SystemClock{}.now();
    }
    void sleep_ms(std::int64_t) override {}
    [[nodiscard]] int attempts() const { return attempts_; }

  private:
    std::optional<base::LockFile>& held_;
    int release_at_;
    mutable int attempts_ = 0;
};

}  // namespace

TEST_CASE("a rendered history parses to the same records") {
    History history;
    history[0x9f86d081884c7d65] = record(1915628, 31.991, "torch/a b%c\td.cpp");
    history[1] = record(10, 0, "\xff\x01 not utf-8");
    history[2].min_bytes = 2048;
    const auto text = render_history(history);
    const auto back = parse_history(text);
    REQUIRE(back);
    CHECK(render_history(*back) == text);
    CHECK(back->at(0x9f86d081884c7d65).source == "torch/a b%c\td.cpp");
    CHECK(back->at(0x9f86d081884c7d65).seconds == doctest::Approx(31.991));
    CHECK(back->at(2).min_bytes == 2048);
}

TEST_CASE("the file is readable text") {
    History history;
    history[255] = record(1915628, 31.991, "torch/x.cpp");
    CHECK(render_history(history) ==
          "wheelyard.governor-history/1\n"
          "00000000000000ff\t1915628\t31991\t0\t1\t20777\tc++\tg++%2012.2.0\t\ttorch/x.cpp\n");
}

TEST_CASE("malformed histories are refused, each with a code") {
    const std::string head = "wheelyard.governor-history/1\n";
    const std::string good = "00000000000000ff\t1\t2\t0\t1\t20777\tc\tcc\t\ta.c\n";
    REQUIRE(parse_history(head + good));
    CHECK(parse_history(head)->empty());
    struct Row {
        std::string text;
        const char* code;
    };
    for (const auto& [text, code] : {
             Row{"", "governor.history_head"},
             Row{"wheelyard.governor-histories\n" + good, "governor.history_head"},
             Row{"wheelyard.governor-history/2\n" + good, "governor.history_version"},
             Row{head + "short\n", "governor.history_line"},
             Row{head + "00000000000000FF\t1\t2\t0\t1\t20777\tc\tcc\t\ta.c\n", "governor.history_line"},
             Row{head + "00000000000000ff\t-1\t2\t0\t1\t20777\tc\tcc\t\ta.c\n", "governor.history_line"},
             Row{head + "00000000000000ff\t99999999999999999999\t2\t0\t1\t20777\tc\tcc\t\ta.c\n",
                 "governor.history_line"},
             Row{head + "00000000000000ff\t1125899906842625\t2\t0\t1\t20777\tc\tcc\t\ta.c\n",
                 "governor.history_line"},
             Row{head + "00000000000000ff\t1\t2\t0\t1\t20777\tc\tcc\t\t%zz\n", "governor.history_line"},
             Row{head + good + "extra\tfields\t\t\t\t\t\t\t\t\t\n", "governor.history_line"},
         }) {
        CAPTURE(text);
        const auto parsed = parse_history(text);
        REQUIRE_FALSE(parsed);
        CHECK(parsed.error().code == code);
    }
}

TEST_CASE("two builds keep each other's records") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "deep" / "history";
    const base::SystemClock clock;
    REQUIRE(store_observations(file, {seen(1, 100), seen(2, 200)}, clock));
    REQUIRE(store_observations(file, {seen(2, 300), seen(3, 50)}, clock));
    std::string warning;
    const auto history = load_history(file, warning);
    CHECK(warning.empty());
    REQUIRE(history.size() == 3);
    CHECK(history.at(2).peak_bytes == 300 * 1024);
    CHECK(history.at(2).runs == 2);
    CHECK_FALSE(base::fs::exists(file.string() + ".lock"));
}

TEST_CASE("with LockPatience::none a held lock is reported at once") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "history";
    const base::SystemClock clock;
    const auto held = base::LockFile::acquire(file.string() + ".lock", clock, history_lock_stale_ms);
    REQUIRE(held);
    std::optional<base::LockFile> kept;
    const AttemptClock attempts(kept, 0);
    const auto stored = store_observations(file, {seen(1, 100)}, attempts, LockPatience::none);
    REQUIRE(!stored);
    CHECK(stored.error().code == "lock.held");
    CHECK(attempts.attempts() == 1);
    CHECK_FALSE(base::fs::exists(file));
}

TEST_CASE("with LockPatience::some a held lock is tried again until it is released") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "history";
    auto lock = base::LockFile::acquire(file.string() + ".lock", base::SystemClock{}, history_lock_stale_ms);
    REQUIRE(lock);
    std::optional<base::LockFile> held(std::move(*lock));
    const AttemptClock attempts(held, 3);
    REQUIRE(store_observations(file, {seen(1, 100)}, attempts, LockPatience::some));
    CHECK(attempts.attempts() == 3);
    CHECK(base::fs::exists(file));
}

TEST_CASE("an unreadable lock file is reported without waiting") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "history";
    REQUIRE(base::replace_file(file.string() + ".lock", "garbage"));
    std::optional<base::LockFile> none;
    const AttemptClock attempts(none, 0);
    const auto stored = store_observations(file, {seen(1, 100)}, attempts, LockPatience::some);
    REQUIRE(!stored);
    CHECK(stored.error().code == "lock.broken");
    CHECK(attempts.attempts() == 1);
}

TEST_CASE("a malformed file is renamed with a warning, and a new one is written") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "history";
    REQUIRE(base::replace_file(file, "garbage"));
    std::string warning;
    CHECK(load_history(file, warning).empty());
    CHECK(warning.find("renamed") != std::string::npos);
    CHECK(base::fs::exists(file.string() + ".broken"));
    REQUIRE(store_observations(file, {seen(1, 100)}, base::SystemClock{}));
    warning.clear();
    CHECK(load_history(file, warning).size() == 1);
    CHECK(warning.empty());
}

TEST_CASE("a file of another version is neither renamed nor replaced") {
    const auto folder = base::TempDir::make("history");
    REQUIRE(folder);
    const auto file = folder->path() / "history";
    const std::string text = "wheelyard.governor-history/2\nsomething new\n";
    REQUIRE(base::replace_file(file, text));
    std::string warning;
    CHECK(load_history(file, warning).empty());
    CHECK(warning.find("another version") != std::string::npos);
    CHECK(warning.find("/2") != std::string::npos);
    const auto stored = store_observations(file, {seen(1, 100)}, base::SystemClock{});
    REQUIRE(!stored);
    CHECK(stored.error().code == "governor.history_version");
    CHECK(base::read_file(file, 1000) == text);
    CHECK_FALSE(base::fs::exists(file.string() + ".broken"));
}

TEST_CASE("an absent file is an empty history") {
    std::string warning;
    CHECK(load_history("/nonexistent/history", warning).empty());
    CHECK(warning.empty());
}

TEST_CASE("an imported history keeps the larger peak") {
    History mine, theirs;
    mine[1] = record(100, 1);
    mine[2] = record(500, 1);
    theirs[1] = record(300, 2);
    theirs[2] = record(400, 2);
    theirs[3] = record(7, 1);
    merge_history(mine, theirs);
    CHECK(mine.at(1).peak_bytes == 300 * 1024);
    CHECK(mine.at(2).peak_bytes == 500 * 1024);
    CHECK(mine.size() == 3);
    CHECK(mine.at(1).runs == 2);
}

TEST_CASE("the largest peak of a build is that of the sources below its folder") {
    const auto folder = base::TempDir::make("peaks");
    REQUIRE(folder);
    REQUIRE(base::replace_file(folder->path() / "a.cpp", ""));
    REQUIRE(base::replace_file(folder->path() / "killed.cpp", ""));
    History history;
    history[1] = record(100, 1, "a.cpp");
    history[2] = record(900, 1, "of/another/project.cpp");
    history[3] = record(0, 1, "killed.cpp");
    CHECK(largest_peak_below(history, folder->path()) == 100 * 1024);
    history[3].min_bytes = 200 * 1024;
    CHECK(largest_peak_below(history, folder->path()) == 200 * 1024);
    CHECK(largest_peak_below({}, folder->path()) == 0);
}
