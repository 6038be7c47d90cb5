#include "indexer/avail_wheels/proof/proof.hpp"

#include <optional>
#include <system_error>

#include "lib/attest/limits.hpp"
#include "lib/attest/sigstore/attestation.hpp"
#include "lib/attest/sigstore/limits.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/attest/verify.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/url.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::avail_wheels {
namespace {

using io::Json;

class Prover {
  public:
    Prover(const std::filesystem::path& file, const ProofQuestion& asked, const simple::GetPage& get)
        : file_(file), asked_(asked), get_(get) {}

    base::Result<Proof> prove(base::UnixMicros now) {
        WHEELYARD_ASSIGN(attest::Trust trust,
                         attest::read_trust(asked_.root, asked_.key, now, asked_.uploaded_to));
        proof_.filename = file_.filename().string();
        WHEELYARD_ASSIGN(proof_.sha256, base::sha256_hex_of_file(file_));
        compare_hash();
        if (!asked_.index_url.empty()) WHEELYARD_TRY(compare_page());
        WHEELYARD_TRY(check_statement(trust));
        WHEELYARD_TRY(check_attestations());
        return std::move(proof_);
    }

  private:
    void add(std::string name, Proved proved, std::string text) {
        proof_.steps.push_back({std::move(name), proved, std::move(text)});
    }

    void compare_hash() {
        if (asked_.sha256.empty()) return add("sha256", Proved::nothing, proof_.sha256);
        const bool is_same = base::equals_ignoring_case(asked_.sha256, proof_.sha256);
        add("sha256", is_same ? Proved::yes : Proved::no,
            proof_.sha256 + (is_same ? ", as given" : ", and --sha256 is " + asked_.sha256));
    }

    base::Status compare_page() {
        WHEELYARD_ASSIGN(const auto name, wheel::parse_wheel_filename(proof_.filename));
        WHEELYARD_ASSIGN(const auto page, simple::fetch_project(get_, asked_.index_url, name.project));
        const auto* found = page ? simple::find_file(*page, proof_.filename) : nullptr;
        const auto url = base::parse_url(asked_.index_url);
        const std::string where = url ? url->text_without_secrets() : std::string("the index");
        if (found == nullptr) {
            add("index", Proved::no,
                where + " has no wheel of this name: name the index that it came from with --index-url");
        } else if (found->sha256.empty()) {
            add("index", Proved::nothing, where + " gives no SHA-256");
        } else if (found->sha256 != proof_.sha256) {
            add("index", Proved::no,
                where + " has other bytes, " + found->sha256 +
                    ": fetch the wheel again; if it stays so, do not use it");
        } else {
            add("index", Proved::yes, "the same bytes at " + where);
        }
        if (found != nullptr) link_ = *found;
        return {};
    }

    // What lies beside the wheel, else what the index has at `url` (empty: it is not asked); nullopt:
    // neither has it.
    base::Result<std::optional<std::string>> document(std::string_view suffix, const std::string& url,
                                                      std::size_t max_bytes) const {
        std::filesystem::path beside = file_;
        beside += suffix;
        std::error_code ignored;
        if (std::filesystem::exists(beside, ignored)) {
            WHEELYARD_ASSIGN(std::string text, base::read_file(beside, max_bytes));
            return std::optional(std::move(text));
        }
        if (url.empty()) return std::optional<std::string>();
        WHEELYARD_ASSIGN(io::HttpAnswer answer, get_(url, {}, max_bytes));
        constexpr int ok = 200;
        if (answer.status == ok) return std::optional(std::move(answer.body));
        // Stores of objects answer 403 for what they do not have.
        if (answer.status == 404 || answer.status == 403) return std::optional<std::string>();
        return base::fail(simple::error_of_answer("proof.http", answer, url, "try again later"));
    }

    [[nodiscard]] std::string beside(std::string_view suffix) const {
        return link_ ? link_->url + std::string(suffix) : std::string();
    }

