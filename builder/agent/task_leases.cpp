#include "builder/agent/task_leases.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "builder/agent/claimed_task.hpp"
#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/remote/secrets.hpp"
#include "builder/script/separate_script.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t signs_of_life = 3;  // renewals per lease_s in a `run`: two may fail
static_assert(max_claims <= wire::max_site_tasks);
constexpr std::size_t max_names = 16;                      // of an agent: the login nodes where its ticks run
constexpr std::size_t max_outcome_bytes = 60 * base::kib;  // a larger outcome is sent without its provenance

// The agent's name in the registry; characters that are not allowed become `-`.
std::string agent_name(const Site& site) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {};
    const std::string_view whole = host.data();
    // Without the domain: the registry takes what stands before the last dot for the site.
    std::string name = site.name + "." + std::string(whole.substr(0, whole.find('.')));
    for (char& c : name) {
        if (!base::is_ascii_alnum(c) && c != '.' && c != '_') c = '-';
    }
    return name.substr(0, wire::max_task_word_bytes);
}

}  // namespace

TaskLeases::TaskLeases(const AgentParts& parts)
    : parts_(parts), folder_(parts.site.state_directory / "claims") {
    const auto separates =
        check_separation(parts.site, parts.pythons, parts.pip_conf, parts.environment, parts.user);
    if (!separates) no_uploaded_sources_ = separates.error();
}

bool TaskLeases::claims_tasks() const {
    return parts_.tasks != nullptr && parts_.site.registry && parts_.site.registry->claim_tasks != "no";
}

void TaskLeases::read() {
    away_ = parts_.tasks == nullptr;
    records_ = folder_.read(unread_);
    waits_ = folder_.waits();
    // After an edit of the site file, the cell may have another name or another reason.
    for (ClaimRecord& record : records_) {
        if (python_answers(record)) record.cell = cell_of(record.task.request);
    }
}

bool TaskLeases::python_answers(const ClaimRecord& record) const {
    const auto python = parts_.pythons.find(record.task.request.python);
    return python == parts_.pythons.end() || python->second.has_value();
}

void TaskLeases::say(const ClaimRecord& record, const std::string& text) const {
    Attempt about;
    about.id = record.task.id;
    about.asked.cell = record.cell.empty() ? "a task of the registry" : record.cell;
    parts_.report(about, text);
}

// After an error of the connection, another request would fail, too; others concern one task only.
void TaskLeases::note_answer(const base::Error& error) {
    away_ = away_ || error.is_of_connection();
}

wire::ClaimOffer TaskLeases::offer_of(std::size_t room) const {
    wire::ClaimOffer offer;
    offer.index = parts_.site.registry->index;
    offer.agent = agent_name(parts_.site);
    offer.room = static_cast<std::int64_t>(room);
    std::set<std::string> names;
    for (const ClaimRecord& record : records_) {
        offer.tasks.push_back(record.task.id);
        names.insert(record.agents.begin(), record.agents.end());
    }
    names.erase(offer.agent);
    offer.agents.assign(names.begin(), names.end());
    for (const auto& [version, python] : parts_.pythons) {
        if (python && wire::is_python_version(version)) offer.pythons.push_back(version);
    }
    for (const Accelerator& accelerator : parts_.site.accelerators)
        offer.accelerators.push_back(accelerator.name);
    if (parts_.site.registry->claim_tasks != "any") offer.packages = parts_.recipes.packages();
    offer.uploads.builds = !no_uploaded_sources_;
    if (no_uploaded_sources_) offer.uploads.reason = no_uploaded_sources_->sentence;
    return offer;
}

base::Status TaskLeases::drop(const ClaimRecord& record) {
    WHEELYARD_TRY(folder_.remove(record));
    registry_of_.erase(record.task.id);
    std::erase_if(records_, [id = record.task.id](const ClaimRecord& one) { return one.task.id == id; });
    return {};
}

// Called before a request: its answer may be lost, and the next one come from another login node.
base::Status TaskLeases::note_name() {
    const std::string name = agent_name(parts_.site);
    for (ClaimRecord& record : records_) {
        if (!record.agents.empty() && record.agents.back() == name) continue;
        std::erase(record.agents, name);
        record.agents.push_back(name);
        if (record.agents.size() > max_names) record.agents.erase(record.agents.begin());
        WHEELYARD_TRY(folder_.write(record));
    }
    return {};
}

