// Facts belong to bytes, so they are looked for where it costs least: in our own catalogue, then in the delta
// over there, which is small, and only then in its base, of which a copy is kept so that it comes once.
#include "indexer/followed_catalogue.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/catalogue_file.hpp"
#include "indexer/event_log.hpp"
#include "indexer/limits.hpp"
#include "indexer/page_files.hpp"
#include "indexer/paths.hpp"
#include "indexer/project_view.hpp"
#include "lib/base/url.hpp"
#include "lib/simple/catalogue.hpp"
#include "lib/simple/page.hpp"
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

// What is known already stays.
void learn(KnownFacts& known, std::string_view lines, std::string_view facts) {
    while (!lines.empty()) {
        const auto wheel = simple::parse_catalogue_line(take_line(lines));
        const auto its_facts = take_line(facts);
        known.try_emplace(TreeFile{std::string(wheel.sha256), std::string(wheel.filename)}, its_facts);
    }
}

base::Status learn_from(const simple::CataloguePart* part, const std::string& key, KnownFacts& known) {
    if (part == nullptr) return {};
    WHEELYARD_ASSIGN(const auto entry, part->find(key));
    if (!entry) return {};
    WHEELYARD_ASSIGN(const auto lines, part->lines(*entry));
    WHEELYARD_ASSIGN(const auto facts, part->facts(*entry));
    learn(known, lines, facts);
    return {};
}

std::optional<simple::CataloguePart> open_part(const fs::path& file) {
    auto part = simple::CataloguePart::open(file);
    if (!part) return std::nullopt;
    return std::move(*part);
}

// The catalogue over there: each of its files is asked for at most once a round, and only if it is needed.
class TheirCatalogue {
  public:
    TheirCatalogue(Disk& disk, FollowedSource& source, const CatalogueRound& round, FollowedCatalogue& state)
        : disk_(disk), source_(source), round_(round), state_(state) {}

    // nullptr: there is none that can be read.
    base::Result<const simple::CataloguePart*> whole() {
        return get(whole_, simple::catalogue_name, state_.base_etag);
    }
    base::Result<const simple::CataloguePart*> changes() {
        return get(changes_, simple::catalogue_delta_name, state_.delta_etag);
    }

  private:
    struct Asked {
        bool is_asked = false;
        std::optional<simple::CataloguePart> part = {};
    };

    base::Result<const simple::CataloguePart*> get(Asked& asked, std::string_view name, std::string& etag) {
        if (!asked.is_asked) {
            WHEELYARD_ASSIGN(asked.part, refresh(name, etag));
            asked.is_asked = true;
        }
        const simple::CataloguePart* part = asked.part ? &*asked.part : nullptr;
        return part;
    }

    base::Result<std::optional<simple::CataloguePart>> refresh(std::string_view name, std::string& etag) {
        const fs::path folder = catalogues_folder(round_.tree);
        const fs::path file = folder / ("from-" + round_.index + "-" + std::string(name));
        auto kept = open_part(file);
        WHEELYARD_ASSIGN(const auto answer, source_.catalogue(name, kept ? etag : std::string()));
        if (!answer) {
            etag.clear();
            WHEELYARD_TRY(disk_.remove(file));
            return std::optional<simple::CataloguePart>();
        }
        if (answer->is_unchanged) return kept;
        WHEELYARD_TRY(disk_.replace_by_way_of(folder / round_.index, file, answer->bytes));
        etag = answer->etag;
        return open_part(file);
    }

    Disk& disk_;
    FollowedSource& source_;
    const CatalogueRound& round_;
    FollowedCatalogue& state_;
    Asked whole_;
    Asked changes_;
};

class FollowCatalogue {
  public:
    FollowCatalogue(Disk& disk, FollowedSource& source, const CatalogueRound& round,
                    const FollowedCatalogue& before, const Meanwhile& meanwhile)
        : disk_(disk),
          source_(source),
          round_(round),
          meanwhile_(meanwhile),
          state_(before),
          theirs_(disk, source, round, state_) {}

