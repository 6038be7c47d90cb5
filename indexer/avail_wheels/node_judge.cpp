#include "indexer/avail_wheels/node_judge.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "indexer/avail_wheels/node/node_probe.hpp"
#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/avail_wheels/source/source.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::size_t max_answers = 8;  // of a wheel: each is worse than the one before, so they are fewer

// What these wheels need, each name once. Facts without one of these members name nothing that `ask` returns.
std::vector<std::string> names_of(const std::vector<Candidate>& listed,
                                  std::initializer_list<std::string_view> members,
                                  std::vector<std::string> (*ask)(const Needs&)) {
    std::set<std::string> names;
    for (const auto& candidate : listed) {
        const bool has_any = std::any_of(members.begin(), members.end(), [&](std::string_view member) {
            return may_have(candidate, member);
        });
        if (!has_any) continue;
        for (auto& name : ask(needs_of(candidate)))
            names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

}  // namespace

const std::vector<Candidate>* Ownership::wheels(const std::string& name) {
    const Project& known = project(name);
    return known.is_owned ? &known.wheels : nullptr;
}

const std::vector<Candidate>* Ownership::has(const std::string& name) {
    return wheel_list_ != nullptr && wheel_list_->is_whole() ? &project(name).wheels : nullptr;
}

Ownership::Project& Ownership::project(const std::string& name) {
    const auto [known, is_new] = projects_.try_emplace(name);
    if (const auto wanted = parse_wanted(name); is_new && wanted) {
        if (wheel_list_ != nullptr)
            known->second = listed(*wanted);
        else if (source_.index_url.empty())
            known->second = in_folder(*wanted);
    }
    return known->second;
}

Ownership::Project Ownership::listed(const Wanted& wanted) const {
    Query query;
    query.wanted = {wanted};
    query.everything = query.all_versions = true;
    Project project{read_wheel_list(*wheel_list_, query, "", true).value_or(std::vector<Candidate>())};
    project.is_owned =
        std::any_of(project.wheels.begin(), project.wheels.end(),
                    [](const Candidate& candidate) { return may_have(candidate, "\"built\":"); });
    return project;
}

Ownership::Project Ownership::in_folder(const Wanted& wanted) {
    if (!folder_) folder_ = read_folders(source_, {*parse_wanted("*")}).value_or(std::vector<Candidate>());
    Project project;
    std::copy_if(folder_->begin(), folder_->end(), std::back_inserter(project.wheels),
                 [&](const Candidate& candidate) { return candidate.release->project == wanted.pattern; });
    project.is_owned = !project.wheels.empty();
    return project;
}

const Candidate* Ownership::find_asked(const Candidate& wheel) const {
    const auto known = projects_.find(wheel.release->project);
    if (known == projects_.end()) return nullptr;
    const auto& wheels = known->second.wheels;
    const auto same = std::find_if(wheels.begin(), wheels.end(), [&](const Candidate& one) {
        return one.link.filename == wheel.link.filename && one.arch == wheel.arch &&
               one.facts == wheel.facts && one.no_facts == wheel.no_facts;
    });
    return same == wheels.end() ? nullptr : &*same;
}

bool Ownership::read_facts(const Candidate& wheel) {
    if (!wheel.facts.empty() || !wheel.no_facts.empty() || !source_.index_url.empty() ||
        wheel_list_ != nullptr)
        return false;
    if (!reading_) reading_.emplace(world_.read_wheel, cache_of_wheels(source_, world_));
    for (Candidate& one : project(wheel.release->project).wheels) {
        if (&one != &wheel) continue;
        reading_->add_facts(one);
        return !one.facts.empty();
    }
    return false;
}

Installing NodeJudge::how(const Candidate& candidate, const std::vector<std::string>& extras) {
    const auto asked = asked_.find(candidate.release->project);
    Installing how = asked == asked_.end() ? Installing() : asked->second;
    how.extras.insert(how.extras.end(), extras.begin(), extras.end());
    how.owned = [this](const std::string& project) { return ownership_.wheels(project); };
    how.has = [this](const std::string& project) { return ownership_.has(project); };
    how.of_folder = ownership_.of_folder();
    how.known = &taken_;
    how.brought = &brought_;
    return how;
}

bool NodeJudge::may_run(const Candidate& candidate) {
    return judge(candidate, node_, site_, how(candidate)).runs != Runs::no;
}

bool NodeJudge::learn(const std::vector<Candidate>& listed) {
    const auto count = [&] {
        return node_.libraries.size() + node_.found_modules.size() + node_.found_functions.size();
    };
    const auto known = count();
    auto names = names_of(listed, {"needed\":"}, names_to_ask);
    // Folders of software are those of the whole cluster, the loader is that of this node.
    if (node_.is_described)
        std::erase_if(names, [](const std::string& name) { return name.find('/') == std::string::npos; });
    ask_libraries(world_.probe, *world_.clock, names, node_);
    ask_modules(world_.probe, names_of(listed, {"sure_imports\":"}, modules_to_ask), node_);
    ask_functions(world_.probe, names_of(listed, {"pypy_"}, functions_to_ask), node_);
    return count() > known;
}

// Of a folder only what would be taken is read, until that says that it suits.
void NodeJudge::learn_required(const std::vector<Candidate>& listed) {
    std::vector<Taken> found;
    std::set<Taken> known;
    std::unordered_set<std::string_view> is_listed;  // these are known themselves
    for (const Candidate& candidate : listed)
        is_listed.insert(candidate.link.filename);
    const auto add = [&](const Candidate& from, const std::vector<std::string>& extras) {
        const Installing from_here = how(from, extras);
        auto taken = brought_by(from, node_, from_here).wheels;
        while (std::count_if(taken.begin(), taken.end(),
                             [&](const Taken& one) { return ownership_.read_facts(*one.first); }) > 0) {
            taken_.clear();  // what was read may say which Pythons it is for
            brought_.clear();
            taken = brought_by(from, node_, from_here).wheels;
        }
        for (const Taken& one : taken) {
            if (one.second.empty() && is_listed.contains(one.first->link.filename)) continue;
            if (known.insert(one).second) found.push_back(one);
        }
    };
    for (const Candidate& candidate : listed)
        add(candidate, {});
    std::vector<Candidate> wheels;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [wheel, extras] = found[i];  // the list grows
        wheels.push_back(*wheel);
        add(*wheel, extras);
    }
    ownership_.keep_facts();
    learn(wheels);
}

