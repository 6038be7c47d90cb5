// An offer is what live.js chooses from: "torch==2.7.0 3.11:torch==2.7.0 3.12:torch==2.6.0 3.13:". First the requirement
// without a choice of Python, then that for each Python; nothing behind the colon: no wheel.
#include "indexer/web/install_box.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "indexer/web/state_cell.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

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

// The newest wheel that suits; nullptr: none.
const ShownWheel* newest_that(const std::vector<ShownWheel>& wheels, const Suits& suits) {
    const auto found = std::find_if(wheels.begin(), wheels.end(), [&](const ShownWheel& wheel) {
        return !wheel.row->yanked && is_final(*wheel.row) && suits(wheel);
    });
    return found == wheels.end() ? nullptr : &*found;
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

// Why no wheel runs there: the reason of the newest one.
std::string reason_for(const std::vector<ShownWheel>& wheels, std::size_t node) {
    for (const ShownWheel& wheel : wheels) {
        if (node < wheel.fits.size() && !wheel.fits[node].why.empty()) return wheel.fits[node].why;
    }
    return "no wheel is known to run there";
}

struct Offer {
    std::string usual;  // a requirement
    // For each Python; empty: no wheel.
    std::vector<std::pair<std::string, std::string>> by_python = {};

    // Whether the Python decides what is installed.
    [[nodiscard]] bool differs() const {
        return std::any_of(by_python.begin(), by_python.end(),
                           [&](const auto& one) { return one.second != usual; });
    }
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
        : page_(page), wheels_(wheels), named_(pythons_of(wheels)) {
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
    // Of the Pythons that wheels name: "3.11: 2.7.0 · 3.12: 2.6.0". Empty: the Python decides nothing.
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
    Pythons named_;                                                   // by wheels
    Pythons all_;                                                     // also by sites
    std::vector<std::pair<std::string, std::vector<bool>>> takes_{};  // by Python of `all_`
};

struct Choices {
    Html forms;     // need the script
    Html refusals;  // node types without a wheel and why
};

Choices render_choices(const ProjectPage& page, const std::vector<ShownWheel>& wheels, const InstallBox& box,
                       const Offer& usual) {
    Html nodes;
    Html refusals;
    bool differs = usual.differs();
    for (std::size_t at = 0; at < page.report.nodes.size(); ++at) {
        const ReportedNode& node = page.report.nodes[at];
        if (const ShownWheel* best = best_for(wheels, at)) {
            const Offer offer = box.for_node(at, *best);
            differs = differs || offer.differs();
            nodes.add("<option value=\"").text(offer.text()).add("\">").text(node.name()).add("</option>");
        } else {
            refusals.add("<li><strong>").text(node.name()).add("</strong>: ");
            refusals.text(reason_for(wheels, at)).add("</li>\n");
        }
    }
    Choices choices;
    if (!nodes.is_empty() || differs) {
        choices.forms.add("<p class=\"search\">");
        choices.forms.add("<label hidden>Node type <select id=\"install-node\"><option value=\"")
            .text(usual.text());
        choices.forms.add("\">any</option>").add(nodes).add("</select></label>\n");
        if (differs) {
            choices.forms.add(
                "<label hidden>Python <select id=\"install-python\"><option value=\"\">any</option>");
            for (const auto& [python, requirement] : usual.by_python)
                choices.forms.add("<option>").text(python).add("</option>");
            choices.forms.add("</select></label>");
        }
        choices.forms.add("</p>\n");
    }
    if (!refusals.is_empty())
        choices.refusals.add("<p>No wheel of this project runs on:</p>\n<ul>\n").add(refusals).add("</ul>\n");
    return choices;
}

}  // namespace

bool is_final(const catalog::FileRow& row) {
    const auto version = wheel::Version::parse(row.version);
    return version && !version->is_prerelease();
}

Html render_install(const ProjectPage& page, const std::vector<ShownWheel>& wheels) {
    Html html(
        "<section class=\"card first\" aria-labelledby=\"install\">\n<h2 id=\"install\">Install</h2>\n");
    const catalog::FileRow* newest = newest_row(page.view);
    if (newest == nullptr) {
        const bool all_hidden = page.view.quarantined > 0;
        return html.add(
            all_hidden ? Literal("<p>All files of this project are in quarantine: they are kept, but not "
                                 "offered until an operator releases them.</p>\n</section>\n")
                       : Literal("<p>This project has no files.</p>\n</section>\n"));
    }
    const InstallBox box(page, wheels);
    const Offer usual = box.usual(*newest);
    const Choices choices = render_choices(page, wheels, box, usual);
    html.add(between_status_marks(choices.forms));
    html.add("<div class=\"install\"><code id=\"install-line\" data-project=\"").text(page.view.project);
    const std::string only_wheels = box.has_sdists() ? "--only-binary " + page.view.project + " " : "";
    html.add("\" data-wanted=\"")
        .text(usual.usual)
        .add("\" data-without-version=\"")
        .text(only_wheels)
        .add("\">");
    html.add("pip install --index-url https://THIS-SERVER/").text(page.index).add("/simple/ ");
    html.text(usual.usual == page.view.project ? only_wheels : "").text(usual.usual);
    html.add("</code><button type=\"button\" id=\"copy\" hidden>Copy</button></div>\n");
    if (const std::string versions = box.newest_by_python(usual); !versions.empty())
        html.add("<p id=\"install-note\" class=\"quiet\">The newest version for each Python: ")
            .text(versions)
            .add(".</p>\n");
    else
        html.add("<p id=\"install-note\" class=\"quiet\" hidden></p>\n");
    html.add(between_status_marks(choices.refusals));
    html.add(
        "<p class=\"quiet\">Another version or Python: <a id=\"install-ask\" href=\"../../builds/?package=");
    html.text(page.view.project).add("\">ask for it</a>. For installers: <a href=\"../../simple/");
    html.text(page.view.project)
        .add("/\">the plain list of files</a>. <span id=\"permanent\" hidden>For all ");
    return html.add(
        "installs: <a href=\"../../\">configure pip, uv or a module</a>.</span></p>\n</section>\n");
}

}  // namespace wheelyard::indexer
