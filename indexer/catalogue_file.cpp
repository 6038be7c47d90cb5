// Base, delta and update are three sorted lists of projects; what is written is two of them or all merged,
// the later one's project in place of the earlier one's.
#include "indexer/catalogue_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "indexer/limits.hpp"
#include "indexer/paths.hpp"
#include "indexer/tree_lock.hpp"
#include "lib/base/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

using Projects = std::map<std::string, simple::CatalogueProject, std::less<>>;

// The members of facts that say where a wheel runs; the rest can be asked of the registry.
constexpr std::array<std::string_view, 9> facts_of_nodes{"machines", "symbol_floors", "needed",
                                                         "modules",  "isa_needed",    "cuda_sm",
                                                         "cuda_ptx", "hip_gfx",       "torch_requires"};
constexpr std::array<std::string_view, 4> libraries_of_nodes{"cuda", "rocm", "mpi", "network"};

bool is_empty(const io::Json& json) {
    const auto* array = json.as_array();
    const auto* object = json.as_object();
    return json.is_null() || (array != nullptr && array->empty()) || (object != nullptr && object->empty());
}

io::Json part_of(const io::Json& json, const auto& names) {
    io::Json part = io::Json::object();
    for (const auto name : names) {
        const auto* member = json.find(name);
        if (member == nullptr || is_empty(*member)) continue;
        part.set(std::string(name), *member);
    }
    return part;
}

std::string facts_line(const std::string& facts_json) {
    const auto facts = io::parse_json(facts_json);
    if (!facts) return "\n";
    io::Json part = part_of(*facts, facts_of_nodes);
    if (const auto* needed = part.find("needed")) part.set("needed", part_of(*needed, libraries_of_nodes));
    const bool says_nothing = part.as_object()->empty();
    return says_nothing ? "\n" : part.render() + "\n";
}

base::Status add_part(Projects& projects, const simple::CataloguePart& part) {
    WHEELYARD_ASSIGN(const auto entries, part.entries());
    for (const auto& entry : entries) {
        simple::CatalogueProject project{std::string(entry.key), entry.wheels, {}, {}};
        WHEELYARD_ASSIGN(project.lines, part.lines(entry));
        WHEELYARD_ASSIGN(project.facts, part.facts(entry));
        projects.insert_or_assign(project.key, std::move(project));
    }
    return {};
}

std::vector<simple::CatalogueProject> list_of(Projects projects, bool with_gone) {
    std::vector<simple::CatalogueProject> list;
    list.reserve(projects.size());
    for (auto& [key, project] : projects) {
        if (with_gone || project.wheels > 0) list.push_back(std::move(project));
    }
    return list;
}

}  // namespace

simple::CatalogueProject catalogue_project(const ProjectView& view) {
    simple::CatalogueProject project{wheel::escape_name(view.project), 0, {}, {}};
    std::vector<const catalog::FileRow*> wheels;
    for (const auto& row : view.files) {
        if (row.filename.ends_with(".whl")) wheels.push_back(&row);
    }
    // The view has its files oldest first, equal versions by name: those keep their order.
    for (std::size_t end = wheels.size(); end > 0;) {
        std::size_t first = end - 1;
        while (first > 0 && wheels[first - 1]->version == wheels[end - 1]->version)
            --first;
        for (std::size_t i = first; i < end; ++i) {
            const auto& row = *wheels[i];
            project.lines += simple::render_catalogue_line(
                {row.filename, row.yanked, row.yanked_reason, row.requires_python,
                 base::render_rfc3339(row.upload_time), std::to_string(row.size_bytes), row.sha256});
            project.facts += facts_line(row.facts_json);
            ++project.wheels;
        }
        end = first;
    }
    return project;
}

