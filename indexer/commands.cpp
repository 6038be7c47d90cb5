// The commands of `wheelyard-indexer`: open the store, call the library, print a report.
#include "indexer/commands.hpp"

#include <memory>
#include <ostream>
#include <utility>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/progress_pace.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

struct Opened {
    std::unique_ptr<const catalog::Catalog> catalog;
    std::unique_ptr<blobs::BlobStore> blobs;
};

base::Result<Opened> open_store(const database::Place& place, blobs::Place bucket) {
    // The catalog first: it must exist already, whereas opening the blob store creates missing folders.
    WHEELYARD_ASSIGN(auto catalog, database::Store(place).reader());
    bucket.folder = place.folder;
    WHEELYARD_ASSIGN(auto blobs, blobs::open_blob_store(bucket));
    return Opened{std::move(catalog), std::move(blobs)};
}

// Comes before anything in them is opened, also in a command that only reads. Where two users own them, the
// tree's modes refuse the store's owner.
void become_owner_of(const database::Place& store, const std::filesystem::path& tree) {
    base::become_owner_of(tree);
    base::become_owner_of(store.folder);
}

PublishProgress show_progress(const base::Clock& clock, std::ostream& err) {
    return [&err, pace = base::ProgressPace(clock)](std::string_view what, std::size_t done,
                                                    std::size_t projects) mutable {
        if (!pace.is_due()) return;
        err << "publish: " << what << " of " << done << " of " << projects << " projects\n" << std::flush;
    };
}

base::Result<PublishReport> publish_store(const PublishOptions& options, base::Clock& clock,
                                          std::ostream& err) {
    become_owner_of(options.store, options.tree);
    WHEELYARD_ASSIGN(const Opened store, open_store(options.store, options.blobs));
    const auto readers = options.is_private ? catalog::Readers::with_token : catalog::Readers::everyone;
    WHEELYARD_ASSIGN(const catalog::Inheritance rules, store.catalog->inheritance(readers));
    for (const std::string& index : options.indexes) {
        if (!rules.is_in(index))
            return base::fail(
                "publish.other_readers",
                options.is_private ? "The index is public" : "Only tokens may read the index", index,
                options.is_private ? "leave out --private"
                                   : "--private publishes such indexes, into a folder of mode 0700");
    }
    ReadProjects read;
    const PublishSettings settings{.rewrite_pages = options.all,
                                   .on_view =
                                       [&](const ProjectName& name, const ProjectView& view) {
                                           read.projects.insert_or_assign(
                                               read.projects.end(), name,
                                               wheel_list_project(view));  // sorted
                                       },
                                   .progress = options.quiet ? PublishProgress() : show_progress(clock, err)};
    LocalDisk disk;
    const TreeViews views{.find_links = options.find_links,
                          .precompressed = options.precompressed,
                          .pages = options.pages,
                          .readers = readers};
    WHEELYARD_ASSIGN(auto report, in_turn(clock, [&] {
                         return publish_with(disk, *store.catalog, *store.blobs, options.tree,
                                             options.indexes, clock, views, settings);
                     }));
    read.serial = report.serial;
    WHEELYARD_TRY(update_wheel_lists_waiting(*store.catalog, options.tree, clock, false, &read));
    return report;
}

Json lagging_json(const std::vector<Lagging>& lagging) {
    Json list = Json::array();
    for (const auto& item : lagging) {
        list.push(Json::object({{"index", item.index},
                                {"project", item.project},
                                {"filename", item.filename},
                                {"error", item.error.text()}}));
    }
    return list;
}

void print_lagging(const std::vector<Lagging>& lagging, std::ostream& err) {
    for (const auto& item : lagging) {
        err << "wheelyard-indexer: not updated: " << item.index << ", " << base::printable_line(item.project)
            << (item.filename.empty() ? "" : ", ") << base::printable_line(item.filename) << ": "
            << base::printable_line(item.error.text()) << '\n';
    }
}

