// The list itself, and --here, --why and --install-line.
#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <utility>

#include "indexer/avail_wheels/ask_registry.hpp"
#include "indexer/avail_wheels/commands.hpp"
#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/next_step.hpp"
#include "indexer/avail_wheels/node/installed_torch.hpp"
#include "indexer/avail_wheels/node_judge.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/this_node.hpp"

namespace wheelyard::avail_wheels {

namespace {

bool shows(const DisplayOptions& display, std::initializer_list<std::string_view> names) {
    const auto& columns = display.rows.columns;
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::find(columns.begin(), columns.end(), name) != columns.end();
    });
}

NextStep what_is_known(const Options& options, const World& world, const Found& found) {
    NextStep known;
    known.find = [&options, &world](const Query& query) -> base::Result<Answer> {
        std::string warning;
        WHEELYARD_ASSIGN(auto wheels, find_wheels(options.source, query, world, true, warning));
        return choose(query, std::move(wheels.listed));
    };
    if (found.wheel_list)
        known.projects = projects_of_wheel_list(*found.wheel_list, {}).value_or(std::vector<std::string>());
    if (!options.site.status.empty() || found.wheel_list)
        known.building = read_status(world.get, options, world.clock->now()).value_or(FarmStatus()).rows;
    known.takes_requests =
        !options.site.requests.empty() || request_queue(options, world.environment).has_value();
    return known;
}

// What the query asks of a node; `judge` is asked as long as the query is used.
void ask_for_node(Options& options, const ListMode& mode, const World& world, Node& node, NodeJudge& judge) {
    Query& query = options.query;
    if (mode.here) {
        query.pythons = node.any_python ? std::vector<Python>() : node.pythons;
        query.suits = [&judge](const Candidate& candidate) { return judge.may_run(candidate); };
    } else if (mode.why) {
        if (options.node.on.empty() && !node.is_described)
            node.torch = find_installed_torch(world.probe, node);
        query.yanked = query.all_versions;
        query.pythons.clear();
    }
}

}  // namespace

int answer_list(Options options, const ListMode& mode, const World& world, std::ostream& out,
                std::ostream& err) {
    const bool needs_node =
        mode.here || mode.why || mode.install_line || shows(options.display, {"runs", "why", "advice"});
    Node node = needs_node ? node_of(options, world) : Node();
    if ((mode.here || mode.install_line) && options.node.on.empty() && node.pythons.empty()) {
        err << "avail_wheels: " << python_fault(node) << '\n';
        if (!mode.install_line) print_answer(options.display, Answer(), world, out);
        return 1;
    }
    NodeJudge judge(options, world, node);
    ask_for_node(options, mode, world, node, judge);
    Query& query = options.query;
    if (!mode.here && !mode.why && !mode.all_machines) query.machine = world.probe.machine;
    if (mode.install_line) {  // which has no hashes
        for (Wanted& wanted : query.wanted)
            wanted.sha256s.clear();
    }
    query.musl = needs_node ? node.musl.has_value() : is_musl_host(world.probe);
    query.wanted =
        applicable(std::move(query.wanted), query.pythons, needs_node ? node.machine : query.machine);

    Found found;
    std::string warning;
    const auto find = [&]() -> base::Status {
        if (needs_node) return judge.find(options.source, query, warning, found);
        const bool with_facts = shows(options.display, {"modules"}) || options.display.format == "json";
        WHEELYARD_ASSIGN(found, find_wheels(options.source, query, world, with_facts, warning));
        return {};
    };
    const auto read = find();
    if (!warning.empty()) err << "avail_wheels: warning: " << warning << '\n';
    if (!read) return print_error(err, read.error());
    Answer answer = choose(query, std::move(found.listed));
    if (needs_node) judge.judge_all(answer);
    if (mode.install_line) warn_of_unsure(answer, err);
    tell_missing(query, options.display, answer, err);
    // Only on a terminal: scripts may parse standard error as the Alliance's original prints it.
    if (world.err_is_terminal && (answer.wheels.empty() || !answer.not_available.empty())) {
        for (const auto& step : next_steps(query, answer, what_is_known(options, world, found)))
            err << "avail_wheels: " << step << '\n';
    }
    if (mode.install_line)
        out << render_install_line(options.source, answer, query.wanted);
    else
        print_answer(options.display, answer, world, out);
    return 0;
}

}  // namespace wheelyard::avail_wheels
