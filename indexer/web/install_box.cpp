// An offer is what project.js chooses from: "torch==2.7.0 3.11:torch==2.7.0 3.12:torch==2.6.0 3.13:". First
// the requirement without a choice of Python, then that for each Python; nothing behind the colon: no wheel.
#include "indexer/web/install_box.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "indexer/web/shown_project.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/page/assets.hpp"
#include "lib/page/template.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

using page::Html;

namespace {

// Of Python 3: those that a project page tells apart although no wheel names them, as Requires-Python does.
constexpr int first_shown_minor = 9;
constexpr int last_shown_minor = 14;

using avail_wheels::Python;
using avail_wheels::Runs;

constexpr std::size_t max_pythons = 30;

struct ByMinor {
    bool operator()(const Python& a, const Python& b) const {
        return std::tuple(a.pypy, a.minor, a.free_threaded) < std::tuple(b.pypy, b.minor, b.free_threaded);
    }
};
using Pythons = std::set<Python, ByMinor>;

void keep_newest(Pythons& pythons) {
    while (pythons.size() > max_pythons)
        pythons.erase(pythons.begin());
}

// Those that the names of the wheels have.
Pythons pythons_of(const std::vector<ShownWheel>& wheels) {
    Pythons pythons;
    for (const ShownWheel& wheel : wheels) {
        if (!wheel.candidate) continue;
        for (const std::string& tag : wheel.candidate->tags->pythons) {
            if (auto python = avail_wheels::parse_python(tag)) pythons.insert(std::move(*python));
        }
    }
    keep_newest(pythons);
    return pythons;
}

using Suits = std::function<bool(const ShownWheel&)>;

// The newest wheel that suits; nullptr: none. Variant wheels are not for the installers of everyone.
const ShownWheel* newest_that(const std::vector<ShownWheel>& wheels, const Suits& suits) {
    const auto found = std::find_if(wheels.begin(), wheels.end(), [&](const ShownWheel& wheel) {
        return !wheel.row->yanked && is_final(*wheel.row) &&
               !catalog::is_variant_wheel(wheel.row->filename) && suits(wheel);
    });
    return found == wheels.end() ? nullptr : &*found;
}

// Those that the names of the wheels have; where wheels for several Pythons have others choose another
// version, by Requires-Python or for want of newer tags, these too.
Pythons choosing_pythons(const std::vector<ShownWheel>& wheels) {
    Pythons pythons = pythons_of(wheels);
    std::set<std::string_view> versions;
    Pythons others;
    Python other;
    for (other.minor = first_shown_minor; other.minor <= last_shown_minor; ++other.minor)
        others.insert(other);
    others.insert(pythons.begin(), pythons.end());
    for (auto python = others.begin(); python != others.end();) {
        const ShownWheel* best =
            newest_that(wheels, [&](const ShownWheel& wheel) { return suits_python(wheel, *python); });
        if (best != nullptr) versions.insert(best->row->version);
        python = best == nullptr ? others.erase(python) : std::next(python);
    }
    if (versions.size() > 1) pythons.insert(others.begin(), others.end());
    keep_newest(pythons);
    return pythons;
}

// One that runs, otherwise one that nothing speaks against.
const ShownWheel* best_by(const std::vector<ShownWheel>& wheels,
                          const std::function<Runs(const ShownWheel&)>& runs_of) {
    for (const auto wanted : {Runs::yes, Runs::unknown}) {
        const ShownWheel* best =
            newest_that(wheels, [&](const ShownWheel& wheel) { return runs_of(wheel) == wanted; });
        if (best != nullptr) return best;
    }
    return nullptr;
}

// With a Python of the node type.
const ShownWheel* best_for(const std::vector<ShownWheel>& wheels, std::size_t node) {
    return best_by(wheels, [node](const ShownWheel& wheel) {
        return node < wheel.fits.size() ? wheel.fits[node].runs : Runs::no;
    });
}

// Why no wheel runs there: that the newest one that would is yanked, or the reason of the newest one.
std::string reason_for(const std::vector<ShownWheel>& wheels, std::size_t node) {
    std::string reason;
    for (const ShownWheel& wheel : wheels) {
        if (node >= wheel.fits.size()) continue;
        const catalog::FileRow& row = *wheel.row;
        if (row.yanked && wheel.fits[node].runs != Runs::no)
            return row.version + " is yanked" + (row.yanked_reason.empty() ? "" : ": " + row.yanked_reason);
        if (reason.empty()) reason = wheel.fits[node].why;
    }
    return reason.empty() ? "no wheel is known to run there" : reason;
}

struct Offer {
    std::string usual;  // a requirement
    // For each Python; empty: no wheel.
    std::vector<std::pair<std::string, std::string>> by_python = {};

