// Command line → the command of its mode.
#include "indexer/avail_wheels/run.hpp"

#include <algorithm>
#include <ostream>
#include <utility>
#include <variant>

#include "lib/base/text/text.hpp"

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
    if (!arguments.empty() && arguments.front() == verify_word) return run_verify(arguments, world, out, err);
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

// The node that is asked about: this one, or a node type of the site file, with what the command line says of
// it.
namespace {

// The node type whose host globs match `host`; nullptr: none.
const NodeType* type_of_host(const Site& site, const std::string& host) {
    for (const auto& [name, type] : site.nodes) {
        if (std::any_of(type.hosts.begin(), type.hosts.end(),
                        [&](const std::string& glob) { return base::matches_glob(glob, host); }))
            return &type;
    }
    return nullptr;
}

// The folders of modules are those of the Python that was found, not of another version or kind.
void set_pythons(Node& node, const std::vector<Python>& pythons) {
    const auto is_found = [&](const Python& found) {
        return pythons.size() == 1 && pythons[0].minor == found.minor && pythons[0].pypy == found.pypy &&
               pythons[0].free_threaded == found.free_threaded;
    };
    if (!std::any_of(node.pythons.begin(), node.pythons.end(), is_found)) node.module_folders.clear();
    node.pythons = pythons;
}

// The site's settings take precedence over probed properties.
void apply_overrides(Node& node, const NodeType& type) {
    const Node& overrides = type.node;
    node.name = overrides.name;
    if (!overrides.machine.empty()) node.machine = overrides.machine;
    if (overrides.glibc) node.musl.reset();
    if (overrides.glibc) node.glibc = overrides.glibc;
    if (!overrides.cpu.empty()) node.cpu = overrides.cpu;
    if (overrides.gpus) node.gpus = overrides.gpus;
    if (overrides.driver) node.driver = overrides.driver;
    if (overrides.modules) node.modules = overrides.modules;
    if (type.has_pythons) set_pythons(node, overrides.pythons);
}

}  // namespace

Node node_of(const Options& options, const World& world) {
    Node node;
    if (!options.node.on.empty()) {
        apply_overrides(node, options.site.nodes.at(options.node.on));
        node.is_described = true;
    } else {
        node = known_node(world.probe, *world.clock);
        node.gives_executable_stacks =
            variable(world.probe, "GLIBC_TUNABLES").find("glibc.rtld.execstack=2") != std::string::npos;
        if (const auto* type = type_of_host(options.site, world.probe.host)) apply_overrides(node, *type);
    }
    for (const auto& assumption : options.node.assumptions) {
        (void)assume(node, assumption);  // validated with the command line
        // The libraries of this node are not those of a node with another C library.
        if (assumption.starts_with("glibc=") || assumption.starts_with("machine=")) node.is_described = true;
    }
    // A Python of this node that does not answer stays unknown, whatever a version file says of it.
    if (options.node.has_pythons || (!options.node.on.empty() && node.pythons.empty()))
        set_pythons(node, options.query.pythons);
    node.any_python = options.node.all_pythons;
    return node;
}

std::string python_fault(const Node& node) {
    if (node.python_program.empty())
        return "there is no Python on PATH, so nothing is known to run here; load one, or name one with -p";
    return "the Python " + node.python_program + " " + node.python_fault +
           ", so nothing is known to run here; repair its environment, or leave it";
}

}  // namespace wheelyard::avail_wheels
