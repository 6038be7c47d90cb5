// The steps: 1 time, by the log's promise, 2 chain at that time, 3 use, 4 promise of the log of certificates,
// 5 inclusion, 6 signature, 7 the entry is about these bytes, 8 who, 9 what.
#include "lib/attest/sigstore/attestation.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "lib/attest/envelope.hpp"
#include "lib/attest/sigstore/limits.hpp"
#include "lib/attest/sigstore/log_entry.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::sigstore {
namespace {

constexpr std::size_t max_attestations = 2;  // one of each predicate type (PEP 740)
constexpr std::size_t max_document_depth = max_depth + 4;

using io::Json;

// PEP 740 knows two predicate types: this one of any host, which has no predicate, and SLSA provenance.
constexpr std::string_view publish_path = "/attestations/publish/v1";

bool is_publish_predicate(std::string_view type) {
    constexpr std::string_view scheme = "https://";
    constexpr std::string_view host_characters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    if (!type.starts_with(scheme)) return false;
    type.remove_prefix(scheme.size());
    const std::size_t end = type.find('/');
    return end > 0 && end != std::string_view::npos && type.substr(end) == publish_path &&
           type.substr(0, end).find_first_not_of(host_characters) == std::string_view::npos;
}

tl::unexpected<base::Error> fail_attestation(
    std::string code, std::string sentence, std::string value = {},
    std::string advice = "send attestations as PEP 740 describes them") {
    return base::fail_malformed(std::move(code), std::move(sentence), std::move(value), std::move(advice));
}

base::Result<std::string> check_statement(std::string_view text, std::string_view filename,
                                          std::string_view sha256) {
    const auto json = io::parse_strict_json(text, {.bytes = max_field_bytes, .depth = max_depth});
    if (!json || json->string_or("_type", {}) != "https://in-toto.io/Statement/v1")
        return fail_attestation("attestation.statement", "The signed document is no in-toto statement");
    const Json::Array& subjects = json->items("subject");
    if (subjects.size() != 1)
        return fail_attestation("attestation.statement", "A statement is not about one file",
                                std::to_string(subjects.size()));
    std::string type = json->string_or("predicateType", {});
    if (type != attest::provenance_predicate && !is_publish_predicate(type))
        return fail_attestation("attestation.statement",
                                "A statement has a predicate type that PEP 740 does not know", type);
    const std::string name = subjects.front().string_or("name", {});
    const Json* digest = subjects.front().find("digest");
    const std::string signed_sha256 = digest == nullptr ? std::string() : digest->string_or("sha256", {});
    if (name.empty() || wheel::spelling_key(name) != wheel::spelling_key(filename))
        return fail_attestation("attestation.other_file", "The attestation is about a file of another name",
                                name, "send the attestations of this file");
    if (signed_sha256 != sha256)
        return fail_attestation("attestation.other_file", "The attestation is about other bytes",
                                signed_sha256,
                                "send the attestations of this file; a file that was changed after signing "
                                "has to be signed again");
    return type;
}

struct Given {
    const Json* attestation;
    std::optional<std::string> kind = std::nullopt;  // of its publisher, where a document names one
};

struct Verified {
    Attested attested;
    Json publisher;
    const Json* attestation;
};

base::Result<Verified> verify_one(const Given& given, std::string_view filename, std::string_view sha256,
                                  const TrustedRoot& root) {
    WHEELYARD_ASSIGN(Attested attested, verify_attestation(*given.attestation, filename, sha256, root));
    Json publisher = publisher_of(attested.identity);
    if (given.kind && *given.kind != publisher.string_or("kind", {}))
        return fail_attestation("attestation.publisher",
                                "A publisher is of another kind than the certificate says", *given.kind);
    return Verified{std::move(attested), std::move(publisher), given.attestation};
}

// In the order of their predicate types: the same attestations are the same document, in whatever order they
// came.
base::Result<FileProvenance> verify_all(const std::vector<Given>& all_given, std::string_view filename,
                                        std::string_view sha256, const TrustedRoot& root) {
    if (all_given.size() > max_attestations)
        return fail_attestation("attestation.count",
                                "A file has more attestations than one of each predicate type",
                                std::to_string(all_given.size()));
    std::vector<Verified> all;
    for (const Given& given : all_given) {
        WHEELYARD_ASSIGN(Verified one, verify_one(given, filename, sha256, root));
        all.push_back(std::move(one));
    }
    std::sort(all.begin(), all.end(), [](const Verified& a, const Verified& b) {
        return a.attested.predicate_type < b.attested.predicate_type;
    });
    FileProvenance provenance;
    std::vector<std::pair<Json, Json::Array>> bundles;
    for (Verified& one : all) {
        const std::string& type = one.attested.predicate_type;
        if (!provenance.attested.empty() && provenance.attested.back().predicate_type == type)
            return fail_attestation("attestation.twice", "Two attestations have one predicate type", type);
        auto bundle = std::find_if(bundles.begin(), bundles.end(),
                                   [&](const auto& known) { return known.first == one.publisher; });
        if (bundle == bundles.end()) bundle = bundles.insert(bundle, {one.publisher, {}});
        bundle->second.push_back(*one.attestation);
        provenance.attested.push_back(std::move(one.attested));
    }
    if (bundles.empty()) return provenance;
    Json list = Json::array();
    for (auto& [publisher, attestations] : bundles)
        list.push(Json::object({{"publisher", publisher}, {"attestations", Json(std::move(attestations))}}));
    provenance.document = Json::object({{"version", 1}, {"attestation_bundles", std::move(list)}}).render();
    return provenance;
}

}  // namespace

