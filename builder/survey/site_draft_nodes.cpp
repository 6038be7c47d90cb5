// The tables of a draft that describe GPUs and node types.
#include <algorithm>

#include "builder/survey/site_draft_parts.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_nodes_listed = 12;  // node types of a draft

// The names of GPUs in features, types and drivers.
std::vector<GpuType> gpu_types(const Survey& survey) {
    std::vector<GpuType> types;
    const auto add = [&types](const std::string& text) {
        const auto found = find_gpu_type(text);
        const bool known = found && std::any_of(types.begin(), types.end(),
                                                [&](const GpuType& one) { return one.name == found->name; });
        if (found && !known) types.push_back(*found);
        return found.has_value();
    };
    for (const auto& node : survey.batch.nodes) {
        if (node.gpus == 0 || add(node.gpu_type)) continue;
        for (const auto& feature : node.features)
            add(feature);
    }
    if (survey.batch.nodes.empty()) std::for_each(survey.gpus.begin(), survey.gpus.end(), add);
    return types;
}

std::string label_of(const GpuType& type, const AvailableModule* toolkit) {
    std::string label;
    if (toolkit != nullptr) {
        const auto parts = base::split(accelerator::toolkit_version(toolkit->version), '.');
        label = type.kind->label;
        if (type.kind->is_label_versioned)
            label += std::string(parts[0]) + (parts.size() > 1 ? std::string(parts[1]) : "");
        label += ".";
        const bool plain = std::all_of(label.begin(), label.end(),
                                       [](char c) { return base::is_ascii_alnum(c) || c == '.'; });
        label = plain ? base::ascii_lower(label) : "";
    }
    return label + std::string(type.name);
}

// Where no GPU is named: one of each kind whose toolkit the modules have, with that toolkit; without any, an
// example.
std::vector<std::pair<GpuType, const LoadedModule*>> likely_types(const Survey& survey) {
    std::vector<std::pair<GpuType, const LoadedModule*>> likely;
    for (const auto* kind : accelerator::accelerator_kinds()) {
        const LoadedModule* toolkit = loadable(survey, ModuleRole::toolkit(*kind));
        if (toolkit == nullptr) continue;
        const auto model =
            std::find_if(kind->models.begin(), kind->models.end(), [&](const accelerator::GpuModel& one) {
                return one.architecture == kind->example &&
                       (one.machine.empty() || one.machine == survey.machine);
            });
        if (model != kind->models.end())
            likely.push_back({{model->name, kind, model->architecture}, toolkit});
    }
    if (likely.empty()) likely.emplace_back(*find_gpu_type("a100"), nullptr);
    return likely;
}

const QueueSurvey* queue_of(const Survey& survey, const std::string& name) {
    const auto& queues = survey.batch.queues;
    const auto found =
        std::find_if(queues.begin(), queues.end(), [&](const QueueSurvey& one) { return one.name == name; });
    return found == queues.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> node_names(const Survey& survey) {
    std::vector<std::string> names;
    std::size_t listed = 0;
    for (const auto& node : survey.batch.nodes) {
        const QueueSurvey* queue = queue_of(survey, node.queue);
        const bool is_left_out = listed == max_nodes_listed || (queue != nullptr && !queue->closed.empty());
        const std::string first = site_name_of(node.queue.empty() ? "node" : node.queue);
        std::string name = is_left_out ? "" : first;
        for (int number = 2; !is_left_out && std::find(names.begin(), names.end(), name) != names.end();
             ++number)
            name = first + "-" + std::to_string(number);
        listed += is_left_out ? 0 : 1;
        names.push_back(name);
    }
    return names;
}

void write_accelerators(const Survey& survey, DraftText& text) {
    const auto types = gpu_types(survey);
    std::int64_t with_gpus = 0;
    for (const auto& node : survey.batch.nodes)
        with_gpus += node.gpus > 0 ? node.count : 0;
    if (types.empty() && with_gpus == 0) return;
    text.line("");
    text.note(
        "Targets that wheels are built for; each has wheels of its own, with its label in the version.");
    text.table("[[accelerator]]");
    text.set("name", "\"cpu\"");
    if (types.empty()) {
        text.fill_in(std::to_string(with_gpus) +
                     " nodes have GPUs of a type that is not known here: name it");
        for (const auto& [type, toolkit] : likely_types(survey)) {
            text.note("[[accelerator]]");
            text.note("name = " + toml_text(type.name));
            text.note("kind = " + toml_text(type.kind->name));
            text.note("architectures = " + toml_list({std::string(type.architecture)}));
            text.note("label = " +
                      toml_text(toolkit == nullptr ? "cu123.a100" : label_of(type, &toolkit->module)));
            if (toolkit != nullptr) text.note("modules = " + toml_list({toolkit->module.full_name()}));
        }
    }
    for (const GpuType& type : types) {
        const ModuleRole role = ModuleRole::toolkit(*type.kind);
        const LoadedModule* toolkit = loadable(survey, role);
        text.table("[[accelerator]]");
        text.set("name", toml_text(type.name));
        text.set("kind", toml_text(type.kind->name));
        text.set("architectures", toml_list({std::string(type.architecture)}));
        text.set("label", toml_text(label_of(type, toolkit == nullptr ? nullptr : &toolkit->module)));
        text.note_choices(survey, role, std::string(type.kind->title));
        if (toolkit != nullptr) text.set("modules", toml_list({toolkit->module.full_name()}));
    }
}

void write_nodes(const Survey& survey, DraftText& text) {
    const auto names = node_names(survey);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) continue;
        const NodeSurvey& node = survey.batch.nodes[i];
        text.table("[[node]]");
        text.note(std::to_string(node.count) + (node.count == 1 ? " node" : " nodes") +
                  (node.features.empty() ? "" : "; features: " + some_of(node.features)));
        text.set("name", toml_text(names[i]));
        if (!node.queue.empty()) text.set("queue", toml_text(node.queue));
        text.set("cores", std::to_string(node.cores));
        if (node.memory_mib > 0) text.set("memory_mib", std::to_string(node.memory_mib));
        if (const QueueSurvey* queue = queue_of(survey, node.queue)) {
            if (queue->is_exclusive)
                text.set("exclusive", "true", "a job has the node alone, and is charged for all of it");
            if (queue->memory_per_core_mib > 0)
                text.set("memory_per_core_mib", std::to_string(queue->memory_per_core_mib),
                         "of a job that asks for no memory");
        }
        if (node.gpus == 0) continue;
        text.set("gpus", std::to_string(node.gpus));
        auto type = find_gpu_type(node.gpu_type);
        for (const auto& feature : node.features)
            type = type ? type : find_gpu_type(feature);
        if (type) text.set("accelerator", toml_text(type->name));
    }
}

}  // namespace wheelyard::builder
