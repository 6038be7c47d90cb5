// avail_wheels --lock: what of a lock is here for a node, what is missing, and why.
#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "indexer/avail_wheels/node_judge.hpp"
#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "indexer/avail_wheels/run.hpp"
#include "indexer/avail_wheels/show.hpp"
#include "indexer/avail_wheels/table/table.hpp"

namespace wheelyard::avail_wheels {

namespace {

const std::vector<std::string> lock_columns{"name", "version", "state", "why"};

using Packages = std::vector<const LockedPackage*>;

// The wheels of the lock's versions, judged; and for what is not here by those, the wheels of other versions.
struct LockWheels {
    Answer judged;
    std::vector<Candidate> others = {};
    std::map<std::string, std::string> unread = {};  // projects whose page could not be read, and why
};

std::vector<Wanted> projects_not_here(const std::vector<LockedHere>& compared) {
    std::vector<Wanted> projects;
    for (const LockedHere& one : compared) {
        if (one.state != LockState::here && one.state != LockState::not_of_an_index && one.package->version)
            projects.push_back({one.package->name, one.package->project, {}, {}});
    }
    return projects;
}

// Upstreams may offer a locked version that the wheel list lacks: `more` are its wheels that are not known
// yet.
Answer locked_of_others(const LockWheels& wheels, const Packages& packages) {
    std::set<std::string> known;
    for (const Candidate& wheel : wheels.judged.wheels)
        known.insert(wheel.link.filename);
    Answer more;
    std::copy_if(wheels.others.begin(), wheels.others.end(), std::back_inserter(more.wheels),
                 [&](const Candidate& wheel) {
                     return is_locked(wheel, packages) && known.insert(wheel.link.filename).second;
                 });
    return more;
}

// Requests what a build for this node would bring; the farm's answers go to standard error.
int request_missing(Options options, const World& world, const LockTarget& place,
                    const std::vector<LockedHere>& packages, std::ostream& err) {
    options.query.pythons = place.pythons;
    std::size_t requested = 0;
    for (const LockedHere& package : packages) {
        if (!package.may_be_built) continue;
        // Sources have no local version.
        const std::string requirement =
            package.package->name + "==" + package.package->version->public_text();
        if (const int status = ask_farm(options, world, requirement, err, err); status != 0) return status;
        ++requested;
    }
    if (requested == 0) err << "avail_wheels: nothing to request: no package of the lock lacks a build\n";
    return 0;
}

bool is_here(const LockedHere& one) {
    return one.state == LockState::here || one.state == LockState::other_bytes;
}

void print_lock(const DisplayOptions& display, const LockMode& mode, const std::vector<LockedHere>& compared,
                std::size_t left_out, const std::vector<std::string>& refusals, const World& world,
                std::ostream& out) {
    Answer answer;
    std::vector<Row> rows;
    for (const LockedHere& one : compared) {
        if (is_here(one))
            answer.wheels.push_back(*one.wheel);
        else
            answer.not_available.push_back(one.package->name);
        if (is_here(one) && display.rows.not_available_only) continue;
        rows.push_back({one.package->name, one.package->version ? one.package->version->text() : "",
                        std::string(lock_state_text(one.state)), one.why});
    }
    if (display.format == "json")
        out << render_document(answer, render_lock(mode.file, compared, left_out, refusals));
    else
        print_table(display, lock_columns, std::move(rows), world, out);
}

void tell_of_lock(const LockMode& mode, const std::vector<LockedHere>& compared, std::size_t left_out,
                  const std::vector<std::string>& refusals, const std::map<std::string, std::string>& unread,
                  std::ostream& err) {
    err << "avail_wheels: " << summary_of_lock(mode.file, compared, left_out) << '\n';
    for (const auto& refusal : refusals)
        err << "avail_wheels: warning: installers refuse this lock here: " << refusal << '\n';
    if (std::any_of(compared.begin(), compared.end(),
                    [](const LockedHere& one) { return one.state == LockState::other_bytes; }))
        err << "avail_wheels: pip and uv take the lock's own bytes, from the addresses in it, and refuse "
               "others: to install the wheels that are here, lock again with this index as the only one\n";
    if (!unread.empty())
        err << "avail_wheels: warning: " << unread.size()
            << (unread.size() == 1 ? " package is" : " packages are")
            << " not known to be missing, because an upstream may have what the index does not: "
            << unread.begin()->second << '\n';
}

}  // namespace

int answer_lock(Options options, const LockMode& mode, const World& world, std::ostream& out,
                std::ostream& err) {
    Node node = node_of(options, world);
    if (options.node.on.empty() && node.pythons.empty()) {
        err << "avail_wheels: " << python_fault(node) << '\n';
        print_answer(options.display, Answer(), world, out);
        return 1;
    }
    if (!mode.lock.warning.empty()) err << "avail_wheels: warning: " << mode.lock.warning << '\n';
    const LockTarget place{node.pythons, node.machine};
    const Packages packages = packages_for(mode.lock, place);
    Query& query = options.query;
    for (const LockedPackage* package : packages) {
        if (package->version) query.wanted.push_back(wanted_of(*package, mode.lock));
    }
    query.all_versions = query.yanked = true;
    query.pythons.clear();
    query.musl = node.musl.has_value();
    query.wanted = applicable(std::move(query.wanted), query.pythons, node.machine);

    NodeJudge judge(options, world, node);
    Found found;
    std::string warning;
    const auto read = judge.find(options.source, query, warning, found);
    if (!warning.empty()) err << "avail_wheels: warning: " << warning << '\n';
    if (!read) return print_error(err, read.error());
    const LockedVersions versions = locked_versions(packages);
    LockWheels wheels{choose(query, std::move(found.listed))};
    judge.judge_all(wheels.judged, &versions);
    auto compared = compare_lock(packages, place, wheels.judged.wheels, {});
    if (auto projects = projects_not_here(compared); !projects.empty()) {
        Query any = query;
        any.wanted = std::move(projects);
        auto others = all_versions(options.source, any, world, wheels.unread);
        if (!others) return print_error(err, others.error());
        wheels.others = std::move(*others);
        Answer more = locked_of_others(wheels, packages);
        judge.judge_all(more, &versions);
        std::move(more.wheels.begin(), more.wheels.end(), std::back_inserter(wheels.judged.wheels));
        compared = compare_lock(packages, place, wheels.judged.wheels, wheels.others);
        for (LockedHere& one : compared) {
            if (!wheels.unread.contains(one.package->project)) continue;
            one.why += std::string(one.why.empty() ? "" : "; ") + "an upstream may have it";
            one.may_be_built = false;
        }
    }
    const std::size_t left_out = mode.lock.packages.size() - packages.size();
    const auto refusals = refusals_of_lock(mode.lock, packages, place);
    print_lock(options.display, mode, compared, left_out, refusals, world, out);
    tell_of_lock(mode, compared, left_out, refusals, wheels.unread, err);
    if (!mode.request_missing) return 0;
    const int status = request_missing(options, world, place, compared, err);
    return wheels.unread.empty() ? status : 1;
}

}  // namespace wheelyard::avail_wheels
