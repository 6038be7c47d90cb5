// Command line → node → candidates → answer → text.
#include "indexer/avail_wheels/run.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <utility>

#include "indexer/avail_wheels/farm.hpp"
#include "indexer/avail_wheels/limits.hpp"
#include "indexer/avail_wheels/next_step.hpp"
#include "indexer/avail_wheels/node/installed_torch.hpp"
#include "indexer/avail_wheels/query/filter.hpp"
#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/avail_wheels/source/catalogue_cache.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/table/display_width.hpp"
#include "indexer/avail_wheels/table/document.hpp"
#include "indexer/avail_wheels/table/table.hpp"
#include "indexer/avail_wheels/web_link.hpp"
#include "lib/base/digest/hash_text.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client_config.hpp"
#include "lib/simple/pip_config.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

int print_error(std::ostream& err, const base::Error& error) {
    err << "avail_wheels: " << base::printable(error.text()) << '\n';
    return 1;
}

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

Node node_of(const Options& options, const World& world) {
    Node node;
    if (!options.on.empty()) {
        apply_overrides(node, options.site.nodes.at(options.on));
        node.is_described = true;
    } else {
        node = known_node(world.probe, *world.clock);
        if (const auto* type = type_of_host(options.site, world.probe.host)) apply_overrides(node, *type);
    }
    for (const auto& assumption : options.assumptions) {
        (void)assume(node, assumption);  // validated with the command line
        // The libraries of this node are not those of a node with another C library.
        if (assumption.starts_with("glibc=") || assumption.starts_with("machine=")) node.is_described = true;
    }
    // A Python of this node that does not answer stays unknown, whatever a version file says of it.
    if (options.has_pythons || (!options.on.empty() && node.pythons.empty()))
        set_pythons(node, options.query.pythons);
    node.any_python = options.all_pythons;
    return node;
}

// The folder itself or its simple/ if that holds a catalogue; empty: neither does.
fs::path folder_with_catalogue(const fs::path& wheelhouse) {
    std::error_code gone;
    if (wheelhouse.empty()) return {};
    for (const auto& folder : {wheelhouse, wheelhouse / "simple"}) {
        if (fs::exists(folder / simple::catalogue_name, gone)) return folder;
    }
    return {};
}

std::string url_of(const fs::path& folder) {
    return base::file_url(fs::absolute(folder).native());
}

struct Found {
    std::vector<Candidate> listed;
    std::optional<simple::Catalogue> catalogue;
};

// Where the facts of a folder's wheels are cached; empty: nowhere.
fs::path cache_of_wheels(const Options& options, const World& world) {
    const fs::path folder = cache_folder(world.environment);
    if (folder.empty()) return {};
    std::string places = options.wheelhouse.empty() ? "" : fs::absolute(options.wheelhouse).native();
    for (const auto& links : options.find_links)
        places += "\n" + fs::absolute(links).native();
    return folder / "wheels" / (base::hash_text_hex(places) + ".json");
}

base::Result<std::vector<Candidate>> read_folders(const Options& options, const std::vector<Wanted>& wanted) {
    return options.find_links.empty() ? read_wheelhouse(options.wheelhouse, wanted)
                                      : read_find_links(options.find_links, wanted);
}

// What a list needs where its wheels are judged; each may be called several times.
struct Judging {
    std::function<void(const simple::Catalogue&)> opened;  // the source has this catalogue
    // False: the list is right as it is; otherwise more is known of the node, and it is made again.
    std::function<bool(const std::vector<Candidate>& listed)> again;
};

using Listing = std::function<base::Result<std::vector<Candidate>>()>;

base::Result<std::vector<Candidate>> list_until_known(const Listing& list, const Judging* judging) {
    for (int round = 0;; ++round) {
        auto listed = list();
        if (!listed || judging == nullptr || round == max_library_rounds || !judging->again(*listed))
            return listed;
    }
}

