// The part of a tick that is about tasks of the registry: leases renewed, tasks claimed, their logs and
// outcomes sent. To the plan a claimed task is one more want; the agent builds it as any other.
//
//     tick = … ─► renew ─► advance ─► claim ─► plan with the claimed tasks ─► start ─► report ─► …
//
// A registry that does not answer costs nothing but time: leases last several ticks, and what could not be
// said now is said by a later tick.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builder/agent/advance.hpp"
#include "builder/attempt/claim_record.hpp"
#include "builder/plan/plan.hpp"
#include "builder/remote/task_service.hpp"

namespace wheelyard::builder {

class TaskWork {
  public:
    explicit TaskWork(const AgentParts& parts);

    // What is on the disk, with the cells that the site has for it now; called first, also by those who only
    // look.
    void read();
    // Each lease, and claims that wait for their answer; those that are no longer ours are forgotten. Earlier
    // attempts at a new task no longer count: somebody asks anew. An Error: the disk.
    [[nodiscard]] base::Status renew(std::vector<Attempt>& attempts);
    // Of long steps between two of these: renews and looks at no answer but the lease's.
    void keep_leases();
    // Whether a task whose cell this is may still be ours: also where its claim cannot be read.
    [[nodiscard]] bool may_hold(const std::string& cell) const;
    // As many new tasks as there is room for.
    [[nodiscard]] base::Status claim(std::size_t room, std::vector<Attempt>& attempts);
    // The site, with a want for each claimed task.
    [[nodiscard]] Site wanting() const;
    // Who takes the wheel of this attempt; nullptr: whoever takes the site's own.
    [[nodiscard]] Registry* registry_for(const Attempt& attempt);
    // Logs, and the outcomes of cells that are settled.
    [[nodiscard]] base::Status report(const Plan& plan, const World& world);
    // Claims whose cell has no attempt under way: they need a slot, too.
    [[nodiscard]] std::size_t waiting(const std::vector<Attempt>& attempts) const;

  private:
    [[nodiscard]] bool claims_tasks() const;
    [[nodiscard]] wire::ClaimOffer offer_of(const ClaimRecord& record) const;
    [[nodiscard]] std::int64_t renew_every_ms() const;
    // Or is gone for good, and then its cell says so.
    [[nodiscard]] bool python_answers(const ClaimRecord& record) const;
    // True: the record goes on living; its task may be another.
    [[nodiscard]] base::Result<bool> ask(ClaimRecord& record, std::vector<Attempt>& attempts);
    [[nodiscard]] base::Result<bool> renew_one(ClaimRecord& record, std::vector<Attempt>& attempts);
    [[nodiscard]] base::Status name_anew(ClaimRecord& record);
    [[nodiscard]] base::Status supersede(const std::string& cell, std::vector<Attempt>& attempts) const;
    [[nodiscard]] Want want_of(const wire::TaskWish& wish) const;
    [[nodiscard]] std::string cell_of(const wire::TaskWish& wish) const;
    [[nodiscard]] base::Status send_log(ClaimRecord& record, const Attempt& attempt);
    // True: the registry has it, or does not want it; the record is done with.
    [[nodiscard]] bool end(const ClaimRecord& record, wire::Outcome outcome);
    [[nodiscard]] base::Status drop(const std::string& claim);
    void say(const ClaimRecord& record, const std::string& text) const;
    [[nodiscard]] base::Status wait(ClaimRecord& record, const base::Error& why);
    void note_answer(const base::Error& error);

    const AgentParts& parts_;
    ClaimFolder folder_;
    std::vector<ClaimRecord> records_;
    bool unread_ = false;                        // a claim, or the folder, could not be read
    std::map<std::string, wire::Lease> leases_;  // by claim: those renewed by this object
    std::map<std::string, std::unique_ptr<Registry>> uploads_;
    bool away_ = false;             // the registry could not be reached in this tick
    bool sends_log_ = false;        // this tick renewed: `run` ticks more often than a log is worth
    base::UnixMicros renewed_ = 0;  // by renew()
    base::UnixMicros kept_ = 0;     // by that or by keep_leases()
    base::UnixMicros asked_ = 0;
};

}  // namespace wheelyard::builder
