// What lib/page/templates/project.html and wheel.html show: the typed views that project_page.cpp and wheel_facts.cpp fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/page/html.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::indexer {

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

// Whether the wheel runs on one node type.
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
    bool is_yanked = false;
    std::string yanked_reason = {};
    std::string warnings = {};  // "2 warnings"
    std::vector<WheelFact> facts = {};
    bool is_checked = false;  // by a registry that keeps what the rules found
    std::vector<WheelFinding> findings = {};
    std::vector<WheelFit> fits = {};
    std::vector<WheelFact> made_by = {};
    void show(page::Values& to) const;
};

struct VersionSection {
    std::string version;
    std::vector<page::Html> wheels = {};
    void show(page::Values& to) const;
};

// A file in one line.
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
    std::string project;  // empty: it cannot be read
    std::string name;
    std::string rest;
    void show(page::Values& to) const;
};

struct ShownProject {
    std::string name = {};
    std::string version = {};
    std::string summary = {};
    std::string status = {};  // empty: active
    std::string status_reason = {};
    page::Html install = {};
    page::Html sites = {};
    page::Html report_time = {};
    std::string quarantined = {};  // "2 more files are"
    page::Html wheels = {};
    std::vector<VersionSection> versions = {};
    std::uint64_t older = 0;
    std::vector<FileLine> older_files = {};
    std::vector<FileLine> sdists = {};
    page::Html description = {};
    std::string licence = {};
    std::vector<ProjectLink> links = {};
    std::vector<RequirementLine> requirements = {};
    void show(page::Values& to) const;
};

}  // namespace wheelyard::indexer
