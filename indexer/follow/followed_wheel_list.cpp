// Facts belong to a file's bytes, so the cheapest source with the same hash will do: first our own wheel list,
// then the source's delta, which is small, and last its base, of which a copy is kept.
#include "indexer/follow/followed_wheel_list.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/tree/event_log.hpp"
#include "indexer/tree/limits.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/base/files/temporary_files.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/wheel_list.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

using KnownFacts = std::map<TreeFile, std::string>;

std::string_view take_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

// Existing entries take precedence.
void learn(KnownFacts& known, std::string_view lines, std::string_view facts) {
    while (!lines.empty()) {
        const auto wheel = simple::parse_wheel_list_line(take_line(lines));
        const auto its_facts = take_line(facts);
        known.try_emplace(TreeFile{std::string(wheel.sha256), std::string(wheel.filename)}, its_facts);
    }
}

base::Status learn_from(const simple::WheelListPart* part, const std::string& key, KnownFacts& known) {
    if (part == nullptr) return {};
    WHEELYARD_ASSIGN(const auto entry, part->find(key));
    if (!entry) return {};
    WHEELYARD_ASSIGN(const auto lines, part->lines(*entry));
    WHEELYARD_ASSIGN(const auto facts, part->facts(*entry));
    learn(known, lines, facts);
    return {};
}

std::optional<simple::WheelListPart> open_part(const fs::path& file) {
    auto part = simple::WheelListPart::open(file);
    if (!part) return std::nullopt;
    return std::move(*part);
}

// The source's wheel list. Each of its two files is requested at most once per round, and only if needed.
class SourceWheelList {
  public:
    SourceWheelList(Disk& disk, FollowedSource& source, const WheelListRound& round, FollowedWheelList& state)
        : disk_(disk), source_(source), round_(round), state_(state) {}

    // nullptr: there is no readable one.
    base::Result<const simple::WheelListPart*> whole() {
        return get(whole_, simple::wheel_list_name, state_.base_etag);
    }
    base::Result<const simple::WheelListPart*> changes() {
        return get(changes_, simple::wheel_list_delta_name, state_.delta_etag);
    }

  private:
    struct Asked {
        bool is_asked = false;
        std::optional<simple::WheelListPart> part = {};
    };

    base::Result<const simple::WheelListPart*> get(Asked& asked, std::string_view name, std::string& etag) {
        if (!asked.is_asked) {
            WHEELYARD_ASSIGN(asked.part, refresh(name, etag));
            asked.is_asked = true;
        }
        const simple::WheelListPart* part = asked.part ? &*asked.part : nullptr;
        return part;
    }

    base::Result<std::optional<simple::WheelListPart>> refresh(std::string_view name, std::string& etag) {
        const fs::path file =
            wheel_lists_folder(round_.tree) / ("from-" + round_.index + "-" + std::string(name));
        auto kept = open_part(file);
        WHEELYARD_TRY(base::remove_temporary_files(file));
        WHEELYARD_ASSIGN(const auto answer, source_.wheel_list(name, kept ? etag : std::string(), file));
        if (!answer) {
            etag.clear();
            WHEELYARD_TRY(disk_.remove(file));
            return std::optional<simple::WheelListPart>();
        }
        if (answer->is_unchanged) return kept;
        etag = answer->etag;
        return open_part(file);
    }

    Disk& disk_;
    FollowedSource& source_;
    const WheelListRound& round_;
    FollowedWheelList& state_;
    Asked whole_;
    Asked changes_;
};

class FollowWheelList {
  public:
    FollowWheelList(Disk& disk, FollowedSource& source, const WheelListRound& round,
                    const FollowedWheelList& before, const base::KeepAlive& keep_alive)
        : disk_(disk),
          source_(source),
          round_(round),
          keep_alive_(keep_alive),
          state_(before),
          source_wheel_list_(disk, source, round, state_) {}

    base::Result<FollowedWheelList> run() {
        const fs::path folder = root_folder(round_.tree, round_.index);
        if (auto opened = simple::WheelList::open(folder)) own_ = std::move(*opened);
        rebuild_ = round_.rebuild || !own_;
        std::set<std::string> projects = round_.projects;
        projects.insert(state_.waiting.begin(), state_.waiting.end());
        const bool waits_for_wheel_list = projects.erase(std::string(every_project)) > 0;
        // The source's log is untrusted, and project names become paths.
        std::erase_if(projects, [](const auto& name) { return !is_usable_project(name); });
        if (!rebuild_ && projects.empty()) return state_;

        WHEELYARD_TRY(disk_.make_directories(wheel_lists_folder(round_.tree)));
        state_.waiting.clear();
        if (waits_for_wheel_list && !rebuild_) {
            WHEELYARD_ASSIGN(const auto* there, source_wheel_list_.whole());
            rebuild_ = there != nullptr;
            if (!rebuild_) state_.waiting.emplace(every_project);
        }
        if (rebuild_) {
            WHEELYARD_ASSIGN(const auto names, names_with_pages(round_.tree, round_.index));
            projects = {names.begin(), names.end()};
        }
        // Readers reject a wheel list with a damaged delta.
        if (!own_) WHEELYARD_TRY(remove_page(disk_, folder / simple::wheel_list_delta_name));
        WHEELYARD_TRY(write(projects));
        WHEELYARD_TRY(disk_.sync_directory(folder));
        return state_;
    }