Fit NodeJudge::fit_of_required(const Taken& taken) {
    const auto [asked, is_new] = required_.try_emplace(taken);
    if (is_new) judge_in_rounds(*asked);
    return asked->second.before(std::numeric_limits<std::size_t>::max());
}

// Wheels may require each other in circles. So all of them are judged in rounds, each by the answers of the
// round before, and before the first they all run: an answer is then the same whichever wheel was asked about
// first. It keeps the first reason that it has, since one that goes round would grow.
void NodeJudge::judge_in_rounds(Judged& first) {
    std::vector<Judged*> open{&first};
    std::size_t last = 0;  // round that changed an answer
    for (std::size_t round = 1; round <= last + 1; ++round) {
        const std::size_t known = open.size();
        for (std::size_t i = 0; i < open.size(); ++i) {  // it grows
            const Taken& taken = open[i]->first;
            Required& own = open[i]->second;
            const auto is_changed = [&](const Required* one) { return one->is_changed_by(round - 1); };
            if (round > 1 && std::none_of(own.asks.begin(), own.asks.end(), is_changed)) continue;
            Installing from_here = how(*taken.first, taken.second);
            from_here.required = [&](const Taken& next) {
                const auto [found, is_new] = required_.try_emplace(next);
                if (is_new) open.push_back(&*found);
                if (own.asks.insert(&found->second).second && !found->second.answers.empty())
                    last = std::max(last, found->second.answers.back().first);
                return found->second.before(round);
            };
            Fit fit = judge(*taken.first, node_, site_, from_here);
            const Fit earlier = own.before(round);
            if ((fit.runs == earlier.runs && fit.code == earlier.code) || own.answers.size() == max_answers)
                continue;
            own.answers.emplace_back(round, std::move(fit));
            last = std::max(last, round);
        }
        if (round == 1 || open.size() == known) continue;
        // What only a later round asks for is judged from the first one on, too.
        for (Judged* one : open)
            one->second = {};
        round = last = 0;
    }
}

base::Status NodeJudge::find(const SourceOptions& source, const Query& query, std::string& warning,
                             Found& found) {
    for (const Wanted& wanted : query.wanted) {
        if (wanted.asked_extras.empty() && wanted.sha256s.empty()) continue;
        Installing& how = asked_[wanted.pattern];
        how.extras.insert(how.extras.end(), wanted.asked_extras.begin(), wanted.asked_extras.end());
        how.sha256s.insert(how.sha256s.end(), wanted.sha256s.begin(), wanted.sha256s.end());
    }
    Judging judging;
    judging.opened = [this](const simple::WheelList& wheel_list) { ownership_.set_wheel_list(&wheel_list); };
    // What the node has decides which wheels are listed only where the query asks for those that run.
    judging.again = [this, &query](const std::vector<Candidate>& listed) {
        return learn(listed) && query.suits;
    };
    WHEELYARD_ASSIGN(found, find_wheels(source, query, world_, true, warning, &judging));
    ownership_.set_wheel_list(found.wheel_list ? &*found.wheel_list : nullptr);
    return {};
}

Fit NodeJudge::fit_of_listed(const Candidate& candidate, const LockedVersions* lock) {
    if (lock == nullptr && !asked_.contains(candidate.release->project)) {
        // One that others require is judged once.
        const auto* same = ownership_.find_asked(candidate);
        Fit fit = fit_of_required({same == nullptr ? &candidate : same, {}});
        if (same == nullptr) required_.erase({&candidate, {}});
        return fit;
    }
    Installing from_here = how(candidate);
    from_here.locked = lock;
    from_here.required = [this](const Taken& taken) { return fit_of_required(taken); };
    return judge(candidate, node_, site_, from_here);
}

void NodeJudge::judge_all(Answer& answer, const LockedVersions* lock) {
    if (lock == nullptr) learn_required(answer.wheels);
    for (auto& candidate : answer.wheels) {
        Fit fit = fit_of_listed(candidate, lock);
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

}  // namespace wheelyard::avail_wheels
