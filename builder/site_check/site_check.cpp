// One function per topic; each runs the real program.
#include "builder/site_check/site_check.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "builder/attempt/journal.hpp"
#include "builder/attempt/known_store.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/plan/plan.hpp"
#include "builder/plan/version_choice.hpp"
#include "builder/remote/access.hpp"
#include "builder/remote/upload.hpp"
#include "builder/schedule/batch_command.hpp"
#include "builder/script/script.hpp"
#include "builder/show/report.hpp"
#include "builder/site/python.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/site/site_file.hpp"
#include "builder/sources/sources.hpp"
#include "builder/survey/site_draft.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/pip_config.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// Prints the file, or the folders that do not have it. Modules and [environment] add folders in CPATH.
extern const std::string_view python_headers;

}  // namespace templates

namespace {

namespace fs = std::filesystem;

bool any_wanted(const Site& site, const Recipes& recipes, bool (*has)(const Recipe&)) {
    const auto wants = wanted_packages(site, recipes);
    return std::any_of(wants.begin(), wants.end(),
                       [&](const auto& want) { return has(recipes.of(want.package)); });
}

bool clones(const Recipe& recipe) {
    return recipe.source == SourceKind::git ||
           std::any_of(recipe.beside.begin(), recipe.beside.end(),
                       [](const Beside& beside) { return !beside.tag.empty(); });
}

bool has_patches(const Recipe& recipe) {
    return !recipe.patches.empty();
}

class Checker {
  public:
    Checker(const Site& site, const Recipes& recipes, const EnvironmentMap& environment)
        : site_(site), recipes_(recipes), environment_(environment) {}

    std::vector<SiteLine> check() {
        check_modules();
        check_pythons();
        check_compilers();
        optional([this] { check_launcher(); });
        check_tools();
        check_scheduler();
        optional([this] { check_doctor_rules(); });
        check_folder("state folder", site_.state_directory, min_state_bytes);
        check_work_folder();
        // Ticks ask the registry and the indexes again, and say so themselves.
        optional([this] {
            check_registry();
            check_packages();
        });
        if (const auto line = check_uploaded_sources(site_, environment_)) {
            lines_.push_back(*line);
            lines_.back().required = false;
        }
        return std::move(lines_);
    }

  private:
    static constexpr std::uint64_t min_state_bytes = 100 * base::mib;

    // What only some builds or tests need.
    void optional(const std::function<void()>& check) {
        const std::size_t before = lines_.size();
        check();
        for (std::size_t at = before; at < lines_.size(); ++at)
            lines_[at].required = false;
    }

    void add(const std::string& what, bool good, const std::string& found, const std::string& advice) {
        lines_.push_back({what, good, found, good ? "" : advice});
    }

    // Bash that sets up the site's environment, for checks of programs that modules may provide.
    [[nodiscard]] std::string setup() const {
        return setup(usable_);  // the modules of a Python that does not start would make every check fail
    }
    [[nodiscard]] std::string setup(const PythonChoice* python) const {
        const Accelerator* accelerator = site_.accelerators.empty() ? nullptr : &site_.accelerators.front();
        const std::string text = render_setup(site_, python, accelerator, "");
        return text.empty() ? "" : "{ " + text + "} >&2\n";
    }

    void check_modules() {
        const std::string script = render_module_check(site_);
        if (script.empty()) return;
        const MachineAnswer answer = query_machine(script, environment_);
        std::string log;
        for (const auto line : base::split_lines(answer.out)) {
            const bool loaded = line.starts_with("@loaded ");
            if (!loaded && !line.starts_with("@missing ")) {
                if (!base::trim(line).empty()) log.append(line).append("\n");
                continue;
            }
            const std::string name(line.substr(line.find(' ') + 1));
            add("module " + name, loaded,
                loaded        ? "loaded"
                : log.empty() ? "not loaded"
                              : reason_in(log),
                "`module spider " + name.substr(0, name.find('/')) +
                    "` lists what is available; correct [modules], [[accelerator]] or [[python]]");
            log.clear();
        }
        if (answer.out.find('@') == std::string::npos)
            add("modules", false, answer.last_line,
                "set `init` in [modules] to the file that defines `module`");
    }

