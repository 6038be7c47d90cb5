#include "indexer/publish/web_run.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "indexer/publish/machine_wide.hpp"
#include "indexer/publish/search_files.hpp"
#include "indexer/publish/touched_views.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/tree_files.hpp"
#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/site_page.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/assets.hpp"
#include "lib/page/places.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

bool is_normalised(const std::string& name) {
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return base::is_ascii_alnum(c) || c == '-'; }) &&
           base::ascii_lower(name) == name && !name.empty();
}

}  // namespace

std::string look_of(const FarmText& farm) {
    constexpr std::size_t digits = 16;
    std::string text = page::look();
    for (const std::string& part :
         {farm.title, farm.text, farm.contact, farm.style, farm.logo, farm.url, farm.login})
        text.append("\n").append(part);
    for (const auto& [index, title] : farm.titles)
        text.append("\n").append(index).append("\t").append(title);
    for (const auto& [index, names] : farm.upstreams)
        text.append("\n<").append(index).append("\t").append(names);
    for (const auto& index : farm.hidden)
        text.append("\n-").append(index);
    for (const auto& index : farm.without_pages)
        text.append("\n!").append(index);
    return base::sha256_hex(text).substr(0, digits);
}

base::Status WebRun::run(catalog::Serial after, catalog::Serial until, const std::set<ProjectName>& again,
                         const std::vector<std::string>& indexes) {
    WHEELYARD_ASSIGN(TouchedByLog touched, read_touched(catalog_, inheritance_, after, until));
    for (const ProjectName& name : again)
        touched.projects.try_emplace(name);
    WHEELYARD_TRY(prepare(indexes, after == 0, touched));
    WHEELYARD_TRY(write_assets());
    WHEELYARD_TRY(in_bulk(touched.projects.size(), [&] { return write_projects(touched.projects); }));
    WHEELYARD_TRY(write_indexes());
    return remove_gone();
}

// Reads what the tree has of each index. Without a whole search, all projects of the index are touched.
base::Status WebRun::prepare(const std::vector<std::string>& indexes, bool from_begin,
                             TouchedByLog& touched) {
    WHEELYARD_ASSIGN(const auto shown, catalog_.shown_indexes(inheritance_));
    std::set<std::string> names(shown.begin(), shown.end());
    names.insert(indexes.begin(), indexes.end());
    std::erase_if(touched.projects,
                  [&](const auto& project) { return farm_.without_pages.contains(project.first.index); });
    for (const auto& [name, what] : touched.projects)
        names.insert(name.index);
    for (const std::string& index : farm_.without_pages)
        names.erase(index);
    for (const std::string& index : names) {
        IndexState& state = indexes_[index];
        WHEELYARD_ASSIGN(const auto status, read_if_there(status_file(tree_, index), max_farm_report_bytes));
        state.report = read_farm_report(status);
        const fs::path folder = web_root_folder(tree_, index);
        WHEELYARD_ASSIGN(const auto page, disk_.size_of((folder / html_page).native()));
        WHEELYARD_ASSIGN(const auto text, read_if_there(folder / search_page_file, max_page_bytes));
        WHEELYARD_ASSIGN(const auto begun, disk_.size_of((folder / search_begun_file).native()));
        auto top = parse_search_top(text);
        state.is_new = from_begin || !top || begun;
        state.is_changed = state.is_new || !page;
        if (!state.is_new) state.top = std::move(*top);
        state.shown = shown_of(state.report);
        WHEELYARD_TRY(read_sites(index, from_begin, state));
        if (state.is_changed || touched.changed_indexes.contains(index))
            WHEELYARD_TRY(touch_all(index, touched.projects));
    }
    for (const auto& [name, what] : touched.projects)
        indexes_[name.index].is_changed = true;
    for (auto& [index, state] : indexes_) {
        // Where touch_all() was called above, all its pages show the new report.
        if (!state.is_changed || !touched.changed_indexes.contains(index))
            WHEELYARD_TRY(touch_reported(index, state, touched.projects));
    }
    return {};
}

