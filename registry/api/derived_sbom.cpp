#include "registry/api/derived_sbom.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/attest/wheel_statements.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/url.hpp"
#include "lib/inspect/dist_info/license_expression.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {

namespace {

using io::Json;

constexpr std::string_view sha256_prefix = "sha256:";

// A UUID of version 8 (RFC 9562, section 5.8) made of a digest, so that the same document has the same name.
std::string uuid_of(std::string_view text) {
    std::string hex = base::sha256_hex(text).substr(0, 32);
    hex[12] = '8';
    hex[16] = 'a';
    for (const std::size_t at : {20U, 16U, 12U, 8U})
        hex.insert(at, "-");
    return hex;
}

std::string pypi_purl(std::string_view project, std::string_view version) {
    return "pkg:pypi/" + base::encode_percent(project) + "@" + base::encode_percent(version);
}

void set_hash(Json& json, std::string_view sha256) {
    if (!base::is_sha256_hex(sha256)) return;
    json.set("hashes",
             Json(Json::Array{Json::object({{"alg", "SHA-256"}, {"content", std::string(sha256)}})}));
}

Json property(const char* name, std::string value) {
    return Json::object({{"name", name}, {"value", std::move(value)}});
}

Json component(const char* type, std::string name, const char* basis) {
    return Json::object({{"type", type},
                         {"name", std::move(name)},
                         {"properties", Json(Json::Array{property("wheelyard:basis", basis)})}});
}

// Says whether the format takes it as the address of an external reference.
bool is_plain_uri(std::string_view uri) {
    constexpr std::string_view git = "git+";
    if (uri.starts_with(git)) uri.remove_prefix(git.size());
    return uri.find_first_of("[]") == std::string_view::npos && std::count(uri.begin(), uri.end(), '#') < 2 &&
           base::parse_url(uri) && base::decode_percent(uri);
}

constexpr std::size_t max_version_characters = 1024;  // of the format

void set_text(Json& json, const char* member, const std::string& text) {
    if (!text.empty()) json.set(member, text);
}

// A name that is no expression may be anything.
Json licenses_of(const std::string& license) {
    if (inspect::is_license_expression(license))
        return Json(Json::Array{Json::object({{"expression", license}})});
    return Json(Json::Array{Json::object({{"license", Json::object({{"name", license}})}})});
}

// The components, each with a `bom-ref` of its own, and what depends on what.
class Components {
  public:
    void add(Json one) {
        std::string reference = "component-" + std::to_string(list_.items().size() + 1);
        one.set("bom-ref", reference);
        if (one.string_or("scope", {}) != "excluded") inside_.push(std::move(reference));
        list_.push(std::move(one));
    }
    [[nodiscard]] const Json& list() const { return list_; }
    [[nodiscard]] const Json& inside() const { return inside_; }

