// Compares a job with the limits of its queue.
#include "builder/schedule/pbs/pbs_trial.hpp"

#include <algorithm>
#include <cstdint>

#include "builder/schedule/batch_units.hpp"
#include "builder/schedule/pbs/pbs_survey.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder::pbs {
namespace {

constexpr std::int64_t kib_per_mib = 1024;
constexpr std::int64_t s_per_minute = 60;

struct LimitRow {
    std::string_view resource;
    JobPart part;
    std::int64_t asked;
    std::int64_t (*parse)(const std::string& value);  // in the unit of `asked`
};

std::int64_t parse_count(const std::string& value) {
    const auto count = base::parse_decimal(value);
    return count ? static_cast<std::int64_t>(std::min<std::uint64_t>(*count, INT64_MAX)) : -1;
}

std::int64_t parse_minutes(const std::string& value) {
    return parse_elapsed_s(value) / s_per_minute;
}

std::int64_t parse_mib(const std::string& value) {
    return parse_size_kib(value) / kib_per_mib;
}

}  // namespace

TrialAnswer read_trial(std::string_view printed, const TrialJob& job) {
    const std::string what = "queue " + job.queue.queue;
    for (const std::string_view name : {"enabled", "started"}) {
        if (parse_server_attribute(printed, name) == "False")
            return {TrialEnd::refused, what + " is not " + std::string(name), {{JobPart::queue}}};
    }
    const std::int64_t cores =
        static_cast<std::int64_t>(job.nodes) * job.cores * (job.of_user ? 1 : job.ranks_per_node);
    TrialAnswer answer{TrialEnd::accepted, "PBS has no dry run; within the limits of " + what};
    std::vector<std::string> passed;
    for (const auto& [resource, part, asked, parse] :
         {LimitRow{"walltime", JobPart::minutes, job.minutes, parse_minutes},
          LimitRow{"mem", JobPart::memory, job.memory_mib * job.nodes, parse_mib},
          LimitRow{"nodect", JobPart::nodes, job.nodes, parse_count},
          LimitRow{"ngpus", JobPart::gpus, static_cast<std::int64_t>(job.queue.gpus) * job.nodes,
                   parse_count},
          LimitRow{"ncpus", JobPart::cores, cores, parse_count}}) {
        const std::string value = parse_server_attribute(printed, "resources_max." + std::string(resource));
        const std::int64_t limit = value.empty() ? -1 : parse(value);
        if (limit < 0 || asked <= limit) continue;
        passed.push_back("resources_max." + std::string(resource) + " = " + value);
        answer.parts.push_back({part});
    }
    if (!passed.empty()) {
        answer.end = TrialEnd::refused;
        answer.said = what + " has " + base::join(passed, ", ");
    }
    return answer;
}

TrialAnswer try_job(const std::string& /*header*/, const TrialJob& job, const AskMachine& ask) {
    if (job.queue.queue.empty())
        return {TrialEnd::unknown, "PBS has no dry run, and the default queue's limits are not known"};
    const MachineAnswer answer = ask("qstat -Q -f " + base::quote_shell(job.queue.queue));
    if (answer.good) return read_trial(answer.out, job);
    if (answer.last_line.find("Unknown queue") != std::string::npos)
        return {TrialEnd::refused, answer.last_line, {{JobPart::queue}}};
    return {TrialEnd::unknown, answer.last_line};
}

}  // namespace wheelyard::builder::pbs
