// Wires an agent from a site file.
#include "builder/workplace/workplace.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "builder/agent/claimed_task.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/plan/torch_abi.hpp"
#include "builder/remote/enrolment.hpp"
#include "builder/script/script.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t renewal_pause_s = 60;             // between two looks of a `run`
constexpr std::int64_t max_ask_ms = 10'000;              // a person waits; then no further query of a poll
constexpr std::int64_t task_answer_timeout_ms = 60'000;  // one request to the task service

namespace fs = std::filesystem;

// The first usable interpreter: pip's site file lies in its prefix, and its pip has the default index.
const Python* first_usable(const Pythons& pythons) {
    for (const auto& [version, python] : pythons) {
        if (python) return &*python;
    }
    return nullptr;
}

// Closures install from the site's index alone. It needs no proxy's password: the agent itself takes no proxy
// to it.
std::string farm_conf(simple::PipConfig config, const Site& site) {
    if (!site.registry) return {};
    for (const char* option : {"find-links", "extra-index-url", "no-index", "proxy"})
        config.values.erase(option);
    config.values["index-url"] = {site.registry->simple_url(), "[registry]"};
    return simple::render_pip_conf(config, {});
}

// Jobs run the governor by this path, so the path must be valid on their machines too.
base::Result<fs::path> find_governor(const GovernorSettings& settings) {
    if (!settings.use) return fs::path();
    const fs::path program = settings.path();
    if (::access(program.c_str(), X_OK) == 0) return program;
    return base::fail(
        "governor.missing", "The program of the governor is missing", program.string(),
        "install it in the folder of wheelyard-builder, set `program` in [governor] of site.toml, or "
        "disable the governor there: use = false");
}

}  // namespace

Failpoints failpoints_of_environment() {
    const char* name = std::getenv("WHEELYARD_FAILPOINT");
    return Failpoints(name == nullptr ? "" : name);
}

base::Status Workplace::read(const fs::path& site_file, const EnvironmentMap& environment) {
    WHEELYARD_ASSIGN(site_, read_site(site_file));
    WHEELYARD_ASSIGN(recipes_, read_recipes(site_));
    for (const auto& choice : site_.pythons)
        pythons_.emplace(choice.version, probe_python(choice, render_setup(site_, &choice, nullptr, "")));
    const Python* python = first_usable(pythons_);
    WHEELYARD_ASSIGN(pip_,
                     simple::read_pip_config(environment, python == nullptr ? fs::path() : python->prefix));
    journal_.emplace(site_.state_directory);
    pip_conf_ = simple::render_pip_conf(pip_, environment);
    wants_ = site_.wants;
    read_closures(false);
    return {};
}

void Workplace::connect(const EnvironmentMap& environment, std::function<void(const std::string&)> warn) {
    source_http_.emplace(pip_.http_settings());
    registry_http_.emplace();
    sources_.emplace(
        *source_http_, site_.work_directory, pip_,
        [this]() -> base::Result<std::string> {
            const Python* python = first_usable(pythons_);
            if (python == nullptr)
                return base::fail_for_now(
                    "pip.no_index", "No Python of this site is usable", {},
                    "`" + pasted_command("site check", {}, site_) + "` shows the reason");
            return ask_default_index(*python);
        },
        [warn = std::move(warn)](const std::string& text) {
            const std::string line = "wheelyard-builder: warning of pip's configuration: " + text + "\n";
            warn ? warn(line) : base::print(stderr, line);
        });
    sources_->use_git(GitSource(site_.work_directory / "sources", job_environment(environment), clock_,
                                site_.login_minutes));
    scheduler_ = site_.scheduler->make(site_.queue, environment, clock_);
    if (!site_.registry) return;
    registry_.emplace(*registry_http_, clock_, *site_.registry);
    if (!site_.registry->variants_to.empty()) {
        RegistrySettings variants = *site_.registry;
        variants.index = variants.variants_to;
        variants_.emplace(*registry_http_, clock_, std::move(variants));
    }
    if (site_.registry->claim_tasks != "no") {
        task_http_.emplace(io::HttpSettings{.answer_timeout_ms = task_answer_timeout_ms});
        tasks_.emplace(*task_http_, *registry_http_, clock_, *site_.registry);
    }
}

base::Result<std::unique_ptr<Workplace>> Workplace::open(const fs::path& site_file, Note note,
                                                         RunSettings settings) {
    std::unique_ptr<Workplace> place(new Workplace);
    WHEELYARD_TRY(place->read(site_file, base::current_environment()));
    const auto environment = agent_environment(place->site_);
    WHEELYARD_ASSIGN(auto governor, find_governor(place->site_.governor));
    place->connect(environment, std::move(settings.warn));
    AgentParts parts{Ports{.site = place->site_,
                           .recipes = place->recipes_,
                           .pythons = place->pythons_,
                           .scheduler = *place->scheduler_,
                           .sources = *place->sources_,
                           .registry = place->registry_ ? &*place->registry_ : nullptr,
                           .variants = place->variants_ ? &*place->variants_ : nullptr,
                           .clock = place->clock_,
                           .environment = environment,
                           .governor = std::move(governor),
                           .pip_conf = place->pip_conf_,
                           .note = std::move(note),
                           .failpoints = place->failpoints_,
                           .farm_conf = farm_conf(place->pip_, place->site_)},
                     *place->journal_};
    parts.tasks = place->tasks_ ? &*place->tasks_ : nullptr;
    parts.is_unchecked = settings.unchecked;
    parts.resolve_closures = [raw = place.get()] { raw->read_closures(true); };
    place->agent_.emplace(std::move(parts));
    return place;
}

