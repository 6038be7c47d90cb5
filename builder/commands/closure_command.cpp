// `closure`: the tree of one requirement, with the state of each release.
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "builder/closure/resolve.hpp"
#include "builder/commands/commands.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t closure_poll_ms = 500;

base::Result<Closure> resolve_now(const ClosureAsked& asked, Workplace& place) {
    bool says_so = true;
    while (true) {
        auto closure = find_closure(asked, place.closure_ports(), true);
        if (closure || closure.error().kind != base::ErrorKind::in_progress) return closure;
        if (says_so) base::print_message(stderr, closure.error().text() + "\n");
        says_so = false;
        place.clock().sleep_ms(closure_poll_ms);
    }
}

}  // namespace

int run_closure(const ClosureOptions& options) {
    const auto place = Workplace::open(options.site);
    if (!place) return complain(place.error(), exit_usage);
    const auto asked =
        parse_asked(options.requirement, options.python,
                    options.source ? ClosureMode::source : ClosureMode::compiled, (*place)->site());
    if (!asked) return complain(asked.error(), exit_usage);
    if (options.again) {
        if (const auto forgotten = forget_closure(*asked, (*place)->closure_ports()); !forgotten)
            return complain(forgotten.error(), exit_failed);
    }
    const auto closure = resolve_now(*asked, **place);
    if (!closure) return complain(closure.error(), exit_failed);
    const bool has_all = std::none_of(closure->releases.begin(), closure->releases.end(),
                                      [](const ClosureRelease& one) { return one.how == ReleaseHow::none; });
    const int status = has_all ? exit_well : exit_failed;
    if (!options.lock.empty()) {
        if (const auto written = base::replace_file(options.lock, render_pylock(*closure)); !written)
            return complain(written.error(), exit_failed);
    }
    if (options.json) {
        print(render_closure(*closure));
        return status;
    }
    if (!options.explained.empty()) {
        const std::string text = render_closure_reasons(*closure, options.explained);
        if (text.empty())
            return complain({"closure.unknown", "It is not in the closure", options.explained}, exit_failed);
        print(text);
        return status;
    }
    Want want{asked->package, {asked->version}, {asked->python}};
    want.closure = asked->mode;
    (*place)->add_want(std::move(want));
    const auto plan = (*place)->agent().look();
    if (!plan) return complain(plan.error(), exit_failed);
    print(render_closure_table(*closure, *plan, asked->python, base::terminal_columns(STDOUT_FILENO)));
    return status;
}

}  // namespace wheelyard::builder