  private:
    Json list_ = Json::array();
    Json inside_ = Json::array();
};

void add_facts(const Json& facts, Components& components) {
    for (const Json& one : facts.items("sbom")) {
        Json stated = component("library", one.string_or("name", {}), "stated");
        if (const std::string version = one.string_or("version", {});
            version.size() <= max_version_characters)
            set_text(stated, "version", version);
        set_text(stated, "purl", one.string_or("purl", {}));
        if (const std::string license = one.string_or("license", {}); !license.empty())
            stated.set("licenses", licenses_of(license));
        set_hash(stated, one.string_or("sha256", {}));
        components.add(std::move(stated));
    }
    std::set<std::string> libraries;
    for (const Json& one : facts.items("provides"))
        if (const std::string* const name = one.as_string()) libraries.insert(*name);
    if (const Json* const needed = facts.find("needed"))
        for (const Json& one : needed->items("inside"))
            if (const std::string* const name = one.as_string()) libraries.insert(*name);
    const Json nothing = Json::object();
    const Json* const hashes = facts.find("library_sha256");
    for (const std::string& name : libraries) {
        Json proved = component("library", name, "proved");
        set_hash(proved, (hashes == nullptr ? nothing : *hashes).string_or(name, {}));
        components.add(std::move(proved));
    }
}

void add_provenance(const wire::WheelProvenance& provenance, Components& components) {
    const wire::SourceFile& source = provenance.source;
    if (!source.origin.empty()) {
        Json said = component("file", source.filename.empty() ? source.origin : source.filename, "said");
        said.set("scope", "excluded");
        set_hash(said, source.sha256);
        const attest::SourceUri origin = attest::uri_of(source);
        set_text(said, "version", origin.commit);
        const char* const kind = source.kind == "git" ? "vcs" : "source-distribution";
        if (is_plain_uri(origin.uri))
            said.set("externalReferences",
                     Json(Json::Array{Json::object({{"type", kind}, {"url", origin.uri}})}));
        else
            said.set("properties", Json(Json::Array{property("wheelyard:basis", "said"),
                                                    property("wheelyard:origin", origin.uri)}));
        components.add(std::move(said));
    }
    for (const auto& [filename, hash] : provenance.build.requirements) {
        const auto wheel = wheel::parse_wheel_filename(filename);
        Json said = component("library", wheel ? wheel->project : filename, "said");
        if (wheel) {
            said.set("version", wheel->version_text);
            said.set("purl", pypi_purl(wheel->project, wheel->version_text));
        }
        said.set("scope", "excluded");
        if (hash.starts_with(sha256_prefix))
            set_hash(said, std::string_view(hash).substr(sha256_prefix.size()));
        components.add(std::move(said));
    }
}

}  // namespace

Json derive_sbom(const catalog::FileRow& row, const std::optional<wire::WheelProvenance>& provenance) {
    Components components;
    if (const auto facts = io::parse_json(row.facts_json)) add_facts(*facts, components);
    if (provenance) add_provenance(*provenance, components);
    Json wheel = Json::object(
        {{"type", "library"},
         {"bom-ref", "wheel"},
         {"name", row.project},
         {"version", row.version},
         {"purl", pypi_purl(row.project, row.version) + "?file_name=" + base::encode_percent(row.filename)}});
    set_hash(wheel, row.sha256);
    const Json tool = Json::object(
        {{"type", "application"}, {"name", "wheelyard-registry"}, {"version", WHEELYARD_VERSION}});
    const Json metadata = Json::object(
        {{"timestamp",
          base::render_rfc3339(provenance && provenance->began > 0 ? provenance->began : row.upload_time)},
         {"tools", Json::object({{"components", Json(Json::Array{tool})}})},
         {"component", wheel}});
    const Json dependency = Json::object({{"ref", "wheel"}, {"dependsOn", components.inside()}});
    return Json::object({{"bomFormat", "CycloneDX"},
                         {"specVersion", "1.6"},
                         {"serialNumber", "urn:uuid:" + uuid_of(row.sha256 + row.provenance_sha256)},
                         {"version", 1},
                         {"metadata", metadata},
                         {"components", components.list()},
                         {"dependencies", Json(Json::Array{dependency})}});
}

base::Result<std::string> render_sbom(const catalog::FileRow& row, const blobs::BlobStore& blobs) {
    std::optional<wire::WheelProvenance> provenance;
    if (!row.provenance_sha256.empty()) {
        WHEELYARD_ASSIGN(const std::string text, read_provenance(row, blobs));
        WHEELYARD_ASSIGN(const auto parts, attest::split_statements(text));
        WHEELYARD_ASSIGN(provenance, wire::parse_wheel_provenance(parts.document));
    }
    return derive_sbom(row, provenance).render();
}

base::Result<std::string> read_provenance(const catalog::FileRow& row, const blobs::BlobStore& blobs) {
    if (row.provenance_sha256.empty())
        return wire::fail("provenance.none", "The file was uploaded without provenance", row.filename,
                          "wheelyard-builder sends it; other programs that upload do not");
    WHEELYARD_ASSIGN(std::string text, blobs.read_bytes(row.provenance_sha256, attest::max_signed_bytes));
    if (base::sha256_hex(text) == row.provenance_sha256) return text;
    return base::fail("provenance.damaged", "The stored provenance has changed on the disk",
                      row.provenance_sha256, "restore this blob from a backup");
}

}  // namespace wheelyard::registry
