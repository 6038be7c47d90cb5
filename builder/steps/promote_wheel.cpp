// planned ─► done, for a promotion: one request to the registry for the wheel and its set. If the request is repeated
// after a kill, the registry answers that they are already promoted.
#include "builder/steps/steps.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {

base::Result<Next> promote_wheel(Attempt& attempt, Ports& ports) {
    std::vector<std::string> filenames{attempt.source.filename};
    filenames.insert(filenames.end(), attempt.asked.with.begin(), attempt.asked.with.end());
    if (ports.registry == nullptr || ports.site.registry->promote_to.empty())
        return base::fail("promote.nowhere", "The site file no longer says where to promote wheels to",
                          filenames.front());
    WHEELYARD_TRY(ports.registry->promote(filenames));
    ports.failpoints.hit(promotion_failpoint);
    for (const auto& filename : filenames) {
        WHEELYARD_ASSIGN(const auto name, wheel::parse_wheel_filename(filename));
        WHEELYARD_ASSIGN(const auto page, ports.registry->promoted_page(name.project));
        if (!page || simple::find_file(*page, filename) == nullptr)
            return base::fail_for_now("upload.not_visible",
                                      "The wheel is promoted, but its page does not show it yet", filename);
    }
    ports.report(attempt, "promoted to index `" + ports.site.registry->promote_to + "`" +
                              (filenames.size() == 1 ? "" : ", with its set"));
    return Move{State::done};
}

}  // namespace wheelyard::builder
