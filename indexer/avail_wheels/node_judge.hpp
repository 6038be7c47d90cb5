// What a node says of wheels: whether each runs there, and why not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/avail_wheels/source/wheel_reading.hpp"

namespace wheelyard::avail_wheels {

// The wheels of projects that the source owns: of a folder all, because an install line takes nothing else;
// of an index those that its farm builds, because others may come from an upstream that it has not asked yet.
class Ownership {
  public:
    Ownership(const SourceOptions& source, const World& world) : source_(source), world_(world) {}

    void set_wheel_list(const simple::WheelList* wheel_list) { wheel_list_ = wheel_list; }
    // nullptr: it owns none.
    const std::vector<Candidate>* wheels(const std::string& project);
    // Those that an index without upstreams has, whether it owns the project or not; nullptr: it has
    // upstreams, or is none.
    const std::vector<Candidate>* has(const std::string& project);
    // The same wheel among those of a project that was asked for before; nullptr: there is none.
    [[nodiscard]] const Candidate* find_asked(const Candidate& wheel) const;
    [[nodiscard]] bool of_folder() const { return wheel_list_ == nullptr && source_.index_url.empty(); }
    // Of a folder, reads a wheel of wheels(). False: there is no more to know of it.
    bool read_facts(const Candidate& wheel);
    void keep_facts() {
        if (reading_) reading_->keep();
    }

  private:
    struct Project {
        std::vector<Candidate> wheels;
        bool is_owned = false;
    };
    Project& project(const std::string& name);
    [[nodiscard]] Project listed(const Wanted& wanted) const;
    Project in_folder(const Wanted& wanted);

    const SourceOptions& source_;
    const World& world_;
    const simple::WheelList* wheel_list_ = nullptr;
    std::optional<std::vector<Candidate>> folder_;  // all wheels of the folder, read when first needed
    std::optional<WheelReading> reading_;
    TextMap<Project> projects_;
};

// Refers to the arguments of its constructor. The node learns about the libraries of wheels that are listed.
class NodeJudge {
  public:
    NodeJudge(const Options& options, const World& world, Node& node)
        : world_(world), site_(options.site), node_(node), ownership_(options.source, world) {}

    // As find_wheels(), into `found`, which is not moved from here on: the node is asked for what the listed
    // wheels need.
    [[nodiscard]] base::Status find(const SourceOptions& source, const Query& query, std::string& warning,
                                    Found& found);
    [[nodiscard]] bool may_run(const Candidate& candidate);
    // Sets runs, why and advice of each. `lock`: the versions that the others of a lock have.
    void judge_all(Answer& answer, const LockedVersions* lock = nullptr);

  private:
    [[nodiscard]] Installing how(const Candidate& candidate, const std::vector<std::string>& extras = {});
    void learn_required(const std::vector<Candidate>& listed);
    [[nodiscard]] Fit fit_of_required(const Taken& taken);
    [[nodiscard]] Fit fit_of_listed(const Candidate& candidate, const LockedVersions* lock);
    bool learn(const std::vector<Candidate>& listed);

    struct Required {
        std::vector<std::pair<std::size_t, Fit>> answers = {};  // and the round that came to each
        std::set<const Required*> asks = {};
        [[nodiscard]] bool is_changed_by(std::size_t round) const {
            return std::any_of(answers.begin(), answers.end(),
                               [&](const auto& answer) { return answer.first == round; });
        }
        [[nodiscard]] Fit before(std::size_t round) const {
            Fit fit;  // it runs
            for (const auto& answer : answers)
                if (answer.first < round) fit = answer.second;
            return fit;
        }
    };
    using Judged = std::pair<const Taken, Required>;
    void judge_in_rounds(Judged& first);

    const World& world_;
    const Site& site_;
    Node& node_;
    Ownership ownership_;
    std::map<std::string, Installing> asked_;  // what requirements say of a project: extras, hashes
    TakenBy taken_;                            // of wheels of ownership_
    BroughtBy brought_;                        // the same
    std::map<Taken, Required> required_;       // the same, and of the one that is asked about
};

}  // namespace wheelyard::avail_wheels
