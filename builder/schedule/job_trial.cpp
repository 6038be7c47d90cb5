// Reduces a refused job, one part at a time.
#include "builder/schedule/job_trial.hpp"

#include <array>
#include <optional>

#include "builder/schedule/scheduler.hpp"
#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {
namespace {

constexpr unsigned max_trial_queries = 3;  // of one job, while a busy batch system does not answer

// The sizes come first: another queue may take a job that is too long for this one.
constexpr std::array sizes = {JobPart::minutes, JobPart::memory, JobPart::nodes, JobPart::gpus,
                              JobPart::cores};
// Another account may be allowed in this queue, but an account that is not known is refused in every queue.
constexpr std::array names = {JobPart::queue, JobPart::account};

// The job with the smallest value of one part; nullopt: it has that already.
std::optional<TrialJob> reduced(TrialJob job, JobPart part) {
    const auto to = [](auto& value, auto smallest) {
        const bool changes = value > smallest;
        if (changes) value = smallest;
        return changes;
    };
    bool changed = false;
    switch (part) {
        case JobPart::minutes:
            changed = to(job.minutes, std::int64_t{1});
            break;
        case JobPart::memory:
            changed = to(job.memory_mib, std::int64_t{1});
            break;
        case JobPart::nodes:
            changed = to(job.nodes, 1);
            break;
        case JobPart::gpus:
            changed = to(job.queue.gpus, 0);
            break;
        case JobPart::cores:
            changed = job.cores > 1 || job.ranks_per_node > 1;
            job.cores = job.ranks_per_node = 1;
            break;
        case JobPart::environment:  // it has no size
            break;
        case JobPart::options:
            changed = !job.queue.options.empty();
            job.queue.options.clear();
            break;
        case JobPart::account:
            changed = !job.queue.account.empty();
            job.queue.account.clear();
            break;
        case JobPart::queue:
            changed = !job.queue.queue.empty();
            job.queue.queue.clear();
            break;
    }
    return changed ? std::optional(job) : std::nullopt;
}

// The job without a word of one part; nullopt: it has none.
std::optional<TrialJob> unnamed(TrialJob job, JobPart part) {
    const bool is_user_without_cores = job.of_user && part == JobPart::cores && job.cores_per_rank == 0;
    const bool is_named = job.queue.may_ask(part) && (part != JobPart::memory || job.memory_mib > 0) &&
                          (part != JobPart::gpus || job.queue.gpus > 0) &&
                          (part != JobPart::environment || job.of_user) && !is_user_without_cores;
    if (!is_named) return std::nullopt;
    job.queue.not_asked.push_back(part);
    return job;
}

// A busy controller answers late or not at all; that says nothing about the job.
TrialAnswer ask_for(const BatchSystem& batch, const TrialJob& job, const AskMachine& ask) {
    TrialAnswer answer;
    for (unsigned i = 0; i < max_trial_queries && answer.end == TrialEnd::unknown; ++i)
        answer = batch.try_job(render_trial_header(batch, job), job, ask);
    return answer;
}

class Search {
  public:
    Search(const BatchSystem& batch, const TrialJob& job, const AskMachine& ask)
        : batch_(batch), job_(job), ask_(ask) {}

    std::vector<RefusedPart> run() {
        for (const JobPart part : sizes) {
            if (is_taken_without(part)) return {{.part = part, .by_name = is_refused_by_name(part)}};
        }
        if (auto large = several_sizes(); !large.empty()) {
            const bool is_small_queue = large.size() > 1 && is_taken_without(JobPart::queue);
            return is_small_queue ? std::vector<RefusedPart>{{JobPart::queue}} : large;
        }
        if (auto named = parts_that_may_not_be_named(); !named.empty()) return named;
        for (const auto options : {&QueueSettings::options, &QueueSettings::node_options}) {
            for (std::size_t i = 0; i < (job_.queue.*options).size(); ++i) {
                TrialJob without = job_;
                auto& left = without.queue.*options;
                left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
                if (is_taken(without)) return {{JobPart::options, (job_.queue.*options)[i]}};
            }
        }
        for (const JobPart part : names) {
            if (is_taken_without(part)) return {{part}};
        }
        return {};
    }