    [[nodiscard]] std::string text() const {
        std::string text = usual;
        for (const auto& [python, requirement] : by_python)
            text.append(" ").append(python).append(":").append(requirement);
        return text;
    }
};

class InstallBox {
  public:
    InstallBox(const ProjectPage& page, const std::vector<ShownWheel>& wheels)
        : page_(page), wheels_(wheels), named_(choosing_pythons(wheels)) {
        for (const ReportedNode& node : page.report.nodes)
            all_.insert(node.node.pythons.begin(), node.node.pythons.end());
        all_.insert(named_.begin(), named_.end());
        keep_newest(all_);
        for (const Python& python : all_) {
            auto& takes = takes_.emplace_back(python.text(), std::vector<bool>()).second;
            takes.reserve(wheels.size());
            for (const ShownWheel& wheel : wheels)
                takes.push_back(suits_python(wheel, python));
        }
    }

    // What is true without a report: the line, and which version is the newest for which Python.
    [[nodiscard]] Offer usual(const catalog::FileRow& newest) const {
        Offer offer{.usual = requirement_of(newest)};
        for (const auto& [python, takes] : takes_) {
            const ShownWheel* best = newest_that(wheels_, taken_by(takes));
            offer.by_python.emplace_back(python, best == nullptr ? "" : requirement_of(*best->row));
        }
        // pip chooses the newest version that its Python takes.
        if (!newest_by_python(offer).empty()) offer.usual = project();
        return offer;
    }
    [[nodiscard]] Offer for_node(std::size_t node, const ShownWheel& newest) const {
        Offer offer{.usual = requirement_of(*newest.row)};
        auto python = all_.begin();
        for (const auto& one : takes_) {
            const ShownWheel* best = best_by(wheels_, [&](const ShownWheel& wheel) {
                return runs_with(wheel, node, *python, one.second);
            });
            offer.by_python.emplace_back(one.first, best == nullptr ? "" : requirement_of(*best->row));
            ++python;
        }
        return offer;
    }
    // The newest version for each Python that chooses: "3.11: 2.7.0 · 3.12: 2.6.0". Empty: the Python decides
    // nothing.
    [[nodiscard]] std::string newest_by_python(const Offer& offer) const {
        std::set<std::string> versions;
        std::string text;
        for (const Python& python : named_) {
            const auto found = std::find_if(offer.by_python.begin(), offer.by_python.end(),
                                            [&](const auto& one) { return one.first == python.text(); });
            if (found == offer.by_python.end() || found->second.empty()) continue;
            const std::string version = found->second.substr(found->second.find("==") + 2);
            versions.insert(version);
            text.append(text.empty() ? "" : " · ").append(found->first).append(": ").append(version);
        }
        return versions.size() > 1 ? text : "";
    }

    // Without a version, pip would rather build a newer source distribution than install a wheel.
    [[nodiscard]] bool has_sdists() const {
        return std::any_of(page_.view.files.begin(), page_.view.files.end(),
                           [](const auto& row) { return wheel::is_sdist_filename(row.filename); });
    }

