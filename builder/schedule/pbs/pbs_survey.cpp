// What PBS reports of itself, for `site init`. The parsers are pure.
//
// Sources: qstat(1B), pbsnodes(8B) and "Attributes" of the PBS Professional Reference Guide.
//
//     Queue: main
//         queue_type = Execution
//         resources_max.walltime = 12:00:00
#include "builder/schedule/pbs/pbs.hpp"

#include <algorithm>
#include <map>

#include "builder/schedule/batch_command.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::pbs {
namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

constexpr std::int64_t mib_per_gib = 1024;

// One object of qstat or pbsnodes.
struct Stanza {
    std::string name;
    Attributes attributes;
};

// A line without indentation begins an object; a line that begins with a tab continues a value.
std::vector<Stanza> parse_stanzas(std::string_view text) {
    std::vector<Stanza> stanzas;
    std::string* value = nullptr;
    for (const auto line : base::split_lines(text)) {
        const auto words = base::trim(line);
        if (words.empty()) continue;
        if (line.front() == '\t' && value != nullptr) {
            value->append(words);
        } else if (line.front() != ' ' && line.front() != '\t') {
            auto name = words;
            for (const std::string_view kind : {"Queue", "Server"}) {
                if (name.starts_with(kind) && name.find_first_of(": ") == kind.size())
                    name = base::trim(name.substr(kind.size() + 1));
            }
            stanzas.push_back({std::string(name), {}});
            value = nullptr;
        } else if (const auto equals = words.find(" = ");
                   equals != std::string_view::npos && !stanzas.empty()) {
            value = &stanzas.back().attributes[std::string(words.substr(0, equals))];
            *value = std::string(words.substr(equals + 3));
        }
    }
    return stanzas;
}

std::string value_of(const Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? "" : found->second;
}

int count_of(const Attributes& attributes, std::string_view name) {
    const auto count = base::parse_decimal(value_of(attributes, name));
    return count ? static_cast<int>(std::min<std::uint64_t>(*count, 1'000'000)) : 0;
}

constexpr std::string_view only_routed = "only through a routing queue";

std::string why_closed(const Attributes& queue, const SurveyUser& user) {
    if (value_of(queue, "enabled") == "False") return "it is not enabled";
    if (value_of(queue, "started") == "False") return "it is not started";
    if (value_of(queue, "acl_user_enable") == "True" && !lists_any(value_of(queue, "acl_users"), {user.name}))
        return "only for certain users";
    if (value_of(queue, "acl_group_enable") == "True" &&
        !lists_any(value_of(queue, "acl_groups"), user.groups))
        return "only for the groups " + value_of(queue, "acl_groups");
    if (value_of(queue, "from_route_only") == "True") return std::string(only_routed);
    return "";
}

// A routing queue takes a job if one of its destinations does: the widest of those that take a job of one
// node.
void narrow_to_destinations(QueueSurvey& queue, std::string_view destinations, const std::vector<Stanza>& all,
                            const SurveyUser& user) {
    std::int64_t minutes = 0, memory_mib = 0;
    bool any = false, any_minutes = false, any_memory = false;
    for (const auto& [name, attributes] : all) {
        const std::string closed = why_closed(attributes, user);
        if (!lists_any(destinations, {name}) || (!closed.empty() && closed != only_routed)) continue;
        if (count_of(attributes, "resources_min.nodect") > 1) continue;
        const std::int64_t its_minutes =
            parse_elapsed_s(value_of(attributes, "resources_max.walltime")) / s_per_minute;
        const std::int64_t its_memory =
            parse_size_kib(value_of(attributes, "resources_max.mem")) / kib_per_mib;
        any = true;
        any_minutes = any_minutes || its_minutes == 0;
        any_memory = any_memory || its_memory == 0;
        minutes = std::max(minutes, its_minutes);
        memory_mib = std::max(memory_mib, its_memory);
    }
    const auto narrow = [any](std::int64_t& own, bool without_limit, std::int64_t widest) {
        if (any && !without_limit) own = own == 0 ? widest : std::min(own, widest);
    };
    narrow(queue.max_walltime_minutes, any_minutes, minutes);
    narrow(queue.max_memory_mib, any_memory, memory_mib);
}

