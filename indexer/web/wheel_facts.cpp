#include "indexer/web/wheel_facts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/verdict/verdict.hpp"

namespace wheelyard::indexer {

using io::Json;
using page::Html;
using page::Literal;

namespace {

constexpr std::size_t anchor_digits = 12;

// "cp312" → "3.12"; "py3" → "any 3".
std::vector<std::string> readable_pythons(const avail_wheels::TagSet& tags) {
    std::set<std::string> pythons;
    const bool is_stable = tags.abis.size() == 1 && tags.abis.front() == "abi3";
    for (const std::string& tag : tags.pythons) {
        if (tag == "py3" || tag == "py2") {
            if (tag == "py3") pythons.insert("any 3");
            continue;
        }
        const auto python = avail_wheels::parse_python(tag);
        pythons.insert(python ? python->text() + (is_stable ? " and newer" : "") : tag);
    }
    return {pythons.begin(), pythons.end()};
}

std::string readable_accelerator(const avail_wheels::Needs& needs) {
    if (!needs.gpus.empty()) {
        const avail_wheels::GpuNeeds& one = needs.gpus.front();
        return std::string(one.kind->title) + (one.toolkit.empty() ? "" : " " + one.toolkit);
    }
    return needs.machines.empty() ? "" : "CPU";
}

void add_values(Html& html, const std::vector<std::string>& values) {
    std::size_t shown = 0;
    for (const std::string& value : values) {
        if (shown == max_listed_values) {
            html.add(" and ").number(values.size() - shown).add(" more");
            return;
        }
        if (shown++ > 0) html.add(", ");
        html.add("<span class=\"mono\">").text(value).add("</span>");
    }
}

void add_fact(Html& html, std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    html.add("<dt>").text(name).add("</dt><dd>");
    add_values(html, values);
    html.add("</dd>\n");
}

void add_fact(Html& html, Literal name, const std::string& value) {
    if (!value.empty()) html.add("<dt>").add(name).add("</dt><dd>").text(value).add("</dd>\n");
}

void add_bytes(Html& html, Literal name, std::int64_t bytes) {
    if (bytes > 0) add_fact(html, name, base::render_bytes(static_cast<std::uint64_t>(bytes)));
}

// The lowest versions that the ELF files need, and the libraries by kind.
void add_libraries(Html& html, const Json& facts) {
    if (const Json* floors = facts.find("symbol_floors");
        floors != nullptr && floors->as_object() != nullptr) {
        std::vector<std::string> needs;
        for (const auto& [prefix, version] : *floors->as_object()) {
            if (version.as_string() != nullptr) needs.push_back(prefix + " " + *version.as_string());
        }
        add_fact(html, "At least", needs);
    }
    const Json* needed = facts.find("needed");
    if (needed == nullptr || needed->as_object() == nullptr) return;
    for (const auto& [kind, libraries] : *needed->as_object()) {
        if (libraries.texts().empty()) continue;
        html.add("<dt>Libraries: ").text(kind).add("</dt><dd>");
        add_values(html, libraries.texts());
        html.add("</dd>\n");
    }
}

struct TextFact {
    Literal name;
    std::string_view member;
};
constexpr std::array<TextFact, 4> processor_facts{{
    {"Device code not read", "device_code_not_read"},
    {"Processor features", "cpu_features"},
    {"Modules", "modules"},
    {"Search paths", "search_paths"},
}};
constexpr std::array<TextFact, 9> abi_facts{{
    {"Processor level", "isa_needed"},
    {"Highest level used", "isa_used"},
    {"manylinux fit", "manylinux_fit"},
    {"musllinux fit", "musllinux_fit"},
    {"Stable ABI from", "stable_abi_floor"},
    {"C++11 strings", "cxx11_abi"},
    {"torch at least", "torch_at_least"},
    {"torch below", "torch_below"},
    {"torch's C++11 strings", "torch_cxx11_abi"},
}};

void add_proven(Html& html, const ShownWheel& wheel) {
    const Json& facts = wheel.facts;
    html.add("<dl>\n");
    add_fact(html, "Python", wheel.pythons);
    add_fact(html, "Requires-Python", wheel.row->requires_python);
    add_fact(html, "Tags", facts.texts("tags"));
    add_fact(html, "Machine", facts.texts("machines"));
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            add_fact(html, list.label, facts.texts(list.fact));
    }
    for (const TextFact& fact : processor_facts)
        add_fact(html, fact.name.text(), facts.texts(fact.member));
    for (const TextFact& fact : abi_facts)
        add_fact(html, fact.name, facts.string_or(fact.member, {}));
    add_fact(html, "Requires torch", facts.texts("torch_requires"));
    add_libraries(html, facts);
    add_fact(html, "Not judged", facts.texts("not_judged"));
    add_bytes(html, "Size", static_cast<std::int64_t>(wheel.row->size_bytes));
    add_bytes(html, "Unpacked", facts.int_or("unpacked_bytes", 0));
    add_bytes(html, "of that, ELF files", facts.int_or("elf_bytes", 0));
    add_bytes(html, "of that, debug sections", facts.int_or("debug_bytes", 0));
    add_fact(html, "Uploaded", short_time(base::render_rfc3339(wheel.row->upload_time)));
    html.add("<dt>SHA-256</dt><dd class=\"mono\">").text(wheel.row->sha256).add("</dd>\n</dl>\n");
}

struct SeverityPill {
    inspect::Severity severity;
    Literal html;
};
constexpr std::array<SeverityPill, 3> severity_pills{{
    {inspect::Severity::note, "<span class=\"state\">note</span>"},
    {inspect::Severity::warn, "<span class=\"state wanted\">warning</span>"},
    {inspect::Severity::quarantine, "<span class=\"state failed\">quarantine</span>"},
}};

// The evidence in one line: "torch/_C.so: expected sm_90, found sm_70".
std::string evidence_of(const Json& finding) {
    std::vector<std::string> parts;
    for (const auto* member : {"expected", "found"}) {
        if (const std::string text = finding.string_or(member, {}); !text.empty())
            parts.push_back(std::string(member) + " " + text);
    }
    const std::string file = finding.string_or("member", {});
    return file + (file.empty() || parts.empty() ? "" : ": ") + base::join(parts, ", ");
}

// "2 warnings", without notes.
void add_warnings(Html& html, const Json& facts) {
    const Json* findings = facts.find("findings");
    if (findings == nullptr || findings->as_array() == nullptr) return;
    const auto& all = *findings->as_array();
    const auto warnings = std::count_if(all.begin(), all.end(), [](const Json& finding) {
        return finding.string_or("severity", {}) != inspect::severity_text(inspect::Severity::note);
    });
    if (warnings == 0) return;
    html.add(" <span class=\"state wanted\">").number(static_cast<std::uint64_t>(warnings));
    html.add(warnings == 1 ? Literal(" warning</span>") : Literal(" warnings</span>"));
}

// What the rules found at its upload. Wheels of older registries have no list.
void add_findings(Html& html, const Json& facts) {
    const Json* findings = facts.find("findings");
    if (findings == nullptr || findings->as_array() == nullptr) return;
    html.add("<h5>Findings of the check</h5>\n");
    if (findings->as_array()->empty()) {
        html.add("<p>None.</p>\n");
        return;
    }
    html.add("<ul class=\"findings\">\n");
    for (const Json& finding : *findings->as_array()) {
        const std::string code = finding.string_or("code", {});
        const auto severity = inspect::parse_severity(finding.string_or("severity", {}));
        const auto pill = std::find_if(severity_pills.begin(), severity_pills.end(),
                                       [&](const SeverityPill& row) { return row.severity == severity; });
        const inspect::Rule* rule = inspect::find_rule(code);  // nullptr: of another version
        html.add("<li>").add(pill == severity_pills.end() ? severity_pills.back().html : pill->html);
        html.add(" ").prose(rule == nullptr ? "" : rule->sentence).add(" <code>").text(code).add("</code>");
        if (const std::string evidence = evidence_of(finding); !evidence.empty())
            html.add("<span class=\"why mono\">").text(evidence).add("</span>");
        if (rule != nullptr) html.add("<span class=\"why\">What to do: ").prose(rule->advice).add("</span>");
        html.add("</li>\n");
    }
    html.add("</ul>\n");
}

void add_fits(Html& html, const ShownWheel& wheel, const std::vector<ReportedNode>& nodes) {
    Html table;
    table.add(
        "<table><caption>Where it runs</caption><thead><tr><th scope=\"col\">Node type</th><th "
        "scope=\"col\">Runs</th></tr>"
        "</thead><tbody>\n");
    for (std::size_t at = 0; at < nodes.size() && at < wheel.fits.size(); ++at) {
        const avail_wheels::Fit& fit = wheel.fits[at];
        table.add("<tr><th scope=\"row\">").text(nodes[at].name()).add("</th><td>");
        if (fit.runs == avail_wheels::Runs::yes) {
            table.add("<span class=\"state have\">yes</span>");
        } else if (fit.runs == avail_wheels::Runs::no) {
            table.add("<span class=\"state failed\">no</span>");
        } else {
            table.add("<span class=\"state unknown\">not known</span>");
        }
        if (!fit.why.empty()) table.add("<span class=\"why\">").text(fit.why).add("</span>");
        if (!fit.advice.empty()) table.add("<span class=\"why\">").text(fit.advice).add("</span>");
        table.add("</td></tr>\n");
    }
    table.add("</tbody></table>\n");
    html.add(between_status_marks(nodes.empty() ? Html() : table));
}

// What its agent states of the build. A document that cannot be read shows nothing: the link beside it leads to its text.
void add_provenance(Html& html, std::string_view text) {
    const auto document = text.empty() ? base::Result<Json>(Json::object()) : io::parse_json(text);
    if (!document || document->as_object() == nullptr || document->as_object()->empty()) return;
    const Json nothing = Json::object();
    const auto part = [&](std::string_view name) -> const Json& {
        const Json* found = document->find(name);
        return found == nullptr || found->as_object() == nullptr ? nothing : *found;
    };
    const Json& source = part("source");
    const Json& build = part("build");
    html.add("<h5>What made it, as its agent states</h5>\n<dl>\n");
    add_fact(html, "Site", document->string_or("site", {}));
    add_fact(html, "Agent", document->string_or("program", {}));
    add_fact(html, "Began", short_time(document->string_or("began", {})));
    add_fact(html, "Source", source.string_or("origin", source.string_or("filename", {})));
    add_fact(html, "Kind of source", source.string_or("kind", {}));
    add_fact(html, "SHA-256 of the source", source.string_or("sha256", {}));
    add_fact(html, "SHA-256 of the script", build.string_or("script_sha256", {}));
    add_fact(html, "System", build.string_or("system", {}));
    add_fact(html, "Loaded modules", build.texts("modules"));
    if (const Json* tools = build.find("tools"); tools != nullptr && tools->as_object() != nullptr) {
        std::size_t shown = 0;
        for (const auto& [name, version] : *tools->as_object()) {
            if (version.as_string() == nullptr || shown++ == max_listed_values) continue;
            html.add("<dt>").text(name).add("</dt><dd>").text(*version.as_string()).add("</dd>\n");
        }
    }
    if (const std::string log = document->string_or("log", {}); !log.empty())
        html.add("<dt>Log, at the site</dt><dd class=\"mono\">").text(log).add("</dd>\n");
    html.add("</dl>\n");
}

bool is_for_node(const ReportedBuild& cell, const ReportedNode& node) {
    return cell.site == node.site && (cell.accelerator.empty() || cell.accelerator == node.accelerator);
}

bool is_of_version_for(const ReportedBuild& cell, const ReportedNode& node, const ShownWheel& wheel) {
    return is_for_node(cell, node) && cell.version == wheel.row->version &&
           std::find(wheel.pythons.begin(), wheel.pythons.end(), cell.python) != wheel.pythons.end();
}

// Whether the site lists the wheel as the one for this kind of node.
bool is_wheel_of(const ReportedBuild& cell, const ReportedNode& node, const ShownWheel& wheel) {
    if (cell.state != "have" || !cell.purpose.empty()) return false;
    // A report that was cut has no file names.
    if (cell.reason.empty()) return is_of_version_for(cell, node, wheel);
    return is_for_node(cell, node) && cell.reason == wheel.row->filename;
}

struct TestWords {
    std::string_view purpose;
    avail_wheels::Runs runs;  // after its failure
    std::string_view what;
};
constexpr std::array<TestWords, 2> test_words{{
    {"gpu-test", avail_wheels::Runs::no, "its test on GPUs has failed at "},
    {"multi-node-test", avail_wheels::Runs::unknown, "its test on several nodes has failed at "},
}};

// The verdict of a failed test of the wheel on this kind of node; nullopt: none failed. The worse one counts.
std::optional<avail_wheels::Fit> failed_test_of(const ShownWheel& wheel, const ReportedNode& node,
                                                const std::vector<ReportedBuild>& cells) {
    for (const TestWords& test : test_words) {
        for (const ReportedBuild& cell : cells) {
            if (cell.purpose != test.purpose || cell.state != "given up") continue;
            if (!is_of_version_for(cell, node, wheel)) continue;
            return avail_wheels::Fit{
                test.runs,
                "test",
                std::string(test.what) + node.site + (cell.reason.empty() ? "" : ": " + cell.reason),
                {}};
        }
    }
    return std::nullopt;
}

// Sites report little of their nodes, so the rules often cannot decide. What the site itself has built for this kind of
// node then does, unless a test of it has failed there.
avail_wheels::Fit fit_of(const avail_wheels::Candidate& candidate, const ShownWheel& wheel,
                         const ReportedNode& node, const FarmReport& report) {
    avail_wheels::Fit fit = avail_wheels::judge(candidate, node.node, {});
    const auto cells = report.cells.find(wheel.row->project);
    if (fit.runs == avail_wheels::Runs::no || cells == report.cells.end()) return fit;
    if (auto failed = failed_test_of(wheel, node, cells->second)) return *std::move(failed);
    if (fit.runs == avail_wheels::Runs::yes) return fit;
    for (const ReportedBuild& cell : cells->second) {
        if (!is_wheel_of(cell, node, wheel)) continue;
        const std::string on = cell.accelerator.empty() ? "" : ", " + cell.accelerator;
        return {avail_wheels::Runs::yes,
                "site",
                node.site + " has this wheel for Python " + cell.python + on,
                {}};
    }
    return fit;
}

}  // namespace

