// Compares a job with the limits of its queue and with the sizes of nodes.
#include "builder/schedule/pbs/pbs.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "builder/schedule/batch_command.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::pbs {
namespace {

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

// What a job asks of one node, or what a node has.
struct Chunk {
    std::int64_t cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t gpus = 0;
};

Chunk chunk_of(const TrialJob& job) {
    const int cores = job.of_user ? std::max(job.cores, job.ranks_per_node) : job.cores * job.ranks_per_node;
    return {cores, job.memory_mib, job.queue.gpus};
}

std::string text_of(const Chunk& chunk) {
    std::string text = std::to_string(chunk.cores) + " cores";
    if (chunk.memory_mib > 0) text += ", " + std::to_string(chunk.memory_mib) + " MiB";
    if (chunk.gpus > 0) text += ", " + std::to_string(chunk.gpus) + " GPUs";
    return text;
}

// PBS sends jobs of a queue to the nodes that name it, where there are such nodes, and otherwise to those
// that name none. A routing queue may send them anywhere.
std::vector<NodeSurvey> nodes_of_queue(std::string_view printed, std::string_view nodes,
                                       const std::string& queue) {
    std::vector<NodeSurvey> all = parse_nodes(nodes);
    if (parse_server_attribute(printed, "queue_type") == "Route") return all;
    const bool has_own =
        std::any_of(all.begin(), all.end(), [&](const NodeSurvey& node) { return node.queue == queue; });
    std::erase_if(all, [&](const NodeSurvey& node) { return node.queue != (has_own ? queue : ""); });
    return all;
}

std::int64_t count_suitable(const std::vector<NodeSurvey>& nodes, const Chunk& chunk) {
    std::int64_t count = 0;
    for (const NodeSurvey& node : nodes) {
        const bool has_memory = node.memory_mib == 0 || chunk.memory_mib <= node.memory_mib;
        if (has_memory && chunk.cores <= node.cores && chunk.gpus <= node.gpus) count += node.count;
    }
    return count;
}

// The parts that no node has; if nodes have each of them, but not together, the parts without which the chunk
// fits.
std::vector<RefusedPart> too_large(const std::vector<NodeSurvey>& nodes, const Chunk& chunk) {
    std::vector<RefusedPart> alone, together;
    for (const auto& [part, size] :
         {std::pair(JobPart::cores, &Chunk::cores), std::pair(JobPart::memory, &Chunk::memory_mib),
          std::pair(JobPart::gpus, &Chunk::gpus)}) {
        Chunk only, without = chunk;
        only.*size = chunk.*size;
        without.*size = 0;
        if (count_suitable(nodes, only) == 0) alone.push_back({part});
        if (count_suitable(nodes, without) > 0) together.push_back({part});
    }
    return alone.empty() ? together : alone;
}

}  // namespace

TrialAnswer compare_with_nodes(std::string_view printed, std::string_view nodes, const TrialJob& job) {
    const std::vector<NodeSurvey> there = nodes_of_queue(printed, nodes, job.queue.queue);
    if (there.empty()) return {TrialEnd::unknown, "pbsnodes names no node of queue " + job.queue.queue};
    const Chunk chunk = chunk_of(job);
    const std::int64_t suitable = count_suitable(there, chunk);
    const std::string count = std::to_string(suitable) + (suitable == 1 ? " node has " : " nodes have ");
    if (suitable >= job.nodes) return {TrialEnd::accepted, count + text_of(chunk)};
    if (suitable > 0)
        return {TrialEnd::refused,
                "only " + count + text_of(chunk) + ", of " + std::to_string(job.nodes) + " that it asks for",
                {{JobPart::nodes}}};
    Chunk largest;
    for (const NodeSurvey& node : there) {
        largest.cores = std::max<std::int64_t>(largest.cores, node.cores);
        largest.memory_mib = std::max(largest.memory_mib, node.memory_mib);
        largest.gpus = std::max<std::int64_t>(largest.gpus, node.gpus);
    }
    return {
        TrialEnd::refused,
        "no node of queue " + job.queue.queue + " has " + text_of(chunk) + "; at most " + text_of(largest),
        too_large(there, chunk)};
}

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
        answer.message = what + " has " + base::join(passed, ", ");
    }
    return answer;
}

TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask) {
    if (job.queue.queue.empty()) {
        TrialJob in_default = job;
        in_default.queue.queue = parse_server_attribute(ask("qstat -B -f").out, "default_queue");
        if (in_default.queue.queue.empty())
            return {TrialEnd::unknown, "PBS has no dry run, and the server names no default queue"};
        return try_job(header, in_default, ask);
    }
    const MachineAnswer answer = ask("qstat -Q -f " + base::quote_shell(job.queue.queue));
    if (answer.good) {
        TrialAnswer limits = read_trial(answer.out, job);
        if (limits.end != TrialEnd::accepted) return limits;
        const MachineAnswer nodes = ask("pbsnodes -av");
        TrialAnswer sizes = nodes.good ? compare_with_nodes(answer.out, nodes.out, job)
                                       : TrialAnswer{TrialEnd::unknown, nodes.last_line};
        if (sizes.end == TrialEnd::refused) return sizes;
        limits.message +=
            (sizes.end == TrialEnd::accepted ? "; " : "; sizes of nodes not checked: ") + sizes.message;
        return limits;
    }
    if (answer.last_line.find("Unknown queue") != std::string::npos)
        return {TrialEnd::refused, answer.last_line, {{JobPart::queue}}};
    return {TrialEnd::unknown, answer.last_line};
}

}  // namespace wheelyard::builder::pbs
