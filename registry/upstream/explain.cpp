#include "registry/upstream/explain.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/upstream/last_failures.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/offer.hpp"
#include "registry/upstream/source.hpp"
#include "registry/upstream/supplier.hpp"

namespace wheelyard::registry {
namespace {

std::string_view page_text(const CachedPage* page, base::UnixMicros now) {
    if (page == nullptr) return "unknown";
    if (page->is_absent) return "absent";
    if (page->absent_since != 0) return "kept";
    return now < page->fresh_until ? "fresh" : "stale";
}

// Hosts of links that are withheld because of them: what an operator has to add to `hosts`.
std::set<std::string> refused_hosts(const CachedPage& page, const UpstreamConfig& upstream) {
    std::set<std::string> hosts;
    for (const UpstreamFile& file : page.files) {
        const auto url = base::parse_url(file.link.url);
        if (url && !may_request(upstream, file.link.url))
            hosts.insert(url->port.empty() ? url->host : url->host + ":" + url->port);
    }
    return hosts;
}

using io::Need;

struct ShownFailure {
    UpstreamFailure failure;
    std::string advice;
};
constexpr auto shown_failure_record = io::record<ShownFailure>({
    io::field<io::Moment, &ShownFailure::failure, &UpstreamFailure::time>("time", "when"),
    io::field<io::Moment, &ShownFailure::failure, &UpstreamFailure::next_try>("next_try", "not before"),
    io::field<&ShownFailure::failure, &UpstreamFailure::project>("project", "what was asked for",
                                                                 Need::optional, io::Written::if_given),
    io::field<&ShownFailure::failure, &UpstreamFailure::sentence>("error", "for people"),
    io::field<&ShownFailure::failure, &UpstreamFailure::code>("code", "for administrators: the error's code",
                                                              Need::optional, io::Written::if_given),
    io::field<&ShownFailure::failure, &UpstreamFailure::value>("value", "likewise: the offending value",
                                                               Need::optional, io::Written::if_given),
    io::field<&ShownFailure::advice>("advice", "likewise", Need::optional, io::Written::if_given),
});

struct ShownCounts : io::OnlyWritten {
    static io::Json to(const std::map<std::string, std::int64_t>& counts) {
        io::Json json = io::Json::object();
        for (const auto& [name, count] : counts)
            json.set(name, count);
        return json;
    }
    static std::string type() { return "object of numbers"; }
};

// Of an index, or of an upstream.
struct ShownStep {
    std::string index = {};
    std::optional<bool> has = {};
    std::optional<bool> owns = {};
    std::string upstream = {};
    std::optional<bool> is_permitted = {};
    std::optional<bool> has_fetched_files = {};
    std::string page = {};
    base::UnixMicros absent_since = 0;
    base::UnixMicros released = 0;
    std::string released_because = {};
    base::UnixMicros checked = 0;
    std::optional<std::int64_t> offered = {};
    std::optional<std::map<std::string, std::int64_t>> withheld = {};
    std::set<std::string> hosts_not_permitted = {};
    std::set<std::string> marks = {};
    std::string asked = {};
    std::string advice = {};
    std::optional<ShownFailure> last_failure = {};
};
constexpr auto step_record = io::record<ShownStep>({
    io::field<&ShownStep::index>("index", "of an index: its name", Need::optional, io::Written::if_given),
    io::field<&ShownStep::has>("has", "whether it has files of the project", Need::optional,
                               io::Written::unless_null),
    io::field<&ShownStep::owns>("owns", "whether it owns the name", Need::optional, io::Written::unless_null),
    io::field<&ShownStep::upstream>("upstream", "of an upstream: INDEX.NAME", Need::optional,
                                    io::Written::if_given),
    io::field<&ShownStep::is_permitted>("permitted", "whether it may be asked for the project",
                                        Need::optional, io::Written::unless_null),
    io::field<&ShownStep::has_fetched_files>("has_fetched_files", "whether the index has files of it",
                                             Need::optional, io::Written::unless_null),
    io::field<&ShownStep::page>("page", "its page: unknown, absent, kept, fresh or stale", Need::optional,
                                io::Written::if_given),
    io::field<io::Time, &ShownStep::absent_since>("absent_since", "since when it lacks the project",
                                                  Need::optional, io::Written::unless_null),
    io::field<io::Time, &ShownStep::released>("released", "when others were permitted to supply it",
                                              Need::optional, io::Written::unless_null),
    io::field<&ShownStep::released_because>("released_because", "why", Need::optional, io::Written::if_given),
    io::field<io::Time, &ShownStep::checked>("checked", "when it was asked last", Need::optional,
                                             io::Written::unless_null),
    io::field<&ShownStep::offered>("offered", "how many of its files the index shows", Need::optional,
                                   io::Written::unless_null),
    io::field<ShownCounts, &ShownStep::withheld>("withheld", "how many not, by the reason", Need::optional,
                                                 io::Written::unless_null),
    io::field<&ShownStep::hosts_not_permitted>("hosts_not_permitted",
                                               "hosts of links that `hosts` does not name", Need::optional,
                                               io::Written::unless_empty),
    io::field<&ShownStep::marks>("marks", "what administrators said of files that were not fetched",
                                 Need::optional, io::Written::unless_empty),
    io::field<&ShownStep::asked>("asked", "for administrators: where the page was asked for", Need::optional,
                                 io::Written::if_given),
    io::field<&ShownStep::advice>("advice", "likewise", Need::optional, io::Written::if_given),
    io::field<io::Nested<shown_failure_record>, &ShownStep::last_failure>(
        "last_failure", "of this project or of all", Need::optional, io::Written::unless_null),
});

struct ShownExplanation {
    std::string index;
    std::string project;
    std::string supplied_by;
    std::string why;
    std::vector<ShownStep> steps;
};
constexpr auto explanation_record = io::record<ShownExplanation>(
    {
        io::field<&ShownExplanation::index>("index", "the index that the client uses"),
        io::field<&ShownExplanation::project>("project", "its normalised name"),
        io::field<&ShownExplanation::supplied_by>("supplied_by",
                                                  "the index or upstream; empty: it is not shown"),
        io::field<&ShownExplanation::why>("why", "for people"),
        io::field<io::ListOf<io::Nested<step_record>>, &ShownExplanation::steps>(
            "steps", "the sources, in the order they are asked"),
    },
    "wheelyard.explain/1");

ShownStep step_of_upstream(const SourceStep& step, const Candidate* candidate, const CachedPage* page,
                           const std::string& project, base::UnixMicros now) {
    ShownStep shown{.upstream = step.index, .is_permitted = step.is_permitted, .has_fetched_files = step.has};
    if (candidate == nullptr) return shown;
    shown.page = page_text(page, now);
    if (page == nullptr) return shown;
    shown.absent_since = page->absent_since;
    shown.released = page->released;
    if (page->released != 0) shown.released_because = page->released_because;
    shown.checked = page->checked;
    const Offer offer = offer_of(*page, project, *candidate->upstream, now);
    shown.offered = static_cast<std::int64_t>(offer.files.size());
    shown.withheld.emplace();
    for (std::size_t i = 1; i < withheld_kinds; ++i) {
        if (offer.withheld[i] > 0)
            shown.withheld->emplace(withheld_text(static_cast<Withheld>(i)), offer.withheld[i]);
    }
    shown.hosts_not_permitted = refused_hosts(*page, *candidate->upstream);
    return shown;
}

// Where the page was asked for, which names the upstream's host; and what is most often wrong with it.
void say_where(ShownStep& step, const UpstreamConfig& upstream, const CachedPage* page,
               const std::string& project) {
    step.asked = upstream.url + project + "/";
    if (page == nullptr || !page->is_absent || upstream.url.find("/simple") != std::string::npos) return;
    step.advice = "`url` of the upstream is that of its Simple index, which mostly ends in /simple/";
}

// What the error itself does not know: the key of the configuration.
const std::map<std::string_view, std::string_view> advice_for_operators{
    {"http.private", "if the host is yours, name it in `private_hosts` of the upstream"},
};

ShownFailure shown_failure(UpstreamFailure failure, const std::string& project, ExplainTo reader) {
    if (reader == ExplainTo::administrators) {
        const auto advice = advice_for_operators.find(failure.code);
        return {std::move(failure), advice == advice_for_operators.end() ? "" : std::string(advice->second)};
    }
    if (failure.project != project) failure.project.clear();
    failure.sentence = failure.told;
    failure.code.clear();
    failure.value.clear();
    return {std::move(failure), {}};
}

const Candidate* find_candidate(const Source& source, const std::string& cache_index) {
    for (const Candidate& candidate : source.candidates)
        if (candidate.upstream->cache_index == cache_index) return &candidate;
    return nullptr;
}

struct Explanation {
    std::string supplied_by;
    std::string why;
};

Explanation explanation_of(const Source& source, PageStore& pages, const std::string& index,
                           const std::string& project) {
    switch (source.kind) {
        case SourceKind::index:
            return {source.index,
                    "the index `" + source.index + "` has the project, so it supplies all files"};
        case SourceKind::owned:
            return {{}, "the index `" + source.index + "` owns the name and has no file of it"};
        case SourceKind::nobody:
            return {{}, "no index has the project, and no upstream may be asked for it"};
        case SourceKind::upstream:
            break;
    }
    std::vector<SharedPage> known;
    for (const Candidate& candidate : source.candidates)
        known.push_back(pages.find(candidate.upstream->cache_index, project));
    bool has_barred = false;
    for (std::size_t i = 0; i < source.candidates.size(); ++i) {
        const Candidate& candidate = source.candidates[i];
        if (!may_supply(candidate, source.candidates, known, index)) {
            has_barred = true;
            continue;
        }
        const std::string& name = candidate.upstream->cache_index;
        const std::string keeps =
            "the upstream `" + name + "` supplied it and keeps it until `release-project`";
        switch (standing_of(candidate, known[i].get())) {
            case Standing::unknown:
                return {name, "no index has or owns the project; the upstream `" + name + "` is asked next"};
            case Standing::supplies:
                if (known[i]->absent_since != 0) return {name, keeps + ", although it has it no more"};
                if (has_barred) return {name, keeps};
                return {name, "no index has or owns the project, and the upstream `" + name + "` has it"};
            case Standing::keeps:
                return {{}, keeps + ", although it has no files of it"};
            case Standing::binds:
                return {
                    {},
                    "`allow` of the upstream `" + name + "` names the project, and it has no such project"};
            case Standing::passes:
                break;
        }
    }
    return {{}, "no index has the project, and no upstream has it"};
}

}  // namespace

base::Result<io::Json> explain_project(const RegistryConfig& config, const catalog::Catalog& catalog,
                                       PageStore& pages, const std::string& index, const std::string& project,
                                       base::UnixMicros now, ExplainTo reader) {
    if (!wheel::is_valid_name(project) || project.size() > max_project_bytes)
        return wire::fail("explain.name", "This is not the name of a project", project,
                          "names have letters, digits, `-`, `_` and `.`");
    const std::string name = wheel::normalize_name(project);
    const catalog::Inheritance inheritance(index_rules(config));
    WHEELYARD_ASSIGN(const Source source, find_source(config, inheritance, catalog, index, name));
    std::vector<ShownStep> steps;
    for (const SourceStep& step : source.steps) {
        if (!step.is_upstream) {
            steps.push_back({.index = step.index, .has = step.has, .owns = step.owns});
            continue;
        }
        const SharedPage page = step.is_permitted ? pages.find(step.index, name) : nullptr;
        ShownStep explained =
            step_of_upstream(step, find_candidate(source, step.index), page.get(), name, now);
        const Candidate* candidate = find_candidate(source, step.index);
        if (step.is_permitted && candidate != nullptr && reader == ExplainTo::administrators)
            say_where(explained, *candidate->upstream, page.get(), name);
        WHEELYARD_ASSIGN(const auto marks, catalog.marks(step.index, name));
        for (const catalog::FileRow& mark : marks) {
            if (mark.yanked) explained.marks.insert(mark.filename + " is yanked: " + mark.yanked_reason);
            if (mark.state == catalog::FileState::quarantined)
                explained.marks.insert(mark.filename + " is in quarantine: " + mark.state_reason);
        }
        const auto failure = find_last_failure(config.store / "upstream", step.index, name);
        const bool is_over = failure && page && page->checked > failure->time && failure->next_try < now;
        if (step.is_permitted && failure && !is_over)
            explained.last_failure = shown_failure(*failure, name, reader);
        steps.push_back(std::move(explained));
    }
    Explanation explanation = explanation_of(source, pages, index, name);
    return explanation_record.write(
        {index, name, std::move(explanation.supplied_by), std::move(explanation.why), std::move(steps)});
}

io::Document explanation_document() {
    return io::document_of<explanation_record>();
}

std::string render_explanation(const io::Json& document) {
    const std::string supplied_by = document.string_or("supplied_by", "");
    std::string text = document.string_or("project", "") + " in " + document.string_or("index", "") + ": " +
                       (supplied_by.empty() ? "not shown" : "from " + supplied_by) + "\n  " +
                       document.string_or("why", "") + "\n";
    for (const io::Json& step : document.items("steps")) {
        const std::string upstream = step.string_or("upstream", "");
        if (upstream.empty()) {
            text += "  index " + step.string_or("index", "") + ": " +
                    (step.bool_or("has", false)    ? "has it"
                     : step.bool_or("owns", false) ? "owns the name"
                                                   : "does not have it") +
                    "\n";
            continue;
        }
        text += "  upstream " + upstream + ": ";
        if (!step.bool_or("permitted", false)) {
            text += "not permitted by `allow` and `deny`\n";
            continue;
        }
        const std::string page = step.string_or("page", "unknown");
        text += page == "absent"    ? "it has no such project"
                : page == "unknown" ? "not asked yet"
                                    : "page " + page;
        const std::string asked = step.string_or("asked", "");
        if (!asked.empty()) text += (page == "absent" ? " at " : ", ") + asked;
        if (step.find("advice") != nullptr) text += "; " + step.string_or("advice", "");
        if (step.find("absent_since") != nullptr)
            text += ", lost by the upstream since " + step.string_or("absent_since", "");
        if (step.find("released") != nullptr)
            text += ", released " + step.string_or("released", "") + ": " +
                    step.string_or("released_because", "");
        if (step.find("offered") != nullptr)
            text += ", " + std::to_string(step.int_or("offered", 0)) + " files offered";
        const io::Json* withheld = step.find("withheld");
        if (withheld != nullptr && withheld->as_object() != nullptr) {
            for (const auto& [reason, count] : *withheld->as_object())
                text += ", " + count.render() + " withheld (" + reason + ")";
        }
        if (const io::Json* failure = step.find("last_failure")) {
            const std::string value = failure->string_or("value", "");
            text += "; last failure " + failure->string_or("time", "") + ": " +
                    failure->string_or("error", "") + (value.empty() ? "" : " (" + value + ")") +
                    ", next try " + failure->string_or("next_try", "");
            const std::string advice = failure->string_or("advice", "");
            if (!advice.empty()) text += "; " + advice;
        }
        const std::vector<std::string> hosts = step.texts("hosts_not_permitted");
        if (!hosts.empty()) text += "; hosts not permitted: " + base::join(hosts, ", ");
        for (const std::string& mark : step.texts("marks"))
            text += "\n    " + mark;
        text += "\n";
    }
    return text;
}

}  // namespace wheelyard::registry
