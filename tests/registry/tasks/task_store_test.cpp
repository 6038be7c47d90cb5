#include "registry/tasks/task_store.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "registry/tasks/limits.hpp"
#include "tests/registry/tasks/queue_fixture.hpp"

using namespace wheelyard;
using tasks::lease_s;
using tasks::ms_per_s;
using tasks::StoreFixture;
using wire::TaskState;

TEST_CASE("what is asked for twice is one task while it is open, and another one afterwards") {
    StoreFixture farm;
    const std::string id = farm.add();
    const auto again = farm.store->add(farm.request(), "bert").value();
    CHECK(again.already_there);
    CHECK(again.task.id == id);
    CHECK(again.task.asked_by == "anna");
    CHECK(farm.add(farm.request("torch", "3.12")) != id);
    REQUIRE(farm.store->cancel(id, "anna", "wrong").has_value());
    CHECK(farm.add() != id);
}

TEST_CASE("a claim takes the oldest task that fits") {
    StoreFixture farm;
    auto gpu = farm.request("numpy");
    gpu.accelerator = "h100";
    farm.add(gpu);
    farm.add(farm.request("torch", "3.12"));
    auto elsewhere = farm.request("torch");
    elsewhere.index = "archer2";
    farm.add(elsewhere);
    const std::string first = farm.add(farm.request("scipy"));
    const std::string second = farm.add(farm.request("torch"));
    CHECK(farm.claim('1') == first);
    auto torch_only = farm.offer('2');
    torch_only.packages = std::vector<std::string>{"numpy", "torch"};
    CHECK(farm.claim(torch_only, '2') == second);
    CHECK(farm.claim('3') == "none");
    const auto task = farm.store->find(first).value();
    CHECK(task.state == TaskState::claimed);
    CHECK(task.agent == "login1");
    CHECK(task.attempts == 1);
    CHECK(task.lease_until == farm.clock.now() + lease_s * 1'000'000);
}

TEST_CASE("what the caller does not allow is not claimed") {
    StoreFixture farm;
    farm.add();
    const auto none =
        farm.store->claim(farm.offer('1'), farm.terms('1'), [](const wire::Task&) { return false; });
    REQUIRE(none.has_value());
    CHECK_FALSE(none->has_value());
}

TEST_CASE("the same claim again is the same task with the same grant and a new secret") {
    StoreFixture farm;
    const std::string id = farm.add();
    farm.add(farm.request("scipy"));
    CHECK(farm.claim('1') == id);
    auto terms = farm.terms('1');
    terms.grant_id = "wy_ffffffffffff";
    terms.grant_sha256 = std::string(64, 'e');
    const auto again =
        farm.store->claim(farm.offer('1'), terms, [](const wire::Task&) { return true; }).value();
    REQUIRE(again.has_value());
    CHECK(again->task.id == id);
    CHECK(again->grant_id == farm.terms('1').grant_id);
    CHECK(farm.store->find(id).value().attempts == 1);
    CHECK(farm.store->find_grant(again->grant_id).value()->secret_sha256 == terms.grant_sha256);
    CHECK_FALSE(farm.store->find_grant("wy_ffffffffffff").value().has_value());
    const auto stranger = farm.store->claim(farm.offer('1'), terms, [](const wire::Task&) { return false; });
    CHECK(farm.code(stranger) == "task.no_such_claim");
}

TEST_CASE("of many that claim one task at once, from two processes' connections, exactly one wins") {
    StoreFixture farm;
    const std::string id = farm.add();
    const auto other = farm.open();  // as a second program would
    std::atomic<int> wins = 0;
    std::atomic<int> losses = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            const auto digit = static_cast<char>('0' + i);
            tasks::TaskStore& store = i % 2 == 0 ? *farm.store : *other;
            const auto claimed =
                store.claim(farm.offer(digit), farm.terms(digit), [](const wire::Task&) { return true; });
            if (claimed) ++(claimed->has_value() ? wins : losses);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wins == 1);
    CHECK(losses == 7);
    CHECK(farm.store->find(id).value().attempts == 1);
}