base::Status WebRun::touch_reported(const std::string& index, IndexState& state, TouchedProjects& projects) {
    const fs::path file = builds_folder(tree_, index) / shown_report_file;
    WHEELYARD_ASSIGN(const auto text, read_if_there(file, max_page_bytes));
    const ShownReport old = parse_shown_report(text);
    if (settings_.projects_per_report == 0) {
        state.shown = old;
        return {};
    }
    if (state.is_new) return {};  // all projects are touched
    const auto touch = [&](const std::string& project) -> base::Status {
        // A site names it: "../.." is no folder of a project, and what is not shown is removed.
        if (!is_normalised(project)) return {};
        const fs::path page = web_folder(tree_, index, project) / html_page;
        WHEELYARD_ASSIGN(const auto there, disk_.size_of(page.native()));
        if (there) projects.try_emplace({index, project});
        return {};
    };
    for (const auto& [project, digest] : old.projects) {
        const auto now = state.shown.projects.find(project);
        if (now == state.shown.projects.end() || now->second != digest) WHEELYARD_TRY(touch(project));
    }
    for (const auto& [project, digest] : state.shown.projects) {
        if (!old.projects.contains(project)) WHEELYARD_TRY(touch(project));
    }
    if (old.nodes == state.shown.nodes && !old.left) return {};
    WHEELYARD_ASSIGN(const auto names, folders_below(web_root_folder(tree_, index)));
    auto next = old.nodes == state.shown.nodes ? std::upper_bound(names.begin(), names.end(), *old.left)
                                               : names.begin();
    for (std::size_t count = 0; next != names.end(); ++next, ++count) {
        if (count == settings_.projects_per_report) {
            state.shown.left = *std::prev(next);
            break;
        }
        projects.try_emplace({index, *next});
    }
    return {};
}

bool WebRun::has_left() const {
    return std::any_of(indexes_.begin(), indexes_.end(),
                       [](const auto& index) { return index.second.shown.left.has_value(); });
}

// The projects that the index shows, and those that have a page.
base::Status WebRun::touch_all(const std::string& index, TouchedProjects& projects) {
    WHEELYARD_ASSIGN(auto names, catalog_.shown_projects(inheritance_, index));
    WHEELYARD_ASSIGN(const auto in_tree, folders_below(web_root_folder(tree_, index)));
    names.insert(names.end(), in_tree.begin(), in_tree.end());
    for (const std::string& project : names)
        projects.try_emplace({index, project});
    return {};
}

// Their names contain their hash, so an existing one has these bytes.
base::Status WebRun::write_assets() {
    std::vector<NamedBytes> files;
    for (const page::Asset& asset : page::assets())
        files.push_back({asset.published_name(), std::string(asset.bytes)});
    if (!farm_.style.empty()) files.push_back({frame_.style, farm_.style});
    if (!farm_.logo.empty() && !farm_.logo_bytes.bytes.empty())
        files.push_back({farm_.logo, farm_.logo_bytes.bytes});
    return write(tree_.native(), files);
}

base::Status WebRun::write_projects(const TouchedProjects& touched) {
    TouchedViews views(catalog_, inheritance_, touched);
    std::size_t count = 0;
    while (true) {
        WHEELYARD_ASSIGN(const auto read, views.read_some(settings_.rows_per_read));
        if (read.empty()) return {};
        for (auto& project : read) {
            const ProjectName& name = project.touched->first;
            if (!project.is_shown) {
                indexes_[name.index].entries[name.project] = std::nullopt;
                indexes_[name.index].gone.push_back(name.project);
                for (auto& [site, lines] : indexes_[name.index].site_wheels)
                    replace_project(lines, name.project, {});
                continue;
            }
            WHEELYARD_TRY(keep_alive_());
            const auto written = write_project(name, project.found.view);
            if (!written) {
                if (is_machine_wide(written.error())) return base::fail(written.error());
                lagging_.push_back({name.index, name.project, {}, written.error()});
            }
            if (++count % settings_.flush_every == 0) WHEELYARD_TRY(disk_.flush_pending());
            if (settings_.progress) settings_.progress("web UI", count, touched.size());
        }
    }
}