// One request for all: what the site has stays its own, and `room` more may come. A repeated one gets the
// same answer.
base::Status TaskLeases::ask(std::size_t room, std::vector<Attempt>& attempts) {
    WHEELYARD_TRY(note_name());
    const auto claimed = parts_.tasks->claim(offer_of(room));
    parts_.failpoints.hit("task.claimed");
    if (!claimed) {
        note_answer(claimed.error());
        has_no_more_ = true;
        return note_wait(claimed.error().text());
    }
    WHEELYARD_TRY(note_wait({}));
    lease_s_ = claimed->lease_s;
    std::vector<ClaimRecord> lost;
    for (ClaimRecord& record : records_) {
        const bool is_there = std::any_of(claimed->tasks.begin(), claimed->tasks.end(),
                                          [&](const wire::Task& one) { return one.id == record.task.id; });
        if (!is_there && python_answers(record)) lost.push_back(record);
        if (!is_there || record.index == claimed->index) continue;
        record.index = claimed->index;  // the registry has another staging index since
        WHEELYARD_TRY(folder_.write(record));
    }
    for (const ClaimRecord& record : lost) {
        say(record, "the registry no longer gives this site the task");
        WHEELYARD_TRY(drop(record));
    }
    if (!lost.empty()) parts_.failpoints.hit("task.forgotten");
    std::size_t added = 0;
    for (const wire::Task& task : claimed->tasks) {
        const bool is_known = std::any_of(records_.begin(), records_.end(),
                                          [&](const ClaimRecord& one) { return one.task.id == task.id; });
        if (is_known) continue;
        ClaimRecord record{task, claimed->index, cell_of(task.request)};
        record.agents = {agent_name(parts_.site)};
        WHEELYARD_TRY(supersede(record.cell, attempts));
        WHEELYARD_TRY(folder_.write(record));
        parts_.failpoints.hit("task.recorded");
        say(record, "claimed, asked for by " + task.asked_by);
        records_.push_back(std::move(record));
        ++added;
    }
    if (room > 0) has_no_more_ = added < room;  // a renewal asks for none
    return {};
}

// Says it only when the reason changes: cron mails every line.
base::Status TaskLeases::note_wait(const std::string& why) {
    if (why == waits_) return {};
    waits_ = why;
    if (!why.empty()) say({}, "waits: " + why);
    return folder_.note_wait(why);
}

// Called before the claim is written: after a kill in between, the agent claims again and repeats this.
base::Status TaskLeases::supersede(const std::string& cell, std::vector<Attempt>& attempts) const {
    const std::vector<std::string> names = names_of(cell);
    for (Attempt& attempt : attempts) {
        const bool is_of_it = std::find(names.begin(), names.end(), attempt.asked.cell) != names.end();
        if (!is_of_it || !is_over(attempt.state) || attempt.superseded) continue;
        attempt.superseded = true;
        WHEELYARD_TRY(parts_.journal.write(attempt));
    }
    return {};
}

std::int64_t TaskLeases::renew_every_ms() const {
    return lease_s_ == 0 ? world_fresh_ms : std::min(world_fresh_ms, lease_s_ * 1000 / signs_of_life);
}

bool TaskLeases::may_hold(const std::string& cell) const {
    return unread_ || std::any_of(records_.begin(), records_.end(),
                                  [&](const ClaimRecord& record) { return record.cell == cell; });
}

base::Status TaskLeases::renew(std::vector<Attempt>& attempts) {
    if (!has_passed(parts_.clock.now(), renewed_, renew_every_ms())) return {};
    renewed_ = kept_ = parts_.clock.now();
    folder_.sweep();
    if (records_.empty() || away_) return {};
    WHEELYARD_TRY(parts_.still_ours());
    return ask(0, attempts);
}

// Called during transfers, so it changes no record; renew() notes the agent's name, and handles a lost task.
void TaskLeases::keep_leases() {
    if (parts_.tasks == nullptr || records_.empty() || renewed_ == 0) return;
    if (!has_passed(parts_.clock.now(), kept_, renew_every_ms())) return;
    kept_ = parts_.clock.now();
    static_cast<void>(parts_.tasks->claim(offer_of(0)));
}