TEST_CASE("a lease lasts from each sign of life; one that is over gives the task back") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    farm.clock.sleep_ms((lease_s - 1) * ms_per_s);
    CHECK(farm.store->renew(id, farm.name('1')).value().lease_s == lease_s);
    farm.clock.sleep_ms((lease_s - 1) * ms_per_s);
    CHECK(farm.state(id) == TaskState::claimed);
    farm.clock.sleep_ms(ms_per_s);
    CHECK(farm.state(id) == TaskState::queued);
    CHECK(farm.store->find(id).value().lease_until == 0);

    // Whatever the late agent says now is refused, and its grant is dead.
    CHECK(farm.code(farm.store->renew(id, farm.name('1'))) == "task.lease_over");
    CHECK(farm.code(farm.store->append_log(id, farm.name('1'), 0, "x")) == "task.lease_over");
    CHECK(farm.code(farm.store->end(id, farm.end('1', true))) == "task.lease_over");
    CHECK(farm.claim('1') == "task.lease_over");
    CHECK(farm.store->find_grant(farm.terms('1').grant_id).value()->is_over);
    CHECK(farm.store->use_grant(farm.terms('1').grant_id, "a.whl", "aa").error().code == "grant.over");

    CHECK(farm.claim('2') == id);
    CHECK(farm.code(farm.store->end(id, farm.end('1', true))) == "task.lease_over");
    CHECK(farm.code(farm.store->end(id, farm.end('2', true))) == "ok");
    CHECK(farm.state(id) == TaskState::done);
}

TEST_CASE("a task whose leases end again and again without an outcome has failed, with the reason") {
    StoreFixture farm;
    const std::string id = farm.add();
    for (const char digit : {'1', '2', '3'}) {
        REQUIRE(farm.claim(digit) == id);
        farm.clock.sleep_ms(lease_s * ms_per_s);
    }
    CHECK(farm.claim('4') == "none");
    const auto task = farm.store->find(id).value();
    CHECK(task.state == TaskState::failed);
    CHECK(task.reason == "its lease ended 3 times without an outcome; the last agent was login1");
}

TEST_CASE("a task that is asked for by its id alone is had again while nobody else took it") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    farm.clock.sleep_ms(lease_s * ms_per_s);
    const std::string older = farm.add(farm.request("scipy"));
    auto second = farm.offer('2');
    second.task = id;
    CHECK(farm.claim(second, '2') == id);
    second.claim = farm.name('3');
    CHECK(farm.claim(second, '3') == "none");
    CHECK(farm.claim('4') == older);
}

TEST_CASE("an outcome ends a task once; the same again is no error, another one is") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    CHECK(farm.store->end(id, farm.end('1', false)).value().state == TaskState::failed);
    CHECK(farm.store->end(id, farm.end('1', false)).value().state == TaskState::failed);
    CHECK(farm.code(farm.store->end(id, farm.end('1', true))) == "task.ended");
    CHECK(farm.code(farm.store->renew(id, farm.name('1'))) == "task.ended");
    const auto task = farm.store->find(id).value();
    CHECK(task.reason == "The job failed");
    CHECK(task.outcome.string_or("result", "") == "failed");
    CHECK(farm.code(farm.store->cancel(id, "anna", "")) == "task.ended");
}

TEST_CASE("a claim is good for its own task only") {
    StoreFixture farm;
    const std::string id = farm.add();
    const std::string other = farm.add(farm.request("scipy"));
    REQUIRE(farm.claim('1') == id);
    CHECK(farm.code(farm.store->renew(other, farm.name('1'))) == "task.no_such_claim");
    CHECK(farm.code(farm.store->renew(id, farm.name('2'))) == "task.no_such_claim");
    CHECK(farm.code(farm.store->end(other, farm.end('1', true))) == "task.no_such_claim");
    CHECK(farm.code(farm.store->find("t0")) == "task.no_such_task");
}

