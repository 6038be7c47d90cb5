#include "indexer/web/wheel_facts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

using io::Json;
using page::Html;

namespace {

// Values of one list of a wheel's section, such as GPU architectures.
constexpr std::size_t max_listed_values = 60;

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

using Facts = std::vector<WheelFact>;

void add_fact(Facts& facts, std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    WheelFact fact{.name = std::string(name)};
    for (const std::string& value : values) {
        if (fact.values.size() == max_listed_values) break;
        fact.values.push_back({value, fact.values.empty()});
    }
    fact.more = values.size() - fact.values.size();
    facts.push_back(std::move(fact));
}

void add_fact(Facts& facts, std::string_view name, const std::string& text) {
    if (!text.empty()) facts.push_back({.name = std::string(name), .text = text});
}

void add_bytes(Facts& facts, std::string_view name, std::int64_t bytes) {
    if (bytes > 0) add_fact(facts, name, base::render_bytes(static_cast<std::uint64_t>(bytes)));
}

// The lowest versions that the ELF files need, and the libraries by kind.
void add_libraries(Facts& shown, const Json& facts) {
    if (const Json* floors = facts.find("symbol_floors");
        floors != nullptr && floors->as_object() != nullptr) {
        std::vector<std::string> needs;
        for (const auto& [prefix, version] : *floors->as_object()) {
            if (version.as_string() != nullptr) needs.push_back(prefix + " " + *version.as_string());
        }
        add_fact(shown, "At least", needs);
    }
    const Json* needed = facts.find("needed");
    if (needed == nullptr || needed->as_object() == nullptr) return;
    for (const auto& [kind, libraries] : *needed->as_object())
        add_fact(shown, "Libraries: " + kind, libraries.texts());
}

struct TextFact {
    std::string_view name;
    std::string_view member;
};
constexpr std::array<TextFact, 4> processor_facts{{
    {"Device code not read", "device_code_not_read"},
    {"Processor features", "cpu_features"},
    {"Modules", "modules"},
    {"Search paths", "search_paths"},
}};
constexpr std::array<TextFact, 10> abi_facts{{
    {"Processor level", "isa_needed"},
    {"Highest level used", "isa_used"},
    {"manylinux fit", "manylinux_fit"},
    {"musllinux fit", "musllinux_fit"},
    {"Stable ABI from", "stable_abi_floor"},
    {"C++11 strings", "cxx11_abi"},
    {"torch at least", "torch_at_least"},
    {"torch below", "torch_below"},
    {"torch's C++11 strings", "torch_cxx11_abi"},
    {"torch's stable ABI only", "torch_stable_abi"},
}};

// "openssl 4.0.3 (Apache-2.0, pkg:generic/openssl@4.0.3)"
void add_components(Facts& shown, const Json& facts) {
    std::vector<std::string> components;
    for (const Json& one : facts.items("sbom")) {
        const std::string version = one.string_or("version", {});
        const std::string purl = one.string_or("purl", {});
        std::string more = one.string_or("license", {});
        if (!purl.empty()) more += (more.empty() ? "" : ", ") + purl;
        components.push_back(one.string_or("name", {}) + (version.empty() ? "" : " " + version) +
                             (more.empty() ? "" : " (" + more + ")"));
    }
    if (components.empty()) return;
    add_fact(shown, "Contains, as its SBOM states", components);
    shown.back().more +=
        static_cast<std::size_t>(std::max<std::int64_t>(facts.int_or("sbom_left_out", 0), 0));
}

Facts proven_facts(const ShownWheel& wheel) {
    const Json& facts = wheel.facts;
    Facts shown;
    add_fact(shown, "Python", wheel.pythons);
    add_fact(shown, "Requires-Python", wheel.row->requires_python);
    add_fact(shown, "Tags", facts.texts("tags"));
    add_fact(shown, "Machine", facts.texts("machines"));
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            add_fact(shown, list.label, facts.texts(list.fact));
    }
    for (const TextFact& fact : processor_facts)
        add_fact(shown, fact.name, facts.texts(fact.member));
    for (const TextFact& fact : abi_facts)
        add_fact(shown, fact.name, facts.string_or(fact.member, {}));
    add_fact(shown, "Requires torch", facts.texts("torch_requires"));
    add_libraries(shown, facts);
    add_fact(shown, "Not judged", facts.texts("not_judged"));
    add_components(shown, facts);
    add_bytes(shown, "Size", static_cast<std::int64_t>(wheel.row->size_bytes));
    add_bytes(shown, "Unpacked", facts.int_or("unpacked_bytes", 0));
    add_bytes(shown, "of that, ELF files", facts.int_or("elf_bytes", 0));
    add_bytes(shown, "of that, debug sections", facts.int_or("debug_bytes", 0));
    add_fact(shown, "Uploaded", short_time(base::render_rfc3339(wheel.row->upload_time)));
    add_fact(shown, "SHA-256", std::vector{wheel.row->sha256});
    return shown;
}

