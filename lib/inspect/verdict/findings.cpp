#include "lib/inspect/verdict/findings.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::inspect {
namespace {

// Evidence is untrusted: control characters could forge report lines, and names can be long.
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : base::cut_utf8(text, max_evidence_bytes)) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    if (text.size() > max_evidence_bytes) out += "…";
    return base::is_utf8(out) ? out : "hex " + base::encode_hex(out);
}

const Rule& rule_of(std::string_view code) {
    const Rule* rule = find_rule(code);
    WHEELYARD_CHECK(rule != nullptr);
    return *rule;
}

}  // namespace

void Findings::add(std::string_view code, std::string_view member, std::string_view expected,
                   std::string_view found) {
    const Rule& rule = rule_of(code);
    const Severity severity = severity_under(policy_, code);
    if (severity != Severity::ignore) {
        keep(rule, severity, member, expected, found);
        return;
    }
    const std::scoped_lock lock(mutex_);
    ignored_.insert(&rule);
}

void Findings::add_final(std::string_view code, std::string_view member, std::string_view expected,
                         std::string_view found) {
    const Rule& rule = rule_of(code);
    keep(rule, Severity::reject, member, expected, found);
}

void Findings::keep(const Rule& rule, Severity severity, std::string_view member, std::string_view expected,
                    std::string_view found) {
    const std::scoped_lock lock(mutex_);
    auto& list = by_rule_[&rule];
    if (list.size() >= max_verdicts_collected) {
        ++dropped_[&rule];
        return;
    }
    list.push_back({rule.code, severity, printable(member), printable(expected), printable(found)});
}

bool Findings::has(std::string_view code) {
    const std::scoped_lock lock(mutex_);
    const Rule& rule = rule_of(code);
    return by_rule_.count(&rule) != 0 || ignored_.count(&rule) != 0;
}

std::vector<Verdict> Findings::take() {
    const std::scoped_lock lock(mutex_);
    std::vector<Verdict> all;
    for (auto& [rule, list] : by_rule_) {
        std::stable_sort(list.begin(), list.end(), [](const Verdict& a, const Verdict& b) {
            return std::tie(b.severity, a.member, a.found) < std::tie(a.severity, b.member, b.found);
        });
        const std::size_t total = list.size() + dropped_[rule];
        if (list.size() > max_verdicts_shown) {
            list.resize(max_verdicts_shown);
            list.back().found += " … and " + std::to_string(total - max_verdicts_shown) + " more like this";
        }
        std::move(list.begin(), list.end(), std::back_inserter(all));
    }
    by_rule_.clear();
    dropped_.clear();
    std::stable_sort(all.begin(), all.end(),
                     [](const Verdict& a, const Verdict& b) { return a.severity > b.severity; });
    return all;
}

}  // namespace wheelyard::inspect
