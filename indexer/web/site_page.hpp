// "What is there for me": the page of a site, TREE/<index>/site/<site>/index.html, and the list of sites
// above it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "indexer/web/farm_report.hpp"
#include "indexer/web/site_wheels.hpp"
#include "lib/page/farm.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::page {
class Values;
}

namespace wheelyard::indexer {

// What lib/page/templates/site.html and sites.html show.
struct SiteNodeLine {
    std::string name;   // as "My machine" has it: "bede, gh (gh200)"
    std::string label;  // "gh (gh200)"
    std::string about;  // "72 cores · 479 GiB of memory · 1 GPU, sm_90"
    void show(page::Values& to) const;
};

struct SiteWheelRow {
    std::string project;
    std::string anchor;
    std::string version;
    std::string pythons;
    std::string accelerator;
    std::string mpi;
    std::string nodes;
    bool is_sure = false;
    page::Html time;
    void show(page::Values& to) const;
};

struct SiteBuildRow {
    std::string name;
    std::string link;  // to its page; empty: there is none
    std::string place;
    page::Html state;
    std::string cause;
    void show(page::Values& to) const;
};

struct SiteBuildList {
    std::string title;
    std::string empty;
    std::vector<SiteBuildRow> rows = {};
    std::uint64_t more = 0;
    void show(page::Values& to) const;
};

struct ShownSitePage {
    std::string site = {};
    std::string index = {};
    std::string pythons = {};  // "3.11,3.12"
    std::vector<SiteNodeLine> nodes = {};
    page::Html report_time = {};
    std::vector<SiteWheelRow> wheels = {};
    std::uint64_t limit = 0;  // of these lines; 0: there are not so many
    std::vector<SiteBuildList> lists = {};
    void show(page::Values& to) const;
};

struct ListedSite {
    std::string site;
    std::string link;
    std::string count;     // "12", "at least 300"
    std::string projects;  // "project" or "projects"
    page::Html report_time;
    std::vector<SiteNodeLine> nodes = {};
    void show(page::Values& to) const;
};

struct ShownSites {
    std::string index = {};
    std::vector<ListedSite> sites = {};
    void show(page::Values& to) const;
};

[[nodiscard]] std::string render_site_page(const page::Farm& farm, const std::string& index,
                                           const std::string& site, const FarmReport& report,
                                           const SiteWheels& wheels);
// TREE/<index>/site/index.html; `wheels`: of each site.
[[nodiscard]] std::string render_sites_page(const page::Farm& farm, const std::string& index,
                                            const FarmReport& report,
                                            const std::map<std::string, SiteWheels>& wheels);

}  // namespace wheelyard::indexer