// `warning` is for the reader also where the result is an error. With `judging`, wheels of a folder are read.
base::Result<Found> find_wheels(const Options& options, const World& world, bool with_facts,
                                std::string& warning, const Judging* judging = nullptr) {
    const Query& query = options.query;
    Found found;
    std::string simple_url = options.index_url;
    if (options.index_url.empty()) {
        if (const auto folder = folder_with_catalogue(options.wheelhouse); !folder.empty()) {
            WHEELYARD_ASSIGN(found.catalogue, simple::Catalogue::open(folder));
            simple_url = url_of(folder);
        }
    } else {
        WHEELYARD_ASSIGN(auto answer,
                         fetch_catalogue(world.get, simple_url, cache_folder(world.environment), *world.clock,
                                         options.refresh ? Freshness::now : Freshness::recent));
        found.catalogue = std::move(answer.catalogue);
        warning = std::move(answer.warning);
    }
    if (found.catalogue) {
        const Listing list = [&] {
            if (judging != nullptr) judging->opened(*found.catalogue);
            return read_catalogue(*found.catalogue, query, simple_url, with_facts);
        };
        auto listed = list_until_known(list, judging);
        if (!listed && !options.index_url.empty()) {
            // The cached file is damaged inside.
            forget_catalogue(cache_folder(world.environment), simple_url);
            WHEELYARD_ASSIGN(auto again,
                             fetch_catalogue(world.get, simple_url, cache_folder(world.environment),
                                             *world.clock, Freshness::now));
            if (again.catalogue) {
                found.catalogue = std::move(again.catalogue);
                listed = list_until_known(list, judging);
            }
        }
        if (!listed) return tl::unexpected(std::move(listed.error()));
        found.listed = std::move(*listed);
        return found;
    }
    std::vector<Candidate> offered;
    if (options.index_url.empty()) {
        WHEELYARD_ASSIGN(offered, read_folders(options, query.wanted));
    } else {
        WHEELYARD_ASSIGN(offered, read_index(world.get, options.index_url, query.wanted));
    }
    std::optional<WheelReading> reading;
    if (judging != nullptr && options.index_url.empty())
        reading.emplace(world.read_wheel, cache_of_wheels(options, world));
    std::set<std::string> read;  // by URL
    const Listing list = [&]() -> base::Result<std::vector<Candidate>> {
        for (;;) {
            Filter filter(query);
            std::vector<Candidate> listed;
            std::copy_if(offered.begin(), offered.end(), std::back_inserter(listed),
                         [&](const Candidate& candidate) { return filter.lists(candidate); });
            listed = choose(query, std::move(listed)).wheels;
            // Only listed wheels are read. What one says of itself may hide it, and then an older one is listed.
            std::set<std::string> unread;
            for (const auto& candidate : listed) {
                if (reading && read.insert(candidate.link.url).second) unread.insert(candidate.link.url);
            }
            if (unread.empty()) return listed;
            for (auto& candidate : offered) {
                if (unread.contains(candidate.link.url)) reading->add_facts(candidate);
            }
        }
    };
    WHEELYARD_ASSIGN(found.listed, list_until_known(list, judging));
    if (reading) reading->keep();
    return found;
}

std::string render_raw(const Options& options, const Answer& answer) {
    std::string text;
    const auto& columns = options.rows.columns;
    if (std::find(columns.begin(), columns.end(), "modules") != columns.end()) {
        std::set<std::string> modules;
        for (const auto& candidate : answer.wheels) {
            for (auto& module : modules_of(candidate))
                modules.insert(std::move(module));
        }
        for (const auto& module : modules)
            text += module + "\n";
        return text;
    }
    if (!options.rows.not_available_only) {
        for (const auto& candidate : answer.wheels)
            text += candidate.link.filename + "\n";
    }
    if (options.rows.not_available || options.rows.not_available_only) {
        for (const auto& name : answer.not_available)
            text += name + "\n";
    }
    return text;
}

