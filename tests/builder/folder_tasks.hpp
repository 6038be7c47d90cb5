// A task service in a folder, with the one task `t1`: survives a killed agent. Its members make it
// unreachable, lose answers or free the task. The wheel goes to its own staging index or to the index `target`.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/remote/task_service.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder::testing {

// Counts the uploads of tasks.
class TaskUploads final : public Registry {
  public:
    using During = std::function<void(const io::HttpProgress&)>;
    // `holds`: the site has the task.
    TaskUploads(FolderRegistry& registry, int& uploads, const During& during, std::function<bool()> holds)
        : registry_(registry), uploads_(uploads), during_(during), holds_(std::move(holds)) {}
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
        if (!holds_())
            return base::fail_as(base::ErrorKind::lost, base::Recovery::retry,
                                 {"upload.no_task", "The site does not have the task"});
        return registry_.upload(wheel, progress);
    }

  private:
    FolderRegistry& registry_;
    int& uploads_;
    const During& during_;
    const std::function<bool()> holds_;
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
        if (refusal) return base::fail(*refusal);
        const auto is_among = [](const std::vector<std::string>& names, const std::string& name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        const bool knows = is_among(offer.tasks, id);
        const bool fits = offer.index == request.index && is_among(offer.pythons, request.python);
        const bool is_free = queued && !has("outcome") && !has("taken") && fits;
        const auto is_its_own = [&] {
            return has("taken") && offer.index == request.index &&
                   (get("taken") == offer.agent || (knows && is_among(offer.agents, get("taken"))));
        };
        if (fits && (is_its_own() || (is_free && (knows || offer.room > 0)))) put("taken", offer.agent);
        if (std::exchange(loses_answer, false))
            return base::fail_as(base::ErrorKind::cut, base::Recovery::retry,
                                 {"http.cut", "The connection was cut"});
        wire::Claimed answer{target, lease_s, {}};
        if (is_its_own()) answer.tasks.push_back(task());
        return answer;
    }
    base::Status end(const std::string& task, const wire::Outcome& outcome) override {
        if (down) return unreachable();
        if (task != id || (!has("outcome") && !is_claimed()))
            return base::fail(task_refusal({"task.lost", "The site does not have the task"}));
        ++ends;
        put("outcome", wire::render_outcome(outcome));
        fs::remove(folder_ / "taken");
        return {};
    }
    std::unique_ptr<Registry> uploads_to(const std::string& index, const std::string& task) override {
        return std::make_unique<TaskUploads>(index == "staging" ? staging : registry_, uploads, during,
                                             [this, task] { return task == id && is_claimed(); });
    }

    // The site is late: the task is queued again, or another site has it.
    void free_late(bool taken_by_another) {
        fs::remove(folder_ / "taken");
        if (taken_by_another) put("taken", another);
    }
    void cancel() {
        queued = false;
        fs::remove(folder_ / "taken");
    }
    void ask_again() { fs::remove(folder_ / "outcome"); }
    [[nodiscard]] std::optional<wire::Outcome> outcome() const {
        if (!has("outcome")) return std::nullopt;
        return wire::parse_outcome(get("outcome")).value();
    }
    [[nodiscard]] bool is_claimed() const { return has("taken") && get("taken") != another; }
    // The agent that took it has this name now.
    void rename_agent(const std::string& name) { put("taken", name); }

    FolderRegistry staging;
    std::string target = "staging";  // or "test", the site's own index
    wire::TaskRequest request{"test", "demo", "1.0", "3.11", ""};
    wire::ClaimOffer offered;  // the last offer
    std::int64_t lease_s = 600;
    bool queued = true;
    bool down = false;
    bool loses_answer = false;           // loses the answer to the next claim
    TaskUploads::During during;          // called during an upload
    std::optional<base::Error> refusal;  // the answer to every claim
    int requests = 0;                    // number of claims
    int uploads = 0;
    int ends = 0;

  private:
    static constexpr const char* another = "other.login1";
    const std::string id = "t1";
    [[nodiscard]] wire::Task task() const {
        wire::Task task;
        task.id = id;
        task.request = request;
        task.state = wire::TaskState::claimed;
        task.asked_by = "anna";
        return task;
    }
    [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_ / name); }
    [[nodiscard]] std::string get(const std::string& name) const { return read(folder_ / name); }
    void put(const std::string& name, const std::string& text) const { write(folder_ / name, text); }

    fs::path folder_;
    FolderRegistry& registry_;
};

}  // namespace wheelyard::builder::testing
