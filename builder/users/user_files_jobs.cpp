// The files of a job: its variables, its ranks, its script. The site's launcher starts the ranks, not
// torchrun: where both place tasks they conflict, and startup takes minutes.
#include <algorithm>

#include "builder/schedule/scheduler_kind.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/users/user_files.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::user_files {
namespace templates {  // templates/NAME

extern const std::string_view job_variables;
extern const std::string_view run_rank;
extern const std::string_view job_begin;
extern const std::string_view all_reduce;

}  // namespace templates

namespace {

std::string launcher(const Input& input, int ranks_per_node) {
    Site site;
    site.launcher = input.users.launcher;
    return render_launcher(site, input.users.nodes, ranks_per_node);
}

// The batch systems of every row: a user may run the files of one site on another.
std::vector<const BatchSystem*> batch_systems() {
    std::vector<const BatchSystem*> found;
    for (const SchedulerKind* kind : scheduler_kinds()) {
        if (kind->batch) found.push_back(&*kind->batch);
    }
    return found;
}

// "${SLURM_JOB_ID:-${PBS_JOBID:-$$}}"
std::string render_job_id() {
    std::string text, end;
    for (const BatchSystem* batch : batch_systems()) {
        text += "${" + std::string(batch->job_id_variable) + ":-";
        end += "}";
    }
    return text + "$$" + end;
}

std::string render_first_node() {
    std::string text;
    for (const BatchSystem* batch : batch_systems()) {
        text += std::string(text.empty() ? "    if" : "    elif") + " test -n \"${" +
                std::string(batch->node_list_variable) + "-}\"; then\n        MASTER_ADDR=$(" +
                std::string(batch->print_first_node) + ")\n";
    }
    return text + "    fi\n";
}

// "${CUDA_VISIBLE_DEVICES:-${ROCR_VISIBLE_DEVICES-}}": the first variable of an accelerator that is set.
std::string render_visible_devices() {
    std::string text, end;
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (!text.empty()) text += ":-", end += "}";
        text += "${" + std::string(kind->visible_devices);
    }
    return text + "-}" + end;
}

// The variables of the schedulers' own launchers, each after a space.
std::string render_rank_variables(std::string_view RankVariables::*variable) {
    std::string text;
    for (const BatchSystem* batch : batch_systems()) {
        const std::string_view name = batch->ranks.*variable;
        if (!name.empty()) text += " " + std::string(name);
    }
    return text;
}

std::string render_header(const Input& input) {
    if (!input.site.scheduler->batch) return "";
    return input.site.scheduler->batch->render_user_header(job_of_users(input.site, input.users, input.name));
}

// Proxies are among them, for a program that downloads nothing may refuse one: httpx knows no socks://.
std::string render_comments(const Input& input) {
    std::vector<std::string> comments;
    if (input.site.offline_jobs) {
        for (const auto& [name, value] : input.site.proxies)
            comments.push_back("export " + name + "=" + base::quote_shell(value) +
                               "  # only where a program downloads");
    }
    comments.insert(comments.end(), input.users.job_comments.begin(), input.users.job_comments.end());
    if (comments.empty()) return "";
    std::string text =
        "\n# What the guide of " + input.site.name + " suggests to try; off until you remove the `#`.\n";
    for (const auto& comment : comments)
        text += "# " + comment + "\n";
    return text;
}

// Every node unpacks its own copy. Where the scheduler can, it distributes the file; otherwise each node
// reads it once.
std::string render_stage(const Input& input) {
    if (input.users.node_local.empty()) return "";
    std::string text =
        "\n# If the environment is packed, unpack it to each node's local disk: ranks then start without "
        "the\n"
        "# shared file system.\n";
    text += "packed=" + fill("{{place}}/environment.tar", input) + "\n";
    text += "local=" + quote_expanding(input.users.node_local) +
            fill("/{{name}}-{{version}}-$WHEELYARD_JOB\n", input);
    text += "if test -e \"$packed\"; then\n";
    const auto& batch = input.site.scheduler->batch;
    if (batch && !batch->copy_to_nodes.empty())
        text += "    " + std::string(batch->copy_to_nodes) + " && packed=$local.tar\n";
    text += "    " + launcher(input, 1) +
            fill(" {{place}}/unpack-environment \"$packed\" \"$local\" || exit 1\n", input);
    return text + "    PATH=$local/bin:$PATH\nfi\n";
}

}  // namespace

