// Each question is a bash script that prints lines of an @word and its values; only the parsers know their
// form.
#include "builder/survey/survey.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

// Files that define `module`, in the order of preference: those of the site know its module folders.
extern const std::string_view survey_modules;
extern const std::string_view survey_folders;

}  // namespace templates

namespace {

constexpr std::string_view interpreter_probe =
    "import sys, os, sysconfig\n"
    "try:\n    import venv, ensurepip; venv = 'venv'\n"
    "except ImportError:\n    venv = '-'\n"
    "h = os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h'))\n"
    "r = '-rpath' in (sysconfig.get_config_var('LDFLAGS') or '')\n"
    "print('@python', '%d.%d.%d' % sys.version_info[:3], venv, 'headers' if h else '-', 'rpath' if r else "
    "'-', "
    "sys.executable)\n";

// Proxies with a password would be visible in every job script.
std::vector<std::pair<std::string, std::string>> proxies_of(const EnvironmentMap& environment) {
    std::vector<std::pair<std::string, std::string>> proxies;
    for (const char* name : {"all_proxy", "ftp_proxy", "http_proxy", "https_proxy", "no_proxy"}) {
        const auto found = environment.find(name);
        if (found == environment.end() || found->second.empty()) continue;
        const auto url = base::parse_url(found->second);
        if (found->second.find('@') == std::string::npos || (url && url->userinfo.empty()))
            proxies.emplace_back(name, found->second);
    }
    return proxies;
}

// The text after "@WORD " of each line that begins with it.
std::vector<std::string_view> values_of(std::string_view text, std::string_view word) {
    std::vector<std::string_view> values;
    for (const auto line : base::split_lines(text)) {
        if (line.starts_with(word) && line.size() > word.size() && line[word.size()] == ' ')
            values.push_back(base::trim(line.substr(word.size() + 1)));
    }
    return values;
}

// Bash that defines `module`, as the site's jobs will do.
std::string module_setup(const ModuleSurvey& modules) {
    if (modules.init.empty()) return "";
    std::string text = "type module > /dev/null 2>&1 || . " + base::quote_shell(modules.init) +
                       " > /dev/null 2>&1\nmodule purge > /dev/null 2>&1\n";
    for (const auto& folder : modules.use)
        text += "module use " + base::quote_shell(folder) + "\n";
    return text;
}

void survey_modules(const AskMachine& ask, ModuleSurvey& modules) {
    const MachineAnswer answer = ask(std::string(templates::survey_modules));
    for (const auto folder : values_of(answer.out, "@use"))
        modules.use.emplace_back(folder);
    const auto init = values_of(answer.out, "@init");
    if (!init.empty()) modules.init = std::string(init.front());
    modules.available = parse_modules(answer.out);
    std::vector<ModuleRole> roles = {ModuleRole::compiler, ModuleRole::mpi};
    for (const auto* kind : accelerator::accelerator_kinds())
        roles.push_back(ModuleRole::toolkit(*kind));
    for (const ModuleRole& role : roles) {
        const auto best = modules_of(role, modules.available);
        if (!best.empty()) modules.tried.push_back({role, best.front()});
    }
}

// Loads the chosen modules one after the other, and looks for compilers and launchers.
void survey_tools(const AskMachine& ask, Survey& survey) {
    std::string script = module_setup(survey.modules);
    for (const auto& tried : survey.modules.tried) {
        const std::string name = base::quote_shell(tried.module.full_name());
        script += "module load " + name + " > /dev/null 2>&1\ncase \":${LOADEDMODULES-}:\" in *:" + name +
                  ":*) echo '@loaded '" + name + " ;; esac\n";
    }
    script +=
        "for name in cc CC ftn c++ gcc g++ gfortran mpicc srun mpirun mpiexec git; do\n"
        "    command -v $name > /dev/null && echo \"@program $name\"\ndone; true";
    parse_module_tries(ask(script).out, survey);
}

void survey_pythons(const AskMachine& ask, Survey& survey) {
    const std::string probe = base::quote_shell(interpreter_probe);
    const MachineAnswer own =
        ask("PATH=/usr/bin:/usr/local/bin:$PATH\nfor name in $(compgen -c python3 | sort -ru | grep -E "
            "'^python3([.][0-9]+)?$'); do\n"
            "    \"$(command -v $name)\" -I -c " +
            probe + " 2> /dev/null\ndone; true");
    survey.pythons = parse_interpreters(own.out);
    for (const auto& module : modules_of(ModuleRole::python, survey.modules.available)) {
        const MachineAnswer answer =
            ask(module_setup(survey.modules) + "module load " + base::quote_shell(module.full_name()) +
                " > /dev/null 2>&1 && python3 -I -c " + probe);
        auto found = parse_interpreters(answer.out);
        if (found.empty()) continue;
        const bool is_known = std::any_of(survey.pythons.begin(), survey.pythons.end(), [&](const auto& one) {
            return one.full_version == found.front().full_version;
        });
        if (is_known) continue;
        found.front().module = module.full_name();
        survey.pythons.push_back(found.front());
        break;  // the best one; the others are in the list of modules
    }
}

void survey_scheduler(const AskMachine& ask, Survey& survey) {
    for (const SchedulerKind* kind : scheduler_kinds()) {
        if (!kind->batch) continue;
        if (auto found = kind->batch->survey(survey.user, ask)) {
            survey.scheduler = kind;
            survey.batch = std::move(*found);
            return;
        }
    }
}

}  // namespace

