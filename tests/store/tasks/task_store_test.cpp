#include "lib/store/tasks/task_store.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/store/tasks/limits.hpp"
#include "tests/store/tasks/queue_fixture.hpp"

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

TEST_CASE("a site gets the oldest tasks that fit, as many as it has room for") {
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
    const std::string third = farm.add(farm.request("six"));
    CHECK(farm.claim_all(farm.offer('1'), '1') == std::vector<std::string>{first});
    auto torch_only = farm.offer('2');
    torch_only.packages = std::vector<std::string>{"numpy", "torch"};
    CHECK(farm.claim_all(torch_only, '2') == std::vector<std::string>{second});
    auto many = farm.offer('1');
    many.tasks = {first};
    many.room = 5;
    CHECK(farm.claim_all(many, '1') == std::vector<std::string>{first, third});
    CHECK(farm.claim('3') == "none");
    const auto task = farm.store->find(first).value();
    CHECK(task.state == TaskState::claimed);
    CHECK(task.agent == "site1.login1");
    CHECK(task.attempts == 1);
    CHECK(task.lease_until == farm.clock.now() + lease_s * 1'000'000);
}

TEST_CASE("what the caller does not allow is not claimed") {
    StoreFixture farm;
    farm.add();
    const auto none =
        farm.store->claim(farm.offer('1'), farm.token('1'), [](const wire::Task&) { return false; });
    CHECK(none.value().empty());
}

TEST_CASE("a repeated claim gets the same tasks, also from another host and with another token of the site") {
    StoreFixture farm;
    const std::string id = farm.add();
    farm.add(farm.request("scipy"));
    CHECK(farm.claim('1') == id);
    auto again = farm.offer('1');
    CHECK(farm.claim_all(again, '1') == std::vector<std::string>{id});  // its answer was lost: no second one
    again.agents = {again.agent};
    again.agent = "site1.login2";
    again.tasks = {id};
    again.room = 0;
    CHECK(farm.claim_all(again, '9') == std::vector<std::string>{id});
    CHECK(farm.store->find(id).value().attempts == 1);
    CHECK(farm.store->find(id).value().agent == "site1.login2");
    CHECK(farm.store->held(id, farm.token('1')).error().code == "task.lost");
    CHECK(farm.store->held(id, farm.token('9')).has_value());
}

TEST_CASE("of many sites that claim one task at once, from two processes' connections, exactly one wins") {
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
                store.claim(farm.offer(digit), farm.token(digit), [](const wire::Task&) { return true; });
            if (claimed) ++(claimed->empty() ? losses : wins);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wins == 1);
    CHECK(losses == 7);
    CHECK(farm.store->find(id).value().attempts == 1);
}

TEST_CASE("a site has a task for some time since it asked last; then the task is free again") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    farm.clock.sleep_ms((lease_s - 1) * ms_per_s);
    CHECK(farm.renew('1', {id}) == std::vector<std::string>{id});
    farm.clock.sleep_ms((lease_s - 1) * ms_per_s);
    CHECK(farm.state(id) == TaskState::claimed);
    farm.clock.sleep_ms(ms_per_s);
    CHECK(farm.state(id) == TaskState::queued);
    CHECK(farm.store->find(id).value().lease_until == 0);

    // The late site may neither upload nor end it, and changes nothing of what another says.
    CHECK(farm.store->held(id, farm.token('1')).error().code == "task.lost");
    CHECK(farm.store->use(id, farm.token('1'), "a.whl", "aa").error().code == "task.lost");
    CHECK(farm.code(farm.store->end(id, farm.end('1', true), farm.token('1'))) == "task.lost");
    CHECK(farm.claim('2') == id);
    CHECK(farm.renew('1', {id}).empty());
    CHECK(farm.code(farm.store->end(id, farm.end('1', true), farm.token('1'))) == "task.lost");
    CHECK(farm.code(farm.store->end(id, farm.end('2', true), farm.token('2'))) == "ok");
    CHECK(farm.state(id) == TaskState::done);
    CHECK(farm.code(farm.store->end(id, farm.end('1', true), farm.token('1'))) == "task.ended");
    CHECK(farm.store->find(id).value().outcome.string_or("site", "") == farm.name('2'));
}

