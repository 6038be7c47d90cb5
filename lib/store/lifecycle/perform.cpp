#include "lib/store/lifecycle/perform.hpp"

#include <array>
#include <utility>

#include "lib/store/catalog/marks.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::lifecycle {
namespace {

using catalog::Changed;
using catalog::ChangeOutcome;

struct RefusalRow {
    ChangeOutcome outcome;
    wire::FailedRefusal row;
    std::string_view sentence;
    std::string_view advice;
};
constexpr std::array refusals{
    RefusalRow{ChangeOutcome::no_such_file, "lifecycle.no_such_file", "The index has no such file",
               "see the project's page for its files; what an upstream has and nobody fetched can be yanked "
               "and put in quarantine in INDEX.UPSTREAM, as a file or as PROJECT==VERSION"},
    RefusalRow{ChangeOutcome::no_such_project, "lifecycle.no_such_project", "The index has no such project",
               "see the index's root page for its projects"},
    RefusalRow{ChangeOutcome::pinned, "lifecycle.pinned", "The file is pinned", "unpin it first"},
    RefusalRow{ChangeOutcome::quarantined, "lifecycle.quarantined", "The file is quarantined",
               "release it first"},
    RefusalRow{ChangeOutcome::name_taken, "lifecycle.name_taken",
               "The other index has other bytes under this name, or another spelling of it",
               "a published name never changes its bytes"},
    RefusalRow{ChangeOutcome::name_was_deleted, "lifecycle.name_was_deleted",
               "This filename was previously used there by a file that has since been deleted",
               "raise the version or the build number"},
    RefusalRow{ChangeOutcome::project_closed, "lifecycle.project_closed",
               "The project's status there refuses new files", "change its status first"},
    RefusalRow{ChangeOutcome::would_publish, "lifecycle.would_publish",
               "The source index is private and the target index is public",
               "upload the file to the public index if everyone may have it"},
    RefusalRow{ChangeOutcome::owned_name, "lifecycle.owned_name",
               "The other index owns the name, and the file came from an upstream",
               "if these are the bytes that you mean, say so with --from-upstream (`from_upstream`)"},
    RefusalRow{ChangeOutcome::variants_differ, "lifecycle.variants_differ",
               "variant.json, or the text of the version, contradicts another wheel that the version has in "
               "the other index",
               "build it with the variant metadata that the other wheels of this version have"},
    RefusalRow{ChangeOutcome::too_many_marks, "lifecycle.too_many_marks",
               "This upstream has as many marks as there may be",
               "name versions (PROJECT==VERSION) instead of files, or `deny` projects"},
    RefusalRow{ChangeOutcome::said_of_another, "lifecycle.said_of_another",
               "This was said of another name: of the version, or of a file alone",
               "take it back by that name (`explain` lists the versions): PROJECT==VERSION, or the file's"},
};

base::Result<Done> done_of(const Action& action, const Changed& changed) {
    for (const RefusalRow& row : refusals) {
        if (row.outcome != changed.outcome) continue;
        const std::string& named = action.filename.empty() ? action.project : action.filename;
        std::string subject = changed.filename.empty() ? named : changed.filename;
        if (changed.outcome == ChangeOutcome::variants_differ) subject += ": " + changed.value_there;
        return wire::fail(row.row, std::string(row.sentence), std::move(subject), std::string(row.advice));
    }
    Done done;
    done.changed = changed.outcome == ChangeOutcome::changed;
    done.serial = changed.serial;
    for (std::string& filename : filenames_of(action))
        done.files.push_back(
            {action.verb == Verb::promote ? action.to_index : action.index, std::move(filename)});
    return done;
}

// Says whether the file came from an upstream, through however many indexes.
bool is_of_upstream(const catalog::FileRow& row) {
    return row.uploaded_by.starts_with("upstream:");
}

base::Result<Changed> promote(catalog::Catalog& catalog, const Action& action, const catalog::Cause& cause) {
    const std::vector<std::string> filenames = filenames_of(action);
    if (!action.from_upstream) {
        WHEELYARD_ASSIGN(const catalog::Inheritance rules, catalog.inheritance());
        for (const std::string& filename : filenames) {
            WHEELYARD_ASSIGN(const auto row, catalog.file(action.index, filename));
            if (row && is_of_upstream(*row) && rules.owns(action.to_index, row->project))
                return Changed{
                    .outcome = ChangeOutcome::owned_name, .project = row->project, .filename = filename};
        }
    }
    return catalog.promote_files(action.index, filenames, action.to_index, cause);
}

base::Result<Changed> change(catalog::Catalog& catalog, const Action& action, const catalog::Cause& cause) {
    const catalog::FileName name{action.index, action.filename};
    switch (action.verb) {
        case Verb::yank:
        case Verb::unyank:
            return catalog.set_yanked(name, action.verb == Verb::yank, cause);
        case Verb::remove:
            return catalog.delete_file(name, cause);
        case Verb::quarantine:
            return catalog.set_file_state(name, catalog::FileState::quarantined, cause);
        case Verb::release:
            return catalog.set_file_state(name, catalog::FileState::active, cause);
        case Verb::pin:
        case Verb::unpin:
            return catalog.set_pinned(name, action.verb == Verb::pin, cause);
        case Verb::promote:
            return promote(catalog, action, cause);
        case Verb::set_status:
            return catalog.set_project_status({.index = action.index,
                                               .project = action.project,
                                               .status = action.status,
                                               .status_reason = action.reason},
                                              cause);
        case Verb::retain:
        case Verb::collect:
            break;  // many changes each: below
    }
    return Changed{};
}

// A file that is released or promoted is shown from then on, so the index must take it, and its bytes must be
// intact: they may have changed on the disk.
base::Status check_shown(const LifecycleParts& place, const Action& action, const std::string& filename,
                         const std::vector<catalog::FileRow>& with) {
    const bool is_promotion = action.verb == Verb::promote;
    std::optional<catalog::FileRow> row;
    std::optional<catalog::FileRow> there;
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(row, catalog.file(action.index, filename));
        if (is_promotion) {
            WHEELYARD_ASSIGN(there, catalog.file(action.to_index, filename));
        }
        return {};
    }));
    if (!row) return {};  // refused
    // A promoted file is asked in quarantine, too: it may be released before the change.
    if (!is_promotion && row->state != catalog::FileState::quarantined) return {};  // nothing to do
    const bool is_there = there && there->sha256 == row->sha256;
    if (!is_there) WHEELYARD_TRY(place.admits(is_promotion ? action.to_index : action.index, *row, with));
    const std::string damaged = find_damaged(place.blobs, *row);
    if (damaged.empty()) return {};
    return wire::fail("lifecycle.blob_damaged", "The file's stored bytes are missing or damaged", damaged,
                      "upload the same file again, or restore this blob from a backup; then repeat this");
}