  private:
    [[nodiscard]] bool is_taken(const TrialJob& job) const {
        return ask_for(batch_, job, ask_).end == TrialEnd::accepted;
    }
    [[nodiscard]] bool is_taken_without(JobPart part) const {
        const auto less = reduced(job_, part);
        return less && is_taken(*less);
    }
    // The smallest value of GPUs is none, which says nothing of the option: one GPU does.
    [[nodiscard]] bool is_refused_by_name(JobPart part) const {
        TrialJob one = job_;
        one.queue.gpus = 1;
        return part == JobPart::gpus && !is_taken(one);
    }
    // The smallest value is refused, too: one that the site's filter does not permit to be named, or several.
    [[nodiscard]] std::vector<RefusedPart> parts_that_may_not_be_named() const {
        for (const auto& [part, name] : nameable_parts.rows) {
            const auto silent = unnamed(job_, part);
            if (silent && is_taken(*silent)) return {{.part = part, .by_name = true}};
        }
        TrialJob silent = job_;
        for (const auto& [part, name] : nameable_parts.rows) {
            const auto less = unnamed(silent, part);
            if (!less) continue;
            silent = *less;
            if (silent.queue.not_asked.size() > job_.queue.not_asked.size() + 1 && is_taken(silent))
                return only_those_needed(silent);
        }
        return {};
    }
    // Without those that the job may name as well.
    [[nodiscard]] std::vector<RefusedPart> only_those_needed(TrialJob silent) const {
        std::vector<RefusedPart> parts;
        for (const auto& [part, name] : nameable_parts.rows) {
            if (silent.queue.may_ask(part) || !job_.queue.may_ask(part)) continue;
            TrialJob named = silent;
            std::erase(named.queue.not_asked, part);
            if (is_taken(named))
                silent = named;
            else
                parts.push_back({.part = part, .by_name = true});
        }
        return parts;
    }
    // Each size that is refused although all others are the smallest.
    [[nodiscard]] std::vector<RefusedPart> several_sizes() const {
        TrialJob smallest = job_;
        for (const JobPart part : sizes)
            smallest = reduced(smallest, part).value_or(smallest);
        std::vector<RefusedPart> parts;
        if (!is_taken(smallest)) return parts;
        for (const JobPart part : sizes) {
            TrialJob one = job_;
            for (const JobPart other : sizes) {
                if (other != part) one = reduced(one, other).value_or(one);
            }
            if (reduced(job_, part) && !is_taken(one)) parts.push_back({part});
        }
        return parts;
    }

    const BatchSystem& batch_;
    const TrialJob& job_;
    const AskMachine& ask_;
};

}  // namespace

std::string render_trial_header(const BatchSystem& batch, const TrialJob& job) {
    if (job.of_user) {
        return batch.render_user_header({.name = "wheelyard-check",
                                         .nodes = job.nodes,
                                         .ranks_per_node = job.ranks_per_node,
                                         .cores_per_node = job.cores,
                                         .gpus_per_node = job.queue.gpus,
                                         .cores_per_rank = job.cores_per_rank,
                                         .memory_mib = job.memory_mib,
                                         .max_walltime_minutes = job.minutes,
                                         .queue = job.queue});
    }
    const JobRequest request{"wheelyard-check", {"/tmp", ""},       {},
                             job.cores,         job.memory_mib,     job.minutes,
                             job.nodes,         job.ranks_per_node, &job.queue};
    return batch.render_header(request, job.queue);
}

TrialAnswer try_job(const BatchSystem& batch, const TrialJob& job, const AskMachine& ask) {
    TrialAnswer answer = ask_for(batch, job, ask);
    if (answer.end != TrialEnd::refused || !answer.parts.empty()) return answer;
    answer.parts = Search(batch, job, ask).run();
    if (!answer.parts.empty() || !answer.likely) return answer;
    RefusedPart likely = *answer.likely;
    for (const auto& option : job.queue.options) {
        if (!likely.option.empty() && option.starts_with(likely.option)) likely.option = option;
    }
    answer.parts = {likely};
    return answer;
}

}  // namespace wheelyard::builder
