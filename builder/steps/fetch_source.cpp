// planned ─► fetched: the source into the cache, its hash checked.
#include "builder/steps/ports.hpp"
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {

namespace {

// From the registry, and only the bytes that the task names.
base::Result<SourceRecord> fetch_uploaded(const wire::UploadedSource& uploaded, const Ports& ports) {
    if (ports.registry == nullptr)
        return base::fail("source.no_registry", "The site file names no registry any more",
                          uploaded.filename);
    SourceRecord source;
    source.kind = source_kinds.text(SourceKind::sdist);
    source.origin = ports.site.registry->source_url(uploaded);
    source.filename = uploaded.filename;
    source.sha256 = uploaded.sha256;
    simple::FileLink link;
    link.filename = uploaded.filename;
    link.url = source.origin;
    link.sha256 = uploaded.sha256;
    return ports.sources.fetch_known(source, [&](const std::filesystem::path& file) -> base::Status {
        auto done = ports.registry->download(
            link, file, [&ports](std::uint64_t, std::uint64_t) { return ports.still_ours().has_value(); });
        if (done || done.error().may_pass()) return done;
        return base::fail("source.uploaded",
                          "The registry does not serve the uploaded source: " + done.error().sentence,
                          link.url, "a private index needs a token with the action `read`");
    });
}

base::Result<SourceRecord> fetch(const Attempt& attempt, const Ports& ports) {
    if (attempt.asked.uploaded) return fetch_uploaded(*attempt.asked.uploaded, ports);
    return ports.sources.fetch(ports.recipe_of(attempt), attempt.asked.version, ports.keep_alive);
}

}  // namespace

base::Result<Next> fetch_source(Attempt& attempt, Ports& ports) {
    const SourceRecord before = attempt.source;  // a copy: must survive an index that does not answer
    WHEELYARD_ASSIGN(attempt.source, fetch(attempt, ports));
    const bool reproduces = attempt.asked.purpose == Purpose::reproduction;
    if (reproduces && before.sha256 != attempt.source.sha256) {
        return base::fail("reproduce.other_source",
                          "The source has changed since the recorded wheel was built: sha256 " +
                              attempt.source.sha256 + " instead of " + before.sha256,
                          attempt.source.origin,
                          "pin the recorded one by `sha256` in [source] of the recipe");
    }
    // A different source is not built in the old tree. For the same source, the results of unpacking remain
    // valid.
    if (before.sha256 != attempt.source.sha256) WHEELYARD_TRY(leave_old_tree(attempt, ports));
    if (!attempt.job.builds_in.empty()) attempt.source = before;
    ports.failpoints.hit("source.fetched");
    ports.report(attempt, "source " + attempt.source.origin +
                              (attempt.source.sha256.empty() ? "" : " sha256 " + attempt.source.sha256));
    return Move{State::fetched};
}

}  // namespace wheelyard::builder