    void check_pythons() {
        for (const auto& choice : site_.pythons) {
            const auto& python =
                pythons_
                    .emplace(choice.version, probe_python(choice, render_setup(site_, &choice, nullptr, "")))
                    .first->second;
            add("Python " + choice.version, python.has_value(),
                python ? python->full_version + " (" + python->environment.machine + "), " +
                             python->executable.string()
                       : python.error().sentence + ": " + python.error().value,
                python ? "" : python.error().advice);
            if (!python) continue;
            if (!python_) {
                python_ = *python;
                usable_ = &choice;
            }
            const MachineAnswer venv =
                query_machine(setup(&choice) + base::quote_shell(python->executable.string()) +
                                  " -I -c 'import venv, ensurepip'",
                              environment_);
            add("venv of Python " + choice.version, venv.good, venv.good ? "available" : venv.last_line,
                "install the modules venv and ensurepip (Debian: python3-venv)");
            check_headers(choice, *python);
        }
    }

    // Python.h, which every extension module includes: a distribution has it in a package of its own.
    void check_headers(const PythonChoice& choice, const Python& python) {
        const MachineAnswer answer =
            // A variable of jobs is empty here.
            query_machine(setup(&choice) + "set +u\n" + render_environment(site_.environment, "site.toml") +
                              base::quote_shell(python.executable.string()) + " -I -c " +
                              base::quote_shell(std::string(templates::python_headers)),
                          environment_);
        add("headers of Python " + choice.version, answer.good, answer.last_line,
            "install them (Debian: python3-dev, Red Hat: python3-devel), or correct [[python]]");
        of_extensions_.push_back(lines_.size() - 1);
    }

    void check_compiler(const std::string& name, const std::string& compiler, const std::string& suffix,
                        const std::string& program) {
        if (compiler.empty()) return;
        const auto folder = base::TempDir::make("wheelyard-check");
        if (!folder) return add(name, false, folder.error().sentence, "free space in the temporary folder");
        const fs::path source = folder->path() / ("program." + suffix);
        if (const auto written = base::replace_file(source, program); !written)
            return add(name, false, written.error().sentence, "free space in the temporary folder");
        const MachineAnswer answer =
            query_machine("set -eu\n" + setup() + "cd " + base::quote_shell(folder->path().string()) + "\n" +
                              compiler + " -c " + source.filename().string() + " -o program.o",
                          environment_);
        add(name + " " + compiler, answer.good, answer.good ? "compiles" : answer.last_line,
            "correct [compilers], load the module that provides it, or install it (Debian: gcc, g++); for "
            "pure "
            "packages alone, `extension = \"optional\"` in [build] of their recipes");
    }

    void check_compilers() {
        const auto or_default = [](const std::string& given, const char* fallback) {
            return given.empty() ? std::string(fallback) : given;
        };
        check_compiler("C compiler", or_default(site_.compilers.c, "cc"), "c",
                       "int main(void) { return 0; }\n");
        if (site_.compilers.c.empty()) of_extensions_.push_back(lines_.size() - 1);
        check_compiler("C++ compiler", or_default(site_.compilers.cxx, "c++"), "cpp",
                       "#include <string>\nint main() { return (int)std::string().size(); }\n");
        if (site_.compilers.cxx.empty()) of_extensions_.push_back(lines_.size() - 1);
        optional([this] {
            check_compiler("Fortran compiler", site_.compilers.fortran, "f90", "end\n");
            check_compiler("MPI compiler", site_.compilers.mpi_c, "c",
                           "#include <mpi.h>\nint v = MPI_VERSION;\n");
        });
    }

    void check_program(const std::string& what, const std::string& program, const std::string& advice) {
        const std::string question = "command -v -- " + base::quote_shell(program);
        MachineAnswer answer = query_machine(setup() + question, environment_);
        // A module that does not load has a line of its own; the program may be there all the same.
        if (!answer.good) answer = query_machine(question, environment_);
        add(what, answer.good, answer.good ? answer.last_line : "`" + program + "` was not found", advice);
    }

    void check_launcher() {
        if (site_.launcher.empty()) return;
        check_program("MPI launcher", site_.launcher.substr(0, site_.launcher.find(' ')),
                      "correct `launcher` in [mpi], or load the module that provides it");
    }