    base::Status check_statement(const attest::Trust& trust) {
        WHEELYARD_ASSIGN(const auto text, document(".prov", beside(".prov"), attest::max_signed_bytes));
        const bool is_trusting = trust.key || trust.root;
        const Proved without = is_trusting ? Proved::no : Proved::nothing;
        if (!text) {
            add("statement", without,
                link_ ? "none: no agent of this index built the wheel"
                      : "none: " + proof_.filename + ".prov is not beside the wheel");
            return {};
        }
        if (!is_trusting) {
            add("statement", without,
                "not verified, since nobody is trusted to sign: give --root FILE or --key FILE, which the "
                "registry's operator gave you");
            return {};
        }
        const auto wheel = attest::verify_wheel(proof_.filename, proof_.sha256, *text, trust);
        if (!wheel) {
            add("statement", Proved::no, wheel.error().text());
            return {};
        }
        add("statement", Proved::yes,
            "signed by " + attest::text_in(wheel->summary.predicate, {"registry", "id"}) + " at " +
                base::render_rfc3339(wheel->time));
        tell(*wheel);
        return {};
    }

    void tell(const attest::VerifiedWheel& wheel) {
        const Json& said = wheel.provenance.predicate;
        const Json& proved = wheel.summary.predicate;
        const auto tell_of = [&](std::string name, std::string text) {
            if (!text.empty()) proof_.told.emplace_back(std::move(name), std::move(text));
        };
        tell_of("key", wheel.key_id);
        tell_of("outcome",
                attest::text_in(proved, {"outcome"}) + " in " + attest::text_in(proved, {"index"}));
        tell_of("level", attest::text_in(proved, {"level"}));
        if (const Json* facts = proved.find("facts"); facts != nullptr) tell_of("proved", facts->render());
        tell_of("said by",
                "token " +
                    attest::text_in(said, {"buildDefinition", "internalParameters", "asserted_by", "token"}) +
                    ": of an agent, or of anybody else who may upload the project");
        tell_of("builder", attest::text_in(said, {"runDetails", "builder", "id"}));
        if (const Json* definition = said.find("buildDefinition"); definition != nullptr) {
            for (const Json& one : definition->items("resolvedDependencies"))
                tell_of("from", attest::text_in(one, {"name"}) + " " +
                                    attest::text_in(one, {"digest", "sha256"}) + " " +
                                    attest::text_in(one, {"uri"}));
        }
        proof_.warnings = wheel.warnings;
        proof_.statement = Json::object({{"keyid", wheel.key_id},
                                         {"time", base::render_rfc3339(wheel.time)},
                                         {"said", said},
                                         {"proved", proved}});
    }

    // At the address that the page names (PEP 740); beside the wheel where it names none, as pages in HTML.
    [[nodiscard]] std::string attestations_url() const {
        if (!link_ || !link_->attestations_sha256.empty() || link_->provenance_url.empty())
            return beside(".pep740");
        return link_->provenance_url;
    }

    base::Status check_attestations() {
        WHEELYARD_ASSIGN(const auto text,
                         document(".pep740", attestations_url(), sigstore::max_document_bytes));
        if (!text) {
            add("attestation", Proved::nothing,
                link_ ? "none: no publisher attests it"
                      : "none: " + proof_.filename + ".pep740 is not beside the wheel");
            return {};
        }
        std::optional<sigstore::TrustedRoot> own;
        if (!asked_.sigstore_root.empty()) {
            WHEELYARD_ASSIGN(const std::string json,
                             base::read_file(asked_.sigstore_root, sigstore::max_root_bytes));
            WHEELYARD_ASSIGN(own, sigstore::read_trusted_root(json));
        }
        const auto found = sigstore::verify_provenance(*text, proof_.filename, proof_.sha256,
                                                       own ? *own : sigstore::public_root());
        if (!found) {
            add("attestation", Proved::no, found.error().text());
            return {};
        }
        for (const auto& one : found->attested) {
            const auto& who = one.identity;
            add("attestation", Proved::yes,
                (who.repository.empty() ? who.subject : who.repository + " " + who.workflow()) + " at " +
                    base::render_rfc3339(one.time) + ", says " + who.issuer);
            proof_.attested.push(sigstore::record_of(one));
        }
        if (found->attested.empty()) add("attestation", Proved::nothing, "none: no publisher attests it");
        return {};
    }

    const std::filesystem::path& file_;
    const ProofQuestion& asked_;
    const simple::GetPage& get_;
    std::optional<simple::FileLink> link_;  // what the page has
    Proof proof_;
};

}  // namespace

base::Result<Proof> prove_wheel(const std::filesystem::path& file, const ProofQuestion& asked,
                                const simple::GetPage& get, base::UnixMicros now) {
    return Prover(file, asked, get).prove(now);
}

}  // namespace wheelyard::avail_wheels
