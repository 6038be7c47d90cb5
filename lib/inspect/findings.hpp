// Collects verdicts while a wheel is checked, from any thread, and hands them out in an order that does not
// depend on threads.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/inspect.hpp"
#include "lib/inspect/verdict.hpp"

namespace wheelyard::inspect {

class Findings {
  public:
    explicit Findings(const Policy& policy) : policy_(policy) {}

    // `code` must be a row of the rule table. Thread-safe.
    void add(std::string_view code, std::string_view member = {}, std::string_view expected = {},
             std::string_view found = {});
    // A finding after which the check cannot go on: the table's severity holds, whatever the policy says.
    void add_final(std::string_view code, std::string_view member = {}, std::string_view expected = {},
                   std::string_view found = {});

    // Whether there is a finding under `code` so far, ignored ones included.
    [[nodiscard]] bool has(std::string_view code);

    // Worst first, then in the order of the rule table, then by member; at most max_verdicts_shown of a
    // code.
    [[nodiscard]] std::vector<Verdict> take();

  private:
    void keep(const Rule& rule, Severity severity, std::string_view member, std::string_view expected,
              std::string_view found);

    const Policy& policy_;
    std::mutex mutex_;
    std::map<const Rule*, std::vector<Verdict>> by_rule_;  // rows of one table: ordered by address
    std::map<const Rule*, std::size_t> dropped_;
    std::set<const Rule*> ignored_;  // found, but of no interest to the policy
};

}  // namespace wheelyard::inspect