TEST_CASE("cancelling a task ends its lease and its grant") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    CHECK(farm.store->cancel(id, "anna", "wrong version").value().reason ==
          "cancelled by anna: wrong version");
    CHECK(farm.store->cancel(id, "anna", "").has_value());
    CHECK(farm.code(farm.store->renew(id, farm.name('1'))) == "task.cancelled");
    CHECK(farm.code(farm.store->end(id, farm.end('1', true))) == "task.cancelled");
    CHECK(farm.store->use_grant(farm.terms('1').grant_id, "a.whl", "aa").error().code == "grant.over");
    CHECK(farm.claim('2') == "none");
}

TEST_CASE("a grant is for one file: again for that one, never for another") {
    StoreFixture farm;
    farm.add();
    farm.claim('1');
    const std::string grant = farm.terms('1').grant_id;
    const auto found = farm.store->find_grant(grant).value();
    REQUIRE(found.has_value());
    CHECK(found->index == "staging");
    CHECK(found->package == "torch");
    CHECK(found->version == "2.4.0");
    CHECK(found->owner == "wy_aaaaaaaaaaaa");
    CHECK(farm.store->use_grant(grant, "a.whl", "aa").has_value());
    CHECK(farm.store->use_grant(grant, "a.whl", "aa").has_value());
    CHECK(farm.store->use_grant(grant, "b.whl", "aa").error().code == "grant.used");
    CHECK(farm.store->use_grant(grant, "a.whl", "bb").error().code == "grant.used");
    CHECK(farm.store->use_grant("wy_nobody", "a.whl", "aa").error().code == "grant.over");
}

TEST_CASE("a log grows at its end: what is there is passed over, a gap is refused") {
    StoreFixture farm;
    const std::string id = farm.add();
    farm.claim('1');
    const std::string claim = farm.name('1');
    CHECK(farm.store->append_log(id, claim, 0, "one\n").value().log_bytes == 4);
    CHECK(farm.store->append_log(id, claim, 0, "one\n").value().log_bytes == 4);
    CHECK(farm.store->append_log(id, claim, 2, "e\ntwo\n").value().log_bytes == 8);
    CHECK(farm.store->append_log(id, claim, 8, "").value().log_bytes == 8);
    CHECK(farm.code(farm.store->append_log(id, claim, 9, "x")) == "task.log_gap");
    CHECK(farm.code(farm.store->append_log(id, claim, -1, "x")) == "task.log_gap");
    const std::string odd("\0\xff", 2);
    CHECK(farm.store->append_log(id, claim, 8, odd).value().log_bytes == 10);
    CHECK(farm.store->read_log(id, 0, 0).value() == "one\ntwo\n" + odd);
    CHECK(farm.store->read_log(id, 0, 5).value() == "wo\n" + odd);
    CHECK(farm.store->read_log(id, 0, 10).value().empty());
    CHECK(farm.store->renew(id, claim).value().log_bytes == 10);
    CHECK(farm.store->find(id).value().log_bytes == 10);

    // The next attempt has a log of its own, and the first one's stays.
    farm.clock.sleep_ms(lease_s * ms_per_s);
    farm.claim('2');
    CHECK(farm.store->append_log(id, farm.name('2'), 0, "again").value().log_bytes == 5);
    CHECK(farm.store->read_log(id, 0, 0).value() == "again");
    CHECK(farm.store->read_log(id, 1, 0).value() == "one\ntwo\n" + odd);
}

TEST_CASE("a log has an end") {
    StoreFixture farm;
    const std::string id = farm.add();
    farm.claim('1');
    const std::string piece(tasks::log_piece_bytes, 'x');
    std::int64_t offset = 0;
    while (offset < tasks::max_log_bytes)
        offset = farm.store->append_log(id, farm.name('1'), offset, piece).value().log_bytes;
    CHECK(farm.code(farm.store->append_log(id, farm.name('1'), offset, "x")) == "task.log_full");
    CHECK(farm.store->read_log(id, 0, 1).value().size() == tasks::log_piece_bytes);
    CHECK(farm.code(farm.store->end(id, farm.end('1', true))) == "ok");
}

