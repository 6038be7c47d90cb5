// What answers requests, each part with what it needs of the phases before.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "lib/base/files/temp_dir.hpp"
#include "lib/io/log.hpp"
#include "registry/api/task_api.hpp"
#include "registry/identity/exchange.hpp"
#include "registry/serve/phases.hpp"

namespace wheelyard::registry {
namespace {

// Threads that hash the members of one upload; several uploads at once are rare.
unsigned inspect_threads() {
    return std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
}

Logins::Network network_of_provider(const identity::ProviderRules& rules) {
    return {identity::fetch_over_network(rules.allow_private),
            identity::post_over_network(rules.allow_private)};
}

// What a killed server was writing. Only the server writes these; an import beside it keeps torch's tables
// too, and only logs that one is gone.
base::Status remove_half_written(const std::filesystem::path& store) {
    for (const char* file : {"scrub.json", "lost-files.tsv"})
        WHEELYARD_TRY(base::remove_temporary_files(store / file));
    for (const char* folder : {"sites", "torch", "upstream"}) {
        std::error_code ignored;
        if (std::filesystem::exists(store / folder, ignored))
            WHEELYARD_TRY(base::remove_temporary_files_below(store / folder));
    }
    return {};
}

// Of a site, also on the pages of the web UI.
ShowStatus show_status_and_pages(const ShowStatus& show_status, PublishQueue& pages) {
    return [&show_status, &pages](const auto& tree, const auto& index, const auto& document) {
        auto changed = show_status(tree, index, document);
        if (changed && *changed) pages.want_pages();
        return changed;
    };
}

// A build that is not noted is noted with the next report, unless it has ended meanwhile.
NoteReport note_builds(tasks::BuildStore& builds) {
    return [&builds](const status::SiteReport& report) {
        if (const auto noted = builds.note(report); !noted)
            io::log_warn("builds.not_noted", {{"site", report.site}, {"error", noted.error().text()}});
    };
}

}  // namespace

ServingParts::ServingParts(Claim& claim, KeptParts& kept, PublishQueue& pages, std::unique_ptr<LastUsed> used,
                           std::unique_ptr<Upstreams> opened, std::unique_ptr<nodes::ReportBoard> board)
    : last_used(std::move(used)),
      upstreams(std::move(opened)),
      uploads({.config = claim.live,
               .blobs = *kept.blobs,
               .room = claim.room,
               .tokens = *kept.tokens,
               .writer = kept.writer,
               .pages = pages,
               .clock = claim.program.clock,
               .inspect_threads = inspect_threads(),
               .tasks = kept.tasks.get(),
               .signing_key = claim.signing_key ? &*claim.signing_key : nullptr,
               .trusted_root = &claim.trusted_root}),
      sites(
          claim.live, show_status_and_pages(claim.program.show_status, pages), claim.program.clock,
          [&tasks = *kept.tasks](const std::string& index) { return shown_requests(tasks, index); },
          note_builds(*kept.builds), std::move(board)),
      moves(std::make_shared<IndexMoves>(claim.live)),
      indexes({.config = claim.live,
               .store = claim.store,
               .writer = kept.writer,
               .pages = pages,
               .upstreams = *upstreams,
               .moves = moves,
               .clock = claim.program.clock}),
      logins(claim.config, claim.program.clock, network_of_provider),
      api({.config = claim.live,
           .store = claim.store,
           .blobs = *kept.blobs,
           .tokens = *kept.tokens,
           .writer = kept.writer,
           .pages = pages,
           .clock = claim.program.clock,
           .tasks = kept.tasks.get(),
           .builds = kept.builds.get(),
           .sites = &sites,
           .indexes = &indexes,
           .logins = &logins,
           .upstream_pages = &upstreams->pages()}),
      readers(claim.live, *kept.tokens),
      remote_files(*kept.blobs, claim.config.store, claim.room) {}

base::Result<std::unique_ptr<ServingParts>> ServingParts::open(Claim& claim, KeptParts& kept,
                                                               PublishQueue& pages) {
    const RegistryConfig& config = claim.config;
    WHEELYARD_TRY(remove_half_written(config.store));
    WHEELYARD_ASSIGN(auto board, claim.store.report_board());
    auto last_used = std::make_unique<LastUsed>(config.store / "upstream" / "last-used.json");
    WHEELYARD_ASSIGN(auto upstreams, Upstreams::open({.config = claim.live,
                                                      .store = claim.store,
                                                      .blobs = *kept.blobs,
                                                      .writer = kept.writer,
                                                      .pages = pages,
                                                      .clock = claim.program.clock,
                                                      .render = claim.program.render,
                                                      .last_used = *last_used,
                                                      .inspect_threads = inspect_threads(),
                                                      .trusted_root = &claim.trusted_root}));
    auto services = std::unique_ptr<ServingParts>(
        new ServingParts(claim, kept, pages, std::move(last_used), std::move(upstreams), std::move(board)));
    WHEELYARD_ASSIGN(services->resumable,
                     Resumable::open(config.store / "resumable", claim.room, services->uploads, *kept.tokens,
                                     claim.program.clock));
    return services;
}

}  // namespace wheelyard::registry