  private:
    [[nodiscard]] std::string project() const { return page_.view.project; }
    [[nodiscard]] std::string requirement_of(const catalog::FileRow& row) const {
        return project() + "==" + row.version;
    }
    // A user's own Python may be none of the node type's.
    [[nodiscard]] Runs runs_with(const ShownWheel& wheel, std::size_t node, const Python& python,
                                 const std::vector<bool>& takes) const {
        if (node >= wheel.fits.size() || !takes[static_cast<std::size_t>(&wheel - wheels_.data())])
            return Runs::no;
        const avail_wheels::Fit& fit = wheel.fits[node];
        if (fit.runs != Runs::no || fit.code != "python") return fit.runs;
        return runs_on(wheel, page_.report.nodes[node], python);
    }
    // `takes` has a value for each wheel.
    [[nodiscard]] Suits taken_by(const std::vector<bool>& takes) const {
        return [this, &takes](const ShownWheel& wheel) {
            return takes[static_cast<std::size_t>(&wheel - wheels_.data())];
        };
    }

    const ProjectPage& page_;
    const std::vector<ShownWheel>& wheels_;
    Pythons named_;                                                   // choosing_pythons()
    Pythons all_;                                                     // also by sites
    std::vector<std::pair<std::string, std::vector<bool>>> takes_{};  // by Python of `all_`
};

// project.js fills the same places for the chosen machine: {index} the address, {trust} what pip needs for
// plain http, {only} the option against source distributions where no version is named, {wanted} the
// requirement, {pinned} that with a version, {hashes} its wheels.
struct Way {
    std::string_view name;
    std::string_view id;
    std::string_view title;
    std::string_view text;
    std::string_view about;
};
constexpr std::array<Way, 3> ways{{
    {"pip", "install-line", "pip", "pip install --index-url {index}{trust} {only}{wanted}", ""},
    {"uv", "install-uv", "uv", "uv pip install --default-index {index} {only}{wanted}", ""},
    {"requirements", "install-requirements", "requirements.txt",
     "--index-url {index}{trust}\n{pinned}{hashes}",
     "Save as requirements.txt, then: pip install --no-deps -r requirements.txt. It takes these files and no "
     "other. What the project "
     "requires needs hashes too: uv pip compile --generate-hashes writes them."},
}};

// For a site with a batch system. Besides the above: {node} its name, {program} the interpreter, {setup} what
// loads it, {job} how a job's script begins, {submit} what takes it.
constexpr Way job_way{
    "job", "install-job", "Modules and job",
    "# On a login node, for {node}: an environment of your own, once\n"
    "{setup}{program} -m venv ~/wheels-{project}\n"
    ". ~/wheels-{project}/bin/activate\n"
    "pip install --index-url {index}{trust} {only}{wanted} &&\n"
    "# A job there\n"
    "cat > {project}.job <<'END' &&\n"
    "#!/bin/bash\n"
    "{job}{setup}. ~/wheels-{project}/bin/activate\n"
    "python -c 'from importlib.metadata import version; print(version(\"{project}\"))' # in its place your "
    "program\n"
    "END\n"
    "{submit} {project}.job",
    "For the chosen node type. Where ACCOUNT stands, put the account that your jobs are charged to."};

std::string with_ends(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text.append(line).append("\n");
    return text;
}

std::string setups_json(const ReportedNode& node) {
    io::Json setups = io::Json::object();
    for (const ReportedSetup& setup : node.setups)
        setups.set(setup.python,
                   io::Json::object({{"program", setup.program}, {"lines", with_ends(setup.lines)}}));
    return setups.render();
}

// With the newest Python that the site and a wheel have.
std::optional<std::string> job_text(const ReportedNode& node, const Offer& offer, const std::string& project,
                                    const std::string& index) {
    for (auto python = offer.by_python.rbegin(); python != offer.by_python.rend(); ++python) {
        const auto setup =
            std::find_if(node.setups.begin(), node.setups.end(),
                         [&](const ReportedSetup& one) { return one.python == python->first; });
        if (python->second.empty() || setup == node.setups.end()) continue;
        std::string text(job_way.text);
        for (const auto& [place, value] : std::initializer_list<std::pair<std::string_view, std::string>>{
                 {"{index}", index},
                 {"{trust}", ""},
                 {"{only}", ""},
                 {"{wanted}", python->second},
                 {"{project}", project},
                 {"{node}", node.name()},
                 {"{submit}", node.submit},
                 {"{program}", base::quote_shell(setup->program)},
                 {"{setup}", with_ends(setup->lines)},
                 {"{job}", with_ends(node.job)}})
            text = base::replace_all(text, place, value);
        return text;
    }
    return std::nullopt;
}

// The hashes of the wheels of each version: "2.5.1:0123…,4567… 2.4.0:…"
std::map<std::string, std::string> hashes_of(const std::vector<ShownWheel>& wheels) {
    std::map<std::string, std::string> hashes;
    for (const ShownWheel& wheel : wheels) {
        if (wheel.row->yanked) continue;
        std::string& text = hashes[wheel.row->version];
        text.append(text.empty() ? "" : ",").append(wheel.row->sha256);
    }
    return hashes;
}

std::string hash_options(const std::string& hashes) {
    std::string text;
    if (hashes.empty()) return text;
    for (const std::string_view hash : base::split(hashes, ','))
        text.append(" \\\n    --hash=sha256:").append(hash);
    return text;
}

}  // namespace