Json report_json(const PublishReport& report) {
    return Json::object({{"format", "wheelyard.publish-report/1"},
                         {"serial", report.serial},
                         {"events", report.events},
                         {"project_pages", report.project_pages},
                         {"root_pages", report.root_pages},
                         {"web_pages", report.web_pages},
                         {"files_linked", report.files_linked},
                         {"files_removed", report.files_removed},
                         {"lagging", lagging_json(report.lagging)}});
}

Json report_json(const CheckReport& report) {
    Json findings = Json::array();
    for (const auto& finding : report.findings) {
        findings.push(
            Json::object({{"code", finding.code}, {"page", finding.page}, {"detail", finding.detail}}));
    }
    return Json::object({{"format", "wheelyard.check-report/1"},
                         {"pages", report.pages},
                         {"files", report.files},
                         {"bytes_hashed", report.bytes_hashed},
                         {"findings", std::move(findings)}});
}

}  // namespace

int run_publish(const PublishOptions& options, base::Clock& clock, std::ostream& out, std::ostream& err) {
    const auto report = publish_store(options, clock, err);
    if (!report) {
        err << "wheelyard-indexer: " << base::printable_line(report.error().text()) << '\n';
        return 1;
    }
    if (options.json) {
        out << report_json(*report).render() << '\n';
        return report->lagging.empty() ? 0 : 1;
    }
    print_lagging(report->lagging, err);
    out << "The tree is at serial " << report->serial << ": " << report->events << " events, "
        << report->files_linked << " files, " << report->project_pages << " project pages and "
        << report->root_pages << " root pages written";
    if (report->files_removed > 0) out << ", " << report->files_removed << " files removed";
    out << ".\n";
    return report->lagging.empty() ? 0 : 1;
}

namespace {

void print_findings(const CheckReport& report, std::ostream& out) {
    for (const auto& finding : report.findings)
        out << finding.code << "  " << base::printable_line(finding.page) << "  "
            << base::printable_line(finding.detail) << '\n';
    out << report.pages << " pages and " << report.files << " files ("
        << base::render_bytes(report.bytes_hashed) << ") read: "
        << (report.findings.empty() ? "every link is valid"
                                    : std::to_string(report.findings.size()) + " findings")
        << ".\n";
}

// The findings of the tree, after the repair if one was requested.
base::Result<CheckReport> check_or_repair(const CheckOptions& options, base::Clock& clock,
                                          std::ostream& out) {
    become_owner_of(options.store, options.tree);
    if (options.store.folder.empty()) return check_tree(options.tree);
    WHEELYARD_ASSIGN(const Opened store, open_store(options.store, options.blobs));
    if (options.repair) {
        WHEELYARD_ASSIGN(RepairReport report, in_turn(clock, [&] {
                             return repair_tree(*store.catalog, *store.blobs, options.tree, clock);
                         }));
        WHEELYARD_TRY(update_wheel_lists_waiting(*store.catalog, options.tree, clock, true));
        if (!options.json) {
            print_findings(report.before, out);
            out << "Repaired: " << report.published.files_linked << " files, "
                << report.published.project_pages << " project pages and " << report.published.root_pages
                << " root pages rewritten. Now:\n";
        }
        return std::move(report.after);
    }
    return check_with_catalog(*store.catalog, options.tree);
}

}  // namespace

int run_check(const CheckOptions& options, base::Clock& clock, std::ostream& out, std::ostream& err) {
    const auto report = check_or_repair(options, clock, out);
    if (!report) {
        err << "wheelyard-indexer: " << base::printable_line(report.error().text()) << '\n';
        return 1;
    }
    if (options.json) {
        out << report_json(*report).render() << '\n';
    } else {
        print_findings(*report, out);
    }
    return report->findings.empty() ? 0 : 1;
}

}  // namespace wheelyard::indexer
