// planned ─► fetched: the source into the cache, its hash checked.
#include "builder/steps/build_tree.hpp"
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {

base::Result<Next> fetch_source(Attempt& attempt, Ports& ports) {
    const SourceRecord before = attempt.source;  // a copy: must survive an index that does not answer
    WHEELYARD_ASSIGN(attempt.source,
                     ports.sources.fetch(ports.recipe_of(attempt), attempt.asked.version, ports.keep_alive));
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