ClosurePorts Workplace::closure_ports() {
    return {site_, recipes_, pythons_, base::current_environment(), pip_conf_, clock_};
}

void Workplace::add_want(Want want) {
    wants_.push_back(std::move(want));
    read_closures(false);
}

void Workplace::read_closures(bool resolves) {
    const bool has_one = std::any_of(wants_.begin(), wants_.end(),
                                     [](const Want& want) { return want.closure != ClosureMode::none; });
    if (has_one) site_.wants = with_closures(wants_, closure_ports(), resolves);
}

AttemptFolder Workplace::folder_of(const Attempt& attempt) const {
    return {site_.work_directory / "attempts" / attempt.id};
}

fs::path Workplace::log_of(const Attempt& attempt) const {
    const AttemptFolder folder = folder_of(attempt);
    std::error_code ignored;
    const bool has_begun = fs::exists(folder.log(), ignored);
    return has_begun || !fs::exists(folder.login_log(), ignored) ? folder.log() : folder.login_log();
}

std::vector<ClaimRecord> Workplace::claims() const {
    bool ignored = false;
    return ClaimFolder(site_.state_directory / "claims").read(ignored);
}

AttemptView Workplace::view(const Attempt& attempt) const {
    AttemptView view{attempt, {}};
    if (attempt.state != State::running) return view;
    view.progress = parse_progress(read_log_tail(folder_of(attempt).log()));
    return view;
}

base::Status Workplace::explain_torch_abi(Plan& plan) {
    const auto projects = projects_of_torch(plan);
    if (!registry_ || projects.empty()) return {};
    WHEELYARD_ASSIGN(const auto facts, registry_->facts(projects));
    TorchUses uses;
    for (const auto& [filename, of_wheel] : facts) {
        TorchUse use{of_wheel.texts("torch_requires"), of_wheel.string_or("torch_stable_abi", {}),
                     of_wheel.string_or("torch_cxx11_abi", {}), of_wheel.string_or("torch_at_least", {}),
                     of_wheel.string_or("torch_below", {})};
        const auto* needed = of_wheel.find("needed");
        if (needed != nullptr && needed->as_object() != nullptr) {
            for (const auto& [kind, libraries] : *needed->as_object())
                for (auto& library : libraries.texts())
                    use.libraries.insert(std::move(library));
        }
        uses.emplace(filename, std::move(use));
    }
    TorchAnswers answers;
    for (const auto& [companion, torch] : torch_pairs(plan)) {
        const auto said = registry_->with_torch(companion, torch);
        if (!said) break;  // the bounds of the facts decide
        if (!*said) continue;
        answers[{companion, torch}] = {(*said)->string_or("fits", {}), (*said)->string_or("reason", {}),
                                       (*said)->string_or("sentence", {}), (*said)->int_or("names", 0)};
    }
    judge_torch_abi(plan, uses, answers);
    return {};
}

std::optional<base::Error> Workplace::renew_token() {
    const base::UnixMicros now = clock_.now();
    if (!site_.registry || now < next_renewal_) return std::nullopt;
    next_renewal_ = now + renewal_pause_s * 1'000'000;
    io::HttpClient http({.answer_timeout_ms = task_answer_timeout_ms});
    const auto renewed = builder::renew_token({http, clock_, *site_.registry, site_.name, failpoints_});
    // The registry may be away for as long as the token lasts; then its other answers say so.
    if (renewed || renewed.error().may_pass() || renewed.error().text() == told_) return std::nullopt;
    told_ = renewed.error().text();
    return renewed.error();
}

void Workplace::ask_jobs(std::vector<AttemptView>& views) {
    std::map<std::string, AttemptFolder> folders;
    for (const auto& view : views) {
        if (may_have_job(view.attempt.state)) folders.emplace(view.attempt.id, folder_of(view.attempt));
    }
    if (folders.empty()) return;
    const base::UnixMicros began = clock_.now();
    scheduler_->keep_alive = [this, began]() -> base::Status {
        if (clock_.now() - began < max_ask_ms * 1000) return {};
        return base::fail("scheduler.slow", "The batch system answers too slowly");
    };
    const auto jobs = scheduler_->poll(folders);
    scheduler_->keep_alive = {};
    for (auto& view : views) {
        const auto job = jobs.find(view.attempt.id);
        if (job != jobs.end()) view.job = job->second.detail;
    }
}

// Each tick touches the marker (Agent::check_work_folder).
std::optional<base::UnixMicros> Workplace::last_tick() const {
    struct stat marker = {};
    const fs::path file = site_.work_directory / work_marker;
    if (::stat(file.c_str(), &marker) != 0) return std::nullopt;
    return std::int64_t{marker.st_mtim.tv_sec} * 1'000'000 + marker.st_mtim.tv_nsec / 1'000;
}

std::vector<AttemptView> Workplace::views(const std::vector<Attempt>& attempts) const {
    const std::vector<ClaimRecord> claimed = claims();
    std::vector<AttemptView> all;
    for (const auto& attempt : attempts) {
        all.push_back(view(attempt));
        const wire::Task* task = claimed_task_of(claimed, attempt.asked.cell);
        if (task != nullptr) all.back().claimed_task = task->id;
    }
    return all;
}

}  // namespace wheelyard::builder