TEST_CASE(
    "what ended long ago goes while others change something, logs and leases with it; what is open stays") {
    StoreFixture farm;
    const std::string open = farm.add(farm.request("scipy"));
    const std::string id = farm.add();
    auto torch = farm.offer('1');
    torch.packages = std::vector<std::string>{"torch"};
    REQUIRE(farm.claim(torch, '1') == id);
    farm.store->append_log(id, farm.name('1'), 0, "text").value();
    farm.store->end(id, farm.end('1', true)).value();
    const std::int64_t kept_ms = tasks::TaskRules().kept_days * 24 * 3600 * ms_per_s;
    farm.clock.sleep_ms(kept_ms - ms_per_s);
    farm.add(farm.request("numpy"));
    CHECK(farm.store->read_log(id, 0, 0).value() == "text");
    farm.clock.sleep_ms(tasks::sweep_every_s * ms_per_s);
    CHECK(farm.store->find(id).has_value());  // who only asks removes nothing
    farm.add(farm.request("numpy", "3.12"));
    CHECK(farm.code(farm.store->find(id)) == "task.no_such_task");
    CHECK(farm.code(farm.store->renew(id, farm.name('1'))) == "task.no_such_claim");
    CHECK(farm.code(farm.store->list({}, id)) == "task.no_such_task");  // no page restarts unnoticed
    CHECK(farm.state(open) == TaskState::queued);
    CHECK(farm.store->removed() == 1);
}

TEST_CASE(
    "what ended lately is listed for its index, the newest end first, for some days and no more than a "
    "page") {
    StoreFixture farm;
    const auto ended = [&](const std::string& index) {
        std::vector<std::string> found;
        const auto listed = farm.store->lately_ended(index);
        REQUIRE(listed.has_value());
        for (const auto& task : *listed)
            found.push_back(task.id);
        return found;
    };
    const std::string one = farm.add();
    const std::string two = farm.add(farm.request("scipy"));
    farm.add(farm.request("numpy"));
    REQUIRE(farm.store->cancel(two, "anna", "").has_value());
    farm.clock.sleep_ms(ms_per_s);
    REQUIRE(farm.store->cancel(one, "anna", "").has_value());
    CHECK(ended("bede") == std::vector<std::string>{one, two});
    CHECK(ended("archer2").empty());
    farm.clock.sleep_ms(tasks::shown_after_end_days * 24 * 3600 * ms_per_s);
    CHECK(ended("bede") == std::vector<std::string>{one});
    for (std::size_t i = 0; i <= tasks::max_tasks_returned; ++i)
        REQUIRE(farm.store->cancel(farm.add(farm.request("torch", "3." + std::to_string(i))), "anna", "")
                    .has_value());
    CHECK(ended("bede").size() == tasks::max_tasks_returned);
}

TEST_CASE("many that are to go go in several transactions, each by the next change") {
    StoreFixture farm;
    for (std::int64_t i = 0; i < tasks::max_removed_at_once + 1; ++i) {
        const std::string id = farm.add(farm.request("torch", "3." + std::to_string(i)));
        REQUIRE(farm.store->cancel(id, "anna", "").has_value());
    }
    farm.clock.sleep_ms((tasks::TaskRules().kept_days + 1) * 24 * 3600 * ms_per_s);
    farm.add(farm.request("scipy"));
    CHECK(farm.store->removed() == tasks::max_removed_at_once);
    farm.add(farm.request("numpy"));
    CHECK(farm.store->removed() == tasks::max_removed_at_once + 1);
}

