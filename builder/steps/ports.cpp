#include "builder/steps/ports.hpp"

#include "builder/attempt/limits.hpp"
#include "builder/attempt/temporary_files.hpp"
#include "builder/script/hardware_test.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

void Ports::report(const Attempt& attempt, const std::string& text) const {
    if (note) note(attempt, text);
}

base::Status Ports::hold_queue(const Attempt& attempt, const base::Error& refusal) {
    const std::string queue = queue_of(attempt);
    std::string reason = refusal.sentence;
    if (!refusal.value.empty()) reason = base::replace_all(refusal.value, "\n", "; ");
    WHEELYARD_ASSIGN(const bool is_new, held_queues.refuse(queue, attempt.id, reason, clock.now()));
    if (is_new)
        report(attempt, "submission refused, and " + queue_words(queue) +
                            " gets no more jobs until it takes one: " + reason);
    return {};
}

std::string Ports::queue_of(const Attempt& attempt) const {
    return queue_of_job(site, recipe_of(attempt), attempt.asked.purpose, attempt.asked.accelerator);
}

JobView Ports::see_job(Attempt& attempt) const {
    const auto seen = jobs.find(attempt.id);
    JobView job = seen == jobs.end() ? JobView{JobState::unknown, "not looked at yet"} : seen->second;
    if (job.state != JobState::unclaimed && job.state != JobState::vanished) attempt.job.ended = 0;
    return job;
}

Recipe Ports::recipe_of(const Attempt& attempt) const {
    const Asked& asked = attempt.asked;
    return for_origin(recipe_for(site, recipes, asked.package, asked.version, asked.accelerator),
                      asked.closure ? &*asked.closure : nullptr, asked.uploaded.has_value(), asked.version);
}

std::vector<std::string> Ports::indexes_of(const Attempt& attempt, const Recipe& recipe) const {
    return upstream_indexes(site, recipes, recipe, attempt.asked.against, attempt.asked.accelerator);
}

AttemptFolder Ports::folder_of(const Attempt& attempt) const {
    return {site.work_directory / "attempts" / attempt.id,
            attempt.job.tree.empty() ? fs::path() : site.work_directory / "trees" / attempt.job.tree,
            attempt.asked.uploaded.has_value()};
}

base::Result<fs::path> Ports::python_of(const Attempt& attempt) const {
    const auto python = pythons.find(attempt.asked.python);
    if (python == pythons.end() || !python->second)
        return base::fail("python.missing",
                          "Python " + attempt.asked.python + " is no longer usable on this site",
                          attempt.asked.python, "see `plan --explain`");
    return python->second->executable;
}

Registry* Ports::registry_of(const Attempt& attempt) const {
    Registry* own = registry_for ? registry_for(attempt) : nullptr;
    if (own != nullptr) return own;
    return attempt.asked.for_task ? nullptr : registry;
}

bool Ports::has_work_folder() const {
    std::error_code error;
    return fs::exists(site.work_directory / work_marker, error);
}

base::Status remove_bulk(const Attempt& attempt, const Ports& ports) {
    for (const auto& path : ports.folder_of(attempt).bulk())
        WHEELYARD_TRY(free_space(path, ports.keep_alive));
    return {};
}

base::Status leave_old_tree(Attempt& attempt, const Ports& ports) {
    if (attempt.job.builds_in.empty()) return {};
    for (const auto& path : ports.folder_of(attempt).build_bulk())
        WHEELYARD_TRY(free_space(path, ports.keep_alive));
    attempt.job.builds_in.clear();
    return {};
}

}  // namespace wheelyard::builder
