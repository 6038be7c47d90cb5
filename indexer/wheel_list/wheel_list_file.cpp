// Base, delta and update are three sorted lists of projects. An update writes either a new delta or a new
// base from all three; a project of a later list replaces the same project of an earlier one.
#include "indexer/wheel_list/wheel_list_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

using Projects = std::map<std::string, simple::WheelListProject, std::less<>>;

// The members of facts that decide where a wheel runs; clients can request the rest from the registry.
std::vector<std::string_view> make_node_facts() {
    std::vector<std::string_view> names{"machines",     "symbol_floors",   "needed",        "modules",
                                        "search_paths", "isa_needed",      "manylinux_fit", "needed_later",
                                        "needed_maybe", "sure_imports",    "avx_code",      "avx512_code",
                                        "sve_code",     "pypy_names",      "pypy_later",    "needed_surely",
                                        "provides",     "executable_stack"};
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            names.push_back(list.fact);
    }
    for (const auto* of_torch :
         {"torch_requires", "torch_cxx11_abi", "torch_at_least", "torch_below", "torch_stable_abi"})
        names.emplace_back(of_torch);
    return names;
}

// All kinds of `needed` except those that the wheel itself has.
io::Json outside_of(const io::Json& needed) {
    io::Json outside = io::Json::object();
    if (needed.as_object() == nullptr) return outside;
    for (const auto& [kind, libraries] : *needed.as_object()) {
        if (kind != "inside") outside.set(kind, libraries);
    }
    return outside;
}

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

std::string facts_line(const catalog::FileRow& row) {
    if (row.facts_json == "{}") return "\n";
    const auto facts = io::parse_json(row.facts_json);
    if (!facts) return "\n";
    static const auto node_facts = make_node_facts();
    io::Json part = part_of(*facts, node_facts);
    if (const auto* needed = part.find("needed")) {
        auto outside = outside_of(*needed);
        part.set("needed", std::move(outside));
    }
    // A wheel with libraries states an empty list, too: nothing else brings what it needs.
    if (const auto* requires_dist = facts->find("requires_dist");
        requires_dist != nullptr && (!is_empty(*requires_dist) || part.find("needed") != nullptr))
        part.set("requires_dist", *requires_dist);
    // Its properties: where they fit, not which provider says so.
    if (const auto* variant = facts->find("variant"); variant != nullptr)
        part.set("variant", part_of(*variant, std::array{"variants"}));
    if (!row.provenance_sha256.empty()) {
        io::Json by_farm = io::Json::object();
        if (const auto cpu = facts->string_or("built_cpu", {}); !cpu.empty()) by_farm.set("cpu", cpu);
        part.set("built", std::move(by_farm));
    }
    // A wheel for every platform may have an empty line.
    const bool says_nothing = part.as_object()->empty() && row.filename.ends_with("-any.whl");
    return says_nothing ? "\n" : part.render() + "\n";
}

base::Status add_part(Projects& projects, const simple::WheelListPart& part,
                      const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const auto entries, part.entries());
    for (const auto& entry : entries) {
        WHEELYARD_TRY(keep_alive());
        simple::WheelListProject project{std::string(entry.key), entry.wheels, {}, {}};
        WHEELYARD_ASSIGN(project.lines, part.lines(entry));
        WHEELYARD_ASSIGN(project.facts, part.facts(entry));
        projects.insert_or_assign(project.key, std::move(project));
    }
    return {};
}

std::vector<simple::WheelListProject> list_of(Projects&& projects, bool with_removed) {
    std::vector<simple::WheelListProject> list;
    list.reserve(projects.size());
    for (auto& [key, project] : projects) {
        if (with_removed || project.wheels > 0) list.push_back(std::move(project));
    }
    return list;
}

}  // namespace