// pip itself chooses among a version's wheels. The first wheel of each project has the newest listed version.
std::string render_install_line(const Options& options, const Answer& answer) {
    std::string line = "pip install";
    if (const auto folder = folder_with_catalogue(options.wheelhouse); !folder.empty()) {
        line += " --index-url " + base::quote_shell(url_of(folder));
    } else if (!options.find_links.empty()) {
        line += " --no-index";
        for (const auto& links : options.find_links)
            line += " --find-links " + base::quote_shell(links.native());
    } else if (options.wheelhouse.empty()) {
        const auto url = base::parse_url(options.index_url);
        line += " --index-url " + base::quote_shell(url ? url->text_without_secrets() : options.index_url) +
                simple::pip_trust_option(options.index_url);
    } else {
        line += " --no-index --find-links " + base::quote_shell(options.wheelhouse.native());
    }
    const std::string* last = nullptr;
    for (const auto& candidate : answer.wheels) {
        if (last != nullptr && *last == candidate.release->key) continue;
        last = &candidate.release->key;
        line += " " + base::quote_shell(candidate.release->name + "==" + candidate.release->version.text());
    }
    return last == nullptr ? std::string() : line + "\n";
}

// On a terminal, the two formats without lines fit its width: cells break between words.
std::string wrapped_table(const Options& options, const std::vector<std::string>& headers,
                          std::vector<Row> rows, std::size_t columns) {
    const bool can_wrap = options.format == "simple" || options.format == "plain";
    if (columns > 0 && can_wrap) {
        // The table draws a column at least as wide as its header and two more.
        Row heads = headers;
        for (std::string& head : heads)
            head += "--";
        std::vector<Row> headed = rows;
        headed.insert(headed.begin(), std::move(heads));
        headed = base::wrap_cells(headed, columns, 2, display_width);
        std::vector<std::size_t> widths(headers.size());
        for (const Row& row : headed) {
            for (std::size_t at = 0; at < row.size(); ++at)
                widths[at] = std::max(widths[at], display_width(row[at]));
        }
        if (std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)) > columns &&
            !rows.empty()) {
            rows.insert(rows.begin(), headers);
            return base::stack_rows(rows, columns, display_width);
        }
        headed.erase(headed.begin());
        rows = std::move(headed);
    }
    return render_table(options.format, headers, rows);
}

std::string render(const Options& options, const Answer& answer, std::size_t columns) {
    if (options.install_line) return render_install_line(options, answer);
    if (options.raw) return render_raw(options, answer);
    if (options.format == "json") return render_document(answer);
    return wrapped_table(options, options.rows.columns, make_rows(answer, options.rows), columns);
}

// The wheels of projects that the source owns: of a folder all, because an install line takes nothing else; of an index
// those that its farm builds, because others may come from an upstream that it has not asked yet.
class Ownership {
  public:
    explicit Ownership(const Options& options) : options_(options) {}

    void set_catalogue(const simple::Catalogue* catalogue) { catalogue_ = catalogue; }

    const std::vector<Candidate>* wheels(const std::string& project) {
        const auto known = projects_.find(project);
        if (known != projects_.end()) return known->second.empty() ? nullptr : &known->second;
        auto& wheels = projects_[project];
        if (const auto wanted = parse_wanted(project)) wheels = read(*wanted);
        return wheels.empty() ? nullptr : &wheels;
    }

  private:
    std::vector<Candidate> read(const Wanted& wanted) {
        Query query;
        query.wanted = {wanted};
        query.everything = query.all_versions = true;
        if (catalogue_ != nullptr) {
            auto wheels = read_catalogue(*catalogue_, query, "", true).value_or(std::vector<Candidate>());
            const bool is_built = std::any_of(wheels.begin(), wheels.end(), [](const Candidate& candidate) {
                return candidate.facts.find("\"built\":") != std::string::npos;
            });
            return is_built ? std::move(wheels) : std::vector<Candidate>();
        }
        if (!options_.index_url.empty()) return {};
        if (!folder_)
            folder_ = read_folders(options_, {*parse_wanted("*")}).value_or(std::vector<Candidate>());
        std::vector<Candidate> wheels;
        std::copy_if(
            folder_->begin(), folder_->end(), std::back_inserter(wheels),
            [&](const Candidate& candidate) { return candidate.release->project == wanted.pattern; });
        return wheels;
    }

