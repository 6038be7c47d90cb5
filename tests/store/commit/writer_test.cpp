// Many threads, one writer: serials in order, one winner a name.
#include "lib/store/commit/writer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/store.hpp"

using namespace wheelyard;
using catalog::Catalog;

namespace {

catalog::FileRow row_of(const std::string& project, char hash = 'a') {
    catalog::FileRow row;
    row.index = "main";
    row.project = project;
    row.filename = project + "-1.0-py3-none-any.whl";
    row.version = "1.0";
    row.sha256 = std::string(64, hash);
    row.metadata_sha256 = std::string(64, 'e');
    row.facts_json = "{}";
    return row;
}

// Never says the same twice.
class TickingClock final : public base::Clock {
  public:
    [[nodiscard]] base::UnixMicros now() const override { return ++ticks_; }
    void sleep_ms(std::int64_t) override {}

  private:
    mutable std::atomic<base::UnixMicros> ticks_ = 0;
};

// Keeps a writer at work, from its construction until go_on(), so that what comes meanwhile has to wait.
class Busy {
  public:
    explicit Busy(registry::Writer& writer)
        : thread_([this, &writer] {
              CHECK(writer.run([this](Catalog&) -> base::Status {
                  begun_.set_value();
                  go_on_.get_future().wait();
                  return {};
              }));
          }) {
        begun_.get_future().wait();
    }
    void go_on() {
        go_on_.set_value();
        thread_.join();
    }

  private:
    std::promise<void> begun_;
    std::promise<void> go_on_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("many threads commit through one writer: serials are 1 to N, stamped with the commit's time") {
    const auto dir = base::TempDir::make("writer").value();
    base::ManualClock clock(1'795'000'000'000'000);
    registry::Writer writer(database::Store(dir.path()).writer().value(), clock);
    constexpr int count = 24;
    std::atomic<catalog::Serial> sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&writer, &sum, i] {
            const auto added = writer.add_file(row_of("p" + std::to_string(i)));
            if (added) sum += added->serial;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(sum == count * (count + 1) / 2);
    const auto found = writer.find_file("main", "p7-1.0-py3-none-any.whl").value();
    REQUIRE(found.has_value());
    CHECK(found->upload_time == clock.now());
    CHECK_FALSE(writer.find_file("main", "q-1.0-py3-none-any.whl").value().has_value());
}

TEST_CASE("of many uploads of one name with other bytes each, exactly one is added") {
    const auto dir = base::TempDir::make("writer").value();
    base::ManualClock clock(1);
    registry::Writer writer(database::Store(dir.path()).writer().value(), clock);
    std::atomic<int> added = 0;
    std::vector<std::thread> threads;
    for (char hash = '0'; hash <= '9'; ++hash) {
        threads.emplace_back([&writer, &added, hash] {
            if (writer.add_file(row_of("six", hash))->outcome == catalog::AddOutcome::added) ++added;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(added == 1);
}

TEST_CASE("rows that came during a commit are committed together, each with its own answer") {
    const auto dir = base::TempDir::make("writer").value();
    TickingClock clock;
    registry::Writer writer(database::Store(dir.path()).writer().value(), clock);
    Busy busy(writer);
    constexpr std::size_t count = 10;
    std::vector<base::Result<catalog::Added>> answers(2 * count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2 * count; ++i) {  // each name twice, with the same bytes
        threads.emplace_back(
            [&, i] { answers[i] = writer.add_file(row_of("p" + std::to_string(i % count))); });
    }
    while (writer.queued() < 2 * count)
        std::this_thread::yield();
    busy.go_on();
    for (std::thread& thread : threads)
        thread.join();
    std::size_t added = 0;
    for (std::size_t i = 0; i < 2 * count; ++i) {
        REQUIRE(answers[i]);
        if (answers[i]->outcome == catalog::AddOutcome::added) ++added;
        CHECK(answers[i]->serial == answers[(i + count) % (2 * count)]->serial);
    }
    CHECK(added == count);
    const auto reader = database::Store(dir.path()).reader().value();
    CHECK(reader->last_serial().value() == count);
    for (std::size_t i = 0; i < count; ++i)  // the time of the first commit's rows
        CHECK(reader->files("main", "p" + std::to_string(i)).value().at(0).upload_time == 1);
}

TEST_CASE("a row that cannot be added fails alone, not the ones that were committed with it") {
    const auto dir = base::TempDir::make("writer").value();
    base::ManualClock clock(1);
    registry::Writer writer(database::Store(dir.path()).writer().value(), clock);
    Busy busy(writer);
    catalog::FileRow broken = row_of("broken");
    broken.sha256 = "short";  // refused by the schema
    bool is_good = false;
    bool is_broken = false;
    std::thread one([&] { is_good = writer.add_file(row_of("good")).has_value(); });
    std::thread two([&] { is_broken = !writer.add_file(broken).has_value(); });
    while (writer.queued() < 2)
        std::this_thread::yield();
    busy.go_on();
    one.join();
    two.join();
    CHECK(is_good);
    CHECK(is_broken);
    CHECK(writer.find_file("main", "good-1.0-py3-none-any.whl").value().has_value());
}

// Throws the given number of times, starting with the given call.
class ThrowingClock final : public base::Clock {
  public:
    [[nodiscard]] base::UnixMicros now() const override {
        const int call = calls_++;
        if (call == 0 || call == 2) throw std::runtime_error("the clock broke");
        return call;
    }
    void sleep_ms(std::int64_t) override {}

  private:
    mutable std::atomic<int> calls_ = 0;
};

TEST_CASE("what throws in the middle of a group reaches its own request, and the others are answered") {
    const auto dir = base::TempDir::make("writer").value();
    const ThrowingClock clock;  // the group, and of its three rows the second
    registry::Writer writer(database::Store(dir.path()).writer().value(), clock);
    Busy busy(writer);
    constexpr std::size_t count = 3;
    std::atomic<int> added = 0;
    std::atomic<int> thrown = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            try {
                if (writer.add_file(row_of("p" + std::to_string(i)))) ++added;
            } catch (const std::runtime_error&) {
                ++thrown;
            }
        });
    }
    while (writer.queued() < count)
        std::this_thread::yield();
    busy.go_on();
    for (std::thread& thread : threads)
        thread.join();
    CHECK(added == 2);
    CHECK(thrown == 1);
    CHECK(writer.add_file(row_of("after")).has_value());  // the thread lives
}
