// One function per table of site.toml. A line that a person must complete begins with "# FILL IN: ".
#include "builder/survey/site_draft.hpp"

#include <algorithm>
#include <tuple>

#include "builder/survey/site_draft_parts.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_queues_listed = 30;
constexpr int max_suggested_cores = 32;         // more rarely make a build faster, and wait longer in a queue
constexpr std::int64_t first_minutes = 8 * 60;  // a build of torch on such a job
constexpr std::int64_t default_minutes = 24 * 60;        // where a queue has no limit
constexpr std::int64_t max_suggested_minutes = 48 * 60;  // of a retry
constexpr int min_python_minor = 9;  // older ones have no wheels of today's packages to build with

std::string minutes_text(std::int64_t minutes) {
    return minutes == 0 ? "no time limit" : std::to_string(minutes) + " min";
}

class Draft : private DraftText {
  public:
    Draft(const Survey& survey, const SiteRequest& request)
        : survey_(survey),
          request_(request),
          name_(request.name.empty() ? suggested_name(survey) : request.name) {}

    SiteDraft write() {
        write_head();
        write_registry();
        write_folders();
        write_scheduler();
        write_modules();
        write_network();
        write_accelerators(survey_, *this);
        write_nodes(survey_, *this);
        write_pythons();
        write_wants();
        return std::move(draft);
    }

  private:
    void write_head() {
        note("Written by `wheelyard-builder site init` on " + survey_.host +
             ". docs/reference/site.md describes every key.");
        note("Check it with `wheelyard-builder site check --site FILE`, and after each change.");
        set("config_version", "1");
        set("name", toml_text(name_));
        if (request_.common_recipes.empty()) {
            note(
                "recipes = [\"site-configs/common/recipes\"]  # of a copy of Wheelyard: torch, mpi4py and "
                "others");
        } else {
            set("recipes", toml_list({(request_.common_recipes / "recipes").string()}));
            set("version_pairs", toml_list({(request_.common_recipes / "versions.toml").string()}));
        }
    }

    void write_registry() {
        const std::string index = request_.index.empty() ? name_ : request_.index;
        const std::string token = request_.token_file.empty() ? index + ".token" : request_.token_file;
        if (request_.registry.empty()) {
            line("");
            note(
                "Without a registry wheels stay in the work folder. With one, its operator creates a token:");
            note("wheelyard-registry token create --name " + index + "-agent --index " + index + " --to " +
                 token);
            note("[registry]");
            note("url = \"https://wheels.example.org\"");
            note("index = " + toml_text(index));
            note("token_file = " + toml_text(token) + "  # mode 0600");
            return;
        }
        table("[registry]");
        set("url", toml_text(request_.registry));
        set("index", toml_text(index));
        set("token_file", toml_text(token), "from the registry's operator, mode 0600");
    }

    // The state must survive purges; build trees need space and may be lost.
    void write_folders() {
        const FolderSurvey* state = nullptr;
        for (const auto& folder : survey_.folders) {
            if (folder.origin == "home" || folder.origin.find("PROJ") != std::string::npos) state = &folder;
            if (state != nullptr && folder.origin != "home") break;
        }
        const FolderSurvey* work = survey_.folders.empty() ? nullptr : &survey_.folders.front();
        table("[state]");
        note("The journal. Not on scratch, which is purged.");
        if (state == nullptr && request_.folder.empty())
            fill_in("no writable folder was found for the state: choose one that is not purged");
        set("directory", toml_text(!request_.folder.empty() ? (request_.folder / "state").string()
                                   : state == nullptr       ? "state"
                                                      : state->path + "/wheelyard/" + name_ + "/state"));
        table("[work]");
        note(
            "Build trees, sources and logs; compute nodes must mount it, and it may be scratch. torch needs "
            "20 GiB.");
        for (const auto& folder : survey_.folders)
            note("found: " + folder.origin + ", " + folder.path + ", " +
                 (folder.file_system == "-" ? "" : folder.file_system + ", ") +
                 base::render_bytes(folder.free_bytes) + " free");
        if (request_.folder.empty() && work != nullptr && work->free_bytes < min_build_bytes)
            fill_in("builds need " + base::render_bytes(min_build_bytes) +
                    " in the work folder: free some space, or choose another folder");
        set("directory", toml_text(!request_.folder.empty() ? (request_.folder / "work").string()
                                   : work == nullptr        ? "work"
                                                            : work->path + "/wheelyard/" + name_ + "/work"));
    }