    const Options& options_;
    const simple::Catalogue* catalogue_ = nullptr;
    std::optional<std::vector<Candidate>> folder_;  // all wheels of the folder, read when first needed
    std::map<std::string, std::vector<Candidate>> projects_;
};

void judge_all(Answer& answer, const Node& node, const Site& site, const OwnedWheels& owned,
               const LockedVersions* lock) {
    for (auto& candidate : answer.wheels) {
        Fit fit = judge(candidate, node, site, owned, lock);
        candidate.runs = runs_text(fit.runs);
        candidate.why_code = std::move(fit.code);
        candidate.why = std::move(fit.why);
        candidate.advice = std::move(fit.advice);
        if (!candidate.link.yanked) continue;
        const auto& reason = candidate.link.yanked_reason;
        candidate.why = "yanked" + (reason.empty() ? "" : ": " + reason) +
                        (candidate.why.empty() ? "" : "; " + candidate.why);
    }
}

// The libraries of all wheels, each once.
std::vector<std::string> libraries_of(const std::vector<Candidate>& listed) {
    std::set<std::string> names;
    for (const auto& candidate : listed) {
        if (candidate.facts.find("\"needed\":") == std::string::npos &&
            candidate.facts.find("\"opens\":") == std::string::npos)
            continue;
        for (auto& name : names_to_ask(needs_of(candidate)))
            names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

// The modules of the standard library that they need and some Pythons lack.
std::vector<std::string> modules_of_python(const std::vector<Candidate>& listed) {
    std::set<std::string> names;
    for (const auto& candidate : listed) {
        if (candidate.facts.find("\"gone_names\":") == std::string::npos) continue;
        for (auto& name : modules_to_ask(needs_of(candidate)))
            names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

std::string python_fault(const Node& node) {
    if (node.python_program.empty())
        return "there is no Python on PATH, so nothing is known to run here; load one, or name one with -p";
    return "the Python " + node.python_program + " " + node.python_fault +
           ", so nothing is known to run here; repair its environment, or leave it";
}

// For standard error: what the line holds without a promise that it runs.
void warn_of_unsure(const Answer& answer, std::ostream& err) {
    const Candidate* first = nullptr;  // of a project: the line names its version
    const Candidate* unsure = nullptr;
    bool runs = false;
    const auto tell = [&] {
        if (unsure != nullptr && (!runs || unsure->runs == "unknown"))
            err << "avail_wheels: warning: " << unsure->release->name << ' '
                << unsure->release->version.text()
                << (unsure->runs == "no" ? " does not run here: " : ": whether it runs here is unknown: ")
                << base::printable(unsure->why) << '\n';
    };
    for (const auto& candidate : answer.wheels) {
        if (first == nullptr || is_other_project(*first, candidate)) {
            tell();
            first = &candidate;
            unsure = nullptr;
            runs = false;
        }
        if (candidate.release->version != first->release->version) continue;
        runs = runs || candidate.runs == "yes";
        const bool is_worse = unsure == nullptr || (unsure->runs == "no" && candidate.runs == "unknown");
        if (candidate.runs != "yes" && is_worse) unsure = &candidate;
    }
    tell();
}

bool shows(const Options& options, std::initializer_list<std::string_view> names) {
    const auto& columns = options.rows.columns;
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::find(columns.begin(), columns.end(), name) != columns.end();
    });
}

// On a terminal, prints the header in bold for the two formats without lines; stacked rows have none.
std::string with_color(std::string text, const Options& options, const std::vector<std::string>& headers,
                       bool is_terminal) {
    const bool is_wanted =
        options.color == Color::always || (options.color == Color::automatic && is_terminal);
    if (!is_wanted || options.raw || options.install_line ||
        (options.format != "simple" && options.format != "plain"))
        return text;
    const auto end = text.find('\n');
    if (text.substr(0, end).find(headers.back()) == std::string::npos) return text;
    return "\033[1m" + text.substr(0, end) + "\033[0m" + text.substr(end);
}

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

// The wheel that a request asks for, if the source has it already.
std::optional<std::string> release_there(const Options& options, const World& world, const Wanted& wanted) {
    if (options.index_url.empty() && options.wheelhouse.empty() && options.find_links.empty())
        return std::nullopt;
    Options others = options;
    others.query.wanted = {wanted};
    others.query.machine = world.probe.machine;
    std::string warning;
    const auto found = find_wheels(others, world, false, warning);
    const Answer answer = found ? choose(others.query, found->listed) : Answer();
    if (answer.wheels.empty()) return std::nullopt;
    const auto& release = *answer.wheels.front().release;
    return release.name + " " + release.version.text();
}

// A sentence if the public index has no package of this name; empty: it has, or it does not answer.
std::string nobodys_package(const World& world, const Wanted& wanted) {
    const std::string index = public_index(world);
    if (index.empty()) return {};
    const auto page = simple::fetch_project(world.get, index, wanted.pattern);
    if (!page || *page) return {};
    const auto url = base::parse_url(index);
    return "there is no package " + wanted.name + " in " +
           (url ? url->text_without_secrets() : std::string("the public index")) +
           "; unless it is your site's own, check its spelling";
}

int ask_farm(const Options& options, const World& world, const std::string& requirement,
             const base::Result<Wanted>& wanted, std::ostream& out, std::ostream& err) {
    const auto queue = request_queue(options, world.environment);
    if (queue && !wanted) return print_error(err, wanted.error());
    const auto pythons = options.query.pythons.empty() && queue
                             ? known_node(world.probe, *world.clock).pythons
                             : options.query.pythons;
    const auto result = queue
                            ? ask_registry(world.post, *queue, *wanted, pythons, world.environment)
                            : write_request(options, requirement, world.user, world.probe.host, *world.clock);
    if (!result) return print_error(err, result.error());
    out << *result << '\n';
    return 0;
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
        if (const auto warning = nobodys_package(world, *wanted); !warning.empty())
            err << "avail_wheels: warning: " << warning << '\n';
    }
    return ask_farm(options, world, requirement, wanted, out, err);
}

int answer_farm(const Options& options, const World& world, std::ostream& out, std::ostream& err) {
    if (options.status) {
        auto status = read_status(world.get, options, world.clock->now());
        if (!status) return print_error(err, status.error());
        if (options.format == "json") {
            io::Json cells = io::Json::array();
            for (const auto& row : status->rows) {
                io::Json cell = io::Json::object();
                for (std::size_t i = 0; i < row.size(); ++i)
                    cell.set(status_columns[i], row[i]);
                cells.push(std::move(cell));
            }
            out << io::Json::object({{"format", "wheelyard.avail_wheels-status/1"},
                                     {"cells", std::move(cells)},
                                     {"notices", io::Json::array_of(status->notices)}})
                       .render_pretty();
            return 0;
        }
        out << with_color(wrapped_table(options, status_columns, status->rows, world.out_columns), options,
                          status_columns, world.out_is_terminal);
        for (const std::string& notice : status->notices)
            err << "avail_wheels: warning: " << notice << '\n';
        return 0;
    }
    for (const auto& requirement : options.requests) {
        if (const int status = request_one(options, world, requirement, out, err); status != 0) return status;
    }
    return 0;
}

const std::vector<std::string> lock_columns{"name", "version", "state", "why"};

// Requests what a build for this node would bring; the farm's answers go to standard error.
int request_missing(Options options, const World& world, const LockPlace& place,
                    const std::vector<LockedHere>& packages, std::ostream& err) {
    options.query.pythons = place.pythons;
    std::size_t requested = 0;
    for (const LockedHere& package : packages) {
        if (!package.may_be_built) continue;
        // Sources have no local version.
        const std::string requirement =
            package.package->name + "==" + package.package->version->public_text();
        const int status = ask_farm(options, world, requirement, parse_wanted(requirement), err, err);
        if (status != 0) return status;
        ++requested;
    }
    if (requested == 0) err << "avail_wheels: nothing to request: no package of the lock lacks a build\n";
    return 0;
}

// The wheels of any version of these projects, newest first. The wheel list of an index has what it keeps itself; what
// its upstreams offer is on the projects' pages, which installers ask. `unread`: why one could not be read, by project; after
// some, the others are not tried.
base::Result<std::vector<Candidate>> all_versions(const Options& options, const World& world,
                                                  std::vector<Wanted> projects,
                                                  std::map<std::string, std::string>& unread) {
    Options others = options;
    others.refresh = false;
    others.query.wanted = std::move(projects);
    std::string warning;  // was said of the first list
    WHEELYARD_ASSIGN(auto found, find_wheels(others, world, false, warning));
    std::string reason;
    const bool has_pages = found.catalogue && !options.index_url.empty();
    for (const Wanted& project : others.query.wanted) {
        if (!has_pages) break;
        if (unread.size() < max_unread_pages) {
            auto offered = read_project(world.get, options.index_url, project);
            if (offered) {
                std::move(offered->begin(), offered->end(), std::back_inserter(found.listed));
                continue;
            }
            reason = offered.error().text();
        }
        unread.emplace(project.pattern, reason);
    }
    return select(others.query, std::move(found.listed)).wheels;
}

// `judged`: the wheels of the versions of `packages`.
int answer_lock(const Options& options, const World& world, const LockPlace& place,
                const std::vector<const LockedPackage*>& packages, Answer judged,
                const std::function<void(Answer&)>& judge_wheels, std::ostream& out, std::ostream& err) {
    auto compared = compare_lock(packages, place, judged.wheels, {});
    std::vector<Wanted> not_here;
    for (const LockedHere& one : compared) {
        if (one.state != LockState::here && one.state != LockState::not_of_an_index && one.package->version)
            not_here.push_back({one.package->name, one.package->project, {}, {}});
    }
    std::map<std::string, std::string> unread;
    if (!not_here.empty()) {
        const auto others = all_versions(options, world, not_here, unread);
        if (!others) return print_error(err, others.error());
        std::set<std::string> known;
        for (const Candidate& wheel : judged.wheels)
            known.insert(wheel.link.filename);
        Answer more;
        std::copy_if(others->begin(), others->end(), std::back_inserter(more.wheels),
                     [&](const Candidate& wheel) {
                         return is_locked(wheel, packages) && known.insert(wheel.link.filename).second;
                     });
        judge_wheels(more);
        std::move(more.wheels.begin(), more.wheels.end(), std::back_inserter(judged.wheels));
        compared = compare_lock(packages, place, judged.wheels, *others);
        for (LockedHere& one : compared) {
            if (!unread.contains(one.package->project)) continue;
            one.why += std::string(one.why.empty() ? "" : "; ") + "an upstream may have it";
            one.may_be_built = false;
        }
    }
    const std::size_t left_out = options.lock->packages.size() - packages.size();
    const auto refusals = refusals_of_lock(*options.lock, packages, place);
    Answer answer;
    std::vector<Row> rows;
    bool has_other_bytes = false;
    for (const auto& [package, state, wheel, why, may_be_built] : compared) {
        const bool is_here = state == LockState::here || state == LockState::other_bytes;
        has_other_bytes = has_other_bytes || state == LockState::other_bytes;
        if (is_here)
            answer.wheels.push_back(*wheel);
        else
            answer.not_available.push_back(package->name);
        if (is_here && options.rows.not_available_only) continue;
        rows.push_back({package->name, package->version ? package->version->text() : "",
                        std::string(lock_state_text(state)), why});
    }
    if (options.format == "json") {
        out << render_document(answer, render_lock(options.lock_file, compared, left_out, refusals));
    } else {
        out << with_color(wrapped_table(options, lock_columns, std::move(rows), world.out_columns), options,
                          lock_columns, world.out_is_terminal);
    }
    err << "avail_wheels: " << base::printable(summary_of_lock(options.lock_file, compared, left_out))
        << '\n';
    for (const auto& refusal : refusals)
        err << "avail_wheels: warning: installers refuse this lock here: " << base::printable(refusal)
            << '\n';
    if (has_other_bytes)
        err << "avail_wheels: pip and uv take the lock's own bytes, from the addresses in it, and refuse "
               "others: to "
               "install the wheels that are here, lock again with this index as the only one\n";
    if (!unread.empty())
        err << "avail_wheels: warning: " << unread.size()
            << (unread.size() == 1 ? " package is" : " packages are")
            << " not known to be missing, because an upstream may have what the index does not: "
            << base::printable(unread.begin()->second) << '\n';
    const int status = options.request_missing ? request_missing(options, world, place, compared, err) : 0;
    return options.request_missing && !unread.empty() ? 1 : status;
}

NextStep what_is_known(const Options& options, const World& world, const Found& found) {
    NextStep known;
    known.find = [&options, &world](const Query& query) -> base::Result<Answer> {
        Options others = options;
        others.query = query;
        std::string warning;
        WHEELYARD_ASSIGN(auto wheels, find_wheels(others, world, true, warning));
        return choose(query, std::move(wheels.listed));
    };
    if (found.catalogue)
        known.projects = projects_of_catalogue(*found.catalogue, {}).value_or(std::vector<std::string>());
    if (!options.site.status.empty() || found.catalogue)
        known.building = read_status(world.get, options, world.clock->now()).value_or(FarmStatus()).rows;
    known.takes_requests =
        !options.site.requests.empty() || request_queue(options, world.environment).has_value();
    return known;
}

// Names the packages without a wheel, if several were asked for and the output does not show it.
void tell_missing(const Options& options, const Answer& answer, std::ostream& err) {
    std::set<std::string> asked;
    for (const auto& wanted : options.query.wanted)
        asked.insert(wanted.name);
    const std::size_t missing = answer.not_available.size();
    const bool shows_them =
        options.rows.not_available || options.rows.not_available_only || options.format == "json";
    if (asked.size() < 2 || missing == 0 || shows_them) return;
    err << "avail_wheels: " << missing << " of " << asked.size() << (missing == 1 ? " has" : " have")
        << " no wheel: " << base::printable(base::join(answer.not_available, ", ")) << '\n';
}

int complete_names(const Options& options, const World& world, std::ostream& out) {
    std::optional<simple::Catalogue> catalogue;
    if (options.index_url.empty()) {
        if (const auto folder = folder_with_catalogue(options.wheelhouse); !folder.empty()) {
            if (auto opened = simple::Catalogue::open(folder)) catalogue = std::move(*opened);
        }
    } else if (auto answer = fetch_catalogue(world.get, options.index_url, cache_folder(world.environment),
                                             *world.clock, Freshness::cached)) {
        catalogue = std::move(answer->catalogue);
    }
    if (!catalogue) return 0;
    const auto names = projects_of_catalogue(*catalogue, *options.complete_name);
    for (const auto& name : names.value_or(std::vector<std::string>{}))
        out << name << '\n';
    return 0;
}

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
    wants_pager = options.pager;
    if (options.complete_name) return complete_names(options, world, out);
    if (options.status || !options.requests.empty()) return answer_farm(options, world, out, err);
    if (!options.warning.empty()) err << options.warning << '\n';
    if (options.web) return answer_web(options, node_of(options, world), world.get, out, err);

    const bool needs_node =
        options.here || options.why || options.install_line || shows(options, {"runs", "why", "advice"});
    Node node = needs_node ? node_of(options, world) : Node();
    const bool is_for_this_python = options.here || options.install_line || options.lock;
    if (is_for_this_python && options.on.empty() && node.pythons.empty()) {
        err << "avail_wheels: " << python_fault(node) << '\n';
        out << render(options, Answer(), 0);
        return 1;
    }
    const LockPlace place{node.pythons, node.machine};
    std::vector<const LockedPackage*> locked;
    if (options.lock) {
        if (!options.lock->warning.empty())
            err << "avail_wheels: warning: " << base::printable(options.lock->warning) << '\n';
        locked = packages_for(*options.lock, place);
        for (const LockedPackage* package : locked) {
            if (package->version) options.query.wanted.push_back(wanted_of(*package, *options.lock));
        }
    }
    Ownership ownership(options);
    const OwnedWheels owned = [&](const std::string& project) { return ownership.wheels(project); };
    if (options.here) {
        options.query.pythons = node.any_python ? std::vector<Python>() : node.pythons;
        options.query.suits = [&](const Candidate& candidate) {
            return judge(candidate, node, options.site, owned).runs != Runs::no;
        };
    } else if (options.why) {
        if (options.on.empty() && !node.is_described && !options.lock)
            node.torch = find_installed_torch(world.probe, node);
        options.query.yanked = options.query.all_versions;
        options.query.pythons.clear();
    }
    if (!options.here && !options.why && !options.all_machines) options.query.machine = world.probe.machine;
    options.query.musl = needs_node ? node.musl.has_value() : is_musl_host(world.probe);
    options.query.wanted = applicable(std::move(options.query.wanted), options.query.pythons,
                                      needs_node ? node.machine : options.query.machine);
    const bool with_facts = needs_node || shows(options, {"modules"}) || options.format == "json";
    Judging judging;
    judging.opened = [&](const simple::Catalogue& catalogue) { ownership.set_catalogue(&catalogue); };
    judging.again = [&](const std::vector<Candidate>& listed) {
        const auto known = node.libraries.size() + node.found_modules.size();
        auto names = libraries_of(listed);
        // Folders of software are those of the whole cluster, the loader is that of this node.
        if (node.is_described)
            std::erase_if(names, [](const std::string& name) { return name.find('/') == std::string::npos; });
        ask_libraries(world.probe, *world.clock, names, node);
        ask_modules(world.probe, modules_of_python(listed), node);
        return node.libraries.size() + node.found_modules.size() > known;
    };
    std::string warning;
    auto found = find_wheels(options, world, with_facts, warning, needs_node ? &judging : nullptr);
    if (!warning.empty()) err << "avail_wheels: warning: " << warning << '\n';
    if (!found) return print_error(err, found.error());
    ownership.set_catalogue(found->catalogue ? &*found->catalogue : nullptr);
    Answer answer = choose(options.query, std::move(found->listed));
    const LockedVersions versions = locked_versions(locked);
    const auto judge_wheels = [&](Answer& listed) {
        judge_all(listed, node, options.site, owned, options.lock ? &versions : nullptr);
    };
    if (needs_node) judge_wheels(answer);
    if (options.lock)
        return answer_lock(options, world, place, locked, std::move(answer), judge_wheels, out, err);
    if (options.install_line) warn_of_unsure(answer, err);
    tell_missing(options, answer, err);
    // Only on a terminal: scripts may parse standard error as the Alliance's original prints it.
    if (world.err_is_terminal && (answer.wheels.empty() || !answer.not_available.empty())) {
        for (const auto& step : next_steps(options, answer, what_is_known(options, world, *found)))
            err << "avail_wheels: " << step << '\n';
    }
    out << with_color(render(options, answer, world.out_columns), options, options.rows.columns,
                      world.out_is_terminal);
    return 0;
}

}  // namespace wheelyard::avail_wheels