TEST_CASE("a list is filtered and goes on after a task") {
    StoreFixture farm;
    const std::string one = farm.add();
    const std::string two = farm.add(farm.request("scipy"));
    auto elsewhere = farm.request();
    elsewhere.index = "archer2";
    const std::string three = farm.add(elsewhere);
    farm.claim('1');
    const auto ids = [&](const tasks::TaskFilter& filter, const std::string& after = {}) {
        std::vector<std::string> found;
        const auto listed = farm.store->list(filter, after);
        REQUIRE(listed.has_value());
        for (const auto& task : *listed)
            found.push_back(task.id);
        return found;
    };
    CHECK(ids({}) == std::vector<std::string>{one, two, three});
    CHECK(ids({}, one) == std::vector<std::string>{two, three});
    CHECK(ids({"bede", {}}) == std::vector<std::string>{one, two});
    CHECK(ids({"bede", TaskState::queued}) == std::vector<std::string>{two});
    CHECK(ids({}, three).empty());
    const std::vector<std::string> none;
    CHECK(ids({.indexes = std::vector<std::string>{"archer2", "other"}}) == std::vector<std::string>{three});
    CHECK(ids({.packages = std::vector<std::string>{"torch"}}) == std::vector<std::string>{one, three});
    CHECK(ids({.indexes = std::vector<std::string>{"bede"}, .packages = std::vector<std::string>{"scipy"}}) ==
          std::vector<std::string>{two});
    CHECK(ids({.indexes = none}).empty());
    CHECK(farm.store->list({}, one, 1).value().front().id == two);
    CHECK(farm.store->list({}, one, 1).value().size() == 1);
    farm.store->end(one, farm.end('1', true)).value();
    CHECK(farm.store->list({}).value().front().outcome.is_null());
    CHECK_FALSE(farm.store->find(one).value().outcome.is_null());
}

TEST_CASE("nobody fills the queue alone") {
    StoreFixture farm;
    for (std::int64_t i = 0; i < tasks::max_open_tasks_of_a_token; ++i)
        REQUIRE(farm.store->add(farm.request("torch", "3." + std::to_string(i)), "anna").has_value());
    CHECK(farm.code(farm.store->add(farm.request("scipy"), "anna")) == "task.too_many");
    CHECK(farm.code(farm.store->add(farm.request("scipy"), "bert")) == "ok");
    CHECK(farm.store->add(farm.request("torch", "3.0"), "anna").value().already_there);
}

namespace {

wire::TaskRequest uploaded_request() {
    wire::TaskRequest request = StoreFixture::request();
    request.source = wire::UploadedSource{"ours", "torch-2.4.0.tar.gz", std::string(64, 'a')};
    return request;
}

wire::ClaimOffer separating(char digit) {
    wire::ClaimOffer offer = StoreFixture::offer(digit);
    offer.uploads.builds = true;
    return offer;
}

TEST_CASE("a stranger's request awaits an approval, and a token's request for the same gives it") {
    StoreFixture queue;
    const auto asked = queue.store->ask(StoreFixture::request(), "public:a");
    REQUIRE(asked.has_value());
    CHECK(asked->task.state == wire::TaskState::awaits_approval);
    CHECK(queue.claim('1') == "none");
    CHECK(queue.store->ask(StoreFixture::request(), "public:b")->task.id == asked->task.id);  // the same task
    SUBCASE("an operator approves") {
        CHECK(queue.store->approve(asked->task.id, "boss")->approved_by == "boss");
        CHECK(queue.claim('1') == asked->task.id);
    }
    SUBCASE("an operator refuses") {
        CHECK(queue.store->reject(asked->task.id, "boss", "no licence")->reason ==
              "rejected by boss: no licence");
        CHECK(queue.claim('1') == "none");
    }
    SUBCASE("somebody with a token asks for it") {
        const auto added = queue.store->add(StoreFixture::request(), "anna");
        REQUIRE(added.has_value());
        CHECK(added->already_there);
        CHECK(added->task.id == asked->task.id);
        CHECK(added->task.approved_by == "anna");
        CHECK(queue.claim('1') == asked->task.id);
    }
    SUBCASE("nobody decides for a month") {
        queue.clock.sleep_ms(tasks::approval_days * 24 * 3'600'000 + 1);
        queue.add(StoreFixture::request("six"));  // the first change of an hour
        CHECK(queue.state(asked->task.id) == wire::TaskState::cancelled);
    }
}

TEST_CASE("a stranger's request ends in time behind any number of uploaded sources") {
    StoreFixture queue;
    wire::TaskRequest uploaded = StoreFixture::request();
    for (std::size_t count = 0; count <= tasks::max_tasks_returned; ++count) {
        uploaded.source =
            wire::UploadedSource{"bede", "torch-2.4.0.tar.gz", base::sha256_hex(std::to_string(count))};
        queue.add(uploaded);
    }
    const auto asked = queue.store->ask(StoreFixture::request("scipy"), "public:a");
    REQUIRE(asked.has_value());
    queue.clock.sleep_ms(tasks::approval_days * 24 * 3'600'000 + 1);
    queue.add(StoreFixture::request("six"));
    CHECK(queue.state(asked->task.id) == TaskState::cancelled);
}

TEST_CASE("strangers cannot fill the queue: each has few requests, and all have a limit") {
    StoreFixture queue;
    std::int64_t asked = 0;
    const auto ask = [&](const std::string& who) {
        return StoreFixture::code(
            queue.store->ask(StoreFixture::request("p" + std::to_string(++asked)), who));
    };
    for (std::int64_t i = 0; i < tasks::max_open_of_a_stranger; ++i)
        REQUIRE(ask("public:a") == "ok");
    CHECK(ask("public:a") == "task.too_many");
    for (std::int64_t i = tasks::max_open_of_a_stranger; i < tasks::max_open_of_strangers; ++i)
        REQUIRE(ask("public:" + std::to_string(i)) == "ok");
    CHECK(ask("public:z") == "task.too_many");
    CHECK(StoreFixture::code(queue.store->add(StoreFixture::request("six"), "anna")) == "ok");  // a token's
    tasks::TaskFilter waiting;
    waiting.state = wire::TaskState::awaits_approval;
    REQUIRE(queue.store->reject(queue.store->list(waiting)->front().id, "boss", ""));
    CHECK(ask("public:z") == "ok");
}

}  // namespace