std::string anchor_of(const catalog::FileRow& row) {
    return "wheel-" + row.sha256.substr(0, anchor_digits);
}

std::vector<std::string> gpus_of(const Json& facts) {
    std::set<std::string> gpus;
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code) {
            if (list.is_portable) continue;
            for (const std::string& text : facts.texts(list.fact))
                gpus.insert(text.substr(0, text.find(':')));
        }
    }
    return {gpus.begin(), gpus.end()};
}

std::vector<std::string> uses_of(const Json& facts) {
    std::vector<std::string> uses;
    const Json* needed = facts.find("needed");
    const auto needs = [&](std::string_view library_kind, const auto& counts) {
        const auto libraries = needed == nullptr ? std::vector<std::string>() : needed->texts(library_kind);
        return std::any_of(libraries.begin(), libraries.end(), counts);
    };
    const auto not_read = facts.texts("device_code_not_read");
    for (const auto* kind : accelerator::accelerator_kinds()) {
        const bool has_code = std::any_of(kind->device_code.begin(), kind->device_code.end(),
                                          [&](const auto& list) { return !facts.texts(list.fact).empty(); });
        const bool is_unread = std::find(not_read.begin(), not_read.end(), kind->name) != not_read.end();
        const bool has_library = needs(kind->library_kind, [&](const std::string& library) {
            return !kind->is_library_kind_shared || accelerator::kind_of_library(library) == kind;
        });
        if (has_code || is_unread || has_library) uses.emplace_back(kind->title);
    }
    if (needs("mpi", [](const std::string& /*library*/) { return true; })) uses.emplace_back("MPI");
    return uses;
}

