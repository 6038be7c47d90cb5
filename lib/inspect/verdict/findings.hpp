// Collects verdicts during a check, from any thread; their final order does not depend on the threads.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/verdict/verdict.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_verdicts_collected = 1000;  // per code
inline constexpr std::size_t max_verdicts_shown =
    20;  // per code; the last one includes the number of omitted ones
inline constexpr std::size_t max_evidence_bytes = 300;

class Findings {
  public:
    explicit Findings(const Policy& policy) : policy_(policy) {}

    [[nodiscard]] const Policy& policy() const { return policy_; }

    // `code` must be a row of the rule table. Thread-safe.
    void add(std::string_view code, std::string_view member = {}, std::string_view expected = {},
             std::string_view found = {});
    // A finding that ends the check: always has severity reject, whatever the policy says.
    void add_final(std::string_view code, std::string_view member = {}, std::string_view expected = {},
                   std::string_view found = {});

    // Says whether `code` was found so far, including ignored findings.
    [[nodiscard]] bool has(std::string_view code);

    // Sorted by severity (worst first), rule table order and member; at most max_verdicts_shown per code.
    [[nodiscard]] std::vector<Verdict> take();

  private:
    void keep(const Rule& rule, Severity severity, std::string_view member, std::string_view expected,
              std::string_view found);

    const Policy& policy_;
    std::mutex mutex_;
    std::map<const Rule*, std::vector<Verdict>> by_rule_;  // pointers into one table, so ordered like it
    std::map<const Rule*, std::size_t> dropped_;
    std::set<const Rule*> ignored_;  // found, but ignored by the policy
};

}  // namespace wheelyard::inspect