TEST_CASE("a late site has its task again while nobody else took it, without room for another") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    const std::string other = farm.add(farm.request("scipy"));
    farm.clock.sleep_ms(lease_s * ms_per_s);
    CHECK(farm.renew('2', {id}).empty());  // a site that never had it needs room
    CHECK(farm.renew('1', {id}) == std::vector<std::string>{id});
    CHECK(farm.state(other) == TaskState::queued);
    CHECK(farm.store->find(id).value().attempts == 2);
}

TEST_CASE("while a site does not offer a task's Python, it has the task only until its time ends") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    auto without = farm.offer('1');
    without.tasks = {id};
    without.room = 0;
    without.pythons = {"3.12"};
    farm.clock.sleep_ms((lease_s - 1) * ms_per_s);
    CHECK(farm.claim_all(without, '1') == std::vector<std::string>{id});
    farm.clock.sleep_ms(ms_per_s);
    CHECK(farm.claim_all(without, '1').empty());
    CHECK(farm.state(id) == TaskState::queued);
}

TEST_CASE("a task whose sites are late again and again without an outcome has failed, with the reason") {
    StoreFixture farm;
    const std::string id = farm.add();
    for (const char digit : {'1', '2', '3'}) {
        REQUIRE(farm.claim(digit) == id);
        farm.clock.sleep_ms(lease_s * ms_per_s);
    }
    CHECK(farm.claim('4') == "none");
    const auto task = farm.store->find(id).value();
    CHECK(task.state == TaskState::failed);
    CHECK(task.reason == "its site was late 3 times without an outcome; the last agent was site3.login1");
}

TEST_CASE("an outcome ends a task once; the same again is no error, another one is") {
    StoreFixture farm;
    const std::string id = farm.add();
    CHECK(farm.code(farm.store->end(id, farm.end('1', false), farm.token('1'))) ==
          "task.lost");  // no site has it
    REQUIRE(farm.claim('1') == id);
    CHECK(farm.code(farm.store->end(id, farm.end('2', false), farm.token('2'))) == "task.lost");
    CHECK(farm.store->end(id, farm.end('1', false), farm.token('1')).value().state == TaskState::failed);
    CHECK(farm.store->end(id, farm.end('1', false), farm.token('1')).value().state == TaskState::failed);
    CHECK(farm.code(farm.store->end(id, farm.end('1', true), farm.token('1'))) == "task.ended");
    CHECK(farm.renew('1', {id}).empty());
    const auto task = farm.store->find(id).value();
    CHECK(task.reason == "The job failed");
    CHECK(task.outcome.string_or("result", "") == "failed");
    CHECK(farm.code(farm.store->cancel(id, "anna", "")) == "task.ended");
    CHECK(farm.code(farm.store->find("t0")) == "task.no_such_task");
}

TEST_CASE("cancelling a task takes it from its site") {
    StoreFixture farm;
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    CHECK(farm.store->cancel(id, "anna", "wrong version").value().reason ==
          "cancelled by anna: wrong version");
    CHECK(farm.store->cancel(id, "anna", "").has_value());
    CHECK(farm.renew('1', {id}).empty());
    CHECK(farm.code(farm.store->end(id, farm.end('1', true), farm.token('1'))) == "task.cancelled");
    CHECK(farm.store->use(id, farm.token('1'), "a.whl", "aa").error().code == "task.lost");
    CHECK(farm.claim('2') == "none");
}

TEST_CASE("a task's wheel is one file: again that one, never another; only its site's token uploads it") {
    StoreFixture farm;
    const std::string id = farm.add();
    farm.claim('1');
    CHECK(farm.store->use(id, farm.token('2'), "a.whl", "aa").error().code == "task.lost");
    CHECK(farm.store->use(id, farm.token('1'), "a.whl", "aa").has_value());
    CHECK(farm.store->use(id, farm.token('1'), "a.whl", "aa").has_value());
    CHECK(farm.store->use(id, farm.token('1'), "b.whl", "aa").error().code == "task.other_wheel");
    CHECK(farm.store->use(id, farm.token('1'), "a.whl", "bb").error().code == "task.other_wheel");
    farm.renew('1', {id});
    CHECK(farm.store->use(id, farm.token('1'), "b.whl", "aa").error().code == "task.other_wheel");
    farm.clock.sleep_ms(lease_s * ms_per_s);
    REQUIRE(farm.claim('2') == id);  // another site builds another file
    CHECK(farm.store->use(id, farm.token('2'), "b.whl", "bb").has_value());
}