simple::WheelListProject wheel_list_project(const ProjectView& view) {
    simple::WheelListProject project{wheel::escape_name(view.project), 0, {}, {}};
    constexpr std::size_t typical_line_bytes = 200;
    project.lines.reserve(view.files.size() * typical_line_bytes);
    std::vector<const catalog::FileRow*> wheels;
    wheels.reserve(view.files.size());
    for (const auto& row : view.files) {
        if (row.filename.ends_with(".whl")) wheels.push_back(&row);
    }
    // The view lists versions oldest first; the wheel list newest first. Files of equal versions keep their
    // order.
    for (std::size_t end = wheels.size(); end > 0;) {
        std::size_t first = end - 1;
        while (first > 0 && wheels[first - 1]->version == wheels[end - 1]->version)
            --first;
        for (std::size_t i = first; i < end; ++i) {
            const auto& row = *wheels[i];
            simple::append_wheel_list_line(project.lines, row);
            project.facts += facts_line(row);
            ++project.wheels;
        }
        end = first;
    }
    return project;
}

base::Status update_wheel_list(
    Disk& disk, const WheelListFolders& place, WheelListUpdate update,
    const std::function<base::Result<std::vector<simple::WheelListProject>>()>& all_projects,
    const base::KeepAlive& keep_alive) {
    const fs::path base_file = place.folder / simple::wheel_list_name;
    const fs::path delta_file = place.folder / simple::wheel_list_delta_name;
    simple::WheelListHead head;
    head.serial = update.serial;
    head.written = base::render_rfc3339(update.time);
    head.index = update.index;
    head.is_whole = update.is_whole;
    const auto write = [&](const fs::path& file, const std::vector<simple::WheelListProject>& projects) {
        return replace_text_via(disk, place.temp / update.index, file,
                                simple::render_wheel_list(head, projects));
    };

    const auto old = simple::read_wheel_list_head(base_file);
    if (!old || update.rebuild) {
        // Rebuild from the catalog: there is no base, or it is damaged, of another version or under another
        // rule.
        WHEELYARD_ASSIGN(auto projects, all_projects());
        Projects sorted;
        // The names come sorted and their keys nearly so, so insertion at the end is usually right.
        for (auto& project : projects)
            sorted.insert_or_assign(sorted.end(), project.key, std::move(project));
        return write(base_file, list_of(std::move(sorted), false));
    }
    if (update.changed.empty()) return {};

    Projects delta;
    const auto old_delta = simple::WheelListPart::open(delta_file);
    if (old_delta && old_delta->head().base_serial == old->serial)
        WHEELYARD_TRY(add_part(delta, *old_delta, keep_alive));
    for (auto& project : update.changed)
        delta.insert_or_assign(project.key, std::move(project));

    const bool base_is_small = old->lines_bytes + old->facts_bytes <= small_wheel_list_bytes;
    // A delta with the base's own serial would count as older than the base.
    const bool is_same_serial = update.serial <= old->serial;
    if (!base_is_small && !is_same_serial && delta.size() <= max_delta_projects) {
        head.base_serial = old->serial;
        return write(delta_file, list_of(std::move(delta), true));
    }
    WHEELYARD_ASSIGN(const auto base_part, simple::WheelListPart::open(base_file));
    Projects all;
    WHEELYARD_TRY(add_part(all, base_part, keep_alive));
    for (auto& [key, project] : delta)
        all.insert_or_assign(key, std::move(project));
    // The old delta belongs to the old base; readers of the new base ignore it.
    return write(base_file, list_of(std::move(all), false));
}

namespace {

// {"format":"wheelyard.catalogues/3","serial":12,"shown":{"main":9}}: all wheel lists are up to date with
// `serial`. `shown` has the serial in each wheel list itself, which is that of its last change.
constexpr std::string_view state_format = "wheelyard.catalogues/3";
// Their wheel lists have only some of the facts, so they are written again.
constexpr std::array<std::string_view, 2> older_state_formats = {"wheelyard.catalogues/1",
                                                                 "wheelyard.catalogues/2"};

struct Noted {
    catalog::Serial serial = 0;
    std::map<std::string, catalog::Serial> shown = {};
    bool operator==(const Noted&) const = default;
};

class WheelListsRun {
  public:
    WheelListsRun(Disk& disk, const catalog::Catalog& catalog, const fs::path& tree, TreeLock& lock,
                  base::UnixMicros now, ReadProjects* read)
        : disk_(disk), catalog_(catalog), tree_(tree), lock_(lock), now_(now), read_(read) {}

