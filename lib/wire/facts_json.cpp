#include "lib/wire/facts_json.hpp"

#include <map>
#include <set>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/inspect/elf/elf_identity.hpp"

namespace wheelyard::wire {
namespace {

using inspect::Facts;
using io::Json;

// The members that are lists of strings, and the counts.
constexpr std::pair<std::string_view, std::vector<std::string> Facts::*> text_lists[] = {
    {"machines", &Facts::machines},
    {"needed_external", &Facts::needed_external},
    {"libc", &Facts::libc},
    {"not_judged", &Facts::not_judged},
    {"search_paths", &Facts::search_paths},
    {"modules", &Facts::modules},
    {"cpu_features", &Facts::cpu_features},
    {"torch_requires", &Facts::torch_requires},
    {"requires_dist", &Facts::requires_dist},
};
constexpr std::pair<std::string_view, std::uint64_t Facts::*> counts[] = {
    {"size_bytes", &Facts::size_bytes}, {"unpacked_bytes", &Facts::unpacked_bytes},
    {"members", &Facts::members},       {"elf_files", &Facts::elf_files},
    {"elf_bytes", &Facts::elf_bytes},   {"debug_bytes", &Facts::debug_bytes},
};
// Empty strings are omitted: unknown or not applicable.
constexpr std::pair<std::string_view, std::string Facts::*> texts[] = {
    {"manylinux_fit", &Facts::manylinux_fit},
    {"musllinux_fit", &Facts::musllinux_fit},
    {"stable_abi_floor", &Facts::stable_abi_floor},
    {"cxx11_abi", &Facts::cxx11_abi},
    {"isa_needed", &Facts::isa_needed},
    {"isa_used", &Facts::isa_used},
    {"avx_code", &Facts::avx_code},
    {"avx512_code", &Facts::avx512_code},
    {"sve_code", &Facts::sve_code},
    {"executable_stack", &Facts::executable_stack},
    {"torch_cxx11_abi", &Facts::torch_cxx11_abi},
    {"torch_stable_abi", &Facts::torch_stable_abi},
    {"torch_at_least", &Facts::torch_at_least},
    {"torch_below", &Facts::torch_below},
};

// The lists of device code, in the order of the table of accelerators. `names`: those of a list.
void set_device_code(Json& json, const auto& names) {
    for (const auto* kind : accelerator::accelerator_kinds()) {
        for (const auto& list : kind->device_code)
            json.set(std::string(list.fact), names(list.fact));
    }
}

// Left out where they are empty, as of wheels that came before them.
void set_import(Json& json, const Facts& facts) {
    using Modules = std::map<std::string, std::string> Facts::*;
    static constexpr std::pair<std::string_view, Modules> maps[] = {{"needed_later", &Facts::needed_later},
                                                                    {"needed_maybe", &Facts::needed_maybe},
                                                                    {"needed_surely", &Facts::needed_surely},
                                                                    {"sure_imports", &Facts::sure_imports}};
    for (const auto& [name, field] : maps) {
        if ((facts.*field).empty()) continue;
        Json modules = Json::object();
        for (const auto& [what, module] : facts.*field)
            modules.set(what, module);
        json.set(std::string(name), std::move(modules));
    }
    for (const auto& [name, functions] :
         {std::pair("pypy_names", &facts.pypy_names), std::pair("pypy_later", &facts.pypy_later)}) {
        if (functions->empty()) continue;
        Json modules = Json::object();
        for (const auto& [module, names] : *functions)
            modules.set(module, Json::array_of(names));
        json.set(name, std::move(modules));
    }
}

Json components_to_json(const Facts& facts) {
    Json list = Json::array();
    for (const inspect::Component& one : facts.components.list) {
        Json json = Json::object({{"name", one.name}});
        if (!one.version.empty()) json.set("version", one.version);
        if (!one.purl.empty()) json.set("purl", one.purl);
        if (!one.license.empty()) json.set("license", one.license);
        if (!one.sha256.empty()) json.set("sha256", one.sha256);
        list.push(std::move(json));
    }
    return list;
}

// `rule`: also its sentence; nullptr: without it.
Json finding_to_json(const inspect::Verdict& verdict, const inspect::Rule* rule = nullptr) {
    Json json =
        Json::object({{"code", verdict.code}, {"severity", inspect::severity_text(verdict.severity)}});
    if (rule != nullptr) json.set("sentence", rule->sentence);
    if (!verdict.member.empty()) json.set("member", verdict.member);
    if (!verdict.expected.empty()) json.set("expected", verdict.expected);
    if (!verdict.found.empty()) json.set("found", verdict.found);
    return json;
}

}  // namespace

Json facts_to_json(const Facts& facts) {
    Json json = Json::object();
    for (const auto& [name, field] : counts)
        json.set(std::string(name), facts.*field);
    Json tags = Json::array();
    for (const auto& tag : facts.tags)
        tags.push(tag.text());
    json.set("tags", std::move(tags));
    json.set("root_is_purelib", facts.root_is_purelib);
    json.set("requires_python", facts.requires_python);
    if (facts.static_metadata) json.set("static_metadata", true);
    Json floors = Json::object();
    for (const auto& [prefix, version] : facts.symbol_floors)
        floors.set(prefix, version);
    json.set("symbol_floors", std::move(floors));
    for (const auto& [name, field] : text_lists)
        json.set(std::string(name), Json::array_of(facts.*field));
    set_device_code(json, [&](std::string_view fact) { return Json::array_of(facts.code(fact)); });
    if (!facts.provides.empty()) json.set("provides", Json::array_of(facts.provides));
    if (!facts.library_sha256.empty()) {
        Json hashes = Json::object();
        for (const auto& [name, sha256] : facts.library_sha256)
            hashes.set(name, sha256);
        json.set("library_sha256", std::move(hashes));
    }
    if (!facts.device_code_not_read.empty())
        json.set("device_code_not_read", Json::array_of(facts.device_code_not_read));
    Json needed = Json::object();
    for (const auto& [kind, libraries] : facts.needed)
        needed.set(kind, Json::array_of(libraries));
    json.set("needed", std::move(needed));
    set_import(json, facts);
    for (const auto& [name, field] : texts) {
        if (!(facts.*field).empty()) json.set(std::string(name), facts.*field);
    }
    if (!facts.variant.empty()) json.set("variant", io::parse_json(facts.variant).value_or(Json::object()));
    if (!facts.components.list.empty()) json.set("sbom", components_to_json(facts));
    if (facts.components.left_out > 0)
        json.set("sbom_left_out", static_cast<std::int64_t>(facts.components.left_out));
    return json;
}

Json elves_to_json(const std::vector<inspect::ElfMember>& elves) {
    const auto list_of = [](const std::set<std::string>& words) {
        return Json::array_of(std::vector<std::string>(words.begin(), words.end()));
    };
    Json list = Json::array();
    for (const inspect::ElfMember& member : elves) {
        const inspect::ElfFacts& elf = member.elf;
        const inspect::GpuFacts& gpu = member.gpu;
        std::map<std::string, std::set<std::string>> versions;
        for (const auto& need : elf.version_needs)
            versions[need.file].insert(need.version);
        Json needs = Json::object();
        for (const auto& [file, wanted] : versions)
            needs.set(file, list_of(wanted));
        Json file = Json::object({{"name", member.name},
                                  {"machine", elf.machine},
                                  {"bits", static_cast<std::int64_t>(elf.bits)},
                                  {"byte_order", elf.big_endian ? "big" : "little"},
                                  {"abi", inspect::os_abi_text(elf.os_abi)},
                                  {"soname", elf.soname},
                                  {"needed", Json::array_of(elf.needed)},
                                  {"version_needs", std::move(needs)},
                                  {"search_paths", Json::array_of(elf.search_paths)},
                                  {"cxx11_abi", inspect::string_abi_text(elf.symbols.string_abi())}});
        set_device_code(file, [&](std::string_view fact) { return list_of(gpu.names(fact)); });
        list.push(std::move(file));
    }
    return list;
}

Json stored_facts_to_json(const inspect::Inspection& inspection) {
    Json json = facts_to_json(inspection.facts);
    Json findings = Json::array();
    std::size_t stored = 0;
    for (const auto& verdict : inspection.verdicts) {
        if (stored++ == max_stored_findings) break;
        findings.push(finding_to_json(verdict));
    }
    json.set("findings", std::move(findings));
    return json;
}

Json verdicts_to_json(const std::vector<inspect::Verdict>& verdicts) {
    Json list = Json::array();
    for (const auto& verdict : verdicts) {
        const inspect::Rule* rule = inspect::find_rule(verdict.code);
        Json json = finding_to_json(verdict, rule);
        if (rule != nullptr) json.set("advice", rule->advice);
        list.push(std::move(json));
    }
    return list;
}

Json inspection_to_json(std::string_view filename, const inspect::Inspection& inspection) {
    return Json::object({{"format", facts_format},
                         {"filename", filename},
                         {"accepted", inspection.accepted()},
                         {"outcome", inspection.outcome()},
                         {"facts", facts_to_json(inspection.facts)},
                         {"verdicts", verdicts_to_json(inspection.verdicts)}});
}

}  // namespace wheelyard::wire
