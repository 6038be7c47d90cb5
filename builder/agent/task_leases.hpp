// The part of a tick that handles the registry's tasks: asks for those that the site has and for more, and
// sends their outcomes. In the plan, a claimed task is an additional want; the agent builds it like any other.
//
//     tick = … ─► renew ─► advance ─► claim ─► plan with the claimed tasks ─► start ─► report ─► …
//
// A registry that does not answer only delays this work: leases last several ticks, and a later tick sends
// what is pending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/agent/agent_parts.hpp"
#include "builder/attempt/claim_record.hpp"
#include "builder/plan/plan.hpp"
#include "builder/remote/task_service.hpp"

namespace wheelyard::builder {

// How long the ticks of one `run` reuse the answers of the registry and the indexes.
inline constexpr std::int64_t world_fresh_ms = 30'000;

class TaskLeases {
  public:
    explicit TaskLeases(const AgentParts& parts);

    // Reads the claims from disk and finds their cells in the current site. Called first, also by
    // Agent::look().
    void read();
    // Asks for all that the site has, and drops what it no longer has. A new task supersedes earlier attempts,
    // because it is a new request. Errors: of the disk only.
    [[nodiscard]] base::Status renew(std::vector<Attempt>& attempts);
    // Called during long steps between two calls of renew(): a sign of life, which changes no claims.
    void keep_leases();
    // Says whether this agent may still hold a task of this cell; also true if a claim cannot be read.
    [[nodiscard]] bool may_hold(const std::string& cell) const;
    // Claims up to `room` new tasks.
    [[nodiscard]] base::Status claim(std::size_t room, std::vector<Attempt>& attempts);
    // Says whether another task may be there for it: the last answer to a claim was one.
    [[nodiscard]] bool may_claim() const;
    // Why this agent builds no uploaded sources; nullopt: it does.
    [[nodiscard]] const std::optional<base::Error>& no_uploaded_sources() const {
        return no_uploaded_sources_;
    }
    // Returns the site with a want for each claimed task.
    [[nodiscard]] Site wanting() const;
    // The registry that receives the attempt's wheel; nullptr: the one that receives the site's own wheels.
    [[nodiscard]] Registry* registry_for(const Attempt& attempt);
    // Sends the outcomes of settled cells.
    [[nodiscard]] base::Status report(const Plan& plan, const World& world);
    // The number of claims whose cell has no active attempt; they also need a slot.
    [[nodiscard]] std::size_t waiting(const std::vector<Attempt>& attempts) const;

  private:
    [[nodiscard]] bool claims_tasks() const;
    [[nodiscard]] wire::ClaimOffer offer_of(std::size_t room) const;
    [[nodiscard]] std::int64_t renew_every_ms() const;
    // Also true if the Python was removed from the site; the cell then reports that.
    [[nodiscard]] bool python_answers(const ClaimRecord& record) const;
    [[nodiscard]] base::Status ask(std::size_t room, std::vector<Attempt>& attempts);
    [[nodiscard]] base::Status note_name();
    [[nodiscard]] base::Status note_wait(const std::string& why);
    [[nodiscard]] base::Status supersede(const std::string& cell, std::vector<Attempt>& attempts) const;
    [[nodiscard]] Want want_of(const wire::TaskRequest& request) const;
    [[nodiscard]] std::string cell_of(const wire::TaskRequest& request) const;
    void hide_secrets_of(wire::Outcome& outcome) const;
    // True: the registry accepted or refused the outcome for good; the record can be dropped.
    [[nodiscard]] bool end(const ClaimRecord& record, wire::Outcome outcome);
    [[nodiscard]] base::Status drop(const ClaimRecord& record);
    void say(const ClaimRecord& record, const std::string& text) const;
    void note_answer(const base::Error& error);

    const AgentParts& parts_;
    ClaimFolder folder_;
    std::optional<base::Error> no_uploaded_sources_;
    std::vector<ClaimRecord> records_;
    bool unread_ = false;       // a claim, or the folder, could not be read
    std::int64_t lease_s_ = 0;  // as the registry answered; 0: not yet
    std::string waits_;         // why the registry gave no answer, as said before
    std::map<std::string, std::unique_ptr<Registry>> registry_of_;  // by task
    bool away_ = false;             // the registry could not be reached in this tick
    base::UnixMicros renewed_ = 0;  // time of the last renew()
    base::UnixMicros kept_ = 0;     // time of the last renew() or keep_leases()
    base::UnixMicros asked_ = 0;    // time of the last claim
    bool has_no_more_ = false;      // the answer to it was no task
};

}  // namespace wheelyard::builder