// Sites name the resource themselves: gputype, gpu_type, gpu_model.
std::string gpu_type_of(const Attributes& node) {
    for (const auto& [name, value] : node) {
        if (!name.starts_with("resources_available.")) continue;
        const bool names_gpu =
            name.find("gpu") != std::string::npos || name.find("accelerator") != std::string::npos;
        const bool names_type =
            name.find("type") != std::string::npos || name.find("model") != std::string::npos;
        if (names_gpu && names_type) return value;
    }
    return "";
}

}  // namespace

std::vector<QueueSurvey> parse_queues(std::string_view text, const SurveyUser& user,
                                      std::string_view default_queue) {
    std::vector<QueueSurvey> queues;
    const auto stanzas = parse_stanzas(text);
    for (const auto& [name, attributes] : stanzas) {
        QueueSurvey queue;
        queue.name = name;
        queue.is_default = name == default_queue;
        queue.closed = why_closed(attributes, user);
        queue.max_walltime_minutes =
            parse_elapsed_s(value_of(attributes, "resources_max.walltime")) / s_per_minute;
        queue.max_memory_mib = parse_size_kib(value_of(attributes, "resources_max.mem")) / kib_per_mib;
        if (value_of(attributes, "queue_type") == "Route")
            narrow_to_destinations(queue, value_of(attributes, "route_destinations"), stanzas, user);
        queues.push_back(std::move(queue));
    }
    return queues;
}

std::vector<NodeSurvey> parse_nodes(std::string_view text) {
    std::vector<NodeSurvey> nodes;
    for (const auto& [name, attributes] : parse_stanzas(text)) {
        NodeSurvey node;
        node.count = 1;
        node.cores = count_of(attributes, "resources_available.ncpus");
        node.memory_mib = parse_size_kib(value_of(attributes, "resources_available.mem")) / kib_per_mib;
        node.gpus = count_of(attributes, "resources_available.ngpus");
        if (node.gpus > 0) node.gpu_type = gpu_type_of(attributes);
        node.queue = value_of(attributes, "queue");
        if (node.cores == 0) continue;
        const auto same = std::find_if(nodes.begin(), nodes.end(), [&](const NodeSurvey& one) {
            return one.queue == node.queue && one.cores == node.cores && one.gpus == node.gpus &&
                   one.gpu_type == node.gpu_type &&
                   one.memory_mib / mib_per_gib == node.memory_mib / mib_per_gib;
        });
        if (same == nodes.end()) {
            nodes.push_back(std::move(node));
        } else {
            ++same->count;
            same->memory_mib = std::min(same->memory_mib, node.memory_mib);
        }
    }
    return nodes;
}

std::string parse_server_attribute(std::string_view text, std::string_view name) {
    const auto stanzas = parse_stanzas(text);
    return stanzas.empty() ? "" : value_of(stanzas.front().attributes, name);
}

std::string describe_limits(std::string_view printed, const std::string& queue) {
    constexpr std::string_view limit = "resources_max.";
    const auto stanzas = parse_stanzas(printed);
    const auto own =
        std::find_if(stanzas.begin(), stanzas.end(), [&](const Stanza& one) { return one.name == queue; });
    if (own == stanzas.end()) return "";
    std::vector<std::string> queues;
    const std::string destinations = value_of(own->attributes, "route_destinations");
    for (const Stanza& one : stanzas) {
        if (one.name != queue && !lists_any(destinations, {one.name})) continue;
        std::vector<std::string> limits;
        for (const auto& [name, value] : one.attributes) {
            if (name.starts_with(limit)) limits.push_back(name.substr(limit.size()) + " = " + value);
            if ((name == "enabled" || name == "started") && value == "False") limits.push_back("not " + name);
        }
        if (!limits.empty()) queues.push_back(one.name + ": " + base::join(limits, ", "));
    }
    return base::join(queues, "; ");
}

std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask) {
    BatchSurvey found;
    const MachineAnswer version = ask("qsub --version 2>&1");
    if (!version.good || version.last_line.find("pbs_version") == std::string::npos) return std::nullopt;
    found.version = version.last_line;
    const auto answer_to = [&](const std::string& what, const std::string& script) {
        const MachineAnswer answer = ask(script);
        if (!answer.good) found.problems.push_back(what + ": " + answer.last_line);
        return answer.good ? answer.out : std::string();
    };
    const std::string server = answer_to("server", "qstat -B -f");
    found.queues = parse_queues(answer_to("queues", "qstat -Q -f"), user,
                                parse_server_attribute(server, "default_queue"));
    found.nodes = parse_nodes(answer_to("node types", "pbsnodes -av"));
    return found;
}

}  // namespace wheelyard::builder::pbs