base::Status retain_project(const LifecycleParts& place, catalog::Catalog& catalog, const Action& action,
                            const std::string& project, const std::string& actor, Done& done) {
    WHEELYARD_ASSIGN(const auto files, catalog.files(action.index, project));
    for (const GivenUp& given_up : choose_given_up(files, action.keep)) {
        done.files.push_back({action.index, given_up.filename});
        if (action.dry_run) continue;
        std::string reason = "retention: keeps " + std::to_string(action.keep) + " of series ";
        reason += given_up.series;
        if (!action.reason.empty()) reason.append("; ").append(action.reason);
        WHEELYARD_ASSIGN(const Changed changed, catalog.delete_file({action.index, given_up.filename},
                                                                    {actor, reason, place.clock.now()}));
        done.changed = true;
        done.serial = changed.serial;
    }
    return {};
}

// Project by project: an upload waits for one of them at most.
base::Result<Done> retain(const LifecycleParts& place, const Action& action, const std::string& actor) {
    Done done;
    done.dry_run = action.dry_run;
    std::vector<std::string> projects{action.project};
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        if (action.project.empty()) {
            WHEELYARD_ASSIGN(projects, catalog.projects(action.index));
        }
        // A repeated request may follow one that was interrupted: its pages are waited for as well.
        if (!action.dry_run) {
            WHEELYARD_ASSIGN(done.serial, catalog.last_serial());
        }
        return {};
    }));
    for (std::size_t i = 0; i < projects.size(); ++i) {
        if (place.step) WHEELYARD_TRY(place.step(i, projects.size()));
        WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) {
            return retain_project(place, catalog, action, projects[i], actor, done);
        }));
    }
    return done;
}

}  // namespace

std::string find_damaged(const blobs::BlobStore& blobs, const catalog::FileRow& row) {
    for (const std::string& sha256 :
         {row.sha256, row.metadata_sha256, row.provenance_sha256, row.attestations_sha256}) {
        if (!sha256.empty() && !blobs.is_intact(sha256)) return sha256;
    }
    return {};
}

base::Result<std::vector<catalog::FileName>> release_intact(const LifecycleParts& place,
                                                            const std::string& sha256,
                                                            const std::string& actor) {
    std::vector<catalog::FileRow> files;
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(files, catalog.files_of_blob(sha256));
        return {};
    }));
    std::vector<catalog::FileName> released;
    for (const catalog::FileRow& row : files) {
        const bool is_verifys =
            row.state == catalog::FileState::quarantined && row.state_reason.starts_with(verify_reason);
        if (!is_verifys || !find_damaged(place.blobs, row).empty()) continue;
        WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const Changed changed,
                             catalog.set_file_state({row.index, row.filename}, catalog::FileState::active,
                                                    {actor, "its stored bytes are intact", place.clock.now()},
                                                    [&](const catalog::FileRow& now) {
                                                        return now.state_reason == row.state_reason;
                                                    }));
            if (changed.outcome == ChangeOutcome::changed) released.push_back({row.index, row.filename});
            return {};
        }));
    }
    return released;
}

base::Result<Done> perform(const LifecycleParts& place, const Action& action, const std::string& actor) {
    WHEELYARD_TRY(check(action));
    if (action.verb == Verb::retain) return retain(place, action, actor);
    if (action.verb == Verb::collect) return collect(place, action, actor);
    if (action.verb == Verb::release || action.verb == Verb::promote) {
        std::vector<catalog::FileRow> with;
        WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            for (const std::string& filename : filenames_of(action)) {
                WHEELYARD_ASSIGN(auto row, catalog.file(action.index, filename));
                if (row) with.push_back(*std::move(row));
            }
            if (!catalog::is_version_name(action.filename)) return {};
            const catalog::FileRow version = catalog::mark_named({action.index, action.filename});
            WHEELYARD_ASSIGN(with, catalog.files(action.index, version.project));
            std::erase_if(with, [&](const auto& row) { return !catalog::covers(version, row); });
            return {};
        }));
        for (const catalog::FileRow& row : with)
            WHEELYARD_TRY(check_shown(place, action, row.filename, with));
    }
    Changed changed;
    WHEELYARD_TRY(place.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(changed,
                         lifecycle::change(catalog, action, {actor, action.reason, place.clock.now()}));
        return {};
    }));
    return done_of(action, changed);
}

}  // namespace wheelyard::lifecycle
