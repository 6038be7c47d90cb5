// What lib/page/templates/project.html and wheel.html show: the typed views that project_page.cpp and
// wheel_facts.cpp fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/web/where_needed.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::indexer {

struct SearchEntry;

// One value in fixed width, of a list with commas.
struct MonoValue {
    std::string text;
    bool is_first = false;
    void show(page::Values& to) const;
};

struct WheelFact {
    std::string name;
    std::vector<MonoValue> values = {};
    std::uint64_t more = 0;  // values that are not shown
    std::string text = {};
    std::string link = {};  // of the text
    void show(page::Values& to) const;
};

struct WheelFinding {
    std::string colour;  // of its severity: a class of the style sheet
    std::string severity;
    page::Html sentence;
    std::string code;
    std::string evidence;
    page::Html advice;
    void show(page::Values& to) const;
};

// Says whether the wheel runs on one node type.
struct WheelFit {
    std::string node;
    std::string colour;
    std::string runs;
    std::string why;
    std::string advice;
    void show(page::Values& to) const;
};

struct WheelSection {
    std::string anchor = {};
    bool is_open = false;
    std::string filename = {};
    std::string size = {};
    std::string link = {};
    std::string metadata_link = {};
    std::string provenance_link = {};
    std::string attestations_link = {};
    std::string file_index = {};  // whose file it is
    bool has_sbom = false;        // whether the API has its bill of materials
    bool is_yanked = false;
    std::string yanked_reason = {};
    std::string warnings = {};  // "2 warnings"
    std::vector<WheelFact> facts = {};
    bool is_checked = false;  // by a registry that keeps what the rules found
    std::vector<WheelFinding> findings = {};
    std::vector<WheelFit> fits = {};
    std::vector<WheelFact> made_by = {};
    std::string site = {};  // of the agent that built it, and the ID of the build
    std::string build = {};
    bool is_signed = false;          // the registry has signed statements about it
    std::string uploaded_to = {};    // the index that these name
    std::string verify = {};         // the line that verifies them
    std::string index_address = {};  // as they name it
    bool is_promoted = false;        // it was uploaded to another index than the page's
    void show(page::Values& to) const;
};

struct VersionSection {
    std::string version;
    std::vector<page::Html> wheels = {};
    void show(page::Values& to) const;
};

struct FileLine {
    std::string anchor;
    std::string link;
    std::string filename;
    std::string size;
    bool is_yanked = false;
    void show(page::Values& to) const;
};

struct ProjectLink {
    std::string label;
    std::string url;
    void show(page::Values& to) const;
};

struct RequirementLine {
    std::string project;  // normalised, as every list of the pages has it; empty: it cannot be read
    std::string rest;
    std::string wanted = {};  // of its version: ">=2.6"
    WhereNeeded where = {};
    void show(page::Values& to) const;
};

// The headings of a description.
struct ContentsLine {
    std::string anchor;
    std::string text;
    bool is_deep = false;
    void show(page::Values& to) const;
};

struct ShownContents {
    std::vector<ContentsLine> lines = {};
    void show(page::Values& to) const;
};

// A wheel in a cell of the grid; its label leads to its section.
struct GridWheel {
    std::string colour;
    std::string anchor;
    std::string label;
    void show(page::Values& to) const;
};

// What one site reports of a cell.
struct GridBuild {
    std::string key;  // "2.6.0|bede|3.12|gh200"
    page::Html state;
    std::string place;
    void show(page::Values& to) const;
};

struct GridCell {
    std::string python;
    bool is_reported = false;  // its column, not its row, is there only by a report
    bool is_known = false;     // neither is
    std::vector<GridWheel> wheels = {};
    std::vector<GridBuild> builds = {};
    void show(page::Values& to) const;
};

struct GridColumn {
    std::string title;
    bool is_reported = false;
    void show(page::Values& to) const;
};

struct GridRow {
    std::string version;
    std::string day;  // of its first wheel
    bool is_reported = false;
    std::vector<GridCell> cells = {};
    void show(page::Values& to) const;
};

struct ShownGrid {
    std::string project;
    std::vector<GridColumn> columns = {};
    std::vector<GridRow> rows = {};
    void show(page::Values& to) const;
};

// What to install on a node type, as project.js reads it.
struct InstallOffer {
    std::string node;   // empty: any
    std::string offer;  // see install_box.cpp; empty: no wheel
    std::string why = {};
    std::string job = {};     // the first lines of a job's script there
    std::string submit = {};  // "sbatch"
    std::string setups = {};  // {"3.12":{"program":"python3.12","lines":"module load …\n"}}
    void show(page::Values& to) const;
};

// A text that installs the project: for pip, for uv, …
struct InstallWay {
    std::string name;
    std::string id;
    std::string title;
    std::string text;   // with {index}, {wanted}, …
    std::string shown;  // for any machine
    std::string about;
    void show(page::Values& to) const;
};

struct ShownInstall {
    std::string refusal = {};  // why there is nothing to install
    std::string project = {};
    std::string newest = {};
    std::string only = {};    // "--only-binary torch "
    std::string hashes = {};  // "2.5.1:0123…,4567… 2.4.0:…"
    std::vector<InstallOffer> offers = {};
    std::vector<InstallWay> ways = {};
    std::string script = {};            // for a machine without an offer
    std::vector<InstallWay> jobs = {};  // at most one; only reports bring it
    std::string note = {};
    std::vector<InstallOffer> refused = {};
    void show(page::Values& to) const;
};

// A project in a list.
struct ProjectCard {
    std::string link = {};
    std::string name = {};
    std::string version = {};
    std::string summary = {};
    std::string pythons = {};
    std::string machines = {};
    std::string gpus = {};
    std::string index = {};  // with the time, on the front page
    page::Html time = {};
    std::vector<std::string> tags = {};
    void show(page::Values& to) const;
};

// `folder`: from the page to that of the index's projects.
[[nodiscard]] ProjectCard project_card(const std::string& folder, const std::string& name,
                                       const SearchEntry& entry);

// The view of a template without values.
struct NoView {
    void show(page::Values& to) const;
};

struct ShownProject {
    std::string project = {};
    std::string name = {};
    std::string version = {};
    std::string summary = {};
    std::string status = {};  // empty: active
    std::string status_reason = {};
    page::Html install = {};
    page::Html report_time = {};
    std::string quarantined = {};  // "2 more files are"
    page::Html grid = {};
    std::vector<VersionSection> versions = {};
    std::uint64_t older = 0;
    std::vector<FileLine> older_files = {};
    std::vector<FileLine> sdists = {};
    page::Html description = {};
    std::string licence = {};
    std::vector<ProjectLink> links = {};
    std::vector<RequirementLine> requirements = {};
    // Scripts that only some readers load.
    std::string compare_script = {};
    std::string versions_script = {};
    void show(page::Values& to) const;
};

}  // namespace wheelyard::indexer