    base::Result<FollowedCatalogue> run() {
        const fs::path folder = root_folder(round_.tree, round_.index);
        if (auto opened = simple::Catalogue::open(folder)) own_ = std::move(*opened);
        is_anew_ = round_.is_anew || !own_;
        std::set<std::string> projects = round_.projects;
        projects.insert(state_.waiting.begin(), state_.waiting.end());
        const bool waits_for_all = projects.erase(std::string(every_project)) > 0;
        // The log over there may say any name; they become paths.
        std::erase_if(projects, [](const auto& name) { return wheel::normalize_name(name) != name; });
        if (!is_anew_ && projects.empty()) return state_;

        WHEELYARD_TRY(disk_.make_directories(catalogues_folder(round_.tree)));
        state_.waiting.clear();
        if (waits_for_all && !is_anew_) {
            WHEELYARD_ASSIGN(const auto* there, theirs_.whole());
            is_anew_ = there != nullptr;
            if (!is_anew_) state_.waiting.emplace(every_project);
        }
        if (is_anew_) {
            WHEELYARD_ASSIGN(const auto names, names_with_pages(round_.tree, round_.index));
            projects = {names.begin(), names.end()};
        }
        // Readers refuse a catalogue whose delta is damaged.
        if (!own_) WHEELYARD_TRY(disk_.remove(folder / simple::catalogue_delta_name));
        WHEELYARD_TRY(write(projects));
        WHEELYARD_TRY(disk_.sync_directory(folder));
        return state_;
    }

  private:
    base::Status write(const std::set<std::string>& projects) {
        std::vector<simple::CatalogueProject> found;
        for (const auto& project : projects) {
            WHEELYARD_TRY(meanwhile_());
            WHEELYARD_ASSIGN(auto now, project_now(project));
            // Nothing new of what waits as before.
            const bool is_as_before =
                !is_anew_ && !round_.projects.contains(project) && state_.waiting.contains(project);
            if (!is_as_before) found.push_back(std::move(now));
        }
        const auto all = [&]() -> base::Result<std::vector<simple::CatalogueProject>> { return found; };
        CatalogueUpdate update{round_.index, round_.serial, round_.time, {}, is_anew_};
        if (!is_anew_) update.changed = found;
        return update_catalogue(disk_,
                                {root_folder(round_.tree, round_.index), catalogues_folder(round_.tree)},
                                std::move(update), all, meanwhile_);
    }

    base::Result<simple::CatalogueProject> project_now(const std::string& project) {
        WHEELYARD_ASSIGN(auto rows, rows_of_page(project));
        WHEELYARD_TRY(add_facts(project, rows));
        return catalogue_project(make_project_view(project, std::move(rows)));
    }

    // None: we have no such page.
    base::Result<std::vector<catalog::FileRow>> rows_of_page(const std::string& project) {
        std::vector<catalog::FileRow> rows;
        const fs::path file = project_folder(round_.tree, round_.index, project) / json_page;
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        if (!size) return rows;
        WHEELYARD_ASSIGN(const auto text, disk_.read(file, max_page_bytes));
        WHEELYARD_ASSIGN(const auto url, base::parse_url(source_.from() + "simple/" + project + "/"));
        WHEELYARD_ASSIGN(auto page, simple::parse_project_json(text, url));
        for (auto& link : page.files) {
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

    // Takes those away that wait for theirs.
    base::Status add_facts(const std::string& project, std::vector<catalog::FileRow>& rows) {
        const std::string key = wheel::escape_name(project);
        KnownFacts known;
        const auto is_known = [&](const catalog::FileRow& row) {
            return known.contains({row.sha256, row.filename});
        };
        const auto lacks = [&] { return !std::all_of(rows.begin(), rows.end(), is_known); };
        if (!is_anew_) WHEELYARD_TRY(learn_own(key, known));
        if (lacks()) {
            WHEELYARD_ASSIGN(const auto* changes, theirs_.changes());
            WHEELYARD_TRY(learn_from(changes, key, known));
        }
        if (lacks()) {
            WHEELYARD_ASSIGN(const auto* whole, theirs_.whole());
            WHEELYARD_TRY(learn_from(whole, key, known));
            if (is_anew_) WHEELYARD_TRY(learn_own(key, known));
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
        WHEELYARD_TRY(own_->visit_one(key, [&](const simple::CatalogueView& project) {
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
    const CatalogueRound& round_;
    const Meanwhile& meanwhile_;
    FollowedCatalogue state_;
    TheirCatalogue theirs_;
    std::optional<simple::Catalogue> own_;
    bool is_anew_ = false;
};

}  // namespace

base::Result<FollowedCatalogue> follow_catalogue(Disk& disk, FollowedSource& source,
                                                 const CatalogueRound& round, const FollowedCatalogue& before,
                                                 const Meanwhile& meanwhile) {
    return FollowCatalogue(disk, source, round, before, meanwhile).run();
}

}  // namespace wheelyard::indexer