base::Result<Attested> verify_attestation(const Json& attestation, std::string_view filename,
                                          std::string_view sha256, const TrustedRoot& root) {
    if (attestation.int_or("version", 0) != 1)
        return fail_attestation("attestation.version", "An attestation has not version 1");
    const Json* material = attestation.find("verification_material");
    const Json* envelope = attestation.find("envelope");
    if (material == nullptr || envelope == nullptr)
        return fail_attestation("attestation.form", "An attestation lacks verification_material or envelope");
    WHEELYARD_ASSIGN(const std::string certificate_der, strict_base64_at(*material, "certificate"));
    WHEELYARD_ASSIGN(const std::string statement, strict_base64_at(*envelope, "statement"));
    WHEELYARD_ASSIGN(const std::string signature, strict_base64_at(*envelope, "signature"));
    const Json::Array& entries = material->items("transparency_entries");
    if (entries.size() != 1)
        return fail_attestation("attestation.entries", "An attestation has not one log entry",
                                std::to_string(entries.size()));
    WHEELYARD_ASSIGN(const LogEntry entry, read_log_entry(entries.front()));
    WHEELYARD_TRY(verify_log_entry(entry, root));
    WHEELYARD_ASSIGN(Certificate certificate, verify_certificate(certificate_der, entry.time(), root));
    if (!certificate.key.verifies(attest::pre_authentication_encoding(attest::statement_type, statement),
                                  signature))
        return fail_attestation("attestation.signature",
                                "The signature of the attestation does not belong to its statement");
    WHEELYARD_TRY(check_logged(entry, {statement, signature, certificate.pem}));
    WHEELYARD_ASSIGN(std::string type, check_statement(statement, filename, sha256));
    return Attested{std::move(type), std::move(certificate.identity), entry.time()};
}

Json record_of(const Attested& attested) {
    const Identity& who = attested.identity;
    Json record = Json::object(
        {{"predicate_type", attested.predicate_type}, {"issuer", who.issuer}, {"subject", who.subject}});
    for (const auto& [name, text] :
         {std::pair("repository", who.repository), std::pair("workflow", who.workflow()),
          std::pair("ref", who.ref), std::pair("trigger", who.trigger), std::pair("run", who.run)}) {
        if (!text.empty()) record.set(name, text);
    }
    record.set("time", base::render_rfc3339(attested.time));
    return record;
}

base::Result<FileProvenance> verify_attestations(std::string_view field, std::string_view filename,
                                                 std::string_view sha256, const TrustedRoot& root) {
    if (field.size() > max_field_bytes)
        return fail_attestation("attestation.too_large", "The attestations are too large",
                                std::to_string(field.size()),
                                "send at most " + std::to_string(max_field_bytes) + " bytes");
    const auto json = io::parse_json(field, {.bytes = max_field_bytes, .depth = max_depth});
    if (!json || json->as_array() == nullptr)
        return fail_attestation("attestation.form", "The attestations are no JSON list",
                                json ? std::string() : json.error().text());
    std::vector<Given> given;
    for (const Json& one : json->items())
        given.push_back({&one});
    return verify_all(given, filename, sha256, root);
}

base::Result<FileProvenance> verify_provenance(std::string_view document, std::string_view filename,
                                               std::string_view sha256, const TrustedRoot& root) {
    const auto json =
        io::parse_strict_json(document, {.bytes = max_document_bytes, .depth = max_document_depth});
    if (!json)
        return fail_attestation("attestation.form", "The provenance object is no JSON", json.error().text());
    if (json->int_or("version", 0) != 1)
        return fail_attestation("attestation.version", "The provenance object has not version 1");
    std::vector<Given> given;
    for (const Json& bundle : json->items("attestation_bundles")) {
        const Json* publisher = bundle.find("publisher");
        for (const Json& one : bundle.items("attestations"))
            given.push_back({&one, publisher == nullptr ? std::string() : publisher->string_or("kind", {})});
    }
    if (given.empty())
        return fail_attestation("attestation.form", "The provenance object has no attestation");
    return verify_all(given, filename, sha256, root);
}

}  // namespace wheelyard::sigstore