    void check_tools() {
        const bool git = any_wanted(site_, recipes_, clones);
        const bool patch = any_wanted(site_, recipes_, has_patches);
        if (git)
            check_program("git", "git", "install git on the login node: some recipes clone their sources");
        if (patch) check_program("patch", "patch", "install patch: some recipes have patches");
        if (site_.compiler_cache_gib > 0)
            check_program(
                "ccache", "ccache",
                "install ccache, here and where jobs run, or remove `compiler_cache_gib` from [work]");
    }

    void check_scheduler() {
        if (!site_.scheduler->batch)
            return add("scheduler", true, std::string(site_.scheduler->name) + ": jobs run on this machine",
                       "");
        const auto& tests = site_.hardware_tests;
        const bool asks_for_gpus = site_.queue.gpus > 0 || (tests.gpu && tests.gpu->gpus > 0) ||
                                   (tests.multi_node && tests.multi_node->gpus > 0);
        const auto ask_here = [this](const std::string& script) {
            return query_machine(script, environment_);
        };
        const auto checked = site_.scheduler->batch->check(site_.queue, asks_for_gpus, ask_here);
        for (const SiteLine& line : checked)
            add(line.what, line.good, line.found, line.advice);
        if (checked.empty() || !checked.front().good) return;  // it does not answer
        const EnvironmentMap submits = submit_environment(
            environment_, site_.scheduler->batch->server_variables, job_environment(environment_));
        // All jobs ask for the same queues and nodes, which a large cluster prints in megabytes. What failed
        // is asked again.
        std::map<std::string, MachineAnswer> answers;
        const auto ask_as_agent = [&](const std::string& script) {
            if (const auto known = answers.find(script); known != answers.end()) return known->second;
            MachineAnswer answer = query_machine(script, submits);
            if (answer.good) answers.emplace(script, answer);
            return answer;
        };
        // A refusal holds the queue, and a job is tried again.
        optional([&] {
            for (const SiteLine& line : try_site_jobs(site_, recipes_, ask_as_agent))
                add("job: " + line.what, line.good, line.found, line.advice);
        });
    }

    // The site's own; a rule with a problem is left out.
    void check_doctor_rules() {
        const RuleBook& book = *site_.doctor_rules;
        const auto count = std::count_if(book.rules().begin(), book.rules().end(),
                                         [](const DoctorRule& rule) { return !rule.place.empty(); });
        std::vector<std::string> wrong = book.problems();
        for (const auto& one : check_rules(book))
            wrong.push_back(one);
        if (count == 0 && wrong.empty()) return;
        add("doctor's rules", wrong.empty(),
            wrong.empty() ? std::to_string(count) + " in " + book.folder().string() : base::join(wrong, "\n"),
            "correct them, then `wheelyard-builder doctor --check-rules`");
    }

    void check_folder(const std::string& what, const fs::path& folder, std::uint64_t min_bytes) {
        // The agent creates the folder itself if it does not exist; check the nearest existing parent.
        fs::path there = folder;
        std::error_code error;
        while (!there.empty() && !fs::exists(there, error) && there != there.parent_path())
            there = there.parent_path();
        const auto probe = base::TempDir::make(".wheelyard-check", there);
        if (!probe) {
            return add(what, false, folder.string() + ": " + probe.error().sentence,
                       "create it, writable for the user who runs the agent");
        }
        struct statvfs space = {};
        const bool asked = ::statvfs(there.c_str(), &space) == 0;
        const std::uint64_t free_bytes =
            asked ? static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize : 0;
        add(what, !asked || free_bytes >= min_bytes,
            folder.string() + ", " + base::render_bytes(free_bytes) + " free",
            "builds need " + base::render_bytes(min_bytes) +
                " here: free some space, or choose another folder");
    }

    void check_work_folder() {
        const auto checked = check_is_private(site_.work_directory);
        if (!checked) return add("work folder", false, checked.error().sentence, checked.error().advice);
        check_folder("work folder", site_.work_directory, min_work_bytes(site_, recipes_));
    }

