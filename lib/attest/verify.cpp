// Verification from the outside to the inside: form, key, signature, subject, time, one upload, index,
// outcome.
#include "lib/attest/verify.hpp"

#include <algorithm>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/attest/wheel_statements.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::attest {
namespace {

constexpr std::string_view ask_operator = "do not use the file, and ask the registry's operator";

tl::unexpected<base::Error> fail_wheel(std::string code, std::string sentence, std::string_view value,
                                       std::string_view advice) {
    return base::fail(std::move(code), std::move(sentence), std::string(value), std::string(advice));
}

// Roots whose keys sign roots only are no help here: a root key signs no wheel.
base::Result<const PublicKey*> key_of(const Trust& trust, std::string_view key_id) {
    if (trust.key && trust.key->id() == key_id) return &*trust.key;
    if (trust.root) {
        for (const std::string& id : trust.root->provenance)
            if (id == key_id) return trust.root->find(id);
    }
    return fail_wheel("attest.unknown_key", "A key that you do not trust has signed the statement", key_id,
                      "give the --key of this registry, or its newest --root");
}

base::Result<Statement> open_envelope(std::string_view text, const Trust& trust, std::string& key_id) {
    WHEELYARD_ASSIGN(const Envelope envelope, parse_envelope(text, "The signed statement"));
    if (envelope.payload_type != statement_type)
        return fail_wheel("attest.statement", "A signed document is no statement", envelope.payload_type,
                          ask_operator);
    if (envelope.signatures.size() != 1)
        return fail_wheel("attest.signature", "A statement has not exactly one signature",
                          std::to_string(envelope.signatures.size()), ask_operator);
    const Signature& signature = envelope.signatures.front();
    WHEELYARD_ASSIGN(const PublicKey* key, key_of(trust, signature.key_id));
    if (!key->verifies(pre_authentication_encoding(envelope.payload_type, envelope.payload), signature.bytes))
        return fail_wheel(
            "attest.signature", "The signature does not belong to the statement", signature.key_id,
            "fetch the statement again, of a wheel the file that ends in .prov; if it stays so, do "
            "not use what it is about");
    key_id = signature.key_id;
    return parse_statement(envelope.payload);
}

base::Status check_subject(const Statement& statement, std::string_view filename, std::string_view sha256) {
    if (statement.filename != filename)
        return fail_wheel("attest.other_wheel", "The statement is about a wheel of another name",
                          statement.filename,
                          "give the file its published name, or fetch its own .prov file");
    if (statement.sha256 != sha256)
        return fail_wheel("attest.other_wheel", "The wheel has other bytes than the signed one",
                          "sha256 " + std::string(sha256) + ", signed " + statement.sha256,
                          "fetch the wheel again; if it stays so, do not use it");
    return {};
}

base::Result<base::UnixMicros> time_of(const Statement& statement) {
    const std::string text =
        statement.predicate_type == provenance_predicate
            ? text_in(statement.predicate, {"buildDefinition", "internalParameters", "asserted_by", "time"})
            : text_in(statement.predicate, {"time"});
    return base::parse_rfc3339(text);
}

base::Status check_time(const Statement& statement, const std::string& key_id, const Trust& trust) {
    WHEELYARD_ASSIGN(const base::UnixMicros time, time_of(statement));
    const auto from = trust.root ? trust.root->revoked_from(key_id) : std::nullopt;
    if (!from || time < *from) return {};
    return fail_wheel("attest.revoked", "The key was revoked before the statement was signed",
                      "signed " + base::render_rfc3339(time) + ", revoked from " +
                          base::render_rfc3339(*from) + ", key " + key_id,
                      ask_operator);
}

// A statement has one rendered form, so its bytes are those that were signed.
base::Status check_one_upload(const Statement& summary, const Statement& provenance) {
    if (text_in(summary.predicate, {"provenance", "sha256"}) ==
        base::sha256_hex(render_statement(provenance)))
        return {};
    return fail_wheel("attest.mixed", "The two statements are of different uploads", summary.filename,
                      "fetch the file that ends in .prov again, from the registry itself");
}

base::Status check_document(const Statement& summary, std::string_view document) {
    const std::string signed_sha256 = text_in(summary.predicate, {"document", "sha256"});
    const std::string sha256 = base::sha256_hex(document);
    if (signed_sha256 == sha256) return {};
    return fail_wheel("attest.document", "The agent's document is not the one that the registry summarised",
                      "sha256 " + sha256 + ", signed " + signed_sha256,
                      "fetch the file that ends in .prov again; if it stays so, do not believe it");
}

// A registry's indexes may have other people who upload, with the same key for all of them.
base::Status check_index(const Statement& summary, const Trust& trust, std::vector<std::string>& warnings) {
    const std::string index = text_in(summary.predicate, {"index"});
    if (trust.indexes.empty()) {
        warnings.push_back("anybody who may upload to any index of this registry may have uploaded it, to " +
                           index + ": --uploaded-to says which indexes are right");
        return {};
    }
    if (std::find(trust.indexes.begin(), trust.indexes.end(), index) != trust.indexes.end()) return {};
    return fail_wheel("attest.index", "The wheel was uploaded to another index", index,
                      "you named " + base::join(trust.indexes, ", ") +
                          "; a promoted wheel keeps the index that it was uploaded to");
}

void warn_of_outcome(const Statement& summary, std::vector<std::string>& warnings) {
    const std::string outcome = text_in(summary.predicate, {"outcome"});
    if (outcome != "accepted")
        warnings.push_back("the registry has not accepted it, it was " + outcome +
                           ": whether it was released since is on the index's page");
}

// `time`: of the signature.
void warn_of_clock(const Trust& trust, base::UnixMicros time, std::vector<std::string>& warnings) {
    if (time > trust.now + max_clock_skew_us)
        warnings.push_back("signed in the future: the clock here says " + base::render_rfc3339(trust.now) +
                           "; check this machine's clock, without which no expiry is noticed");
}

void warn_of_expiry(const Trust& trust, std::vector<std::string>& warnings) {
    if (trust.root && trust.root->expires <= trust.now)
        warnings.push_back("the root document expired " + base::render_rfc3339(trust.root->expires) +
                           ": a key that was revoked since is not known to be");
}

}  // namespace

