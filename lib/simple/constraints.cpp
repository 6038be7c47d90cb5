// A constraints file for pip that holds each project of an index to the index's own wheels. pip takes the
// highest version of all its indexes; with `torch==2.9.0+cu128` it takes ours, wherever else torch is.
#include "lib/simple/wheel_list.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::simple {
namespace {

// For which nodes a wheel is; an empty member: for any.
struct Fit {
    std::string python;   // "3.12", of a wheel for this Python alone
    std::string machine;  // "aarch64"
    auto operator<=>(const Fit&) const = default;
};

Fit fit_of(const wheel::Tag& tag) {
    Fit fit;
    const std::string_view python = tag.python;
    if (python.starts_with("cp3") && python.size() > 3 && tag.abi != "abi3" && tag.abi != "none")
        fit.python = "3." + std::string(python.substr(3));
    for (const std::string_view machine : wheel::linux_machines)
        if (tag.platform.ends_with(machine)) fit.machine = machine;
    return fit;
}

// Of PEP 508; empty: any node. `is` is "==" or "!=", and then it is for all other nodes.
std::string marker_of(const Fit& fit, std::string_view is) {
    std::vector<std::string> parts;
    if (!fit.python.empty()) parts.push_back("python_version " + std::string(is) + " \"" + fit.python + "\"");
    if (!fit.machine.empty())
        parts.push_back("platform_machine " + std::string(is) + " \"" + fit.machine + "\"");
    return base::join(parts, is == "==" ? " and " : " or ");
}

struct Newest {
    wheel::Version version;
    std::string text;
};

class ProjectConstraint {
  public:
    void add(const wheel::WheelFilename& wheel) {
        project_ = wheel.project;
        for (const wheel::Tag& tag : wheel.tags) {
            auto& known = newest_[fit_of(tag)];
            if (!known || known->version < wheel.version) known = Newest{wheel.version, wheel.version_text};
        }
    }

    void render(std::string& text) const {
        std::set<std::string> pythons, machines_named;
        for (const auto& [fit, known] : newest_) {
            if (!fit.python.empty()) pythons.insert(fit.python);
            if (!fit.machine.empty()) machines_named.insert(fit.machine);
        }
        const bool is_for_some = !pythons.empty() || !machines_named.empty();
        if (pythons.empty()) pythons.insert("");
        if (machines_named.empty()) machines_named.insert("");
        std::vector<std::string> others;
        for (const std::string& python : pythons) {
            for (const std::string& machine : machines_named) {
                const Fit fit{python, machine};
                const Newest* best = best_for(fit);
                if (best == nullptr) continue;
                add_line(text, *best, marker_of(fit, "=="));
                others.push_back("(" + marker_of(fit, "!=") + ")");
            }
        }
        if (is_for_some && newest_.contains(Fit{}))
            add_line(text, *newest_.at(Fit{}), base::join(others, " and "));
    }

  private:
    void add_line(std::string& text, const Newest& newest, const std::string& marker) const {
        text += project_ + "==" + newest.text + (marker.empty() ? "" : " ; " + marker) + "\n";
    }

    [[nodiscard]] const Newest* best_for(const Fit& wanted) const {
        const Newest* best = nullptr;
        for (const auto& [fit, known] : newest_) {
            const bool fits = (fit.python.empty() || fit.python == wanted.python) &&
                              (fit.machine.empty() || fit.machine == wanted.machine);
            if (fits && (best == nullptr || best->version < known->version)) best = &*known;
        }
        return best;
    }

    std::string project_;
    std::map<Fit, std::optional<Newest>> newest_;
};

}  // namespace

base::Result<std::string> render_constraints(const WheelList& wheels) {
    std::string text;
    const auto visit = [&text](const WheelListView& view) {
        ProjectConstraint project;
        for (const std::string_view line : base::split(view.lines, '\n')) {
            if (line.empty()) continue;
            const WheelListLine wheel = parse_wheel_list_line(line);
            const auto name = wheel::parse_wheel_filename(wheel.filename);
            if (name && !wheel.yanked) project.add(*name);
        }
        project.render(text);
    };
    WHEELYARD_TRY(wheels.visit_all([](std::string_view) { return true; }, visit));
    return text;
}

}  // namespace wheelyard::simple
