// The request of the step, its script, and the files that it leaves.
#include "builder/closure/resolve.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "builder/script/script.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

extern const std::string_view closure;  // closure.py, run by resolve_closure.sh
extern const std::string_view resolve_closure;

}  // namespace templates

namespace {

namespace fs = std::filesystem;
using io::Json;

constexpr std::uint64_t max_closure_bytes = 32 * base::mib;
constexpr std::uint64_t max_reason_bytes = 64 * base::kib;
constexpr std::size_t key_digits = 12;

std::string requirement_of(const ClosureAsked& asked) {
    if (asked.version == "latest") return asked.package;
    const bool is_exact = wheel::Version::parse(asked.version).has_value();
    return asked.package + (is_exact ? "==" : "") + asked.version;
}

std::vector<std::string> bounds_of(const ClosureAsked& asked, const Site& site) {
    const auto exact = exact_version(requirement_of(asked));
    if (!exact) return {};
    return constraints_of(pairs_for(site.version_pairs, {*exact}, {PairUse::run}));
}

// What a recipe adds to the build; `own_source`: what only its job can know.
Json recipes_json(const Recipes& recipes) {
    Json all = Json::object();
    for (const auto& package : recipes.packages()) {
        const Recipe recipe = recipes.of(package);
        const bool is_plain = recipe.source == SourceKind::sdist && recipe.requirements_files.empty() &&
                              recipe.against.empty() && recipe.accelerators.empty();
        std::vector<std::string> requires_too = recipe.build_requires;
        if (recipe.front_end == "build") requires_too.emplace_back("build");
        if (recipe.labelled) requires_too.emplace_back("wheel");  // to edit the metadata
        all.set(package,
                Json::object({{"own_source", Json(!is_plain)}, {"requires", Json::array_of(requires_too)}}));
    }
    return all;
}

Json bad_json(const Site& site) {
    Json all = Json::array();
    for (const auto& bad : site.known_bad) {
        if (bad.accelerators.empty())
            all.push(Json::object(
                {{"package", bad.package}, {"versions", bad.versions.text()}, {"reason", bad.reason}}));
    }
    return all;
}

std::string key_of(const ClosureAsked& asked, const Python& python, const Site& site) {
    const std::string text = requirement_of(asked) + "\n" + std::string(closure_modes.text(asked.mode)) +
                             "\n" + python.full_version + "\n" + base::join(bounds_of(asked, site), "\n");
    return asked.package + "-" + python.tag() + "-" + base::sha256_hex(text).substr(0, key_digits);
}

base::Result<const Python*> python_of(const ClosureAsked& asked, const ClosurePorts& ports) {
    const auto found = ports.pythons.find(asked.python);
    if (found == ports.pythons.end())
        return base::fail("closure.python", "The site has no Python of this version", asked.python);
    if (!found->second) return tl::unexpected(found->second.error());
    return &*found->second;
}

struct Kept {
    fs::path graph;
    fs::path failed;
    fs::path step;  // a folder
};
Kept kept_of(const std::string& key, const Site& site) {
    const fs::path state = site.state_directory / "closures";
    return {state / (key + ".json"), state / (key + ".failed"), site.work_directory / "closures" / key};
}

// The script runs in the step's folder.
std::string render_script(const ClosurePorts& ports, const Python& python) {
    const Site& site = ports.site;
    std::string text = "python=" + base::quote_shell(python.executable.string()) + "\n" +
                       render_new_environment(site, python.version) +
                       render_setup(site, site.python(python.version), nullptr, "");
    const std::string exports =
        render_exports(exports_of_build(site, nullptr, {}, placeholders_of({site, "", "", ""})));
    if (!exports.empty()) text += "\nset +u # a variable of jobs is empty here\n" + exports + "set -u\n";
    return text + std::string(templates::resolve_closure);
}

base::Status advance(const ClosureAsked& asked, const ClosurePorts& ports, const Python& python,
                     const Kept& kept) {
    std::error_code error;
    if (!fs::exists(kept.step / "request.json", error)) {
        const Json request = Json::object({{"requirement", requirement_of(asked)},
                                           {"mode", closure_modes.text(asked.mode)},
                                           {"constraints", Json::array_of(bounds_of(asked, ports.site))},
                                           {"recipes", recipes_json(ports.recipes)},
                                           {"known_bad", bad_json(ports.site)}});
        WHEELYARD_TRY(base::make_directories(kept.step));
        WHEELYARD_TRY(base::replace_file(kept.step / "closure.py", templates::closure));
        WHEELYARD_TRY(base::replace_file(kept.step / "request.json", request.render_pretty()));
    }
    LoginStep step{kept.step,
                   "closure",
                   render_script(ports, python),
                   job_environment(ports.environment),
                   "resolving what " + requirement_of(asked) + " needs",
                   ports.site.login_minutes * 60};
    step.checks = 1;
    WHEELYARD_TRY(base::replace_file(kept.step / "pip.conf", ports.pip_conf, 0600));
    auto done = advance_login_step(step, ports.clock);
    const bool is_over = done || done.error().kind != base::ErrorKind::in_progress;
    if (is_over) WHEELYARD_TRY(base::remove_file(kept.step / "pip.conf"));
    return done;
}

bool is_recent(const fs::path& file) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error);
    return !error && fs::file_time_type::clock::now() - written < std::chrono::seconds(closure_retry_s);
}

