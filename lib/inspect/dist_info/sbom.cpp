// CycloneDX and SPDX documents as JSON: only the members that say what is inside.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::inspect {
namespace {

using io::Json;

constexpr std::size_t max_depth = 32;  // of nested components and of the JSON around them

void add(std::vector<Component>& list, Component component) {
    component.sha256 = base::ascii_lower(component.sha256);
    if (!base::is_sha256_hex(component.sha256)) component.sha256.clear();
    if (!component.name.empty()) list.push_back(std::move(component));
}

// The hash of `list`, an array of objects, whose member `kind` is `name`.
std::string hash_of(const Json::Array& list, std::string_view kind, std::string_view name,
                    std::string_view value) {
    for (const Json& one : list)
        if (one.string_or(kind, {}) == name) return one.string_or(value, {});
    return {};
}

// Some write the whole licence as its name.
std::string within_license_limit(std::string text) {
    if (text.size() <= max_sbom_license) return text;
    std::size_t end = max_sbom_license;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
        --end;  // not within a character
    return text.substr(0, end) + "…";
}

// CycloneDX: licenses by their SPDX identifier or their name, or one expression.
std::string cyclonedx_license(const Json& component) {
    std::vector<std::string> licenses;
    for (const Json& choice : component.items("licenses")) {
        std::string text = choice.string_or("expression", {});
        if (const Json* license = choice.find("license"); text.empty() && license != nullptr)
            text = license->string_or("id", license->string_or("name", {}));
        if (!text.empty()) licenses.push_back(std::move(text));
    }
    return within_license_limit(base::join(licenses, ", "));
}

// SPDX: what its author found, else what the package declares.
std::string spdx_license(const Json& package) {
    for (const char* member : {"licenseConcluded", "licenseDeclared"}) {
        std::string text = package.string_or(member, {});
        if (!text.empty() && text != "NOASSERTION") return within_license_limit(std::move(text));
    }
    return {};
}

// auditwheel lists the wheel as the first of its own components.
void add_cyclonedx(const Json& json, const std::string& own, std::vector<Component>& list) {
    for (const Json& one : json.items("components")) {
        if (own.empty() || one.string_or("bom-ref", {}) != own)
            add(list, {one.string_or("name", {}), one.string_or("version", {}), one.string_or("purl", {}),
                       hash_of(one.items("hashes"), "alg", "SHA-256", "content"), cyclonedx_license(one)});
        add_cyclonedx(one, own, list);
    }
}

std::set<std::string> described_by(const Json& json) {
    const auto described = json.texts("documentDescribes");
    std::set<std::string> ids(described.begin(), described.end());
    const std::string document = json.string_or("SPDXID", "SPDXRef-DOCUMENT");
    for (const Json& one : json.items("relationships"))
        if (one.string_or("relationshipType", {}) == "DESCRIBES" &&
            one.string_or("spdxElementId", {}) == document)
            ids.insert(one.string_or("relatedSpdxElement", {}));
    return ids;
}

void add_spdx(const Json& json, std::vector<Component>& list) {
    const auto described = described_by(json);
    for (const Json& one : json.items("packages")) {
        if (described.count(one.string_or("SPDXID", {})) != 0) continue;
        add(list,
            {one.string_or("name", {}), one.string_or("versionInfo", {}),
             hash_of(one.items("externalRefs"), "referenceType", "purl", "referenceLocator"),
             hash_of(one.items("checksums"), "algorithm", "SHA256", "checksumValue"), spdx_license(one)});
    }
}

tl::unexpected<base::Error> fail_sbom(std::string code, std::string value) {
    return base::fail_malformed(std::move(code), "An SBOM cannot be read", std::move(value));
}

Components within_limits(const std::set<Component>& all) {
    Components components;
    std::size_t bytes = 0;
    for (const Component& one : all) {
        bytes += one.name.size() + one.version.size() + one.purl.size() + one.license.size();
        if (components.list.size() == max_sbom_components || bytes > max_sbom_bytes) break;
        components.list.push_back(one);
    }
    components.left_out = all.size() - components.list.size();
    return components;
}

}  // namespace

base::Result<std::vector<Component>> parse_sbom(std::string_view text) {
    const auto json = io::parse_json(text, {.bytes = max_sbom_document, .depth = max_depth});
    if (!json) return fail_sbom("sbom.unreadable", json.error().text());
    std::vector<Component> list;
    if (json->string_or("bomFormat", {}) == "CycloneDX") {
        std::string own;
        if (const Json* metadata = json->find("metadata"); metadata != nullptr)
            if (const Json* component = metadata->find("component"); component != nullptr)
                own = component->string_or("bom-ref", {});
        add_cyclonedx(*json, own, list);
        return list;
    }
    if (const std::string version = json->string_or("spdxVersion", {}); version.starts_with("SPDX-2."))
        add_spdx(*json, list);
    else
        return fail_sbom("sbom.unknown", "neither CycloneDX nor SPDX 2");
    return list;
}

base::Result<Components> read_sboms(const base::Reader& bytes, const Frame& frame, std::string_view folder,
                                    Findings& findings) {
    const std::string prefix = std::string(folder) + "/sboms/";
    std::set<Component> all;
    std::size_t documents = 0;
    for (const Member& member : frame.members) {
        if (!member.name.starts_with(prefix) || member.name.ends_with('/') || !member.readable) continue;
        if (++documents > max_sbom_documents) {
            findings.add("sbom.unreadable", member.name,
                         "at most " + std::to_string(max_sbom_documents) + " documents", {});
            break;
        }
        if (!member.name.ends_with(".json")) {
            findings.add("sbom.unknown", member.name, {}, "not in JSON");
            continue;
        }
        const auto text = read_member(bytes, member, max_sbom_document);
        if (!text && text.error().kind != base::ErrorKind::malformed) return base::fail(text.error());
        // A damaged member is reported by the check of all contents.
        auto list =
            text ? parse_sbom(*text)
                 : base::Result<std::vector<Component>>(fail_sbom("sbom.unreadable", text.error().value));
        if (list)
            all.insert(list->begin(), list->end());
        else
            findings.add(list.error().code, member.name, {}, list.error().value);
    }
    return within_limits(all);
}

}  // namespace wheelyard::inspect
