// One function per table of site.toml. A line that a person must complete begins with "# FILL IN: ".
#include "builder/survey/site_draft.hpp"

#include <algorithm>

#include "builder/survey/limits.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

// A basic string of TOML.
std::string toml_text(std::string_view text) {
    const std::string out = base::replace_all(one_line(text), "\\", "\\\\");
    return "\"" + base::replace_all(out, "\"", "\\\"") + "\"";
}

std::string toml_list(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const auto& text : texts)
        all.push_back(toml_text(text));
    return "[" + base::join(all, ", ") + "]";
}

std::string minutes_text(std::int64_t minutes) {
    return minutes == 0 ? "no time limit" : std::to_string(minutes) + " min";
}

class Draft {
  public:
    Draft(const Survey& survey, const SiteWishes& wishes)
        : survey_(survey),
          wishes_(wishes),
          name_(wishes.name.empty() ? suggested_name(survey) : wishes.name) {}

    SiteDraft write() {
        write_head();
        write_registry();
        write_folders();
        write_scheduler();
        write_modules();
        write_network();
        write_accelerators();
        write_nodes();
        write_pythons();
        write_wants();
        return std::move(draft_);
    }

  private:
    void line(const std::string& text) { draft_.text += text + "\n"; }
    void table(const std::string& header) { line("\n" + header); }
    void note(const std::string& text) { line("# " + one_line(text)); }
    void set(const std::string& key, const std::string& value, const std::string& why = "") {
        line(key + " = " + value + (why.empty() ? "" : "  # " + one_line(why)));
    }
    void fill_in(const std::string& text) {
        note("FILL IN: " + text);
        draft_.fill_in.push_back(text);
    }

    void write_head() {
        note("Written by `wheelyard-builder site init` on " + survey_.host +
             ". docs/reference/site.md describes every key.");
        note("Check it with `wheelyard-builder site check --site FILE`, and after each change.");
        set("config_version", "1");
        set("name", toml_text(name_));
        if (wishes_.common_recipes.empty()) {
            note(
                "recipes = [\"site-configs/common/recipes\"]  # of a copy of Wheelyard: torch, mpi4py and "
                "others");
        } else {
            set("recipes", toml_list({(wishes_.common_recipes / "recipes").string()}));
            set("version_pairs", toml_list({(wishes_.common_recipes / "versions.toml").string()}));
        }
    }

    void write_registry() {
        const std::string index = wishes_.index.empty() ? name_ : wishes_.index;
        const std::string token = wishes_.token_file.empty() ? index + ".token" : wishes_.token_file;
        if (wishes_.registry.empty()) {
            line("");
            note(
                "Without a registry wheels stay in the work folder. With one, its operator creates a token:");
            note("wheelyard-registry token create --name " + index + "-agent --index " + index + " --to " + token);
            note("[registry]");
            note("url = \"https://wheels.example.org\"");
            note("index = " + toml_text(index));
            note("token_file = " + toml_text(token) + "  # mode 0600");
            return;
        }
        table("[registry]");
        set("url", toml_text(wishes_.registry));
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
        if (state == nullptr)
            fill_in("no writable folder was found for the state: choose one that is not purged");
        set("directory",
            toml_text(state == nullptr ? "state" : state->path + "/wheelyard/" + name_ + "/state"));
        table("[work]");
        note(
            "Build trees, sources and logs; compute nodes must mount it, and it may be scratch. torch needs "
            "20 GiB.");
        for (const auto& folder : survey_.folders)
            note("found: " + folder.origin + ", " + folder.path + ", " + folder.file_system + ", " +
                 base::render_bytes(folder.free_bytes) + " free");
        set("directory", toml_text(work == nullptr ? "work" : work->path + "/wheelyard/" + name_ + "/work"));
    }

    [[nodiscard]] const QueueSurvey* queue() const {
        const auto& queues = survey_.batch.queues;
        if (wishes_.queue.empty()) return survey_.batch.default_queue();
        const auto found = std::find_if(queues.begin(), queues.end(),
                                        [&](const QueueSurvey& one) { return one.name == wishes_.queue; });
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
        return found != nullptr ? found->name : wishes_.queue;
    }

