// The list itself, and --here, --why and --install-line.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/node/node_probe.hpp"
#include "indexer/avail_wheels/node_judge.hpp"
#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::avail_wheels {
namespace {

// What to do next when nothing was found: other spellings, options that show more, what the farm builds, a
// request.
struct NextStep {
    // The wheels that another query lists, from the same source.
    std::function<base::Result<Answer>(const Query&)> find;
    std::vector<std::string> projects;  // of the source; empty: unknown
    std::vector<Row> building;          // rows of --status for the wanted names
    bool takes_requests = false;        // of this user
};

// A condition that hides wheels, and the option that drops it.
struct Condition {
    bool (*applies)(const Query&);
    void (*drop)(Query&);
    std::string (*value)(const Candidate&);
    const char* what;
    const char* option;
};

void drop_versions(Query& query) {
    for (auto& wanted : query.wanted) {
        wanted.specifiers = {};
        wanted.version_glob.clear();
    }
    query.all_versions = true;
}

constexpr Condition conditions[] = {
    {[](const Query& query) { return static_cast<bool>(query.suits); },
     [](Query& query) { query.suits = nullptr; },
     [](const Candidate& wheel) { return wheel.release->public_version; }, "that do not run here, of version",
     "--why explains"},
    {[](const Query& query) { return !query.machine.empty() || !query.archs.empty(); },
     [](Query& query) {
         query.machine.clear();
         query.archs.clear();
     },
     [](const Candidate& wheel) { return wheel.arch; }, "for", "--all-archs lists them"},
    {[](const Query& query) { return !query.pythons.empty(); }, [](Query& query) { query.pythons.clear(); },
     [](const Candidate& wheel) { return wheel.tags->python; }, "for", "--all-pythons lists them"},
    {[](const Query& query) {
         return std::any_of(query.wanted.begin(), query.wanted.end(), [](const Wanted& wanted) {
             return !wanted.specifiers.empty() || !wanted.version_glob.empty();
         });
     },
     drop_versions, [](const Candidate& wheel) { return wheel.release->public_version; }, "of version",
     "--all-versions without a version lists them"},
};

std::string values_of(const std::vector<Candidate>& wheels, const Condition& condition) {
    constexpr std::size_t max_shown = 5;
    std::vector<std::string> values;
    for (const auto& wheel : wheels) {
        std::string value = condition.value(wheel);
        if (std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(std::move(value));
    }
    const bool has_more = values.size() > max_shown;
    if (has_more) values.resize(max_shown);
    return base::join(values, ", ") + (has_more ? " …" : "");
}

bool is_everything(const Wanted& wanted) {
    return wanted.pattern == "*" && wanted.specifiers.empty();
}

// The wheels that one dropped condition shows, otherwise those that all of them together do.
std::string hidden_wheels(const Query& query, const Wanted& wanted, const NextStep& known) {
    Query one = query;
    one.wanted = {wanted};
    Query relaxed = one;
    const std::string wheels = "There are wheels" + (is_everything(wanted) ? "" : " of " + wanted.name) + " ";
    for (const auto& condition : conditions) {
        if (!condition.applies(query)) continue;
        Query without = one;
        condition.drop(without);
        condition.drop(relaxed);
        const auto found = known.find(without);
        if (found && !found->wheels.empty())
            return wheels + condition.what + " " + values_of(found->wheels, condition) + ": " +
                   condition.option + ".";
    }
    relaxed.everything = true;
    const auto found = known.find(relaxed);
    if (!found || found->wheels.empty()) return {};
    return wheels + "that these conditions hide: --all lists them.";
}

// What a person may have meant by a name that is no project; empty: nothing that is known.
std::string meant_by(const Wanted& wanted, const Query& query, const NextStep& known) {
    constexpr std::string_view commands[] = {"avail", "help",   "info", "install", "list",
                                             "ls",    "search", "show", "version"};
    if (std::find(std::begin(commands), std::end(commands), wanted.pattern) != std::end(commands))
        return "There are no commands, only names and options: avail_wheels --help";
    if (wanted.name.ends_with(".txt") || wanted.name.ends_with(".toml"))
        return "A file of requirements follows -r: avail_wheels -r " + wanted.name;
    const std::string& first = query.wanted.front().name;
    if (wheel::Version::parse(wanted.name) && first != wanted.name)
        return "A version follows ==: '" + first + "==" + wanted.name + "'";
    const auto dash = wanted.name.rfind('-');  // a file name's start
    if (dash == std::string::npos || !wheel::Version::parse(wanted.name.substr(dash + 1))) return {};
    const std::string project = wheel::normalize_name(wanted.name.substr(0, dash));
    if (std::find(known.projects.begin(), known.projects.end(), project) == known.projects.end()) return {};
    return "Did you mean " + project + "==" + wanted.name.substr(dash + 1) + "?";
}

std::string step_for(const Wanted& wanted, const Query& query, const NextStep& known) {
    if (auto hidden = hidden_wheels(query, wanted, known); !hidden.empty()) return hidden;
    for (const auto& row : known.building) {
        if (wheel::normalize_name(row.at(name_column)) != wanted.pattern) continue;
        return "The farm has " + row[name_column] + " " + row[version_column] + " for Python " +
               row[python_column] + " as \"" + row[state_column] + "\": " + row[why_column] +
               ". --status lists all.";
    }
    if (is_everything(wanted)) return "There are no wheels here.";
    if (wanted.is_glob()) return "No name here matches " + wanted.name + ".";
    const std::string none = "There is no " + wanted.name + " here.";
    if (const auto meant = meant_by(wanted, query, known); !meant.empty()) return none + " " + meant;
    if (const auto likely = base::nearest(wanted.pattern, known.projects))
        return none + " Did you mean " + *likely + "?";
    if (known.takes_requests)
        return none + " Ask for it: avail_wheels --request '" + wanted.name + wanted.specifiers.text() + "'";
    return none + " Ask your site's staff for it.";
}

// One sentence for each name or pattern without a wheel.
std::vector<std::string> next_steps(const Query& query, const Answer& answer, const NextStep& known) {
    std::vector<std::string> steps;
    std::set<std::string> seen;
    for (const auto& wanted : query.wanted) {
        const bool is_missing = std::find(answer.not_available.begin(), answer.not_available.end(),
                                          wanted.name) != answer.not_available.end();
        const bool has_nothing = is_missing || (wanted.is_glob() && answer.wheels.empty());
        if (!has_nothing || !seen.insert(wanted.pattern).second) continue;
        steps.push_back(step_for(wanted, query, known));
    }
    return steps;
}

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
    // Else only on a terminal: scripts may parse standard error as the Alliance's original prints it.
    if ((mode.why || world.err_is_terminal) && (answer.wheels.empty() || !answer.not_available.empty())) {
        for (const auto& step : next_steps(query, answer, what_is_known(options, world, found)))
            err << "avail_wheels: " << step << '\n';
    }
    if (!mode.install_line) {
        print_answer(options.display, answer, world, out);
        const bool has_names = std::none_of(query.wanted.begin(), query.wanted.end(),
                                            [](const Wanted& wanted) { return wanted.is_glob(); });
        return mode.why && has_names && answer.wheels.empty() ? 1 : 0;
    }
    out << render_install_line(options.source, answer, query.wanted);
    if (!answer.wheels.empty()) return 0;
    err << "avail_wheels: nothing to install: no wheel of these names is for this node; --why says more\n";
    return 1;
}

}  // namespace wheelyard::avail_wheels