base::Result<Trust> read_trust(const std::filesystem::path& root, const std::filesystem::path& key,
                               base::UnixMicros now, std::vector<std::string> indexes) {
    Trust trust{{}, {}, now, std::move(indexes)};
    if (!key.empty()) {
        WHEELYARD_ASSIGN(const std::string pem, base::read_file(key, max_key_bytes));
        WHEELYARD_ASSIGN(trust.key, PublicKey::from_pem(pem));
    }
    if (!root.empty()) {
        WHEELYARD_ASSIGN(const std::string text, base::read_file(root, max_signed_bytes));
        WHEELYARD_ASSIGN(trust.root, read_root(text));
    }
    return trust;
}

std::string text_in(const io::Json& json, std::initializer_list<std::string_view> path) {
    const io::Json* at = &json;
    for (const std::string_view name : path) {
        if (at != nullptr) at = at->find(name);
    }
    return at == nullptr || at->as_string() == nullptr ? std::string() : *at->as_string();
}

base::Result<VerifiedWheel> verify_wheel(std::string_view filename, std::string_view sha256,
                                         std::string_view text, const Trust& trust) {
    WHEELYARD_ASSIGN(const SignedProvenance parts, split_statements(text));
    if (parts.statements.empty())
        return fail_wheel(
            "attest.none", "The registry signed no statement about this wheel", filename,
            "wheels that no agent built have none, nor those from before the registry had a key");
    std::optional<Statement> provenance;
    std::optional<Statement> summary;
    VerifiedWheel wheel;
    for (const std::string& envelope : parts.statements) {
        WHEELYARD_ASSIGN(Statement statement, open_envelope(envelope, trust, wheel.key_id));
        WHEELYARD_TRY(check_subject(statement, filename, sha256));
        WHEELYARD_TRY(check_time(statement, wheel.key_id, trust));
        std::optional<Statement>& place =
            statement.predicate_type == provenance_predicate ? provenance : summary;
        const bool is_known =
            statement.predicate_type == provenance_predicate || statement.predicate_type == summary_predicate;
        if (is_known && !place && statement.predicate_type == provenance_predicate && summary)
            return fail_wheel("attest.order", "The two statements are not in their one order", filename,
                              "fetch the file that ends in .prov again, from the registry itself");
        if (!is_known || place)
            return fail_wheel("attest.incomplete", "There are other statements than one of each kind",
                              statement.predicate_type, "use a newer wheelyard-registry");
        place = std::move(statement);
    }
    if (!provenance || !summary)
        return fail_wheel("attest.incomplete", "One of the two statements is missing",
                          provenance ? summary_predicate : provenance_predicate, ask_operator);
    WHEELYARD_TRY(check_one_upload(*summary, *provenance));
    WHEELYARD_TRY(check_document(*summary, parts.document));
    WHEELYARD_TRY(check_index(*summary, trust, wheel.warnings));
    warn_of_outcome(*summary, wheel.warnings);
    WHEELYARD_ASSIGN(wheel.time, time_of(*summary));
    warn_of_clock(trust, wheel.time, wheel.warnings);
    warn_of_expiry(trust, wheel.warnings);
    wheel.provenance = *std::move(provenance);
    wheel.summary = *std::move(summary);
    return wheel;
}

base::Result<VerifiedExport> verify_export(std::string_view filename, std::string_view sha256,
                                           std::string_view text, const Trust& trust) {
    VerifiedExport found;
    WHEELYARD_ASSIGN(found.statement, open_envelope(text, trust, found.key_id));
    const Statement& statement = found.statement;
    if (statement.predicate_type != export_predicate)
        return fail_wheel("attest.statement", "The statement is about something else than an export",
                          statement.predicate_type, "use a newer wheelyard-registry");
    if (statement.filename != filename || statement.sha256 != sha256)
        return fail_wheel(
            "attest.other_file", "The file is not the one that was signed",
            "sha256 " + std::string(sha256) + ", signed " + statement.filename + " with " + statement.sha256,
            "get the file and its statement again, under their names; if it stays so, do not "
            "believe it");
    WHEELYARD_ASSIGN(found.time, time_of(statement));
    WHEELYARD_TRY(check_time(statement, found.key_id, trust));
    warn_of_clock(trust, found.time, found.warnings);
    warn_of_expiry(trust, found.warnings);
    return found;
}

}  // namespace wheelyard::attest