    void check_registry() {
        if (!site_.registry) return;
        struct stat token = {};
        const bool there = ::stat(site_.registry->token_file.c_str(), &token) == 0;
        constexpr mode_t others = 077;
        const std::string name = site_.registry->token_file.string();
        const auto text = read_token(site_.registry->token_file);
        if (there && (token.st_mode & others) != 0) {
            add("token file", false, name + ": readable by others", "chmod 600 " + base::quote_shell(name));
        } else if (!there) {
            add("token file", false, name + ": missing",
                "ask the registry's operator for a code (`wheelyard-registry agent enrol`), then "
                "`wheelyard-builder enrol`; or for a token (`wheelyard-registry token create`)");
        } else {
            add("token file", text.has_value(), text ? name : text.error().sentence + ": " + name,
                text ? "" : text.error().advice);
        }
        io::HttpClient http;
        const auto answer = http.get(site_.registry->simple_url());
        const auto found =
            answer ? simple::check_registry(simple::page_getter(http), site_.registry->url, *answer)
                   : base::Status();
        if (!found) return add("registry", false, found.error().sentence, found.error().advice);
        const bool good = answer && answer->status == 200;
        add("registry", good,
            good     ? site_.registry->simple_url()
            : answer ? site_.registry->simple_url() + " answers " + std::to_string(answer->status)
                     : answer.error().text(),
            "check [registry] and the proxies of this shell, or ask the registry's operator");
        if (text) check_rights(http);
    }

    // Says whether the registry would take each wanted package, and give tasks. Without an answer nothing is
    // reported.
    void check_rights(io::HttpClient& http) {
        std::vector<std::string> packages;
        for (const auto& want : wanted_packages(site_, recipes_))
            packages.push_back(want.package);
        std::map<std::string, std::vector<std::string>> by_reason;
        std::map<std::string, std::string> advice;
        const Access access = ask_access(http, *site_.registry, packages);
        const std::string known = read_known_store(site_.state_directory);
        if (access.store && !known.empty() && *access.store != known)
            add("journal", false,
                "it knows another store than that of " + site_.registry->url + ": " +
                    site_.state_directory.string(),
                "for a new registry, name a new folder in [state], else correct `url` in [registry]");
        for (const auto& [package, error] : access.refused) {
            by_reason[error.sentence].push_back(package);
            advice[error.sentence] = error.advice;
        }
        const auto& claims = access.refused_claims;
        if (site_.registry->claim_tasks != "no" && claims && !by_reason.contains(claims->sentence))
            add("claims of tasks", false, claims->sentence, claims->advice);
        for (const auto& [reason, refused] : by_reason)
            add("upload of " + base::join(refused, ", "), false, reason, advice[reason]);
    }

    // The packages of which some wanted version is not taken from an upstream, as a recipe's override may say.
    [[nodiscard]] std::set<std::string> built_packages() const {
        const std::string kind = site_.accelerators.empty() ? "cpu" : site_.accelerators.front().kind;
        std::set<std::string> built;
        const auto note = [&](const std::string& package, const std::string& version) {
            if (recipes_.of(package, version, kind).source != SourceKind::upstream) built.insert(package);
        };
        for (const auto& want : site_.wants) {
            for (const auto& text : want.versions) {
                note(want.package, text);
                const auto version = wheel::Version::parse(text);
                for (const auto& package : want.follow_ups) {
                    if (!version)
                        note(package, text);
                    else if (const auto companion = companion_of(recipes_.of(package), *version))
                        note(package, companion->text());
                }
            }
        }
        return built;
    }

