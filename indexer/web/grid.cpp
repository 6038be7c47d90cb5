// A column is a Python: "3.12", "3.9 and newer", "any 3". A wheel stands in each that it names and, if it
// names no single Python, in each single one that takes it. Rows and columns that only a report brings are
// marked, so that the rest of the page is what the catalog decides.
#include "indexer/web/project_page.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/template.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::size_t date_chars = 10;  // "2026-11-20"

// PEP 440 order, newest first; what is no version comes last.
struct NewestFirst {
    bool operator()(const std::string& a, const std::string& b) const {
        const auto left = wheel::Version::parse(a);
        const auto right = wheel::Version::parse(b);
        if (!left || !right) return left.has_value() != right.has_value() ? left.has_value() : a < b;
        return *left == *right ? a < b : *right < *left;
    }
};

// Single Pythons in their order, behind "any 3" and "3.9 and newer".
struct ByPython {
    bool operator()(const std::string& a, const std::string& b) const { return key_of(a) < key_of(b); }

  private:
    static std::tuple<bool, bool, std::int64_t, bool, std::string> key_of(const std::string& text) {
        const auto python = avail_wheels::parse_python(text);
        if (!python) return {false, false, 0, false, text};
        return {true, python->pypy, python->minor, python->free_threaded, text};
    }
};

struct Row {
    bool is_reported = true;
    std::string day = {};
    std::map<std::string, std::vector<const ShownWheel*>> wheels = {};     // by column
    std::map<std::string, std::vector<const ReportedBuild*>> builds = {};  // by column
};

class Grid {
  public:
    Grid(const std::vector<ShownWheel>& wheels, const FarmReport& report, const std::string& project) {
        for (const ShownWheel& wheel : wheels) {
            for (const std::string& python : names_of(wheel))
                columns_[python] = false;
        }
        if (const auto known = report.cells.find(project); known != report.cells.end())
            add_builds(known->second);
        for (const ShownWheel& wheel : wheels)
            add_wheel(wheel);
    }

    [[nodiscard]] ShownGrid shown(const std::string& project) const {
        ShownGrid grid{.project = project};
        for (const auto& [python, is_reported] : columns_)
            grid.columns.push_back(
                {avail_wheels::parse_python(python) ? "Python " + python : python, is_reported});
        std::size_t of_wheels = 0;
        std::size_t of_reports = 0;
        for (const auto& [version, row] : rows_) {
            // Reports displace no row that the catalog decides.
            std::size_t& count = row.is_reported ? of_reports : of_wheels;
            if (count++ < max_matrix_versions) grid.rows.push_back(shown_row(version, row));
        }
        return grid;
    }