base::Status WebRun::write_project(const ProjectName& name, ProjectView& view) {
    IndexState& index = indexes_[name.index];
    WHEELYARD_TRY(keep_files_in_tree(disk_, tree_, view.files));
    WHEELYARD_ASSIGN(const ProjectText text, read_text(view));
    std::map<std::string, std::string> provenance;
    for (const catalog::FileRow* row : rows_with_provenance(view)) {
        const std::string file = file_text(tree_, *row) + std::string(provenance_suffix);
        WHEELYARD_ASSIGN(provenance[row->sha256], read_if_there(file, max_page_bytes));
    }
    const std::vector<ShownWheel> wheels = newest_wheels(view, index.report);
    const std::vector<NamedBytes> pages{
        {std::string(feed_page), render_feed(name.index, view)},
        {std::string(html_page),
         render_project_page({name.index, view, text, index.report, frame_, std::move(provenance)}, wheels)}};
    WHEELYARD_TRY(write(web_folder(tree_, name.index, name.project).native(), pages));
    index.entries[name.project] = make_search_entry(view, text);
    for (auto& [site, lines] : index.site_wheels)
        replace_project(lines, name.project, wheels_on_site(site, wheels, index.report.nodes));
    return {};
}

base::Status WebRun::read_sites(const std::string& index, bool from_begin, IndexState& state) {
    for (const ReportedSite& site : state.report.sites) {
        SiteWheels& lines = state.site_wheels[site.site];
        if (from_begin || state.is_changed) continue;  // all projects are touched
        const fs::path file = sites_folder(tree_, index) / site.site / site_wheels_file;
        WHEELYARD_ASSIGN(const auto text, read_if_there(file, max_page_bytes));
        auto kept = parse_site_wheels(text);
        if (!kept && !text.empty()) state.is_changed = true;
        if (kept) lines = std::move(*kept);
    }
    return {};
}

base::Status WebRun::write_sites(const std::string& index, const IndexState& state) {
    const fs::path folder = sites_folder(tree_, index);
    for (const auto& [site, lines] : state.site_wheels) {
        const std::string place = (folder / site).native();
        // For this program alone, so without compressed copies.
        WHEELYARD_TRY(
            write_pages(disk_, place, {{std::string(site_wheels_file), render_site_wheels(lines)}}, false));
        WHEELYARD_TRY(write(
            place, {{std::string(feed_page), render_site_feed(index, site, lines)},
                    {std::string(html_page), render_site_page(frame_, index, site, state.report, lines)}}));
    }
    WHEELYARD_TRY(
        write(folder.native(),
              {{std::string(html_page), render_sites_page(frame_, index, state.report, state.site_wheels)}}));
    WHEELYARD_ASSIGN(const auto there, folders_below(folder));
    for (const std::string& site : there) {
        if (state.site_wheels.contains(site)) continue;
        WHEELYARD_TRY(remove_folder(disk_, folder / site, keep_alive_));
        WHEELYARD_TRY(disk_.sync_directory(folder.native()));
    }
    return {};
}

base::Result<ProjectText> WebRun::read_text(const ProjectView& view) {
    const catalog::FileRow* row = newest_row(view);
    if (row == nullptr || row->metadata_sha256.empty()) return ProjectText{};
    const std::string file = file_text(tree_, *row) + std::string(metadata_suffix);
    WHEELYARD_ASSIGN(const auto metadata, read_if_there(file, max_page_bytes));
    return read_project_text(metadata);
}