    [[nodiscard]] const QueueSurvey* queue() const {
        const auto& queues = survey_.batch.queues;
        if (request_.queue.empty()) return survey_.batch.default_queue();
        const auto found = std::find_if(queues.begin(), queues.end(),
                                        [&](const QueueSurvey& one) { return one.name == request_.queue; });
        return found == queues.end() ? nullptr : &*found;
    }

    // The node type that builds run on: of this queue, the one without GPUs and with the fewest cores.
    [[nodiscard]] const NodeSurvey* build_node() const {
        const std::string name = queue_name();
        const NodeSurvey* best = nullptr;
        for (const auto& node : survey_.batch.nodes) {
            if (!node.queue.empty() && node.queue != name) continue;
            const bool better = best == nullptr ||
                                std::pair(node.gpus > 0, node.cores) < std::pair(best->gpus > 0, best->cores);
            if (better) best = &node;
        }
        return best;
    }

    [[nodiscard]] std::string queue_name() const {
        const QueueSurvey* found = queue();
        return found != nullptr ? found->name : request_.queue;
    }

    void write_scheduler() {
        table("[scheduler]");
        if (!survey_.scheduler->batch) {
            note("No batch system was found: jobs are processes of this machine.");
            set("kind", toml_text(survey_.scheduler->name));
            set("cores", std::to_string(std::max(1, survey_.cores)));
            return;
        }
        note(survey_.batch.version);
        for (const auto& problem : survey_.batch.problems)
            fill_in("the batch system did not answer: " + problem);
        write_queues();
        set("kind", toml_text(survey_.scheduler->name));
        const std::string key(survey_.scheduler->batch->queue_key);
        if (queue_name().empty()) {
            fill_in("choose a " + key + ": none of them takes jobs of yours by default");
        } else {
            set(key, toml_text(queue_name()));
        }
        write_account();
        write_sizes();
    }

    void write_queues() {
        std::size_t shown = 0;
        for (const auto& one : survey_.batch.queues) {
            if (++shown > max_queues_listed) {
                note("and " + std::to_string(survey_.batch.queues.size() - max_queues_listed) + " more");
                break;
            }
            note("found: " + one.name + ", " + minutes_text(one.max_walltime_minutes) +
                 (one.is_default ? ", the default" : "") +
                 (one.accounts.empty() ? "" : ", accounts " + some_of(one.accounts)) +
                 (one.closed.empty() ? "" : "; not for you: " + one.closed));
        }
    }

    void write_account() {
        const auto& accounts = survey_.batch.accounts;
        if (!request_.account.empty()) return set("account", toml_text(request_.account));
        if (accounts.size() == 1) return set("account", toml_text(accounts.front()));
        const auto pairs = accounts_by_kind(accounts);
        const NodeSurvey* node = build_node();
        const bool on_gpus = node != nullptr && node->gpus > 0;
        if (pairs.size() == 1 && accounts.size() == 2)
            return set("account", toml_text(on_gpus ? pairs.front().gpu : pairs.front().cpu),
                       on_gpus ? "jobs on nodes without GPUs: " + pairs.front().cpu
                               : "jobs on nodes with GPUs, in [hardware_tests.gpu]: " + pairs.front().gpu);
        if (accounts.size() > 1) {
            std::vector<std::string> words;
            for (const auto& pair : pairs)
                words.push_back(pair.gpu);
            fill_in("choose the account that jobs are charged to: " + some_of(accounts) +
                    (words.empty() ? "" : "; on nodes with GPUs " + some_of(words)));
        }
        note("account = \"\"  # what jobs are charged to, where the site asks for it");
    }