std::string name_of(const Want& want) {
    return want.package + "==" + base::join(want.versions, ",") + " " + base::join(want.pythons, ",");
}

}  // namespace

base::Result<Closure> find_closure(const ClosureAsked& asked, const ClosurePorts& ports, bool resolves) {
    WHEELYARD_ASSIGN(const Python* python, python_of(asked, ports));
    const Kept kept = kept_of(key_of(asked, *python, ports.site), ports.site);
    std::error_code error;
    if (fs::exists(kept.graph, error)) {
        WHEELYARD_ASSIGN(const auto text, base::read_untrusted_file(kept.graph, max_closure_bytes));
        return parse_closure(text);
    }
    if (is_recent(kept.failed)) {
        WHEELYARD_ASSIGN(const auto reason, base::read_untrusted_file(kept.failed, max_reason_bytes));
        return base::fail("closure.failed",
                          "What it needs could not be resolved: " + std::string(base::trim(reason)), {},
                          "`wheelyard-builder closure " + base::quote_shell(requirement_of(asked)) +
                              " --again` tries again; so do ticks, every " +
                              std::to_string(closure_retry_s / 60) + " minutes");
    }
    if (!resolves)
        return base::fail_as(base::ErrorKind::in_progress, base::Recovery::retry,
                             {"closure.waits", "What it needs is not resolved yet", asked.package});
    if (const auto done = advance(asked, ports, *python, kept); !done) {
        if (done.error().kind == base::ErrorKind::in_progress) return tl::unexpected(done.error());
        WHEELYARD_TRY(base::make_directories(kept.failed.parent_path()));
        WHEELYARD_TRY(base::replace_file(kept.failed, done.error().text() + "\n"));
        WHEELYARD_TRY(base::remove_file(kept.step / "request.json"));  // the next try writes its files again
        return tl::unexpected(done.error());
    }
    WHEELYARD_ASSIGN(const auto text,
                     base::read_untrusted_file(kept.step / "closure.json", max_closure_bytes));
    WHEELYARD_ASSIGN(auto closure, parse_closure(text));
    WHEELYARD_TRY(base::make_directories(kept.graph.parent_path()));
    WHEELYARD_TRY(base::replace_file(kept.graph, render_closure(closure)));
    WHEELYARD_TRY(base::remove_tree(kept.step));
    return closure;
}

base::Status forget_closure(const ClosureAsked& asked, const ClosurePorts& ports) {
    WHEELYARD_ASSIGN(const Python* python, python_of(asked, ports));
    const Kept kept = kept_of(key_of(asked, *python, ports.site), ports.site);
    WHEELYARD_TRY(base::remove_file(kept.graph));
    return base::remove_file(kept.failed);
}