std::size_t TaskLeases::waiting(const std::vector<Attempt>& attempts) const {
    return static_cast<std::size_t>(
        std::count_if(records_.begin(), records_.end(), [&](const ClaimRecord& record) {
            if (!python_answers(record)) return false;  // starts nothing and needs no slot
            const std::vector<std::string> names = names_of(record.cell);
            return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
                const Attempt* last = history_of(name, attempts).last;
                return last != nullptr && !is_over(last->state);
            });
        }));
}

base::Status TaskLeases::claim(std::size_t room, std::vector<Attempt>& attempts) {
    if (has_no_more_ && has_passed(parts_.clock.now(), asked_, world_fresh_ms)) has_no_more_ = false;
    if (room == 0 || !may_claim()) return {};
    asked_ = parts_.clock.now();
    WHEELYARD_TRY(parts_.still_ours());
    return ask(std::min(room, max_claims - records_.size()), attempts);
}

bool TaskLeases::may_claim() const {
    return claims_tasks() && !away_ && !has_no_more_ && records_.size() < max_claims;
}

Want TaskLeases::want_of(const wire::TaskRequest& request) const {
    Want want{request.package, {request.version}, {request.python}};
    want.for_task = true;
    want.uploaded = request.source;
    if (!request.accelerator.empty())
        want.accelerators = {request.accelerator};
    else if (!parts_.recipes.of(request.package).accelerators.empty())
        want.accelerators = {parts_.site.accelerators.front().name};
    return want;
}

std::string TaskLeases::cell_of(const wire::TaskRequest& request) const {
    Site alone = parts_.site;
    alone.wants = {want_of(request)};
    World world;
    world.pythons = parts_.pythons;
    world.no_uploaded_sources = no_uploaded_sources_;
    const Plan plan = make_plan(alone, parts_.recipes, world);
    return plan.cells.empty() ? std::string() : plan.cells.front().name;
}

Site TaskLeases::wanting() const {
    Site site = parts_.site;
    for (const ClaimRecord& record : records_) {
        site.wants.push_back(want_of(record.task.request));
    }
    return site;
}

Registry* TaskLeases::registry_for(const Attempt& attempt) {
    const auto record = std::find_if(records_.begin(), records_.end(),
                                     [&](const ClaimRecord& one) { return one.cell == attempt.asked.cell; });
    if (record == records_.end() || parts_.tasks == nullptr) return nullptr;
    auto& registry = registry_of_[record->task.id];
    if (!registry || registry->index() != record->index)
        registry = parts_.tasks->uploads_to(record->index, record->task.id);
    return registry.get();
}

// Everybody who sees the request reads why it failed, in words of the log.
void TaskLeases::hide_secrets_of(wire::Outcome& outcome) const {
    if (!outcome.diagnosis) return;
    wire::Diagnosis& why = *outcome.diagnosis;
    const auto secrets = secrets_of(parts_.site);
    if (!secrets) why.first_error.clear();  // what cannot be hidden is not sent
    for (std::string* text : {&why.error.sentence, &why.error.value, &why.error.advice, &why.first_error})
        *text = hide_secrets(*text, secrets.value_or(std::vector<std::string>()));
}

bool TaskLeases::end(const ClaimRecord& record, wire::Outcome outcome) {
    hide_secrets_of(outcome);
    if (wire::render_outcome(outcome).size() > max_outcome_bytes) {
        outcome.provenance = {};
        outcome.governed.reset();
    }
    const auto ended = parts_.tasks->end(record.task.id, outcome);
    parts_.failpoints.hit("task.ended");
    if (ended) {
        say(record, std::string("outcome reported: ") + (outcome.done ? "done" : "failed"));
        return true;
    }
    note_answer(ended.error());
    // A later tick repeats this; if the site was late, the next one asks for the task again.
    if (ended.error().may_pass()) return false;
    say(record, "the registry does not accept its outcome: " + ended.error().text());
    return true;
}

base::Status TaskLeases::report(const Plan& plan, const World& world) {
    std::vector<ClaimRecord> over;
    for (const ClaimRecord& record : records_) {
        if (away_) break;
        if (!python_answers(record)) continue;
        WHEELYARD_TRY(parts_.still_ours());
        auto outcome = task_outcome(record, plan, world, parts_.site, parts_.journal, parts_.clock.now());
        if (outcome && end(record, *std::move(outcome))) over.push_back(record);
    }
    for (const ClaimRecord& record : over)
        WHEELYARD_TRY(drop(record));
    return {};
}

}  // namespace wheelyard::builder
