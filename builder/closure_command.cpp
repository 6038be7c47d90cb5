// `closure`: the tree of one requirement, with the state of each release.
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "builder/closure/closure_report.hpp"
#include "builder/command_output.hpp"
#include "builder/commands.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"

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

int run_closure(const Arguments& arguments) {
    const auto place = Workplace::open(arguments.site, {}, "");
    if (!place) return complain(place.error(), exit_usage);
    const auto asked =
        parse_asked(arguments.name, arguments.python,
                    arguments.source ? ClosureMode::source : ClosureMode::compiled, (*place)->site());
    if (!asked) return complain(asked.error(), exit_usage);
    if (arguments.again) {
        if (const auto forgotten = forget_closure(*asked, (*place)->closure_ports()); !forgotten)
            return complain(forgotten.error(), exit_failed);
    }
    const auto closure = resolve_now(*asked, **place);
    if (!closure) return complain(closure.error(), exit_failed);
    const bool has_all = std::none_of(closure->releases.begin(), closure->releases.end(),
                                      [](const ClosureRelease& one) { return one.how == ReleaseHow::none; });
    const int status = has_all ? exit_well : exit_failed;
    if (!arguments.lock.empty()) {
        if (const auto written = base::replace_file(arguments.lock, render_pylock(*closure)); !written)
            return complain(written.error(), exit_failed);
    }
    if (arguments.json) {
        print(render_closure(*closure));
        return status;
    }
    if (!arguments.explain_release.empty()) {
        const std::string text = render_closure_reasons(*closure, arguments.explain_release);
        if (text.empty())
            return complain({"closure.unknown", "It is not in the closure", arguments.explain_release},
                            exit_failed);
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