TEST_CASE("two agents of one site have their own tasks, and one that moves keeps what its journal names") {
    StoreFixture farm;
    const std::string first = farm.add();
    const std::string second = farm.add(farm.request("scipy"));
    REQUIRE(farm.claim('1') == first);
    auto other = farm.offer('1');
    other.agent = farm.name('1') + ".login2";
    CHECK(farm.claim_all(other, '1') == std::vector<std::string>{second});
    CHECK(farm.claim_all(farm.offer('1'), '1') == std::vector<std::string>{first});
    auto moved = other;
    moved.tasks = {first, second};
    CHECK(farm.claim_all(moved, '1') == std::vector<std::string>{second});  // the other's, though known
    moved.agents = {farm.offer('1').agent};
    CHECK(farm.claim_all(moved, '1') == std::vector<std::string>{first, second});
    auto thief = farm.offer('2');
    thief.tasks = {first, second};
    thief.agents = {other.agent};
    CHECK(farm.claim_all(thief, '2').empty());
}

TEST_CASE("of two agents of a site that both know a task, the one that took it last keeps it") {
    StoreFixture farm;
    const std::string id = farm.add();
    const auto knows = [&](const std::string& host) {
        auto offered = farm.offer('1');
        offered.agent = farm.name('1') + host;
        offered.agents = {offered.agent};
        offered.tasks = {id};
        return farm.claim_all(offered, '1');
    };
    REQUIRE(farm.claim('1') == id);
    farm.clock.sleep_ms(lease_s * ms_per_s);  // it was late, and another one has it now
    for (int round = 0; round < 2; ++round) {
        CHECK(knows(".login2") == std::vector<std::string>{id});
        CHECK(knows(".login1").empty());
    }
}

TEST_CASE("what an agent has that enrolled no other token takes or ends, and its own token may change") {
    StoreFixture farm;
    const std::string id = farm.add();
    const std::string enrolled = "agent:" + farm.name('1');
    const auto claim_as = [&](const std::string& holder) {
        return farm.store->claim(farm.offer('1'), holder, [](const wire::Task&) { return true; })->size();
    };
    REQUIRE(farm.claim('1') == id);
    CHECK(claim_as(enrolled) == 1);  // its site had a token without a site before
    CHECK(claim_as(farm.token('9')) == 0);
    CHECK(farm.store->held(id, enrolled)->agent == "site1.login1");
    CHECK(farm.store->held(id, farm.token('9')).error().code == "task.lost");
    CHECK(farm.code(farm.store->end(id, farm.end('1', false), farm.token('9'))) == "task.lost");
    CHECK(farm.code(farm.store->end(id, farm.end('1', false), enrolled)) == "ok");
}

TEST_CASE("what ended long ago goes while others change something, what is open stays") {
    StoreFixture farm;
    const std::string open = farm.add(farm.request("scipy"));
    const std::string id = farm.add();
    auto torch = farm.offer('1');
    torch.packages = std::vector<std::string>{"torch"};
    REQUIRE(farm.claim(torch, '1') == id);
    farm.store->end(id, farm.end('1', true), farm.token('1')).value();
    const std::int64_t kept_ms = tasks::TaskRules().kept_days * 24 * 3600 * ms_per_s;
    farm.clock.sleep_ms(kept_ms - ms_per_s);
    farm.add(farm.request("numpy"));
    CHECK(farm.state(id) == TaskState::done);
    farm.clock.sleep_ms(tasks::sweep_every_s * ms_per_s);
    CHECK(farm.store->find(id).has_value());  // who only asks removes nothing
    farm.add(farm.request("numpy", "3.12"));
    CHECK(farm.code(farm.store->find(id)) == "task.no_such_task");
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
    farm.store->end(one, farm.end('1', true), farm.token('1')).value();
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
    CHECK(store->find(id).value().reason ==
          "site2.login1 does not build uploaded sources: no [uploaded_sources]");
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
