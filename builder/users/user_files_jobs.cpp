// What a job needs: its variables, its ranks, its script. The launcher of the site starts the ranks, never
// torchrun: where both place tasks they fight, and start-up takes minutes.
#include <algorithm>

#include "builder/schedule/batch_units.hpp"
#include "builder/schedule/pbs.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/users/user_files_parts.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder::user_files {
namespace {

constexpr std::string_view job_variables =
    R"sh(# To be sourced in a job, before its ranks start. What is set already stays, so a job may choose otherwise before.
# Made by `wheelyard-builder site user-files`.
WHEELYARD_JOB=${SLURM_JOB_ID:-${PBS_JOBID:-$$}}
WHEELYARD_JOB=${WHEELYARD_JOB%%[!0-9]*} # PBS says 123.server
if test -z "${MASTER_ADDR-}"; then
    if test -n "${SLURM_JOB_NODELIST-}"; then
        MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    elif test -n "${PBS_NODEFILE-}"; then
        MASTER_ADDR=$(head -n 1 "$PBS_NODEFILE")
    fi
fi
export MASTER_ADDR=${MASTER_ADDR:-$(uname -n)}
export MASTER_PORT=${MASTER_PORT:-{{port}}}
)sh";

constexpr std::string_view run_rank = R"sh(#!/bin/bash
# run-rank COMMAND…: one rank of a job, as the launcher started it, in the words of torch.distributed.
# Made by `wheelyard-builder site user-files`.
set -eu
# Open MPI's words before Slurm's: under mpirun each rank inherits those of the job's first task.
first_of() {
    local name
    for name; do
        if test -n "${!name-}"; then
            echo "${!name}"
            return
        fi
    done
    echo "run-rank: the launcher says none of $*" >&2
    return 1
}
RANK=$(first_of OMPI_COMM_WORLD_RANK PALS_RANKID PMI_RANK SLURM_PROCID)
WORLD_SIZE=$(first_of OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_NTASKS)
LOCAL_RANK=$(first_of OMPI_COMM_WORLD_LOCAL_RANK PALS_LOCAL_RANKID PMI_LOCAL_RANK SLURM_LOCALID)
# Of a rank that sees one GPU alone, that is the first.
case ${CUDA_VISIBLE_DEVICES:-${ROCR_VISIBLE_DEVICES-}} in
'' | *,*) ;;
*) LOCAL_RANK=0 ;;
esac
export RANK WORLD_SIZE LOCAL_RANK
{{folders}}exec "$@"
)sh";

constexpr std::string_view job_begin = R"sh(
# A job with {{module}} on {{site}}: its arguments are a Python program and its arguments.
# Made by `wheelyard-builder site user-files`; a starting point: copy it, and change what the lines above ask for.
{{unset}}test $# -gt 0 || set -- {{place}}/all_reduce.py
)sh";

constexpr std::string_view all_reduce =
    R"py(# One sum over all ranks: that they find each other, and by what. Made by `wheelyard-builder site user-files`.
import os

import torch
import torch.distributed as dist

gpus = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpus else torch.device("cpu")
backend = "mpi" if dist.is_mpi_available() else "nccl" if gpus else "gloo"
dist.init_process_group(backend)
value = torch.ones(1, device=device)
dist.all_reduce(value)
size = dist.get_world_size()
assert value.item() == size, (value.item(), size)
if dist.get_rank() == 0:
    print(f"{size} ranks, torch {torch.__version__}, {backend}, {device.type}")
dist.destroy_process_group()
)py";

std::string launcher(const Words& words, int ranks_per_node) {
    Site site;
    site.launcher = words.users.launcher;
    return render_launcher(site, words.users.nodes, ranks_per_node);
}

std::string render_slurm(const Words& words) {
    const UserSettings& users = words.users;
    const QueueSettings& queue = words.site.queue;
    const NodeType* node = node_of_users(words.site, users);
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#SBATCH " + option + "\n"; };
    add("--job-name=" + words.name);
    add("--nodes=" + std::to_string(users.nodes));
    add("--ntasks-per-node=" + std::to_string(users.ranks_per_node));
    add("--time=" + std::to_string(users.minutes));
    const std::string partition = node != nullptr && !node->queue.empty() ? node->queue : queue.queue;
    if (!partition.empty()) add("--partition=" + partition);
    if (!queue.account.empty()) add("--account=" + queue.account);
    add("--export=NONE");
    for (const auto* options : {&queue.options, &users.options}) {
        for (const auto& option : *options)
            add(option);
    }
    return text;
}