bool is_final(const catalog::FileRow& row) {
    const auto version = wheel::Version::parse(row.version);
    return version && !version->is_prerelease();
}

Html render_install(const ProjectPage& page, const std::vector<ShownWheel>& wheels) {
    ShownInstall shown{.project = page.view.project};
    const catalog::FileRow* newest = newest_row(page.view);
    if (newest == nullptr) {
        shown.refusal =
            page.view.quarantined > 0
                ? "All files of this project are in quarantine: they are kept, but not offered until an "
                  "operator releases them."
                : "This project has no files.";
        return page::render("install.html", shown);
    }
    const InstallBox box(page, wheels);
    const Offer usual = box.usual(*newest);
    const std::string index = simple_address(page.farm, page.index);
    shown.offers.push_back({"", usual.text()});
    for (std::size_t at = 0; at < page.report.nodes.size(); ++at) {
        const std::string node = page.report.nodes[at].name();
        const ShownWheel* best = best_for(wheels, at);
        if (best == nullptr) shown.refused.push_back({node, "", reason_for(wheels, at)});
        if (best == nullptr) {
            shown.offers.push_back(shown.refused.back());
            continue;
        }
        const ReportedNode& there = page.report.nodes[at];
        const Offer offer = box.for_node(at, *best);
        shown.offers.push_back({node, offer.text()});
        if (there.job.empty()) continue;
        shown.offers.back().job = with_ends(there.job);
        shown.offers.back().submit = there.submit;
        shown.offers.back().setups = setups_json(there);
        if (!shown.jobs.empty()) continue;
        if (auto text = job_text(there, offer, page.view.project, index))
            shown.jobs.push_back({std::string(job_way.name), std::string(job_way.id),
                                  std::string(job_way.title), std::string(job_way.text), *std::move(text),
                                  std::string(job_way.about)});
    }
    shown.newest = page.view.project + "==" + newest->version;
    shown.script = page::asset("elsewhere.js").published_name();
    if (box.has_sdists()) shown.only = "--only-binary " + page.view.project + " ";
    const auto hashes = hashes_of(wheels);
    for (const auto& [version, text] : hashes)
        shown.hashes.append(shown.hashes.empty() ? "" : " ").append(version).append(":").append(text);
    const auto own = hashes.find(newest->version);
    for (const Way& way : ways) {
        std::string text(way.text);
        for (const auto& [place, value] : std::initializer_list<std::pair<std::string_view, std::string>>{
                 {"{index}", index},
                 {"{trust}", ""},
                 {"{only}", usual.usual == page.view.project ? shown.only : ""},
                 {"{wanted}", usual.usual},
                 {"{pinned}", shown.newest},
                 {"{hashes}", hash_options(own == hashes.end() ? "" : own->second)}})
            text = base::replace_all(text, place, value);
        if (way.name == "requirements" && own == hashes.end()) continue;  // it has only source distributions
        shown.ways.push_back({std::string(way.name), std::string(way.id), std::string(way.title),
                              std::string(way.text), std::move(text), std::string(way.about)});
    }
    if (const std::string text = box.newest_by_python(usual); !text.empty())
        shown.note = "The newest version for each Python: " + text + ".";
    return page::render("install.html", shown);
}

}  // namespace wheelyard::indexer