  private:
    base::Status write(const std::set<std::string>& projects) {
        std::vector<simple::WheelListProject> found;
        for (const auto& project : projects) {
            WHEELYARD_TRY(keep_alive_());
            WHEELYARD_ASSIGN(auto now, project_now(project));
            // Nothing changed for a project that still waits.
            const bool is_as_before =
                !rebuild_ && !round_.projects.contains(project) && state_.waiting.contains(project);
            if (!is_as_before) found.push_back(std::move(now));
        }
        const auto all = [&]() -> base::Result<std::vector<simple::WheelListProject>> { return found; };
        constexpr bool is_whole = true;  // its files are all there is
        WheelListUpdate update{round_.index, round_.serial, round_.time, {}, rebuild_, is_whole};
        if (!rebuild_) update.changed = found;
        return update_wheel_list(disk_,
                                 {root_folder(round_.tree, round_.index), wheel_lists_folder(round_.tree)},
                                 std::move(update), all, keep_alive_);
    }

    base::Result<simple::WheelListProject> project_now(const std::string& project) {
        WHEELYARD_ASSIGN(auto rows, rows_of_page(project));
        WHEELYARD_TRY(add_facts(project, rows));
        return wheel_list_project(make_project_view(project, std::move(rows)));
    }

    // Empty: our tree has no such page.
    base::Result<std::vector<catalog::FileRow>> rows_of_page(const std::string& project) {
        std::vector<catalog::FileRow> rows;
        const fs::path file = project_folder(round_.tree, round_.index, project) / json_page;
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        if (!size) return rows;
        WHEELYARD_ASSIGN(const auto text, disk_.read(file, max_page_bytes));
        WHEELYARD_ASSIGN(const auto url, base::parse_url(source_.from() + "simple/" + project + "/"));
        WHEELYARD_ASSIGN(auto page, simple::parse_project_json(text, url));
        for (auto& link : page.files) {
            if (!link.filename.ends_with(".whl"))
                continue;  // the wheel list has no sdists and no variants.json
            const auto name = wheel::parse_wheel_filename(link.filename);
            catalog::FileRow row;
            row.version = name ? name->version.text() : std::string();
            row.filename = std::move(link.filename);
            row.sha256 = std::move(link.sha256);
            row.size_bytes = link.size.value_or(0);
            row.requires_python = std::move(link.requires_python);
            row.upload_time = base::parse_rfc3339(link.upload_time).value_or(0);
            row.yanked = link.yanked;
            row.yanked_reason = std::move(link.yanked_reason);
            rows.push_back(std::move(row));
        }
        return rows;
    }

    // Removes the rows that wait for facts.
    base::Status add_facts(const std::string& project, std::vector<catalog::FileRow>& rows) {
        const std::string key = wheel::escape_name(project);
        KnownFacts known;
        const auto is_known = [&](const catalog::FileRow& row) {
            return known.contains({row.sha256, row.filename});
        };
        const auto lacks = [&] { return !std::all_of(rows.begin(), rows.end(), is_known); };
        if (!rebuild_) WHEELYARD_TRY(learn_own(key, known));
        if (lacks()) {
            WHEELYARD_ASSIGN(const auto* changes, source_wheel_list_.changes());
            WHEELYARD_TRY(learn_from(changes, key, known));
        }
        if (lacks()) {
            WHEELYARD_ASSIGN(const auto* whole, source_wheel_list_.whole());
            WHEELYARD_TRY(learn_from(whole, key, known));
            if (rebuild_) WHEELYARD_TRY(learn_own(key, known));
            if (lacks()) state_.waiting.insert(whole == nullptr ? std::string(every_project) : project);
            if (whole != nullptr) std::erase_if(rows, std::not_fn(is_known));
        }
        for (auto& row : rows)
            row.facts_json = known[{row.sha256, row.filename}];
        return {};
    }

    base::Status learn_own(const std::string& key, KnownFacts& known) const {
        if (!own_) return {};
        base::Status learned;
        WHEELYARD_TRY(own_->visit_one(key, [&](const simple::WheelListView& project) {
            const auto facts = project.part->facts(project.entry);
            if (facts)
                learn(known, project.lines, *facts);
            else
                learned = base::fail(facts.error());
        }));
        return learned;
    }

    Disk& disk_;
    FollowedSource& source_;
    const WheelListRound& round_;
    const base::KeepAlive& keep_alive_;
    FollowedWheelList state_;
    SourceWheelList source_wheel_list_;
    std::optional<simple::WheelList> own_;
    bool rebuild_ = false;
};

}  // namespace

base::Result<FollowedWheelList> follow_wheel_list(Disk& disk, FollowedSource& source,
                                                  const WheelListRound& round,
                                                  const FollowedWheelList& before,
                                                  const base::KeepAlive& keep_alive) {
    return FollowWheelList(disk, source, round, before, keep_alive).run();
}

}  // namespace wheelyard::indexer
