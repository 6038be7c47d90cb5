// What a node says of wheels: whether each runs there, and why not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/query/fit.hpp"

namespace wheelyard::avail_wheels {

// The wheels of projects that the source owns: of a folder all, because an install line takes nothing else; of an index
// those that its farm builds, because others may come from an upstream that it has not asked yet.
class Ownership {
  public:
    explicit Ownership(const SourceOptions& source) : source_(source) {}

    void set_catalogue(const simple::Catalogue* catalogue) { catalogue_ = catalogue; }
    const std::vector<Candidate>* wheels(const std::string& project);  // nullptr: it owns none

  private:
    std::vector<Candidate> read(const Wanted& wanted);

    const SourceOptions& source_;
    const simple::Catalogue* catalogue_ = nullptr;
    std::optional<std::vector<Candidate>> folder_;  // all wheels of the folder, read when first needed
    std::map<std::string, std::vector<Candidate>> projects_;
};

// Refers to the arguments of its constructor. The node learns about the libraries of wheels that are listed.
class NodeJudge {
  public:
    NodeJudge(const Options& options, const World& world, Node& node)
        : world_(world), site_(options.site), node_(node), ownership_(options.source) {}

    // As find_wheels(), into `found`, which is not moved from here on: the node is asked for what the listed wheels need.
    [[nodiscard]] base::Status find(const SourceOptions& source, const Query& query, std::string& warning,
                                    Found& found);
    [[nodiscard]] bool may_run(const Candidate& candidate);
    // Sets runs, why and advice of each. `lock`: the versions that the others of a lock have.
    void judge_all(Answer& answer, const LockedVersions* lock = nullptr);

  private:
    [[nodiscard]] OwnedWheels owned();
    bool learn(const std::vector<Candidate>& listed);

    const World& world_;
    const Site& site_;
    Node& node_;
    Ownership ownership_;
};

}  // namespace wheelyard::avail_wheels
