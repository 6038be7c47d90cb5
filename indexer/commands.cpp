// The commands of `wheelyard-indexer`: open, call, say what happened.
#include "indexer/commands.hpp"

#include <ostream>

#include "indexer/check.hpp"
#include "indexer/publish.hpp"
#include "lib/base/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

base::Result<PublishReport> publish_store(const PublishOptions& options, const base::Clock& clock) {
    // The catalog first: it must exist already, while opening blobs makes missing folders.
    WHEELYARD_ASSIGN(const auto catalog, catalog::Catalog::open(options.store / "catalog.sqlite",
                                                                catalog::Catalog::Mode::read_only));
    WHEELYARD_ASSIGN(const auto blobs, blobs::BlobStore::open(options.store));
    return publish(catalog, blobs, options.tree, options.indexes, clock);
}

Json report_json(const PublishReport& report) {
    Json lagging = Json::array();
    for (const auto& item : report.lagging) {
        lagging.push(Json::object({{"index", item.index},
                                   {"project", item.project},
                                   {"filename", item.filename},
                                   {"error", item.error.text()}}));
    }
    return Json::object({{"format", "wheelyard.publish-report/1"},
                         {"serial", report.serial},
                         {"events", report.events},
                         {"project_pages", report.project_pages},
                         {"root_pages", report.root_pages},
                         {"files_linked", report.files_linked},
                         {"files_removed", report.files_removed},
                         {"lagging", std::move(lagging)}});
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

int run_publish(const PublishOptions& options, const base::Clock& clock, std::ostream& out,
                std::ostream& err) {
    const auto report = publish_store(options, clock);
    if (!report) {
        err << "wheelyard-indexer: " << report.error().text() << '\n';
        return 1;
    }
    if (options.json) {
        out << report_json(*report).render() << '\n';
        return report->lagging.empty() ? 0 : 1;
    }
    for (const auto& item : report->lagging) {
        err << "wheelyard-indexer: left behind: " << item.index << ", " << item.project
            << (item.filename.empty() ? "" : ", ") << item.filename << ": " << item.error.text() << '\n';
    }
    out << "The tree shows serial " << report->serial << ": " << report->events << " events, "
        << report->files_linked << " files, " << report->project_pages << " project pages and "
        << report->root_pages << " root pages written";
    if (report->files_removed > 0) out << ", " << report->files_removed << " files removed";
    out << ".\n";
    return report->lagging.empty() ? 0 : 1;
}

int run_check(const CheckOptions& options, std::ostream& out, std::ostream& err) {
    const auto report = check_tree(options.tree);
    if (!report) {
        err << "wheelyard-indexer: " << report.error().text() << '\n';
        return 1;
    }
    const bool is_whole = report->findings.empty();
    if (options.json) {
        out << report_json(*report).render() << '\n';
        return is_whole ? 0 : 1;
    }
    for (const auto& finding : report->findings) {
        out << finding.code << "  " << finding.page << "  " << finding.detail << '\n';
    }
    out << report->pages << " pages and " << report->files << " files ("
        << base::render_bytes(report->bytes_hashed) << ") read: "
        << (is_whole ? "every link holds" : std::to_string(report->findings.size()) + " findings") << ".\n";
    return is_whole ? 0 : 1;
}

}  // namespace wheelyard::indexer