    void write_sizes() {
        const NodeSurvey* node = build_node();
        const QueueSurvey* there = queue();
        const std::int64_t limit = there == nullptr ? 0 : there->max_walltime_minutes;
        const int cores = node == nullptr ? 1 : std::min(node->cores, max_suggested_cores);
        const bool is_exclusive = node != nullptr && there != nullptr && there->is_exclusive;
        if (is_exclusive) {
            const auto at = static_cast<std::size_t>(node - survey_.batch.nodes.data());
            set("node", toml_text(node_names(survey_)[at]), "all of its cores and memory");
        } else {
            set("cores", std::to_string(cores), "of one job");
        }
        if (!is_exclusive && node != nullptr && node->memory_mib > 0) {
            std::int64_t most = node->memory_mib;
            if (there != nullptr && there->max_memory_mib > 0) most = std::min(most, there->max_memory_mib);
            const std::int64_t share = std::min(most, node->memory_mib * cores / std::max(1, node->cores));
            set("memory_mib", std::to_string(share), "of the first attempt");
            set("max_memory_mib", std::to_string(most), "of a retry after out of memory");
        }
        const std::int64_t longest = limit == 0 ? default_minutes : std::min(limit, max_suggested_minutes);
        set("minutes", std::to_string(std::min(longest, first_minutes)), "of the first attempt");
        set("max_walltime_minutes", std::to_string(longest), "of a retry after the time limit");
    }

    void write_modules() {
        if (survey_.modules.init.empty()) {
            line("");
            note(
                "No environment modules were found. If this machine has them: docs/reference/site.md, "
                "[modules].");
        } else {
            table("[modules]");
            note_choices(survey_, ModuleRole::compiler, "compilers");
            note_choices(survey_, ModuleRole::mpi, "MPI");
            set("init", toml_text(survey_.modules.init));
            set("purge", "true");
            if (!survey_.modules.use.empty()) set("use", toml_list(survey_.modules.use));
            std::vector<std::string> load;
            for (const ModuleRole role : {ModuleRole::compiler, ModuleRole::mpi}) {
                if (const LoadedModule* one = loadable(survey_, role))
                    load.push_back(one->module.full_name());
            }
            set("load", toml_list(load));
        }
        write_compilers();
    }

    void write_compilers() {
        const LoadedModule* compiler = loadable(survey_, ModuleRole::compiler);
        const bool is_cray = compiler != nullptr && is_programming_environment(compiler->module) &&
                             survey_.has_program("CC") && survey_.has_program("ftn");
        table("[compilers]");
        if (is_cray) {
            note("The compilers of a Cray programming environment.");
            set("c", "\"cc\"");
            set("cxx", "\"CC\"");
            set("fortran", "\"ftn\"");
            set("mpi_c", "\"cc -shared\"");  // as OLCF, LUMI and Isambard-AI write it for mpi4py
        } else {
            const bool is_gnu = survey_.has_program("gcc") && survey_.has_program("g++");
            write_compiler("c", "C", is_gnu ? "" : "cc", "gcc");
            write_compiler("cxx", "C++", is_gnu ? "" : "c++", "g++");
            if (survey_.has_program("gfortran")) set("fortran", "\"gfortran\"");
            if (survey_.has_program("mpicc")) set("mpi_c", "\"mpicc\"");
        }
        if (!is_cray && !survey_.has_program("mpicc")) return;
        const std::string launcher = launcher_text();
        if (launcher.empty()) return;
        table("[mpi]");
        note("Starts MPI programs in jobs; docs/reference/site.md, mpi.launcher.");
        set("launcher", toml_text(launcher));
    }