std::string render_job_variables(const Input& input) {
    const std::string port = input.users.master_port > 0
                                 ? std::to_string(input.users.master_port)
                                 : "$((20000 + ($(echo \"$WHEELYARD_JOB\" | tr - +)) % 10000))";
    std::string text = base::replace_all(templates::job_variables, "{{port}}", port);
    text = base::replace_all(text, "{{job}}", render_job_id());
    text = base::replace_all(text, "{{first_node}}",
                             input.users.master_address.empty()
                                 ? render_first_node()
                                 : "    MASTER_ADDR=$(" + input.users.master_address +
                                       ") # of the node that the job's script runs on\n");
    const auto keep = [&text](const std::string& name, const std::string& value) {
        text += "export " + name + "=\"${" + name + "-}\"\ntest -n \"$" + name + "\" || " + name + "=" +
                value + "\n";
    };
    for (const auto& [name, value] : input.users.environment)
        keep(name, base::quote_shell(value));
    for (const auto& [name, value] : input.users.job_environment)
        keep(name, quote_expanding(value));
    if (input.users.job_folders.empty()) return text;
    text += "# Private to this user and job: concurrent writers of one cache corrupt it.\n";
    text += "WHEELYARD_JOB_FOLDER=${TMPDIR:-/tmp}/wheelyard-$(id -un)-$WHEELYARD_JOB\n";
    for (const auto& name : input.users.job_folders)
        text += "export " + name + "=$WHEELYARD_JOB_FOLDER/" + base::ascii_lower(name) + "\nmkdir -p \"$" +
                name + "\"\n";
    return text;
}

std::string render_run_rank(const Input& input) {
    std::string folders;
    for (const auto& name : input.users.job_folders)
        folders += "test -z \"${" + name + "-}\" || mkdir -p \"$" + name + "\" # on every node\n";
    std::string text = base::replace_all(templates::run_rank, "{{folders}}", folders);
    text = base::replace_all(text, "{{visible_devices}}", render_visible_devices());
    text = base::replace_all(text, "{{rank}}", render_rank_variables(&RankVariables::rank));
    text = base::replace_all(text, "{{size}}", render_rank_variables(&RankVariables::size));
    return base::replace_all(text, "{{local_rank}}", render_rank_variables(&RankVariables::local_rank));
}

std::string render_job(const Input& input) {
    const auto& batch = input.site.scheduler->batch;
    const std::string_view before_ranks = batch ? batch->before_ranks : "";
    std::string text =
        "#!/bin/bash\n" + render_header(input) +
        base::replace_all(fill(templates::job_begin, input), "{{before_ranks}}", before_ranks) +
        render_enter(input) + fill(". {{place}}/job-environment.sh\n", input) + render_stage(input) +
        render_comments(input) + "\n" + launcher(input, input.users.ranks_per_node) +
        fill(" {{place}}/run-rank python -u \"$@\"\n", input);
    if (input.users.job_folders.empty()) return text;
    return text + "code=$?\n" + launcher(input, 1) + " rm -rf \"$WHEELYARD_JOB_FOLDER\"\nexit \"$code\"\n";
}

std::string render_all_reduce(const Input& input) {
    return fill(templates::all_reduce, input);
}

}  // namespace wheelyard::builder::user_files

namespace wheelyard::builder {

UserJob job_of_users(const Site& site, const UserSettings& users, const std::string& name) {
    UserJob job{.name = name,
                .nodes = users.nodes,
                .ranks_per_node = users.ranks_per_node,
                .cores_per_rank = users.cores_per_rank,
                .memory_mib = users.memory_mib,
                .max_walltime_minutes = users.minutes,
                .queue = site.queue};
    const NodeType* node = node_of_users(site, users);
    if (node != nullptr) {
        job.cores_per_node = node->cores;
        job.gpus_per_node = node->gpus;
        send_from_builds_to(job.queue, *node);
    }
    job.queue.options.insert(job.queue.options.end(), users.options.begin(), users.options.end());
    return job;
}

}  // namespace wheelyard::builder
