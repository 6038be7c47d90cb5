#include "builder/agent/task_leases.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "builder/agent/claimed_task.hpp"
#include "builder/attempt/backoff.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/remote/log_piece.hpp"
#include "builder/remote/secrets.hpp"
#include "builder/script/separation.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t signs_of_life = 3;                  // renewals per lease in a `run`: two may fail
constexpr std::size_t max_outcome_bytes = 60 * base::kib;  // a larger outcome is sent without its provenance

constexpr std::size_t claim_id_bytes = 16;

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

// The task or the claim no longer exists.
bool is_gone(const base::Error& error) {
    return error.kind == base::ErrorKind::missing;
}

// Another claim may still get the task.
bool is_lease_over(const base::Error& error) {
    return error.kind == base::ErrorKind::lost;
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
    // After an edit of the site file, the cell may have another name or another reason.
    for (ClaimRecord& record : records_) {
        if (!record.asking && python_answers(record)) record.cell = cell_of(record.task->request);
    }
}

bool TaskLeases::python_answers(const ClaimRecord& record) const {
    const auto python = parts_.pythons.find(record.task->request.python);
    return python == parts_.pythons.end() || python->second.has_value();
}

void TaskLeases::say(const ClaimRecord& record, const std::string& text) const {
    Attempt about;
    about.id = record.task ? record.task->id : record.claim.substr(0, max_attempt_id_bytes);
    about.asked.cell = record.cell.empty() ? "a task of the registry" : record.cell;
    parts_.report(about, text);
}

// Reports only when the reason changes: cron mails every line.
base::Status TaskLeases::wait(ClaimRecord& record, const base::Error& why) {
    note_answer(why);
    if (std::exchange(record.waits, why.text()) == why.text()) return {};
    say(record, "waits: " + record.waits);
    return folder_.write(record);
}

// After an error of the connection, another request would fail, too; others concern one lease only.
void TaskLeases::note_answer(const base::Error& error) {
    away_ = away_ || error.is_of_connection();
}

wire::ClaimOffer TaskLeases::offer_of(const ClaimRecord& record) const {
    wire::ClaimOffer offer;
    offer.claim = record.claim;
    offer.index = parts_.site.registry->index;
    offer.agent = agent_name(parts_.site);
    for (const auto& [version, python] : parts_.pythons) {
        if (python && wire::is_python_version(version)) offer.pythons.push_back(version);
    }
    for (const Accelerator& accelerator : parts_.site.accelerators)
        offer.accelerators.push_back(accelerator.name);
    if (parts_.site.registry->claim_tasks != "any") offer.packages = parts_.recipes.packages();
    if (record.task) offer.task = record.task->id;
    offer.uploads.builds = !no_uploaded_sources_;
    if (no_uploaded_sources_) offer.uploads.reason = no_uploaded_sources_->sentence;
    return offer;
}

base::Status TaskLeases::drop(const std::string& claim) {
    WHEELYARD_TRY(folder_.remove(claim));
    std::erase_if(records_, [&](const ClaimRecord& record) { return record.claim == claim; });
    registry_of_claim_.erase(claim);
    leases_.erase(claim);
    return {};
}

