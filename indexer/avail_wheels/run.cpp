// Command line → the command of its mode.
#include "indexer/avail_wheels/run.hpp"

#include <ostream>
#include <utility>
#include <variant>

#include "indexer/avail_wheels/commands.hpp"
#include "indexer/avail_wheels/this_node.hpp"
#include "indexer/avail_wheels/web_link.hpp"

namespace wheelyard::avail_wheels {

namespace {

struct Answering {
    Options& options;
    const World& world;
    std::ostream& out;
    std::ostream& err;

    int operator()(const ListMode& mode) const {
        return answer_list(std::move(options), mode, world, out, err);
    }
    int operator()(const LockMode& mode) const {
        return answer_lock(std::move(options), mode, world, out, err);
    }
    int operator()(const WebMode&) const {
        return answer_web(options, node_of(options, world), world.get, out, err);
    }
    int operator()(const StatusMode&) const { return answer_status(options, world, out, err); }
    int operator()(const RequestMode& mode) const { return answer_requests(options, mode, world, out, err); }
    int operator()(const CompletionMode& mode) const { return answer_completion(options, mode, world, out); }
};

}  // namespace

int run(const std::vector<std::string>& arguments, const World& world, std::ostream& out, std::ostream& err,
        bool& wants_pager) {
    if (!arguments.empty() && is_login_command(arguments.front()))
        return run_login(arguments, world, out, err);
    auto parsed = parse_command_line(arguments, world.environment, world.help_columns);
    if (const auto* leave = std::get_if<Leave>(&parsed)) {
        (leave->status == 0 ? out : err) << leave->text;
        return leave->status;
    }
    auto& options = std::get<Options>(parsed);
    wants_pager = options.display.pager;
    if (!options.warning.empty()) err << options.warning << '\n';
    const Mode mode = std::move(options.mode);
    return std::visit(Answering{options, world, out, err}, mode);
}

}  // namespace wheelyard::avail_wheels