    // Without the key it is `preset`. `site check` requires a compiler of each language.
    void write_compiler(const std::string& key, const std::string& language, const char* preset,
                        const char* gnu) {
        if (survey_.has_program(preset)) return;
        if (survey_.has_program(gnu)) return set(key, toml_text(gnu));
        fill_in("no " + language +
                " compiler was found: load the module that provides it, or install it (Debian: " + gnu + ")");
    }

    [[nodiscard]] std::string launcher_text() const {
        if (survey_.scheduler->batch && !survey_.scheduler->batch->launcher.empty())
            return std::string(survey_.scheduler->batch->launcher);
        for (const char* program : {"mpiexec", "mpirun"}) {
            if (survey_.has_program(program)) return std::string(program) + " -n {ranks}";
        }
        return "";
    }

    void write_network() {
        if (!survey_.scheduler->batch && survey_.proxies.empty()) return;
        table("[network]");
        if (survey_.scheduler->batch) {
            note(
                "The login node downloads all that a job installs. false, if compute nodes reach package "
                "indexes.");
            set("offline_jobs", "true");
        }
        if (survey_.proxies.empty()) return;
        table("[network.proxies]");
        for (const auto& [name, url] : survey_.proxies)
            set(name, toml_text(url));
    }

    [[nodiscard]] const InterpreterSurvey* best_python() const {
        const InterpreterSurvey* best = nullptr;
        for (const auto& python : survey_.pythons) {
            if (!python.has_venv || minor_of(python) < min_python_minor) continue;
            const auto rank = [](const InterpreterSurvey& one) {
                return std::tuple(one.has_headers, !one.has_rpath, minor_of(one));
            };
            if (best == nullptr || rank(*best) < rank(python)) best = &python;
        }
        return best;
    }
    static int minor_of(const InterpreterSurvey& python) {
        return static_cast<int>(
            base::parse_decimal(python.version.substr(python.version.find('.') + 1)).value_or(0));
    }

    void write_pythons() {
        const InterpreterSurvey* best = best_python();
        line("");
        for (const auto& one : survey_.pythons) {
            note("found: Python " + one.full_version + ", " +
                 (one.module.empty() ? one.executable : "module " + one.module) +
                 (one.has_venv ? "" : ", without venv") + (one.has_headers ? "" : ", without Python.h") +
                 (one.has_rpath ? ", links with a search path that a registry refuses" : ""));
        }
        if (best == nullptr) fill_in("no Python with venv and ensurepip was found: install or load one");
        table("[[python]]");
        set("version", toml_text(best != nullptr           ? best->version
                                 : survey_.pythons.empty() ? "3.11"
                                                           : survey_.pythons.front().version));
        if (best == nullptr) return;
        if (!best->has_headers)
            fill_in(
                "Python.h is missing, which extensions need: install it (Debian: python3-dev, Red Hat: "
                "python3-devel)");
        if (best->module.empty()) {
            set("executable", toml_text(best->executable));
        } else {
            set("source", "\"module\"");
            set("modules", toml_list({best->module}));
        }
    }

    void write_wants() {
        const InterpreterSurvey* python = best_python();
        const bool can_compile = python != nullptr && python->has_headers &&
                                 (survey_.has_program("cc") || survey_.has_program("gcc"));
        line("");
        note("The wheels that the site should have. The first is small: it shows that everything works.");
        if (!can_compile) note("It has no extension, which nothing that was found here could compile.");
        table("[[want]]");
        set("package", can_compile ? "\"markupsafe\"" : "\"packaging\"");
        set("versions", can_compile ? "[\"3.0.2\"]" : "[\"24.2\"]");
    }

    const Survey& survey_;
    const SiteRequest& request_;
    std::string name_;
};

}  // namespace

SiteDraft draft_site(const Survey& survey, const SiteRequest& request) {
    return Draft(survey, request).write();
}

}  // namespace wheelyard::builder
