#include "indexer/web/wheel_facts.hpp"

#include <array>
#include <set>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/text/text.hpp"

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
    if (needs.cuda) return "CUDA " + needs.cuda->text();
    if (!needs.cubins.empty() || !needs.ptx.empty()) return "CUDA";
    if (!needs.rocm.empty()) return "ROCm " + needs.rocm;
    if (!needs.gfx.empty()) return "ROCm";
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

void add_fact(Html& html, Literal name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    html.add("<dt>").add(name).add("</dt><dd>");
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
constexpr std::array<TextFact, 7> processor_facts{{
    {"Machine", "machines"},
    {"CUDA code", "cuda_sm"},
    {"PTX", "cuda_ptx"},
    {"ROCm code", "hip_gfx"},
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
    for (const TextFact& fact : processor_facts)
        add_fact(html, fact.name, facts.texts(fact.member));
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

}  // namespace

std::string anchor_of(const catalog::FileRow& row) {
    return "wheel-" + row.sha256.substr(0, anchor_digits);
}

std::vector<std::string> gpus_of(const Json& facts) {
    std::set<std::string> gpus;
    for (const auto* member : {"cuda_sm", "hip_gfx"}) {
        for (const std::string& text : facts.texts(member))
            gpus.insert(text.substr(0, text.find(':')));
    }
    return {gpus.begin(), gpus.end()};
}

std::vector<std::string> uses_of(const Json& facts) {
    std::vector<std::string> uses;
    const Json* needed = facts.find("needed");
    const auto needs = [&](std::string_view kind) {
        return needed != nullptr && !needed->texts(kind).empty();
    };
    if (!facts.texts("cuda_sm").empty() || !facts.texts("cuda_ptx").empty() || needs("cuda"))
        uses.emplace_back("CUDA");
    if (!facts.texts("hip_gfx").empty() || needs("rocm")) uses.emplace_back("ROCm");
    if (needs("mpi")) uses.emplace_back("MPI");
    return uses;
}

ShownWheel read_wheel(const catalog::FileRow& row, const std::vector<ReportedNode>& nodes) {
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
    for (const ReportedNode& node : nodes)
        wheel.fits.push_back(avail_wheels::judge(candidate, node.node, {}));
    return wheel;
}

Html render_wheel(const ShownWheel& wheel, const std::vector<ReportedNode>& nodes, bool is_open) {
    const catalog::FileRow& row = *wheel.row;
    Html html;
    html.add("<details id=\"").text(anchor_of(row)).add(is_open ? Literal("\" open>\n") : Literal("\">\n"));
    html.add("<summary><span class=\"mono\">").text(row.filename).add("</span> <span class=\"quiet\">");
    html.text(base::render_bytes(row.size_bytes)).add("</span>");
    if (row.yanked) html.add(" <span class=\"state yanked\">yanked</span>");
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
    add_fits(html, wheel, nodes);
    return html.add("</details>\n");
}

}  // namespace wheelyard::indexer