base::Status update_catalogue(
    Disk& disk, const fs::path& folder, CatalogueUpdate update,
    const std::function<base::Result<std::vector<simple::CatalogueProject>>()>& all_projects) {
    const fs::path base_file = folder / simple::catalogue_name;
    const fs::path delta_file = folder / simple::catalogue_delta_name;
    simple::CatalogueHead head;
    head.serial = update.serial;
    head.written = base::render_rfc3339(update.time);
    head.index = update.index;

    const auto base_part = simple::CataloguePart::open(base_file);
    if (!base_part) {
        // None yet, of another version or damaged: from the catalog.
        WHEELYARD_ASSIGN(auto projects, all_projects());
        Projects sorted;
        for (auto& project : projects)
            sorted.insert_or_assign(project.key, std::move(project));
        return disk.replace(base_file, simple::render_catalogue(head, list_of(std::move(sorted), false)));
    }
    if (update.changed.empty() && update.serial == base_part->head().serial) return {};

    Projects delta;
    const auto old_delta = simple::CataloguePart::open(delta_file);
    if (old_delta && old_delta->head().base_serial == base_part->head().serial) {
        WHEELYARD_TRY(add_part(delta, *old_delta));
    }
    if (update.changed.empty() && old_delta && old_delta->head().serial >= update.serial) return {};
    for (auto& project : update.changed)
        delta.insert_or_assign(project.key, std::move(project));

    const auto& old = base_part->head();
    const bool base_is_small = old.lines_bytes + old.facts_bytes <= small_catalogue_bytes;
    // A delta of the base's own serial would be taken for an older one.
    const bool is_same_serial = update.serial <= old.serial;
    if (!base_is_small && !is_same_serial && delta.size() <= most_delta_projects) {
        head.base_serial = old.serial;
        return disk.replace(delta_file, simple::render_catalogue(head, list_of(std::move(delta), true)));
    }
    Projects all;
    WHEELYARD_TRY(add_part(all, *base_part));
    for (auto& [key, project] : delta)
        all.insert_or_assign(key, std::move(project));
    // The old delta belongs to the old base: readers of the new one pass it over.
    return disk.replace(base_file, simple::render_catalogue(head, list_of(std::move(all), false)));
}

namespace {

using ChangedProjects = std::map<std::string, std::set<std::string>>;  // by index

base::Result<ChangedProjects> changed_since(const catalog::Catalog& catalog, catalog::Serial after,
                                            catalog::Serial until) {
    ChangedProjects changed;
    while (after < until) {
        WHEELYARD_ASSIGN(const auto events, catalog.events_after(after, events_at_once));
        if (events.empty()) break;
        for (const auto& event : events) {
            after = event.serial;
            if (!event.project.empty()) changed[event.index].insert(event.project);
        }
    }
    return changed;
}

base::Result<simple::CatalogueProject> project_now(const catalog::Catalog& catalog, const std::string& index,
                                                   const std::string& project) {
    WHEELYARD_ASSIGN(const auto found, read_project(catalog, index, project));
    return catalogue_project(found.view);
}

base::Status update_index(Disk& disk, const catalog::Catalog& catalog, const fs::path& folder,
                          const std::string& index, catalog::Serial serial, base::UnixMicros time) {
    const auto all_projects = [&]() -> base::Result<std::vector<simple::CatalogueProject>> {
        WHEELYARD_ASSIGN(const auto names, catalog.projects(index));
        std::vector<simple::CatalogueProject> projects;
        for (const auto& name : names) {
            WHEELYARD_ASSIGN(auto project, project_now(catalog, index, name));
            projects.push_back(std::move(project));
        }
        return projects;
    };
    CatalogueUpdate update{index, serial, time, {}};
    if (const auto there = simple::Catalogue::open(folder)) {
        WHEELYARD_ASSIGN(const auto changed, changed_since(catalog, there->serial(), serial));
        const auto own = changed.find(index);
        if (own == changed.end()) return {};
        for (const auto& name : own->second) {
            WHEELYARD_ASSIGN(auto project, project_now(catalog, index, name));
            update.changed.push_back(std::move(project));
        }
    }
    return update_catalogue(disk, folder, std::move(update), all_projects);
}

}  // namespace

base::Status update_catalogues(Disk& disk, const catalog::Catalog& catalog, const fs::path& tree,
                               const base::Clock& clock) {
    const auto lock = TreeLock::acquire(tree, clock);
    if (!lock) return lock.error().code == "lock.held" ? base::Status{} : base::fail(lock.error());
    WHEELYARD_ASSIGN(const auto serial, catalog.last_serial());
    std::error_code error;
    for (fs::directory_iterator entry(tree, error), end; !error && entry != end; entry.increment(error)) {
        const std::string index = entry->path().filename().native();
        const fs::path folder = root_folder(tree, index);
        WHEELYARD_ASSIGN(const auto root, disk.size_of(folder / html_page));
        if (index.starts_with('.') || !root) continue;
        WHEELYARD_TRY(update_index(disk, catalog, folder, index, serial, clock.now()));
    }
    if (error) return base::fail_errno("readdir", tree.native(), error.value());
    return {};
}

}  // namespace wheelyard::indexer