ShownWheel read_wheel(const catalog::FileRow& row, const FarmReport& report) {
    ShownWheel wheel{
        .row = &row, .facts = Json::object(), .pythons = {}, .platform = {}, .accelerator = {}, .fits = {}};
    if (auto facts = io::parse_json(row.facts_json); facts && facts->as_object() != nullptr)
        wheel.facts = std::move(*facts);
    avail_wheels::WheelNames names;
    auto name = names.parse(row.filename);
    if (!name) return wheel;
    simple::FileLink link;
    link.filename = row.filename;
    link.requires_python = row.requires_python;
    auto candidate = avail_wheels::make_candidate(std::move(*name), std::move(link));
    if (wheel.facts.find("tags") != nullptr) candidate.facts = row.facts_json;
    wheel.pythons = readable_pythons(*candidate.tags);
    wheel.platform = candidate.arch == "generic" ? "any" : candidate.arch;
    wheel.accelerator = readable_accelerator(avail_wheels::needs_of(candidate));
    for (const ReportedNode& node : report.nodes)
        wheel.fits.push_back(fit_of(candidate, wheel, node, report));
    candidate.facts.clear();
    wheel.candidate = std::move(candidate);
    return wheel;
}

bool suits_python(const ShownWheel& wheel, const avail_wheels::Python& python) {
    if (!wheel.candidate) return false;
    avail_wheels::Node node;
    node.is_described = true;
    node.pythons = {python};
    return avail_wheels::judge(*wheel.candidate, node, {}).runs != avail_wheels::Runs::no;
}