// After the pages of projects; the front page last.
base::Status WebRun::write_indexes() {
    std::vector<IndexSummary> summaries;
    for (auto& [index, state] : indexes_) {
        WHEELYARD_TRY(keep_alive_());
        // Before the search and the shown report: without those a run that follows a killed one touches all
        // again.
        WHEELYARD_TRY(write_sites(index, state));
        if (state.is_changed) WHEELYARD_TRY(write_search(index, state));
        WHEELYARD_TRY(write(builds_folder(tree_, index).native(),
                            {{std::string(html_page), render_builds_page(frame_, index, state.report)},
                             {std::string(feed_page), render_failure_feed(index, state.report)},
                             {"build.html", render_build_page(frame_, index)},
                             {"request.html", render_request_page(frame_, index)}}));
        // For this program alone, so without compressed copies.
        WHEELYARD_TRY(write_pages(disk_, builds_folder(tree_, index).native(),
                                  {{std::string(shown_report_file), render_shown_report(state.shown)}},
                                  false));
        summaries.push_back(summarise(index, state.top, std::move(state.report)));
    }
    return write(tree_.native(), {{std::string(html_page), render_front(farm_, summaries)}});
}

base::Status WebRun::in_bulk(std::size_t count, const std::function<base::Status()>& work) {
    if (count < settings_.bulk_from) return work();
    WHEELYARD_TRY(disk_.begin_bulk(tree_));
    WHEELYARD_TRY(work());
    WHEELYARD_TRY(keep_alive_());
    return disk_.end_bulk();
}

base::Status WebRun::write_search(const std::string& index, IndexState& state) {
    const fs::path folder = web_root_folder(tree_, index);
    SearchFiles files(disk_, folder, settings_.precompressed, state.is_new);
    if (!state.entries.empty())
        WHEELYARD_TRY(write_pages(disk_, folder.native(), {{std::string(search_begun_file), "{}\n"}}, false));
    WHEELYARD_TRY(in_bulk(state.entries.size(), [&] { return write_search(index, state, files); }));
    WHEELYARD_TRY(files.remove_gone());
    return disk_.remove(folder / search_begun_file);
}

base::Status WebRun::write_search(const std::string& index, IndexState& state, SearchFiles& files) {
    WHEELYARD_ASSIGN(state.top, update_search(files, state.top, state.entries, state.is_new));
    SearchList first;
    if (state.is_new) {  // in bulk, what was just written has no name yet that could be read
        for (const auto& [name, entry] : state.entries) {
            if (entry && first.size() < max_listed_projects) first.emplace(name, *entry);
        }
    } else {
        WHEELYARD_ASSIGN(first, first_projects(files, max_listed_projects));
    }
    WHEELYARD_ASSIGN(
        const bool changed,
        files.finish({{std::string(feed_page), render_index_feed(index, state.top)},
                      {std::string(html_page), render_search_page(farm_, index, first, state.top.count)}}));
    if (changed) ++pages_;
    return {};
}

base::Status WebRun::remove_gone() {
    for (const auto& [index, state] : indexes_) {
        for (const std::string& project : state.gone) {
            const fs::path folder = web_folder(tree_, index, project);
            WHEELYARD_ASSIGN(const auto there, disk_.size_of(folder.native()));
            if (!there) continue;
            WHEELYARD_TRY(remove_page(disk_, folder / feed_page));
            WHEELYARD_TRY(remove_pages(disk_, folder));
            WHEELYARD_TRY(disk_.remove(folder));
            WHEELYARD_TRY(disk_.sync_directory(folder.parent_path().native()));
        }
    }
    for (const std::string& index : farm_.without_pages) {
        for (const page::Place& place : page::places) {
            const fs::path folder = tree_ / index / place.folder;
            WHEELYARD_ASSIGN(const auto there, disk_.size_of(folder.native()));
            if (!there) continue;
            WHEELYARD_TRY(remove_folder(disk_, folder, keep_alive_));
            WHEELYARD_TRY(disk_.sync_directory(folder.parent_path().native()));
        }
    }
    return {};
}

base::Status WebRun::write(const std::string& folder, const std::vector<NamedBytes>& pages) {
    WHEELYARD_ASSIGN(const bool changed, write_pages(disk_, folder, pages, settings_.precompressed));
    if (changed) ++pages_;
    return {};
}

base::Result<std::string> WebRun::read_if_there(const fs::path& file, std::uint64_t limit) {
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file.native()));
    if (!size || *size > limit) return std::string();
    return disk_.read(file, limit);
}

}  // namespace wheelyard::indexer