// Asks with the record on disk, so repeating the request gives the same answer.
base::Result<bool> TaskLeases::ask(ClaimRecord& record, std::vector<Attempt>& attempts) {
    auto claimed = parts_.tasks->claim(offer_of(record));
    parts_.failpoints.hit("task.claimed");
    // An earlier answer was lost, and its lease has expired: the task may still be free.
    if (!claimed && is_lease_over(claimed.error()) && record.task) {
        WHEELYARD_TRY(replace_claim(record));
        claimed = parts_.tasks->claim(offer_of(record));
    }
    if (!claimed && (is_gone(claimed.error()) || is_lease_over(claimed.error()))) {
        say(record, "the registry gives no lease: " + claimed.error().text());
        return false;
    }
    if (!claimed) {
        WHEELYARD_TRY(wait(record, claimed.error()));
        return true;
    }
    if (!claimed->task) return false;
    const bool is_new = !record.task;  // false: a task that this agent held before its lease expired
    record.asking = false;
    record.waits.clear();
    record.task = claimed->task;
    record.index = claimed->index;
    record.cell = cell_of(claimed->task->request);
    if (is_new) WHEELYARD_TRY(supersede(record.cell, attempts));
    WHEELYARD_TRY(folder_.write(record));
    parts_.failpoints.hit("task.recorded");
    leases_[record.claim] = {claimed->lease_s, claimed->task->log_bytes};
    say(record, "claimed, asked for by " + claimed->task->asked_by);
    return true;
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

// An expired lease cannot be renewed. While the task is free, a new claim may get it, and the work so far remains
// usable.
base::Status TaskLeases::replace_claim(ClaimRecord& record) {
    ClaimRecord replacement;
    replacement.claim = base::encode_hex(base::random_bytes(claim_id_bytes));
    replacement.task = record.task;
    replacement.cell = record.cell;
    WHEELYARD_TRY(folder_.write(replacement));
    WHEELYARD_TRY(folder_.remove(record.claim));
    registry_of_claim_.erase(record.claim);
    leases_.erase(record.claim);
    say(record, "the lease has expired; the task is claimed again");
    record = std::move(replacement);
    return {};
}

// Several times per shortest lease.
std::int64_t TaskLeases::renew_every_ms() const {
    std::int64_t period_ms = world_fresh_ms;
    for (const auto& [claim, lease] : leases_)
        period_ms = std::min(period_ms, lease.lease_s * 1000 / signs_of_life);
    return period_ms;
}

bool TaskLeases::may_hold(const std::string& cell) const {
    return unread_ || std::any_of(records_.begin(), records_.end(),
                                  [&](const ClaimRecord& record) { return record.cell == cell; });
}

base::Status TaskLeases::renew(std::vector<Attempt>& attempts) {
    if (!has_passed(parts_.clock.now(), renewed_, renew_every_ms())) return {};
    renewed_ = kept_ = parts_.clock.now();  // also without a lease: a new claim has a fresh one
    if (records_.empty()) return {};
    sends_log_ = true;
    folder_.sweep();
    std::vector<std::string> gone;
    for (ClaimRecord& record : records_) {
        if (away_) break;
        WHEELYARD_TRY(parts_.still_ours());
        WHEELYARD_ASSIGN(const bool lives, renew_one(record, attempts));
        if (!lives) gone.push_back(record.claim);
    }
    for (const std::string& claim : gone)
        WHEELYARD_TRY(drop(claim));
    if (!gone.empty()) parts_.failpoints.hit("task.forgotten");
    return {};
}

base::Result<bool> TaskLeases::renew_one(ClaimRecord& record, std::vector<Attempt>& attempts) {
    if (record.task && !python_answers(record)) {
        // If the Python does not return in time, the lease expires, and another agent can claim the task.
        WHEELYARD_TRY(
            wait(record, {"python.missing", "The task's Python cannot be run, and its lease is not renewed",
                          record.task->request.python, "see `plan --explain`"}));
        return true;
    }
    if (record.asking) return ask(record, attempts);
    const auto lease = parts_.tasks->renew(record.task->id, record.claim);
    if (lease) {
        leases_[record.claim] = *lease;
        return true;
    }
    if (is_lease_over(lease.error())) {
        WHEELYARD_TRY(replace_claim(record));
        return ask(record, attempts);
    }
    if (is_gone(lease.error())) {
        say(record, lease.error().text());
        return false;
    }
    WHEELYARD_TRY(wait(record, lease.error()));
    return true;
}

// Called during transfers, so it changes no record; renew() handles a refused lease.
void TaskLeases::keep_leases() {
    if (parts_.tasks == nullptr || records_.empty()) return;
    if (!has_passed(parts_.clock.now(), kept_, renew_every_ms())) return;
    kept_ = parts_.clock.now();
    for (const ClaimRecord& record : records_) {
        if (record.asking || !python_answers(record)) continue;
        const auto lease = parts_.tasks->renew(record.task->id, record.claim);
        if (lease) leases_[record.claim] = *lease;
        if (!lease && lease.error().is_of_connection()) return;
    }
}

std::size_t TaskLeases::waiting(const std::vector<Attempt>& attempts) const {
    return static_cast<std::size_t>(
        std::count_if(records_.begin(), records_.end(), [&](const ClaimRecord& record) {
            if (record.task && !python_answers(record)) return false;  // starts nothing and needs no slot
            const std::vector<std::string> names = names_of(record.cell);
            return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
                const Attempt* last = history_of(name, attempts).last;
                return last != nullptr && !is_over(last->state);
            });
        }));
}