bool Survey::has_program(std::string_view name) const {
    return std::find(programs.begin(), programs.end(), name) != programs.end();
}

std::vector<InterpreterSurvey> parse_interpreters(std::string_view text) {
    std::vector<InterpreterSurvey> found;
    for (const auto value : values_of(text, "@python")) {
        const auto parts = base::split(value, ' ');
        if (parts.size() < 5) continue;
        const auto numbers = base::split(parts[0], '.');
        if (numbers.size() < 2) continue;
        InterpreterSurvey python;
        python.full_version = std::string(parts[0]);
        python.version = std::string(numbers[0]) + "." + std::string(numbers[1]);
        python.has_venv = parts[1] == "venv";
        python.has_headers = parts[2] == "headers";
        python.has_rpath = parts[3] == "rpath";
        const auto before = parts[0].size() + parts[1].size() + parts[2].size() + parts[3].size();
        python.executable = std::string(value.substr(before + 4));
        const bool known = std::any_of(found.begin(), found.end(),
                                       [&](const auto& one) { return one.version == python.version; });
        if (!known) found.push_back(std::move(python));
    }
    return found;
}

std::vector<FolderSurvey> parse_folders(std::string_view text) {
    std::vector<FolderSurvey> folders;
    constexpr std::uint64_t bytes_per_kib = 1024;
    for (const auto value : values_of(text, "@folder")) {
        const auto parts = base::split(value, ' ');
        if (parts.size() < 4) continue;
        FolderSurvey folder;
        folder.origin = std::string(parts[0]);
        folder.file_system = std::string(parts[1]);
        folder.free_bytes = base::parse_decimal(parts[2]).value_or(0) * bytes_per_kib;
        folder.path = std::string(value.substr(parts[0].size() + parts[1].size() + parts[2].size() + 3));
        while (folder.path.size() > 1 && folder.path.ends_with('/'))
            folder.path.pop_back();
        folders.push_back(std::move(folder));
    }
    return folders;
}

void parse_module_tries(std::string_view text, Survey& survey) {
    const auto loaded = values_of(text, "@loaded");
    for (auto& tried : survey.modules.tried)
        tried.loads = std::find(loaded.begin(), loaded.end(), tried.module.full_name()) != loaded.end();
    for (const auto program : values_of(text, "@program"))
        survey.programs.emplace_back(program);
}

