// A task service in a folder, with one task: survives a killed agent. Its members make it unreachable, lose answers
// or end the lease. The wheel goes to its own staging index or to the index `target`.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/remote/task_service.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder::testing {

// Counts a claim's uploads.
class GrantedUploads final : public Registry {
  public:
    using During = std::function<void(const io::HttpProgress&)>;
    GrantedUploads(FolderRegistry& registry, int& uploads, const During& during)
        : registry_(registry), uploads_(uploads), during_(during) {}
    [[nodiscard]] std::string index() const override { return registry_.index(); }
    base::Result<std::optional<simple::ProjectPage>> page(const std::string& project) override {
        return registry_.page(project);
    }
    base::Result<std::optional<simple::ProjectPage>> promoted_page(const std::string& project) override {
        return registry_.promoted_page(project);
    }
    base::Status download(const simple::FileLink& link, const fs::path& file,
                          const io::HttpProgress& progress) override {
        return registry_.download(link, file, progress);
    }
    Access access(const std::vector<std::string>&) override { return {}; }
    base::Status promote(const std::vector<std::string>& filenames) override {
        return registry_.promote(filenames);
    }
    base::Status upload(const WheelToUpload& wheel, const io::HttpProgress& progress) override {
        ++uploads_;
        if (during_) during_(progress);
        return registry_.upload(wheel, progress);
    }

  private:
    FolderRegistry& registry_;
    int& uploads_;
    const During& during_;
};

class FolderTasks final : public TaskService {
  public:
    FolderTasks(fs::path folder, FolderRegistry& registry)
        : staging(folder.string() + ".staging", "staging"), folder_(std::move(folder)), registry_(registry) {
        must(base::make_directories(folder_));
    }
    base::Result<wire::Claimed> claim(const wire::ClaimOffer& offer) override {
        ++requests;
        offered = offer;
        if (down) return unreachable();
        if (has("over-" + offer.claim))
            return base::fail(task_refusal({"task.lease_over", "The lease is over"}));
        wire::Claimed none;
        if (has("claim") && get("claim") != offer.claim) return none;
        if (!has("claim") && (!queued || has("outcome"))) return none;
        if (has("outcome")) return base::fail(task_refusal({"task.ended", "The task is over"}));
        put("claim", offer.claim);
        if (loses_answer) {
            loses_answer = false;
            return base::fail_as(base::ErrorKind::cut, base::Recovery::retry,
                                 {"http.cut", "The connection was cut"});
        }
        wire::Claimed claimed{task(), target, lease_s, "wy_grant"};
        claimed.task->log_bytes = log_bytes();
        return claimed;
    }
    base::Result<wire::Lease> renew(const std::string&, const std::string& claim) override {
        ++requests;
        renewed.push_back(claim);
        WHEELYARD_TRY(check(claim));
        return wire::Lease{lease_s, log_bytes()};
    }
    base::Result<wire::Lease> append_log(const std::string&, const std::string& claim, std::int64_t offset,
                                         std::string_view bytes) override {
        WHEELYARD_TRY(check(claim));
        if (offset != log_bytes()) return base::fail("task.log_gap", "The log does not go on there");
        put("log", log() + std::string(bytes));
        return wire::Lease{lease_s, log_bytes()};
    }
    base::Status end(const std::string&, const wire::TaskEnd& end) override {
        if (down) return unreachable();
        if (!has("outcome")) WHEELYARD_TRY(check(end.claim));
        ++ends;
        put("outcome", wire::render_outcome(end.outcome));
        fs::remove(folder_ / "claim");
        return {};
    }
    std::unique_ptr<Registry> uploads_of(const wire::ClaimOffer&, const std::string& index) override {
        return std::make_unique<GrantedUploads>(index == "staging" ? staging : registry_, granted, during);
    }

    // Ends the lease; the task is queued again, or another agent claims it.
    void end_lease(bool taken_by_another) {
        put("over-" + get("claim"), "");
        fs::remove(folder_ / "claim");
        if (taken_by_another) put("claim", std::string(wire::claim_id_length, 'f'));
    }
    void ask_again() {
        fs::remove(folder_ / "outcome");
        fs::remove(folder_ / "log");
    }
    [[nodiscard]] std::string log() const { return has("log") ? get("log") : std::string(); }
    [[nodiscard]] std::optional<wire::Outcome> outcome() const {
        if (!has("outcome")) return std::nullopt;
        return wire::parse_outcome(get("outcome")).value();
    }
    [[nodiscard]] bool is_claimed() const { return has("claim"); }

    FolderRegistry staging;
    std::string target = "staging";  // or "test", the site's own index
    wire::TaskRequest request{"test", "demo", "1.0", "3.11", ""};
    wire::ClaimOffer offered;  // the last offer
    std::int64_t lease_s = 600;
    bool queued = true;
    bool down = false;
    bool loses_answer = false;           // loses the answer to the next claim
    GrantedUploads::During during;       // called during an upload
    std::optional<base::Error> refusal;  // the answer to every renewal
    std::vector<std::string> renewed;    // the renewed claims
    int requests = 0;                    // number of claims and renewals
    int granted = 0;                     // number of uploads
    int ends = 0;

  private:
    [[nodiscard]] wire::Task task() const {
        wire::Task task;
        task.id = "t1";
        task.request = request;
        task.state = wire::TaskState::claimed;
        task.asked_by = "anna";
        return task;
    }
    [[nodiscard]] base::Status check(const std::string& claim) const {
        if (down) return unreachable();
        if (refusal) return base::fail(*refusal);
        if (has("over-" + claim)) return base::fail(task_refusal({"task.lease_over", "The lease is over"}));
        if (!has("claim") || get("claim") != claim)
            return base::fail(task_refusal({"task.no_such_claim", "No such claim"}));
        return {};
    }
    [[nodiscard]] std::int64_t log_bytes() const { return static_cast<std::int64_t>(log().size()); }
    [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_ / name); }
    [[nodiscard]] std::string get(const std::string& name) const { return read(folder_ / name); }
    void put(const std::string& name, const std::string& text) const { write(folder_ / name, text); }

    fs::path folder_;
    FolderRegistry& registry_;
};

}  // namespace wheelyard::builder::testing
