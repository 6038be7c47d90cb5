// planned ─► done, for a promotion: one request to the registry. If the request is repeated after a kill, the registry
// answers that the wheel is already promoted.
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {

base::Result<Next> promote_wheel(Attempt& attempt, Ports& ports) {
    const std::string& filename = attempt.source.filename;
    if (ports.registry == nullptr || ports.site.registry->promote_to.empty())
        return base::fail("promote.nowhere", "The site file no longer says where to promote wheels to",
                          filename);
    WHEELYARD_TRY(ports.registry->promote(filename));
    WHEELYARD_ASSIGN(const auto page, ports.registry->promoted_page(attempt.asked.package));
    if (!page || simple::find_file(*page, filename) == nullptr)
        return base::fail_for_now("upload.not_visible",
                                  "The wheel is promoted, but its page does not show it yet", filename);
    ports.report(attempt, "promoted to index `" + ports.site.registry->promote_to + "`");
    return Move{State::done};
}

}  // namespace wheelyard::builder
