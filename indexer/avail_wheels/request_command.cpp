// avail_wheels --request: asks the farm for a package that is not there.
#include <optional>
#include <ostream>
#include <vector>

#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/client_config.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::avail_wheels {

namespace {

// The public index of this shell's pip; empty: unknown.
std::string public_index(const World& world) {
    const auto config = simple::read_pip_config(world.environment, "/usr");
    if (config && !config->index_url().empty()) return config->index_url();
    const std::string python = python_of_pip(world.environment);
    if (python.empty()) return {};
    base::Command command;
    command.argv = {python, "-m", "pip", "download", "--help"};
    command.environment = world.environment;
    const auto help = world.probe.run(command);
    return help ? simple::parse_default_index(help->out) : std::string();
}

// The indexes that a request is for: of a registry the ones here, where none is named. Empty: it does not
// say.
std::vector<Python> requested_pythons(const Options& options, const World& world) {
    if (!options.query.pythons.empty() || !request_queue(options, world.environment))
        return options.query.pythons;
    return known_node(world.probe, *world.clock).pythons;
}

// The wheel that a request asks for, if the source has it already for its Python.
std::optional<std::string> release_there(const Options& options, const World& world, const Wanted& wanted) {
    if (!options.source.is_named()) return std::nullopt;
    Query query = options.query;
    query.wanted = {wanted};
    query.machine = world.probe.machine;
    query.pythons = requested_pythons(options, world);
    std::string warning;
    const auto found = find_wheels(options.source, query, world, false, warning);
    const Answer answer = found ? choose(query, found->listed) : Answer();
    if (answer.wheels.empty()) return std::nullopt;
    const auto& release = *answer.wheels.front().release;
    return release.name + " " + release.version.text();
}

// A sentence if the public index has no package of this name; empty: it has, or it does not answer.
std::string nobodys_package(const Options& options, const World& world, const Wanted& wanted) {
    const std::string index = public_index(world);
    const auto bare = [](std::string_view url) { return url.substr(0, url.find_last_not_of('/') + 1); };
    // pip's own may be the farm's.
    if (index.empty() || bare(index) == bare(options.source.index_url)) return {};
    const auto page = simple::fetch_project(world.get, index, wanted.pattern);
    if (!page || *page) return {};
    const auto url = base::parse_url(index);
    return "there is no package " + wanted.name + " in " +
           (url ? url->text_without_secrets() : std::string("the public index")) +
           "; unless it is your site's own, check its spelling";
}

int request_one(const Options& options, const World& world, const std::string& requirement, std::ostream& out,
                std::ostream& err) {
    const auto wanted = parse_wanted(requirement);
    if (wanted && !wanted->is_glob()) {
        if (const auto there = release_there(options, world, *wanted)) {
            err << "avail_wheels: " << *there << " is there already: avail_wheels '" << requirement << "'"
                << (wanted->specifiers.empty()
                        ? "; another version: avail_wheels --request '" + wanted->name + "==VERSION'"
                        : "")
                << '\n';
            return 1;
        }
        if (const auto warning = nobodys_package(options, world, *wanted); !warning.empty())
            err << "avail_wheels: warning: " << warning << '\n';
    }
    return ask_farm(options, world, requirement, out, err);
}

}  // namespace

int ask_farm(const Options& options, const World& world, const std::string& requirement, std::ostream& out,
             std::ostream& err) {
    const auto wanted = parse_wanted(requirement);
    const auto queue = request_queue(options, world.environment);
    if (queue && !wanted) return print_error(err, wanted.error());
    const auto result = queue
                            ? ask_registry(world.get, world.post, *queue, *wanted,
                                           requested_pythons(options, world), world.environment)
                            : write_request(options, requirement, world.user, world.probe.host, *world.clock);
    if (!result) return print_error(err, result.error());
    out << *result << '\n';
    return 0;
}

int answer_requests(const Options& options, const RequestMode& mode, const World& world, std::ostream& out,
                    std::ostream& err) {
    for (const auto& requirement : mode.requirements) {
        if (const int status = request_one(options, world, requirement, out, err); status != 0) return status;
    }
    return 0;
}

}  // namespace wheelyard::avail_wheels