    // Says whether the indexes of pip's configuration have each wanted package, and the repositories of those
    // that are built answer. The first that does not answer ends it.
    void check_packages() {
        const auto pip =
            simple::read_pip_config(environment_, python_ ? python_->prefix : std::filesystem::path());
        if (!pip) return add("pip's configuration", false, pip.error().sentence, pip.error().advice);
        // Only a pip knows its default index; that there is no Python has a line of its own.
        if (!python_ && pip->index_url().empty() && !pip->no_index()) return;
        io::HttpClient http(pip->http_settings());
        Sources sources(
            http, site_.work_directory, *pip,
            [this]() -> base::Result<std::string> { return ask_default_index(*python_); },
            [this](const std::string& warning) { add("pip's configuration", true, warning, ""); });
        base::SystemClock clock;
        sources.use_git(GitSource(site_.work_directory / "sources", job_environment(environment_), clock));
        const auto built = built_packages();
        bool are_pure = !site_.wants.empty();
        for (const auto& want : wanted_packages(site_, recipes_)) {
            const Recipe recipe = recipes_.of(want.package);
            const bool is_git = recipe.source == SourceKind::git;
            const bool needs_none =
                recipe.source == SourceKind::upstream || recipe.extension == ExtensionWish::optional;
            if (recipe.source != SourceKind::sdist && (!is_git || built.count(want.package) == 0)) {
                are_pure = are_pure && (needs_none || is_git);
                continue;
            }
            const auto offers = sources.offers(recipe);
            are_pure = are_pure && (needs_none || (offers && !is_git && is_pure(want, *offers)));
            if (!offers)
                return add("source of " + want.package, false, offers.error().text(),
                           is_git ? "check the recipe's `url`, and the proxies of this shell"
                                  : "check pip's configuration and the proxies of this shell");
            if (is_git) continue;  // versions may have tags and repositories of their own
            if (!offers->sdists.empty()) {
                check_versions(want, *offers);
            } else if (is_had(want, want.versions)) {
                add_had(want, "no sdist in " + base::join(offers->places, ", "));
            } else {
                add("source of " + want.package, false, why_no_sdist(want.package, *offers, "latest"),
                    "correct [[want]] or what is left out above, or name its source in a recipe");
            }
        }
        if (are_pure) forgive_compilers();
    }

    // Says whether the index has wheels of each version that is wanted, and pure ones alone.
    static bool is_pure(const Want& want, const SdistOffers& offers) {
        return std::all_of(want.versions.begin(), want.versions.end(), [&offers](const std::string& text) {
            auto version = wheel::Version::parse(text);
            const auto set = wheel::SpecifierSet::parse(version || text == "latest" ? "" : text);
            const SdistOffer* newest = nullptr;
            for (const auto& one : offers.sdists) {
                if (!version && set && set->contains(one.version) &&
                    (newest == nullptr || newest->version < one.version))
                    newest = &one;
            }
            if (newest != nullptr) version = newest->version;
            bool has_wheel = false, has_others = false;
            for (const auto& one : offers.wheels) {
                if (!version || one.version != *version) continue;
                has_wheel = true;
                has_others = has_others || !one.filename.ends_with("-any.whl");
            }
            return has_wheel && !has_others;
        });
    }

    // A site that wants pure packages alone builds them without a compiler.
    void forgive_compilers() {
        for (const std::size_t at : of_extensions_) {
            SiteLine& line = lines_[at];
            if (line.good) continue;
            line.good = true;
            line.found += ", and none is needed: every wanted package is pure";
            line.advice.clear();
        }
    }

    // Says whether a source has a version of each `versions`, whatever Python it requires.
    void check_versions(const Want& want, const SdistOffers& offers) {
        if (offers.unanswered) return;
        for (const auto& text : want.versions) {
            const auto exact = wheel::Version::parse(text);
            const auto set = wheel::SpecifierSet::parse(exact || text == "latest" ? "" : text);
            const bool is_there =
                std::any_of(offers.sdists.begin(), offers.sdists.end(), [&](const SdistOffer& offer) {
                    return exact ? offer.version.compare_public(*exact) == 0
                                 : set && set->contains(offer.version, wheel::Prereleases::allowed);
                });
            if (is_there) continue;
            const std::string why = "no sdist of " + text + " in " + base::join(offers.places, ", ");
            if (is_had(want, {text})) {
                add_had(want, why);
                continue;
            }
            const auto newest = std::max_element(
                offers.sdists.begin(), offers.sdists.end(),
                [](const SdistOffer& a, const SdistOffer& b) { return a.version < b.version; });
            add("source of " + want.package, false, why,
                "correct `versions` in [[want]] (the newest version there is " + newest->version.text() +
                    "), or name its source in a recipe");
        }
    }

