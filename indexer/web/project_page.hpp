// The page of a project for people, TREE/<index>/project/<name>/index.html: install line, versions with their
// wheels, what sites report, description, links, and a section for each of the newest wheels. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/web/farm_report.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/page/farm.hpp"

namespace wheelyard::indexer {

// The parts of a METADATA that people read. Empty members: absent, or the file is malformed.
struct ProjectText {
    std::string name;  // as written; empty: unknown
    std::string summary;
    std::string keywords;
    std::string licence;
    std::string description;
    std::string description_type;
    std::vector<std::pair<std::string, std::string>> links;  // label, URL; only safe ones
    std::vector<std::string> requirements;
};
[[nodiscard]] ProjectText read_project_text(std::string_view metadata);

struct ProjectPage {
    std::string_view index;
    const ProjectView& view;
    const ProjectText& text;  // of the newest wheel
    const FarmReport& report;
    const page::Farm& farm;
    std::map<std::string, std::string> provenance =
        {};  // of rows_with_provenance(), by the SHA-256 of the wheel
};

// The row whose METADATA describes the project: the last of the newest version that is neither a pre-release
// nor yanked, otherwise of the newest one. nullptr: the project has no files.
[[nodiscard]] const catalog::FileRow* newest_row(const ProjectView& view);

// The rows with a section of their own and a document of what made them.
[[nodiscard]] std::vector<const catalog::FileRow*> rows_with_provenance(const ProjectView& view);

// The wheels of the newest versions, newest first, each with where it runs.
[[nodiscard]] std::vector<ShownWheel> newest_wheels(const ProjectView& view, const FarmReport& report);

[[nodiscard]] std::string render_project_page(const ProjectPage& page);
// `wheels`: its newest_wheels().
[[nodiscard]] std::string render_project_page(const ProjectPage& page, const std::vector<ShownWheel>& wheels);

// The table of a project page: version × Python, each cell with its wheels and what sites report of it.
// project.js narrows it to the chosen machine. `wheels`: newest version first. Empty without wheels and
// cells.
[[nodiscard]] page::Html render_grid(const std::string& project, const std::vector<ShownWheel>& wheels,
                                     const FarmReport& report);

}  // namespace wheelyard::indexer