Survey survey_machine(const EnvironmentMap& environment) {
    const AskMachine ask = [&](const std::string& script) { return query_machine(script, environment); };
    Survey survey;
    survey.user.name = base::user_name(::geteuid());
    if (const MachineAnswer groups = ask("id -Gn"); groups.good)
        for (const auto group : base::split(groups.last_line, ' '))
            survey.user.groups.emplace_back(group);
    utsname about{};
    if (::uname(&about) == 0) survey.machine = about.machine;
    survey.host = about.nodename;
    survey.host = survey.host.substr(0, survey.host.find('.'));
    survey.cores = static_cast<int>(base::parse_decimal(ask("nproc").last_line).value_or(1));
    survey_scheduler(ask, survey);
    survey_modules(ask, survey.modules);
    survey_tools(ask, survey);
    survey_pythons(ask, survey);
    survey.folders = parse_folders(ask(std::string(templates::survey_folders)).out);
    std::string list_gpus;
    for (const auto* kind : accelerator::accelerator_kinds())
        list_gpus += std::string(kind->list_gpus) + "\n";
    const std::string gpus = ask(list_gpus + "true").out;
    for (const auto line : base::split_lines(gpus)) {
        if (!base::trim(line).empty()) survey.gpus.emplace_back(base::trim(line));
    }
    survey.proxies = proxies_of(environment);
    return survey;
}

io::Json json_of(const Survey& survey) {
    using io::Json;
    Json queues = Json::array(), nodes = Json::array(), modules = Json::array(), pythons = Json::array(),
         folders = Json::array(), proxies = Json::object();
    for (const auto& one : survey.batch.queues) {
        queues.push(Json::object({{"name", one.name},
                                  {"default", one.is_default},
                                  {"closed", one.closed.empty() ? Json() : Json(one.closed)},
                                  {"max_walltime_minutes", one.max_walltime_minutes},
                                  {"max_memory_mib", one.max_memory_mib},
                                  {"exclusive", one.is_exclusive},
                                  {"memory_per_core_mib", one.memory_per_core_mib},
                                  {"accounts", Json::array_of(one.accounts)}}));
    }
    for (const auto& one : survey.batch.nodes) {
        nodes.push(Json::object({{"queue", one.queue},
                                 {"count", one.count},
                                 {"cores", one.cores},
                                 {"memory_mib", one.memory_mib},
                                 {"gpus", one.gpus},
                                 {"gpu_type", one.gpu_type},
                                 {"features", Json::array_of(one.features)}}));
    }
    for (const auto& one : survey.modules.available)
        modules.push(one.full_name());
    for (const auto& one : survey.pythons) {
        pythons.push(Json::object({{"version", one.full_version},
                                   {"executable", one.executable},
                                   {"venv", one.has_venv},
                                   {"headers", one.has_headers},
                                   {"module", one.module}}));
    }
    for (const auto& one : survey.folders) {
        folders.push(Json::object({{"origin", one.origin},
                                   {"path", one.path},
                                   {"file_system", one.file_system},
                                   {"free_bytes", one.free_bytes}}));
    }
    for (const auto& [name, value] : survey.proxies)
        proxies.set(name, value);
    return Json::object({{"host", survey.host},
                         {"user", survey.user.name},
                         {"machine", survey.machine},
                         {"cores", survey.cores},
                         {"scheduler", survey.scheduler->name},
                         {"scheduler_version", survey.batch.version},
                         {"cluster", survey.batch.cluster},
                         {"queues", queues},
                         {"nodes", nodes},
                         {"accounts", Json::array_of(survey.batch.accounts)},
                         {"unanswered", Json::array_of(survey.batch.problems)},
                         {"modules", Json::object({{"init", survey.modules.init},
                                                   {"use", Json::array_of(survey.modules.use)},
                                                   {"available", modules}})},
                         {"programs", Json::array_of(survey.programs)},
                         {"pythons", pythons},
                         {"folders", folders},
                         {"gpus", Json::array_of(survey.gpus)},
                         {"proxies", proxies}});
}

// GPU models by the names that batch systems and drivers use.
std::optional<GpuType> find_gpu_type(std::string_view text) {
    const std::string lower = base::ascii_lower(text);
    for (std::size_t begin = 0; begin < lower.size();) {
        std::size_t end = begin;
        while (end < lower.size() && base::is_ascii_alnum(lower[end]))
            ++end;
        const auto word = std::string_view(lower).substr(begin, end - begin);
        for (const auto* kind : accelerator::accelerator_kinds()) {
            for (const auto& model : kind->models) {
                if (word == model.name) return GpuType{model.name, kind, model.architecture};
            }
        }
        begin = end + 1;
    }
    return std::nullopt;
}

}  // namespace wheelyard::builder