    // Says whether the plan has every wheel of these versions: then nothing is built, and no source needed.
    bool is_had(Want want, std::vector<std::string> versions) {
        want.versions = std::move(versions);
        want.follow_ups.clear();
        World world;
        world.pythons = pythons_;
        if (site_.registry) {
            io::HttpClient http;
            base::SystemClock clock;
            world.published.emplace(want.package,
                                    HttpRegistry(http, clock, *site_.registry).page(want.package));
        }
        if (auto journal = Journal(site_.state_directory).read())
            world.attempts = std::move(journal->attempts);
        Site site = site_;
        site.wants = {std::move(want)};
        const Plan plan = make_plan(site, recipes_, world);
        return !plan.cells.empty() && std::all_of(plan.cells.begin(), plan.cells.end(), [](const Cell& cell) {
            return cell.purpose != Purpose::build || cell.state == CellState::have;
        });
    }
    void add_had(const Want& want, const std::string& why) {
        add("source of " + want.package, true, why + ", and none is needed: its wheels are there already",
            "");
    }

    const Site& site_;
    const Recipes& recipes_;
    const EnvironmentMap& environment_;
    const PythonChoice* usable_ = nullptr;  // of [[python]], whose interpreter starts
    std::optional<Python> python_;          // the first usable one
    Pythons pythons_;
    std::vector<SiteLine> lines_;
    std::vector<std::size_t> of_extensions_;  // what a package without an extension does without
};

}  // namespace

std::uint64_t min_work_bytes(const Site& site, const Recipes& recipes) {
    constexpr std::uint64_t of_clones = 20 * base::gib;  // one build of torch: sources, objects, wheel
    return any_wanted(site, recipes, clones) ? of_clones : min_build_bytes;
}

std::string render_module_check(const Site& site) {
    std::vector<std::string> modules = site.modules.load;
    for (const auto& accelerator : site.accelerators)
        modules.insert(modules.end(), accelerator.modules.begin(), accelerator.modules.end());
    for (const auto& python : site.pythons)
        modules.insert(modules.end(), python.modules.begin(), python.modules.end());
    if (modules.empty()) return "";
    std::string text = "exec 2>&1\n";
    if (!site.modules.init.empty()) text += line_that_defines_module(site.modules.init) + "\n";
    text += "type module > /dev/null 2>&1 || exit 1\n";
    text += render_module_settings(site.modules);
    for (const auto& module : modules) {
        const std::string name = base::quote_shell(module);
        text += "module load " + name + "\ncase \":${LOADEDMODULES-}:\" in\n*:" + name +
                "[:/.]*) echo '@loaded '" + name + " ;;\n*) echo '@missing '" + name + " ;;\nesac\n";
    }
    return text;
}

std::vector<SiteLine> check_site(const Site& site, const Recipes& recipes,
                                 const EnvironmentMap& environment) {
    return Checker(site, recipes, environment).check();
}

std::vector<std::string> failed_requirements(const std::vector<SiteLine>& lines) {
    std::vector<std::string> failed;
    for (const SiteLine& line : lines) {
        if (line.required && !line.good) failed.push_back(line.what + ": " + line.found);
    }
    return failed;
}

bool all_good(const std::vector<SiteLine>& lines) {
    return std::all_of(lines.begin(), lines.end(), [](const SiteLine& line) { return line.good; });
}

std::string render_site_lines(const std::vector<SiteLine>& lines) {
    std::string text;
    for (const auto& line : lines) {
        text += std::string(line.good ? "ok    " : "FAIL  ") + line.what + ": " + line.found + "\n";
        if (!line.good) text += "      do: " + line.advice + "\n";
    }
    return text;
}

io::Json json_of(const SiteLine& line) {
    return io::Json::object({{"what", line.what},
                             {"good", line.good},
                             {"required", line.required},
                             {"found", line.found},
                             {"advice", line.advice.empty() ? io::Json() : io::Json(line.advice)}});
}

std::string render_site_lines_json(const std::string& site, const std::vector<SiteLine>& lines) {
    io::Json list = io::Json::array();
    for (const auto& line : lines)
        list.push(json_of(line));
    return io::Json::object({{"format", "wheelyard.site-check/1"},
                             {"site", site},
                             {"good", all_good(lines)},
                             {"lines", list}})
        .render_pretty();
}

}  // namespace wheelyard::builder