std::string render_pbs(const Words& words) {
    const UserSettings& users = words.users;
    const QueueSettings& queue = words.site.queue;
    const NodeType* node = node_of_users(words.site, users);
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#PBS " + option + "\n"; };
    add("-N " + words.name);
    add("-j oe");
    std::string select =
        "-l select=" + std::to_string(users.nodes) +
        ":ncpus=" + std::to_string(node == nullptr || node->cores == 0 ? users.ranks_per_node : node->cores) +
        ":mpiprocs=" + std::to_string(users.ranks_per_node);
    if (node != nullptr && node->gpus > 0) select += ":ngpus=" + std::to_string(node->gpus);
    add(select);
    add("-l walltime=" + pbs::walltime(users.minutes));
    const std::string name = node != nullptr && !node->queue.empty() ? node->queue : queue.queue;
    if (!name.empty()) add("-q " + name);
    if (!queue.account.empty()) add("-A " + queue.account);
    for (const auto* options : {&queue.options, &users.options}) {
        for (const auto& option : *options)
            add(option);
    }
    return text;
}

struct HeaderRow {
    std::string_view scheduler;
    std::string (*render)(const Words&);
};
constexpr HeaderRow headers[] = {{"slurm", render_slurm}, {"pbs", render_pbs}};

std::string render_header(const Words& words) {
    for (const auto& row : headers) {
        if (row.scheduler == words.site.scheduler_kind) return row.render(words);
    }
    return "";
}

// Every node unpacks for itself; Slurm brings the file there, elsewhere each reads it once.
std::string render_stage(const Words& words) {
    if (words.users.node_local.empty()) return "";
    std::string text =
        "\n# The environment on each node's own disk, when it is packed: ranks then start without the shared "
        "file system.\n";
    text += "packed=" + fill("{{place}}/environment.tar", words) + "\n";
    text += "local=" + quote_expanding(words.users.node_local) +
            fill("/{{name}}-{{version}}-$WHEELYARD_JOB\n", words);
    text += "if test -e \"$packed\"; then\n";
    if (words.site.scheduler_kind == "slurm")
        text += "    sbcast --force \"$packed\" \"$local.tar\" && packed=$local.tar\n";
    text += "    " + launcher(words, 1) +
            fill(" {{place}}/unpack-environment \"$packed\" \"$local\" || exit 1\n", words);
    return text + "    PATH=$local/bin:$PATH\nfi\n";
}

}  // namespace

std::string render_job_variables(const Words& words) {
    const std::string port = words.users.master_port > 0 ? std::to_string(words.users.master_port)
                                                         : "$((20000 + WHEELYARD_JOB % 10000))";
    std::string text = base::replace_all(job_variables, "{{port}}", port);
    const auto keep = [&text](const std::string& name, const std::string& value) {
        text += "export " + name + "=\"${" + name + "-}\"\ntest -n \"$" + name + "\" || " + name + "=" +
                value + "\n";
    };
    for (const auto& [name, value] : words.users.environment)
        keep(name, base::quote_shell(value));
    for (const auto& [name, value] : words.users.job_environment)
        keep(name, quote_expanding(value));
    if (words.site.offline_jobs) {
        for (const auto& [name, value] : words.site.proxies)
            keep(name, base::quote_shell(value));
    }
    if (words.users.job_folders.empty()) return text;
    text += "# Nobody else's, and no other job's: two that write one cache break each other.\n";
    text += "WHEELYARD_JOB_FOLDER=${TMPDIR:-/tmp}/wheelyard-$(id -un)-$WHEELYARD_JOB\n";
    for (const auto& name : words.users.job_folders)
        text += "export " + name + "=$WHEELYARD_JOB_FOLDER/" + base::ascii_lower(name) + "\nmkdir -p \"$" +
                name + "\"\n";
    return text;
}

std::string render_run_rank(const Words& words) {
    std::string folders;
    for (const auto& name : words.users.job_folders)
        folders += "test -z \"${" + name + "-}\" || mkdir -p \"$" + name + "\" # on every node\n";
    return base::replace_all(run_rank, "{{folders}}", folders);
}

std::string render_job(const Words& words) {
    const std::string unset = words.site.scheduler_kind == "slurm"
                                  ? "unset SLURM_EXPORT_ENV # it would keep this environment from the ranks\n"
                                  : "";
    std::string text = "#!/bin/bash\n" + render_header(words) +
                       base::replace_all(fill(job_begin, words), "{{unset}}", unset) + render_enter(words) +
                       fill(". {{place}}/job-environment.sh\n", words) + render_stage(words) + "\n" +
                       launcher(words, words.users.ranks_per_node) +
                       fill(" {{place}}/run-rank python \"$@\"\n", words);
    if (words.users.job_folders.empty()) return text;
    return text + "code=$?\n" + launcher(words, 1) + " rm -rf \"$WHEELYARD_JOB_FOLDER\"\nexit \"$code\"\n";
}

std::string render_all_reduce(const Words& /*words*/) {
    return std::string(all_reduce);
}

}  // namespace wheelyard::builder::user_files