  private:
    static std::vector<std::string> names_of(const ShownWheel& wheel) {
        return wheel.pythons.empty() ? std::vector<std::string>{"wheel"} : wheel.pythons;
    }
    void add_builds(const std::vector<ReportedBuild>& cells) {
        for (const ReportedBuild& cell : cells) {
            if (!cell.purpose.empty()) continue;  // a test of the wheel has the same version, site and Python
            columns_.try_emplace(cell.python, true);
            rows_[cell.version].builds[cell.python].push_back(&cell);
        }
    }
    void add_wheel(const ShownWheel& wheel) {
        Row& row = rows_[wheel.row->version];
        row.is_reported = false;
        const std::string day = base::render_rfc3339(wheel.row->upload_time).substr(0, date_chars);
        row.day = row.day.empty() ? day : std::min(row.day, day);
        const auto names = names_of(wheel);
        const bool is_general = std::none_of(names.begin(), names.end(), [](const std::string& name) {
            return avail_wheels::parse_python(name).has_value();
        });
        for (const auto& [python, is_reported] : columns_) {
            const bool is_named = std::find(names.begin(), names.end(), python) != names.end();
            const auto one = avail_wheels::parse_python(python);
            if (is_named || (is_general && one && suits_python(wheel, *one)))
                row.wheels[python].push_back(&wheel);
        }
    }
    [[nodiscard]] GridRow shown_row(const std::string& version, const Row& row) const {
        GridRow shown{.version = version, .day = row.day, .is_reported = row.is_reported};
        for (const auto& [python, is_reported] : columns_) {
            GridCell cell{.python = python,
                          .is_reported = is_reported && !row.is_reported,
                          .is_known = !is_reported && !row.is_reported};
            if (const auto found = row.wheels.find(python); found != row.wheels.end())
                cell.wheels = shown_wheels(found->second);
            if (const auto found = row.builds.find(python); found != row.builds.end())
                for (const ReportedBuild* build : found->second)
                    if (build->state != "have" || cell.wheels.empty())
                        cell.builds.push_back(shown_build(*build));
            shown.cells.push_back(std::move(cell));
        }
        return shown;
    }
    // Wheels whose labels are the same have behind it what tells their file names apart.
    static std::vector<GridWheel> shown_wheels(const std::vector<const ShownWheel*>& wheels) {
        std::vector<GridWheel> shown;
        for (const ShownWheel* wheel : wheels)
            shown.push_back(shown_wheel(*wheel));
        std::map<std::string, std::vector<std::size_t>> alike;  // by label
        for (std::size_t at = 0; at < shown.size(); ++at)
            alike[shown[at].label].push_back(at);
        for (const auto& [label, all] : alike) {
            std::vector<std::array<std::string, name_parts>> names;
            for (const std::size_t at : all)
                names.push_back(parts_of_name(*wheels[at]));
            for (std::size_t part = 0; part < name_parts; ++part) {
                const bool differs = std::any_of(names.begin(), names.end(), [&](const auto& name) {
                    return name[part] != names.front()[part];
                });
                for (std::size_t one = 0; differs && one < all.size(); ++one)
                    if (!names[one][part].empty()) shown[all[one]].label += ", " + names[one][part];
            }
        }
        return shown;
    }
    static constexpr std::size_t name_parts = 5;
    static std::array<std::string, name_parts> parts_of_name(const ShownWheel& wheel) {
        const auto name = wheel::parse_wheel_filename(wheel.row->filename);
        if (!name) return {wheel.row->filename};
        return {name->build ? "build " + name->build_text : "", base::join(name->pythons, "."),
                base::join(name->abis, "."), base::join(name->platforms, "."), name->variant.value_or("")};
    }
    static GridWheel shown_wheel(const ShownWheel& wheel) {
        std::string label =
            wheel.platform.empty() || wheel.platform == "any" ? "any machine" : wheel.platform;
        if (!wheel.accelerator.empty() && wheel.accelerator != "CPU") label += " " + wheel.accelerator;
        if (wheel.row->yanked) label += " (yanked)";
        return {wheel.row->yanked ? "yanked" : "have", anchor_of(*wheel.row), std::move(label)};
    }
    static GridBuild shown_build(const ReportedBuild& build) {
        return {build.version + "|" + build.site + "|" + build.python + "|" + build.accelerator,
                render_state(build, "../../builds/"),
                (build.site.empty() ? "request" : build.site) +
                    (build.accelerator.empty() ? "" : ", " + build.accelerator)};
    }

    std::map<std::string, bool, ByPython> columns_ = {};  // whether only a report brings it
    std::map<std::string, Row, NewestFirst> rows_ = {};
};

}  // namespace

page::Html render_grid(const std::string& project, const std::vector<ShownWheel>& wheels,
                       const FarmReport& report) {
    ShownGrid grid = Grid(wheels, report, project).shown(project);
    if (grid.rows.empty()) return {};
    if (!wheels.empty()) return page::render("grid.html", grid);
    // A report brings all of it: one mark around it is enough.
    for (GridColumn& column : grid.columns)
        column.is_reported = false;
    for (GridRow& row : grid.rows)
        row.is_reported = false;
    return between_status_marks(page::render("grid.html", grid));
}

}  // namespace wheelyard::indexer