    base::Status run(bool rebuild) {
        rebuild = rebuild || std::count(older_state_formats.begin(), older_state_formats.end(),
                                        state_format_there()) > 0;
        // Read the serial first: rules and rows may be newer than it, but must not be older.
        WHEELYARD_ASSIGN(serial_, catalog_.last_serial());
        WHEELYARD_ASSIGN(inheritance_, catalog_.inheritance(catalog::Readers::any));
        WHEELYARD_ASSIGN(const auto indexes, indexes_of_tree());
        const Noted noted = rebuild ? Noted{} : read_state();
        catalog::Serial after = serial_;
        std::set<std::string> continued;
        for (const auto& index : indexes) {
            const auto from = rebuild ? std::nullopt : true_up_to(index, noted);
            if (!from) continue;
            continued.insert(index);
            after = std::min(after, *from);
        }
        WHEELYARD_ASSIGN(const auto touched, read_touched(catalog_, inheritance_, after, serial_));
        Noted now{.serial = serial_, .shown = {}};
        for (const auto& index : indexes) {
            const bool from_scratch = !continued.contains(index) || touched.changed_indexes.contains(index);
            WHEELYARD_TRY(update_index(index, touched, from_scratch));
            now.shown[index] = serial_of(index).value_or(0);
        }
        return now == noted ? base::Status{} : write_state(now);
    }

  private:
    base::Result<std::vector<std::string>> indexes_of_tree() {
        std::vector<std::string> indexes;
        std::error_code error;
        for (fs::directory_iterator entry(tree_, error), end; !error && entry != end;
             entry.increment(error)) {
            std::string index = entry->path().filename().native();
            if (index.starts_with('.')) continue;
            WHEELYARD_ASSIGN(const auto root, disk_.size_of(root_folder(tree_, index) / html_page));
            if (!root) continue;
            indexes.push_back(std::move(index));
        }
        if (error) return base::fail_errno("readdir", tree_.native(), error.value());
        return indexes;
    }

    // The serial of base and delta; nullopt: no readable wheel list.
    std::optional<catalog::Serial> serial_of(const std::string& index) const {
        const fs::path folder = root_folder(tree_, index);
        const auto whole = simple::read_wheel_list_head(folder / simple::wheel_list_name);
        if (!whole || whole->serial > serial_) return std::nullopt;
        const auto delta = simple::read_wheel_list_head(folder / simple::wheel_list_delta_name);
        const bool is_newer = delta && delta->base_serial == whole->serial && delta->serial > whole->serial;
        return is_newer ? delta->serial : whole->serial;
    }

    // No event between the wheel list's own serial and the recorded one touched the index. This holds only if
    // the wheel list is the recorded one: a power cut may have lost its last version.
    std::optional<catalog::Serial> true_up_to(const std::string& index, const Noted& noted) const {
        const auto there = serial_of(index);
        const auto shown = noted.shown.find(index);
        if (!there || shown == noted.shown.end() || shown->second != *there) return there;
        return std::max(*there, std::min(noted.serial, serial_));
    }

    std::string state_format_there() {
        const auto text = disk_.read(state_file(), max_state_bytes);
        const auto state = text ? io::parse_json(*text) : base::Result<io::Json>(io::Json());
        return state ? state->string_or("format", {}) : std::string();
    }