    [[nodiscard]] bool is_closed(const std::string& name) const {
        const auto& queues = survey_.batch.queues;
        return std::any_of(queues.begin(), queues.end(),
                           [&](const QueueSurvey& one) { return one.name == name && !one.closed.empty(); });
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
        if (!wishes_.account.empty()) return set("account", toml_text(wishes_.account));
        if (accounts.size() == 1) return set("account", toml_text(accounts.front()));
        if (accounts.size() > 1) {
            fill_in("choose the account that jobs are charged to: " + some_of(accounts));
        }
        note("account = \"\"  # what jobs are charged to, where the site asks for it");
    }

    void write_sizes() {
        const NodeSurvey* node = build_node();
        const QueueSurvey* there = queue();
        const std::int64_t limit = there == nullptr ? 0 : there->max_walltime_minutes;
        const int cores = node == nullptr ? 1 : std::min(node->cores, max_suggested_cores);
        set("cores", std::to_string(cores), "of one job");
        if (node != nullptr && node->memory_mib > 0) {
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

    [[nodiscard]] const LoadedModule* tried(ModuleRole role) const {
        const auto found = std::find_if(survey_.modules.tried.begin(), survey_.modules.tried.end(),
                                        [&](const LoadedModule& one) { return one.role == role; });
        return found == survey_.modules.tried.end() ? nullptr : &*found;
    }
    [[nodiscard]] const LoadedModule* loadable(ModuleRole role) const {
        const LoadedModule* found = tried(role);
        return found != nullptr && found->loads ? found : nullptr;
    }

    void note_choices(ModuleRole role, const std::string& what) {
        std::vector<std::string> names;
        for (const auto& module : modules_of(role, survey_.modules.available))
            names.push_back(module.full_name());
        if (!names.empty()) note("found: " + what + " " + some_of(names));
        const LoadedModule* one = tried(role);
        if (one != nullptr && !one->loads)
            note(one->module.full_name() + " did not load: it may need another module first");
    }

    void write_modules() {
        if (survey_.modules.init.empty()) {
            line("");
            note(
                "No environment modules were found. If this machine has them: docs/reference/site.md, "
                "[modules].");
        } else {
            table("[modules]");
            note_choices(ModuleRole::compiler, "compilers");
            note_choices(ModuleRole::mpi, "MPI");
            set("init", toml_text(survey_.modules.init));
            set("purge", "true");
            if (!survey_.modules.use.empty()) set("use", toml_list(survey_.modules.use));
            std::vector<std::string> load;
            for (const ModuleRole role : {ModuleRole::compiler, ModuleRole::mpi}) {
                if (const LoadedModule* one = loadable(role)) load.push_back(one->module.full_name());
            }
            set("load", toml_list(load));
        }
        write_compilers();
    }

    void write_compilers() {
        const LoadedModule* compiler = loadable(ModuleRole::compiler);
        const bool is_cray = compiler != nullptr && is_programming_environment(compiler->module) &&
                             survey_.has_program("CC") && survey_.has_program("ftn");
        const bool has_c = survey_.has_program("cc") || survey_.has_program("gcc");
        table("[compilers]");
        if (is_cray) {
            note("The compilers of a Cray programming environment.");
            set("c", "\"cc\"");
            set("cxx", "\"CC\"");
            set("fortran", "\"ftn\"");
            set("mpi_c", "\"cc\"");
        } else {
            if (!has_c) fill_in("no C compiler was found: load the module that provides it");
            if (survey_.has_program("gcc") && survey_.has_program("g++")) {
                set("c", "\"gcc\"");
                set("cxx", "\"g++\"");
            }
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

    // The names of GPUs in features, types and drivers.
    [[nodiscard]] std::vector<GpuType> gpu_types() const {
        std::vector<GpuType> types;
        const auto add = [&types](const std::string& text) {
            const auto found = find_gpu_type(text);
            const bool known = found && std::any_of(types.begin(), types.end(), [&](const GpuType& one) {
                                   return one.name == found->name;
                               });
            if (found && !known) types.push_back(*found);
            return found.has_value();
        };
        for (const auto& node : survey_.batch.nodes) {
            if (node.gpus == 0 || add(node.gpu_type)) continue;
            for (const auto& feature : node.features)
                add(feature);
        }
        if (survey_.batch.nodes.empty()) std::for_each(survey_.gpus.begin(), survey_.gpus.end(), add);
        return types;
    }

    [[nodiscard]] std::string label_of(const GpuType& type, const AvailableModule* toolkit) const {
        std::string label;
        if (toolkit != nullptr) {
            const auto parts = base::split(toolkit->version, '.');
            label = type.kind == "cuda" ? "cu" : "rocm";
            label += std::string(parts[0]) + (parts.size() > 1 ? std::string(parts[1]) : "") + ".";
            const bool plain = std::all_of(label.begin(), label.end(),
                                           [](char c) { return base::is_ascii_alnum(c) || c == '.'; });
            label = plain ? base::ascii_lower(label) : "";
        }
        return label + std::string(type.name);
    }

    void write_accelerators() {
        const auto types = gpu_types();
        std::int64_t with_gpus = 0;
        for (const auto& node : survey_.batch.nodes)
            with_gpus += node.gpus > 0 ? node.count : 0;
        if (types.empty() && with_gpus == 0) return;
        line("");
        note("Targets that wheels are built for; each has wheels of its own, with its label in the version.");
        table("[[accelerator]]");
        set("name", "\"cpu\"");
        if (types.empty()) {
            fill_in(std::to_string(with_gpus) + " nodes have GPUs of a type that is not known here: name it");
            note("[[accelerator]]");
            note("name = \"a100\"");
            note("kind = \"cuda\"");
            note("architectures = [\"sm_80\"]");
            note("label = \"cu123.a100\"");
        }
        for (const GpuType& type : types) {
            const ModuleRole role = type.kind == "cuda" ? ModuleRole::cuda : ModuleRole::rocm;
            const LoadedModule* toolkit = loadable(role);
            table("[[accelerator]]");
            set("name", toml_text(type.name));
            set("kind", toml_text(type.kind));
            set("architectures", toml_list({std::string(type.architecture)}));
            set("label", toml_text(label_of(type, toolkit == nullptr ? nullptr : &toolkit->module)));
            note_choices(role, type.kind == "cuda" ? "CUDA" : "ROCm");
            if (toolkit != nullptr) set("modules", toml_list({toolkit->module.full_name()}));
        }
    }

    void write_nodes() {
        const auto types = gpu_types();
        std::vector<std::string> names;
        for (const auto& node : survey_.batch.nodes) {
            if (names.size() == max_nodes_listed) break;
            if (is_closed(node.queue)) continue;
            std::string name = site_name_of(node.queue.empty() ? "node" : node.queue);
            const std::string first = name;
            for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number)
                name = first + "-" + std::to_string(number);
            names.push_back(name);
            table("[[node]]");
            note(std::to_string(node.count) + (node.count == 1 ? " node" : " nodes") +
                 (node.features.empty() ? "" : "; features: " + some_of(node.features)));
            set("name", toml_text(name));
            if (!node.queue.empty()) set("queue", toml_text(node.queue));
            set("cores", std::to_string(node.cores));
            if (node.memory_mib > 0) set("memory_mib", std::to_string(node.memory_mib));
            if (node.gpus == 0) continue;
            set("gpus", std::to_string(node.gpus));
            auto type = find_gpu_type(node.gpu_type);
            for (const auto& feature : node.features)
                type = type ? type : find_gpu_type(feature);
            if (type) set("accelerator", toml_text(type->name));
        }
    }

    [[nodiscard]] const InterpreterSurvey* best_python() const {
        const InterpreterSurvey* best = nullptr;
        for (const auto& python : survey_.pythons) {
            if (!python.has_venv || minor_of(python) < min_python_minor) continue;
            const auto rank = [](const InterpreterSurvey& one) {
                return std::pair(one.has_headers, minor_of(one));
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
                 (one.has_venv ? "" : ", without venv") + (one.has_headers ? "" : ", without Python.h"));
        }
        if (best == nullptr) fill_in("no Python with venv and ensurepip was found: install or load one");
        table("[[python]]");
        set("version", toml_text(best == nullptr ? "3.11" : best->version));
        if (best == nullptr) return;
        if (!best->has_headers)
            note("Python.h is missing: wheels with extensions need it (Debian: python3-dev).");
        if (best->module.empty()) {
            set("executable", toml_text(best->executable));
        } else {
            set("source", "\"module\"");
            set("modules", toml_list({best->module}));
        }
    }

    void write_wants() {
        line("");
        note("The wheels that the site should have. The first is small: it shows that everything works.");
        table("[[want]]");
        set("package", "\"markupsafe\"");
        set("versions", "[\"3.0.2\"]");
    }

    const Survey& survey_;
    const SiteWishes& wishes_;
    std::string name_;
    SiteDraft draft_;
};

}  // namespace

SiteDraft draft_site(const Survey& survey, const SiteWishes& wishes) {
    return Draft(survey, wishes).write();
}

}  // namespace wheelyard::builder
