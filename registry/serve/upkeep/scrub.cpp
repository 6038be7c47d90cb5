#include "registry/serve/upkeep/scrub.hpp"

#include <string>
#include <utility>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/io/log.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {
namespace {

// Waits until the pages follow the files, which were quarantined or released.
base::Status show(catalog::Catalog& catalog, PublishQueue& pages, std::int64_t patience_ms,
                  const std::vector<catalog::FileName>& files) {
    WHEELYARD_ASSIGN(const catalog::Serial serial, catalog.last_serial());
    for (const catalog::FileName& file : files) {
        WHEELYARD_ASSIGN(const auto row, catalog.file(file.index, file.filename));
        if (!row) continue;  // deleted in the meantime
        WHEELYARD_TRY(
            pages.wait_until_visible(serial, patience_ms, {file.index, row->project, file.filename}));
    }
    return {};
}

}  // namespace

Scrub::Scrub(const RegistryConfig& config, const database::Store& store, const blobs::BlobStore& blobs,
             PublishQueue& pages, std::function<bool()> is_mine, Delays delays)
    : config_(config),
      store_(store),
      blobs_(blobs),
      pages_(pages),
      is_mine_(std::move(is_mine)),
      task_(delays.first_ms, delays.pause_ms, [this](base::Clock& clock) { run_round(clock); }) {}

Scrub::Seen Scrub::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

void Scrub::note_fault(const lifecycle::Fault& fault) {
    std::string files;
    for (const catalog::FileName& file : fault.files)
        files.append(files.empty() ? "" : " ").append(file.index).append("/").append(file.filename);
    io::log_error("scrub.fault", {{"code", fault.code}, {"subject", fault.subject}, {"files", files}});
    const std::lock_guard lock(mutex_);
    ++seen_.faults;
}

void Scrub::run_round(base::Clock& clock) {
    if (config_.scrub_mib_per_s == 0 || !is_mine_()) return;
    // A connection of its own: the integrity check of a large catalog must not delay the writer.
    const auto opened = store_.writer();
    if (!opened) return io::log_error("scrub.failed", {{"error", opened.error().text()}});
    catalog::Catalog& catalog = **opened;
    const lifecycle::LifecycleParts place{
        .on_catalog = [&](const lifecycle::CatalogWork& work) { return work(catalog); },
        .blobs = blobs_,
        .clock = clock};
    const lifecycle::VerifySettings settings{
        .state_file = config_.store / "scrub.json",
        .bytes_per_second = static_cast<std::uint64_t>(config_.scrub_mib_per_s) * base::mib,
        .trees = {config_.published(), config_.published_private()}};
    const lifecycle::VerifyHooks hooks{.show =
                                           [&](const std::vector<catalog::FileName>& files) {
                                               return show(catalog, pages_, config_.server.page_wait_ms,
                                                           files);
                                           },
                                       .found = [this](const lifecycle::Fault& fault) { note_fault(fault); },
                                       .stops = [this] { return task_.is_stopping(); }};
    const auto report = lifecycle::verify(place, clock, settings, hooks);
    if (!report) {
        if (!task_.is_stopping()) io::log_error("scrub.failed", {{"error", report.error().text()}});
        return;
    }
    io::log_info("scrub.done", {{"blobs", std::to_string(report->blobs)},
                                {"bytes", std::to_string(report->bytes)},
                                {"faults", std::to_string(report->faults.size())}});
    const std::lock_guard lock(mutex_);
    ++seen_.rounds;
    seen_.blobs += report->blobs;
}

}  // namespace wheelyard::registry