std::vector<Want> with_closures(const std::vector<Want>& wants, const ClosurePorts& ports, bool resolves) {
    std::set<std::string>
        named;  // rows of the site file itself come first: they have its exclusions and companions
    for (const Want& want : wants) {
        for (const auto& version : want.versions) {
            for (const auto& python : want.pythons)
                named.insert(name_of({want.package, {version}, {python}}));
        }
    }
    std::vector<Want> all;
    for (const Want& want : wants) {
        if (want.closure == ClosureMode::none) {
            all.push_back(want);
            continue;
        }
        for (const auto& version : want.versions) {
            for (const auto& python : want.pythons) {
                const auto closure =
                    find_closure({want.package, version, python, want.closure}, ports, resolves);
                if (!closure) {
                    const bool waits = closure.error().kind == base::ErrorKind::in_progress;
                    if (waits) resolves = false;  // one at a time: others use this login node
                    Want waiting = want;
                    waiting.versions = {version};
                    waiting.pythons = {python};
                    waiting.of_closure =
                        ClosureWant{.problem = waits ? "" : closure.error().text(), .is_unresolved = true};
                    all.push_back(std::move(waiting));
                    continue;
                }
                for (Want& one : wants_of(*closure, want, python)) {
                    const bool is_root = one.closure != ClosureMode::none;
                    if (is_root || named.insert(name_of(one)).second) all.push_back(std::move(one));
                }
            }
        }
    }
    return all;
}

namespace {

std::string size_text(std::int64_t bytes) {
    const auto unit = static_cast<std::int64_t>(base::kib);
    return bytes == 0 ? "" : std::to_string((bytes + unit - 1) / unit) + " KiB";
}

}  // namespace

base::Result<ClosureAsked> parse_asked(const std::string& requirement, const std::string& python,
                                       ClosureMode mode, const Site& site) {
    const auto end = requirement.find_first_of("=<>!~ ");
    const std::string package = requirement.substr(0, end);
    std::string version =
        end == std::string::npos ? "latest" : std::string(base::trim(requirement.substr(end)));
    if (version.starts_with("==") && wheel::Version::parse(version.substr(2))) version.erase(0, 2);
    const bool is_known =
        version == "latest" || wheel::Version::parse(version) || wheel::SpecifierSet::parse(version);
    if (!wheel::is_valid_name(package) || !is_known)
        return base::fail("closure.requirement", "Not a project with versions", requirement,
                          "name it as in pandas, pandas==3.1.1 or 'pandas>=3,<4'");
    const std::string chosen =
        python.empty() && site.pythons.size() == 1 ? site.pythons.front().version : python;
    if (site.python(chosen) == nullptr) {
        std::vector<std::string> known;
        for (const auto& one : site.pythons)
            known.push_back(one.version);
        return base::fail("closure.python", "Which Python of the site?", chosen,
                          "name it with --python: " + base::join(known, ", "));
    }
    return ClosureAsked{wheel::normalize_name(package), version, chosen, mode};
}

std::string render_closure_table(const Closure& closure, const Plan& plan, const std::string& python,
                                 std::size_t columns) {
    std::vector<base::TableRow> rows = {{"RELEASE", "HOW", "SIZE", "STATE", "WHY"}};
    std::size_t built = 0;
    for (const ClosureRelease& release : closure.releases) {
        const auto cell = find_release(plan.cells, release.name, release.version, python);
        built += release.how == ReleaseHow::sdist ? 1 : 0;
        const std::string why = why_needed(closure, release);
        rows.push_back({release.id(), std::string(release_hows.text(release.how)),
                        size_text(release.file.size),
                        cell ? std::string(cell_state_text(plan.cells[*cell].state)) : "",
                        why + (why.empty() || release.note.empty() ? "" : "; ") + release.note});
    }
    return base::render_table(rows, columns) + std::to_string(closure.releases.size()) + " releases, " +
           std::to_string(built) + " built here; versions by " + closure.resolver + " with Python " +
           closure.python + "\n";
}

std::string render_closure_reasons(const Closure& closure, const std::string& project) {
    std::string text;
    std::set<std::string> shown;
    std::vector<std::string> queue;
    for (const ClosureRelease& release : closure.releases) {
        if (release.name == wheel::normalize_name(project)) queue.push_back(release.id());
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
        const ClosureRelease* release = closure.find(queue[at]);
        if (release == nullptr || !shown.insert(release->id()).second) continue;
        text += release->id() + "\n";
        for (const auto& reason : release->why) {
            text += "  " + (reason.of.empty() ? "you" : reason.of) + " (" + reason.kind +
                    "): " + reason.text + "\n";
            if (!reason.of.empty()) queue.push_back(reason.of);
        }
    }
    return text;
}

}  // namespace wheelyard::builder