    Noted read_state() {
        const auto text = disk_.read(state_file(), max_state_bytes);
        const auto state = text ? io::parse_json(*text) : base::Result<io::Json>(io::Json());
        if (!state || state->string_or("format", "") != state_format) return {};
        Noted noted{.serial = state->int_or("serial", 0), .shown = {}};
        const auto* shown = state->find("shown");
        if (shown == nullptr || shown->as_object() == nullptr) return noted;
        for (const auto& [index, serial] : *shown->as_object()) {
            if (const auto* number = serial.as_int()) noted.shown[index] = *number;
        }
        return noted;
    }

    base::Status write_state(const Noted& noted) {
        io::Json shown = io::Json::object();
        for (const auto& [index, serial] : noted.shown)
            shown.set(index, serial);
        const auto state = io::Json::object(
            {{"format", state_format}, {"serial", noted.serial}, {"shown", std::move(shown)}});
        return disk_.replace_via(wheel_lists_folder(tree_) / "state.new", state_file(),
                                 state.render() + "\n");
    }

    base::Status update_index(const std::string& index, const TouchedByLog& touched, bool rebuild) {
        const auto all_projects = [&]() -> base::Result<std::vector<simple::WheelListProject>> {
            WHEELYARD_ASSIGN(const auto names, catalog_.shown_projects(inheritance_, index));
            std::vector<simple::WheelListProject> projects;
            for (const auto& name : names) {
                WHEELYARD_ASSIGN(auto project, project_now(index, name));
                projects.push_back(std::move(project));
            }
            return projects;
        };
        WheelListUpdate update{index, serial_, now_, {}, rebuild, !inheritance_.has_upstream(index)};
        if (!rebuild) {
            for (auto at = touched.projects.lower_bound({index, {}});
                 at != touched.projects.end() && at->first.index == index; ++at) {
                WHEELYARD_ASSIGN(auto project, project_now(index, at->first.project));
                update.changed.push_back(std::move(project));
            }
        }
        return update_wheel_list(disk_, {root_folder(tree_, index), wheel_lists_folder(tree_)},
                                 std::move(update), all_projects, [this] { return lock_.renew(); });
    }

    base::Result<simple::WheelListProject> project_now(const std::string& index, const std::string& project) {
        WHEELYARD_TRY(lock_.renew());
        if (read_ != nullptr && read_->serial == serial_) {
            // Requests come in order, so the first remaining entry usually matches.
            auto found = read_->projects.begin();
            if (found == read_->projects.end() || found->first.project != project ||
                found->first.index != index)
                found = read_->projects.find({index, project});
            if (found != read_->projects.end()) return std::move(read_->projects.extract(found).mapped());
        }
        WHEELYARD_ASSIGN(const auto found, read_project(catalog_, inheritance_, index, project));
        return wheel_list_project(found ? found->view : ProjectView{.project = project, .files = {}});
    }

    fs::path state_file() const { return wheel_lists_folder(tree_) / "state.json"; }

    Disk& disk_;
    const catalog::Catalog& catalog_;
    const fs::path& tree_;
    TreeLock& lock_;
    base::UnixMicros now_;
    ReadProjects* read_;
    catalog::Serial serial_ = 0;
    catalog::Inheritance inheritance_;
};

}  // namespace

base::Status update_wheel_lists(Disk& disk, const catalog::Catalog& catalog, const fs::path& tree,
                                const base::Clock& clock, bool rebuild, ReadProjects* read) {
    std::error_code error;
    fs::create_directories(wheel_lists_folder(tree), error);  // not synced: it can be rebuilt
    if (error) return base::fail_errno("making the folder", wheel_lists_folder(tree).native(), error.value());
    WHEELYARD_ASSIGN(auto lock, TreeLock::acquire_wheel_lists(tree, clock));
    return WheelListsRun(disk, catalog, tree, lock, clock.now(), read).run(rebuild);
}

base::Status update_wheel_lists_waiting(const catalog::Catalog& catalog, const fs::path& tree,
                                        base::Clock& clock, bool rebuild, ReadProjects* read) {
    LocalDisk disk;
    return in_turn(clock, [&] { return update_wheel_lists(disk, catalog, tree, clock, rebuild, read); });
}

}  // namespace wheelyard::indexer