struct SeverityPill {
    inspect::Severity severity;
    std::string_view colour;
    std::string_view word;
};
constexpr std::array<SeverityPill, 3> severity_pills{{
    {inspect::Severity::note, "unknown", "note"},
    {inspect::Severity::warn, "wanted", "warning"},
    {inspect::Severity::quarantine, "failed", "quarantine"},
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

const Json::Array* findings_of(const Json& facts) {
    const Json* findings = facts.find("findings");
    return findings == nullptr ? nullptr : findings->as_array();
}

// "2 warnings", without notes.
std::string warnings_of(const Json::Array& findings) {
    const auto warnings = std::count_if(findings.begin(), findings.end(), [](const Json& finding) {
        return finding.string_or("severity", {}) != inspect::severity_text(inspect::Severity::note);
    });
    return warnings == 0 ? "" : std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
}

WheelFinding shown_finding(const Json& finding) {
    WheelFinding shown;
    shown.code = finding.string_or("code", {});
    const auto severity = inspect::parse_severity(finding.string_or("severity", {}));
    const auto pill = std::find_if(severity_pills.begin(), severity_pills.end(),
                                   [&](const SeverityPill& row) { return row.severity == severity; });
    const SeverityPill& chosen = pill == severity_pills.end() ? severity_pills.back() : *pill;
    shown.colour = chosen.colour;
    shown.severity = chosen.word;
    shown.evidence = evidence_of(finding);
    if (const inspect::Rule* rule = inspect::find_rule(shown.code)) {  // nullptr: of another version
        shown.sentence.prose(rule->sentence);
        shown.advice.prose(rule->advice);
    }
    return shown;
}

WheelFit shown_fit(const ReportedNode& node, const avail_wheels::Fit& fit) {
    WheelFit shown{
        .node = node.name(), .colour = "unknown", .runs = "not known", .why = fit.why, .advice = fit.advice};
    if (fit.runs == avail_wheels::Runs::yes) shown.colour = "have", shown.runs = "yes";
    if (fit.runs == avail_wheels::Runs::no) shown.colour = "failed", shown.runs = "no";
    return shown;
}

// The index that the registry names in the last statement that it signed (lib/attest/wheel_statements.hpp);
// empty: none.
std::string signed_index(const Json& document) {
    const auto& statements = document.items("statements");
    if (statements.empty()) return {};
    const auto payload = base::decode_base64(statements.back().string_or("payload", {}));
    const auto statement = payload ? io::parse_json(*payload) : base::Result<Json>(Json());
    const Json* predicate = statement ? statement->find("predicate") : nullptr;
    return predicate == nullptr ? std::string() : predicate->string_or("index", {});
}

// A line that works as it is pasted beside the wheel; project.js fills in the address of the page's index.
std::string verify_text(const WheelSection& wheel) {
    std::string line = "avail_wheels verify " + base::quote_shell(wheel.filename) + " --index-url " +
                       wheel.index_address + "simple/";
    if (wheel.is_signed) line += " --root root.json";
    if (!wheel.uploaded_to.empty()) line += " --uploaded-to " + base::quote_shell(wheel.uploaded_to);
    return line;
}

// Of a Git repository the origin has a tag and a commit, too: "https://code.example.org/six@v1.0 (3f2a9c8)".
std::string address_of(const std::string& origin) {
    return origin.find(' ') == std::string::npos ? origin : origin.substr(0, origin.rfind('@'));
}

// What its agent states of the build. A document that cannot be read shows nothing: the link beside it leads
// to its text.
void add_stated(WheelSection& section, std::string_view text) {
    Facts& shown = section.made_by;
    const auto document = text.empty() ? base::Result<Json>(Json::object()) : io::parse_json(text);
    if (!document || document->as_object() == nullptr || document->as_object()->empty()) return;
    section.is_signed = !document->items("statements").empty();
    section.uploaded_to = signed_index(*document);
    section.site = document->string_or("site", {});
    section.build = document->string_or("attempt", {});
    const Json nothing = Json::object();
    const auto part = [&](std::string_view name) -> const Json& {
        const Json* found = document->find(name);
        return found == nullptr || found->as_object() == nullptr ? nothing : *found;
    };
    const Json& source = part("source");
    const Json& build = part("build");
    add_fact(shown, "Notice", document->string_or("notice", {}));
    add_fact(shown, "Site", document->string_or("site", {}));
    add_fact(shown, "Agent", document->string_or("program", {}));
    // A document without the time is stored with that of the epoch.
    const auto began = base::parse_rfc3339(document->string_or("began", {}));
    if (began && *began > 0) add_fact(shown, "Began", short_time(document->string_or("began", {})));
    add_fact(shown, "Source", source.string_or("origin", source.string_or("filename", {})));
    if (const std::string origin = source.string_or("origin", {}); origin.starts_with("https://"))
        shown.back().link = address_of(origin);
    add_fact(shown, "Kind of source", source.string_or("kind", {}));
    add_fact(shown, "SHA-256 of the source", source.string_or("sha256", {}));
    add_fact(shown, "Recipe", document->string_or("recipe", {}));
    add_fact(shown, "SHA-256 of the recipe", document->string_or("recipe_sha256", {}));
    add_fact(shown, "SHA-256 of the script", build.string_or("script_sha256", {}));
    add_fact(shown, "System", build.string_or("system", {}));
    add_fact(shown, "Node type", document->string_or("node_type", {}));
    add_bytes(shown, "Peak memory of the compiles", part("governor").int_or("high_water_bytes", 0));
    add_fact(shown, "Loaded modules", build.texts("modules"));
    if (const Json* tools = build.find("tools"); tools != nullptr && tools->as_object() != nullptr) {
        std::size_t tools_shown = 0;
        for (const auto& [name, version] : *tools->as_object()) {
            if (version.as_string() == nullptr || tools_shown++ == max_listed_values) continue;
            add_fact(shown, name, *version.as_string());
        }
    }
    if (const std::string log = document->string_or("log", {}); !log.empty())
        add_fact(shown, "Log, at the site", std::vector{log});
}

bool is_for_node(const ReportedBuild& cell, const ReportedNode& node) {
    return cell.site == node.site && (cell.accelerator.empty() || cell.accelerator == node.accelerator);
}

bool is_of_version_for(const ReportedBuild& cell, const ReportedNode& node, const ShownWheel& wheel) {
    return is_for_node(cell, node) && cell.version == wheel.row->version &&
           std::find(wheel.pythons.begin(), wheel.pythons.end(), cell.python) != wheel.pythons.end();
}

// Says whether the site lists the wheel as the one for this kind of node.
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

// Sites report little of their nodes, so the rules often cannot decide. What the site itself has built for
// this kind of node then does, unless a test of it has failed there.
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

// "https://github.com/octo-org/demo .github/workflows/release.yml", or an address of electronic mail; with
// its provider.
std::string signer_of(const Json& attested) {
    std::string who = attested.string_or("repository", "");
    if (who.empty()) who = attested.string_or("subject", "");
    const std::string workflow = attested.string_or("workflow", "");
    if (!workflow.empty()) who += " " + workflow;
    return who + ", says " + attested.string_or("issuer", "");
}

}  // namespace

std::string simple_address(const page::Farm& farm, std::string_view index) {
    const std::string server = farm.url.empty() ? "https://THIS-SERVER" : farm.url;
    return server + "/" + base::encode_percent(index) + "/simple/";
}

std::string anchor_of(const catalog::FileRow& row) {
    return anchor_of(row.sha256);
}
std::string anchor_of(std::string_view sha256) {
    return "wheel-" + std::string(sha256.substr(0, anchor_digits));
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
    auto candidate = avail_wheels::make_candidate(
        std::move(*name), {{.filename = row.filename, .requires_python = row.requires_python}});
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

Html render_wheel(const ShownWheel& wheel, std::string_view index, const std::string& address,
                  const std::vector<ReportedNode>& nodes, std::string_view provenance, bool is_open) {
    const catalog::FileRow& row = *wheel.row;
    WheelSection shown{.anchor = anchor_of(row), .is_open = is_open};
    shown.filename = row.filename;
    shown.size = base::render_bytes(row.size_bytes);
    shown.link = file_link(row);
    if (!row.metadata_sha256.empty()) shown.metadata_link = shown.link + std::string(metadata_suffix);
    if (!row.provenance_sha256.empty()) shown.provenance_link = shown.link + std::string(provenance_suffix);
    if (!row.attestations_sha256.empty())
        shown.attestations_link = shown.link + std::string(attestations_suffix);
    shown.file_index = row.index.empty() ? std::string(index) : row.index;
    // The API has none of a file from an upstream, whose row is of "INDEX.UPSTREAM".
    shown.has_sbom = row.index.find('.') == std::string::npos;
    shown.is_yanked = row.yanked;
    shown.yanked_reason = row.yanked_reason;
    shown.facts = proven_facts(wheel);
    for (const Json& attested : wheel.facts.items("attested"))
        shown.facts.push_back({.name = "Attested by", .text = signer_of(attested)});
    if (const Json::Array* findings = findings_of(wheel.facts)) {
        shown.is_checked = true;
        shown.warnings = warnings_of(*findings);
        for (const Json& finding : *findings)
            shown.findings.push_back(shown_finding(finding));
    }
    for (std::size_t at = 0; at < nodes.size() && at < wheel.fits.size(); ++at)
        shown.fits.push_back(shown_fit(nodes[at], wheel.fits[at]));
    add_stated(shown, provenance);
    if (shown.is_signed || !shown.attestations_link.empty()) {
        shown.index_address = address.substr(0, address.size() - std::string_view("simple/").size());
        shown.verify = verify_text(shown);
    }
    shown.is_promoted = !shown.uploaded_to.empty() && shown.uploaded_to != index;
    return page::render("wheel.html", shown);
}

}  // namespace wheelyard::indexer