TEST_CASE_FIXTURE(StoreFixture,
                  "a task with an uploaded source is claimed after its approval, by a site that separates") {
    const std::string id = add(uploaded_request());
    CHECK(state(id) == TaskState::awaits_approval);
    CHECK(add(uploaded_request()) == id);
    CHECK(claim(separating('1'), '1') == "none");
    CHECK(store->approve(id, "bert").value().approved_by == "bert");
    CHECK(store->approve(id, "carl").value().approved_by == "bert");  // repeated
    CHECK(state(id) == TaskState::queued);
    CHECK(store->reject(id, "carl", "").error().code == "task.awaits_nothing");

    wire::ClaimOffer without = offer('2');
    without.uploads.reason = "no [uploaded_sources]";
    CHECK(claim(without, '2') == "none");
    CHECK(store->find(id).value().reason == "login1 does not build uploaded sources: no [uploaded_sources]");
    CHECK(claim(separating('3'), '3') == id);
    const wire::Task claimed = store->find(id).value();
    CHECK(claimed.request == uploaded_request());
    CHECK(claimed.reason.empty());
}

TEST_CASE_FIXTURE(StoreFixture, "a rejected task is over, with the name and the reason") {
    const std::string id = add(uploaded_request());
    CHECK(store->reject(id, "bert", "not ours").value().reason == "rejected by bert: not ours");
    CHECK(state(id) == TaskState::cancelled);
    CHECK(store->approve(id, "bert").error().code == "task.ended");
    CHECK(add(request()) != id);
    CHECK(store->approve(add(request()), "bert").error().code == "task.awaits_nothing");
}

TEST_CASE_FIXTURE(StoreFixture, "what an upload proposes is asked for once, however it ended") {
    CHECK(store->propose(uploaded_request(), "anna"));
    CHECK(store->propose(uploaded_request(), "anna"));
    const auto listed = store->list({});
    REQUIRE(listed.value().size() == 1);
    CHECK(store->reject(listed->front().id, "bert", ""));
    CHECK(store->propose(uploaded_request(), "anna"));
    CHECK(store->list({}).value().size() == 1);
    CHECK(add(uploaded_request()) != listed->front().id);  // a person may ask again
}