base::Status TaskLeases::claim(std::size_t room, std::vector<Attempt>& attempts) {
    if (has_no_more_ && has_passed(parts_.clock.now(), asked_, world_fresh_ms)) has_no_more_ = false;
    for (; room > 0 && may_claim(); --room) {
        asked_ = parts_.clock.now();
        WHEELYARD_TRY(parts_.still_ours());
        ClaimRecord record;
        record.claim = base::encode_hex(base::random_bytes(claim_id_bytes));
        WHEELYARD_TRY(folder_.write(record));
        parts_.failpoints.hit("task.intended");
        WHEELYARD_ASSIGN(const bool lives, ask(record, attempts));
        has_no_more_ = !lives || record.asking;
        if (!lives) return folder_.remove(record.claim);
        records_.push_back(record);
    }
    return {};
}

bool TaskLeases::may_claim() const {
    return claims_tasks() && !away_ && !has_no_more_ && records_.size() < max_claims;
}

Want TaskLeases::want_of(const wire::TaskRequest& request) const {
    Want want{request.package, {request.version}, {request.python}};
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
        if (!record.asking) site.wants.push_back(want_of(record.task->request));
    }
    return site;
}

Registry* TaskLeases::registry_for(const Attempt& attempt) {
    const auto record = std::find_if(records_.begin(), records_.end(), [&](const ClaimRecord& one) {
        return !one.asking && one.cell == attempt.asked.cell;
    });
    if (record == records_.end() || parts_.tasks == nullptr) return nullptr;
    auto& registry = registry_of_claim_[record->claim];
    if (!registry) registry = parts_.tasks->uploads_of(offer_of(*record), record->index);
    return registry.get();
}

base::Status TaskLeases::send_log(ClaimRecord& record, const Attempt& attempt) {
    const auto lease = leases_.find(record.claim);
    if (lease == leases_.end()) return {};  // the next renewal returns the log's size
    if (record.log_attempt != attempt.id) {
        record.log_attempt = attempt.id;
        record.log_base = lease->second.log_bytes;
        WHEELYARD_TRY(folder_.write(record));
    }
    const AttemptFolder folder{parts_.site.work_directory / "attempts" / attempt.id};
    const auto secrets = secrets_of(parts_.site);
    if (!secrets) return {};  // what cannot be hidden is not sent
    for (int pieces = 0; pieces < max_log_pieces_per_tick && !away_; ++pieces) {
        const std::int64_t sent = lease->second.log_bytes - record.log_base;
        if (sent < 0) return {};
        const auto piece = read_log_piece(folder.log(), static_cast<std::uint64_t>(sent), log_piece_bytes,
                                          is_over(attempt.state), *secrets);
        if (!piece || piece->empty()) return {};  // not begun, or removed
        const auto now =
            parts_.tasks->append_log(record.task->id, record.claim, lease->second.log_bytes, *piece);
        if (!now) {
            note_answer(now.error());
            return {};  // the log is full, or the lease has expired, which the next renewal handles
        }
        lease->second = *now;
    }
    return {};
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
    wire::TaskEnd report{record.claim, std::move(outcome)};
    if (wire::render_task_end(report).size() > max_outcome_bytes) {
        report.outcome.provenance = {};
        report.outcome.governed.reset();
    }
    const auto ended = parts_.tasks->end(record.task->id, report);
    parts_.failpoints.hit("task.ended");
    if (ended) {
        say(record, std::string("outcome reported: ") + (report.outcome.done ? "done" : "failed"));
        return true;
    }
    note_answer(ended.error());
    // A later tick repeats this; if the lease has expired, the next renewal claims the task again.
    if (ended.error().may_pass()) return false;
    say(record, "the registry does not accept its outcome: " + ended.error().text());
    return true;
}

base::Status TaskLeases::report(const Plan& plan, const World& world) {
    std::vector<std::string> over;
    for (ClaimRecord& record : records_) {
        if (away_) break;
        if (record.asking || !python_answers(record)) continue;
        WHEELYARD_TRY(parts_.still_ours());
        TaskStatus standing =
            task_status(record, plan, world, parts_.site, parts_.journal, parts_.clock.now());
        if (standing.attempt != nullptr && (standing.outcome || sends_log_))
            WHEELYARD_TRY(send_log(record, *standing.attempt));
        if (!away_ && standing.outcome && end(record, *std::move(standing.outcome)))
            over.push_back(record.claim);
    }
    sends_log_ = false;
    for (const std::string& claim : over)
        WHEELYARD_TRY(drop(claim));
    return {};
}

}  // namespace wheelyard::builder