avail_wheels::Runs runs_on(const ShownWheel& wheel, const ReportedNode& node,
                           const avail_wheels::Python& python) {
    if (!wheel.candidate) return avail_wheels::Runs::no;
    avail_wheels::Candidate candidate = *wheel.candidate;
    if (wheel.facts.find("tags") != nullptr) candidate.facts = wheel.row->facts_json;
    avail_wheels::Node one = node.node;
    one.pythons = {python};
    return avail_wheels::judge(candidate, one, {}).runs;
}

Html render_wheel(const ShownWheel& wheel, const std::vector<ReportedNode>& nodes,
                  std::string_view provenance, bool is_open) {
    const catalog::FileRow& row = *wheel.row;
    Html html;
    html.add("<details id=\"").text(anchor_of(row)).add(is_open ? Literal("\" open>\n") : Literal("\">\n"));
    html.add("<summary><span class=\"mono\">").text(row.filename).add("</span> <span class=\"quiet\">");
    html.text(base::render_bytes(row.size_bytes)).add("</span>");
    if (row.yanked) html.add(" <span class=\"state yanked\">yanked</span>");
    add_warnings(html, wheel.facts);
    html.add("</summary>\n<p><a href=\"").url(file_link(row)).add("\">Download</a>");
    if (!row.metadata_sha256.empty())
        html.add(" · <a href=\"").url(file_link(row) + std::string(metadata_suffix)).add("\">METADATA</a>");
    if (!row.provenance_sha256.empty())
        html.add(" · <a href=\"")
            .url(file_link(row) + std::string(provenance_suffix))
            .add("\">Provenance</a>");
    html.add("</p>\n");
    if (row.yanked) {
        html.add("<p class=\"note\">Yanked: installed only by an exact pin.");
        if (!row.yanked_reason.empty()) html.add(" Reason: ").text(row.yanked_reason);
        html.add("</p>\n");
    }
    add_proven(html, wheel);
    add_findings(html, wheel.facts);
    add_fits(html, wheel, nodes);
    add_provenance(html, provenance);
    return html.add("</details>\n");
}

}  // namespace wheelyard::indexer
