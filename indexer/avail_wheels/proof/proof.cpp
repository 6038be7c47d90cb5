#include "indexer/avail_wheels/proof/proof.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "lib/attest/limits.hpp"
#include "lib/attest/sigstore/attestation.hpp"
#include "lib/attest/sigstore/limits.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/attest/verify.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
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
        std::optional<sigstore::TrustedRoot> own;
        if (!asked_.sigstore_root.empty()) {
            WHEELYARD_ASSIGN(const std::string json,
                             base::read_file(asked_.sigstore_root, sigstore::max_root_bytes));
            WHEELYARD_ASSIGN(own, sigstore::read_trusted_root(json));
        }
        proof_.filename = file_.filename().string();
        WHEELYARD_ASSIGN(proof_.sha256, base::sha256_hex_of_file(file_));
        compare_hash();
        if (!asked_.index_url.empty()) WHEELYARD_TRY(compare_page());
        check_statement(trust);
        check_attestations(own ? *own : sigstore::public_root());
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
        const auto page =
            simple::fetch_project(get_, asked_.index_url, name.project, simple::Forbidden::is_error);
        const auto url = base::parse_url(asked_.index_url);
        const std::string where = url ? url->text_without_secrets() : std::string("the index");
        if (!page)
            add("index", Proved::no, page.error().text());
        else if (!*page)
            add("index", Proved::no,
                where + " has no project " + name.project + ": name the index that it came from");
        else
            compare_link(where, **page);
        return {};
    }

    void compare_link(const std::string& where, const simple::ProjectPage& page) {
        const auto warn = [&](const std::string& what, const std::string& reason) {
            proof_.warnings.push_back(where + " says that " + what + (reason.empty() ? "" : ": " + reason));
        };
        if (!page.status.empty() && page.status != "active")
            warn("the project is " + page.status, page.status_reason);
        const auto* found = simple::find_file(page, proof_.filename);
        if (found == nullptr)
            return add(
                "index", Proved::no,
                where + " has no wheel of this name: name the index that it came from with --index-url");
        link_ = *found;
        if (found->yanked) warn("the wheel is yanked", found->yanked_reason);
        if (found->sha256.empty()) return add("index", Proved::nothing, where + " gives no SHA-256");
        if (found->sha256 != proof_.sha256)
            return add("index", Proved::no,
                       where + " has other bytes, " + found->sha256 +
                           ": fetch the wheel again; if it stays so, do not use it");
        add("index", Proved::yes, "the same bytes at " + where);
    }

    // A document beside the wheel, or at its address in the index.
    struct Beside {
        std::string step;
        std::string suffix;
        std::string url;        // empty: the index is not asked
        bool is_named = false;  // by the page, so that the index has it
        std::size_t max_bytes = 0;
        Proved without = Proved::nothing;  // what follows if there is none
        std::string absence;               // the reason for which the index has none
    };

    // nullopt: there is none.
    [[nodiscard]] base::Result<std::optional<std::string>> document(const Beside& what) const {
        std::error_code fault;
        const auto beside = std::filesystem::canonical(file_.native() + what.suffix, fault);
        if (!fault) {
            WHEELYARD_ASSIGN(std::string text, base::read_untrusted_file(beside, what.max_bytes));
            return std::optional(std::move(text));
        }
        if (fault != std::errc::no_such_file_or_directory)
            return base::fail_errno("open", file_.native() + what.suffix, fault.value());
        if (what.url.empty()) return std::optional<std::string>();
        WHEELYARD_ASSIGN(io::HttpAnswer answer, get_(what.url, {}, what.max_bytes));
        constexpr int ok = 200;
        constexpr int not_found = 404;
        // Some servers have a page for people where they have nothing.
        const bool is_page = base::trim(answer.body).starts_with('<');
        if (answer.status == ok && (what.is_named || !is_page)) return std::optional(std::move(answer.body));
        if (answer.status == ok || (answer.status == not_found && !what.is_named))
            return std::optional<std::string>();
        base::Error error = simple::error_of_answer("proof.http", answer, what.url, "try again later");
        if (answer.status == not_found) error.kind = base::ErrorKind::missing;
        return base::fail(std::move(error));
    }

    // nullopt: the step says why there is none.
    std::optional<std::string> find(const Beside& what) {
        auto text = document(what);
        // This is a transfer that went wrong: neither a document nor a proof that there is none.
        if (text && *text && (*text)->empty()) text = base::fail("proof.empty", "This document is empty");
        if (!text)
            add(what.step, text.error().kind == base::ErrorKind::missing ? Proved::no : what.without,
                "not read: " + text.error().text());
        else if (!*text)
            add(what.step, what.without,
                "none: " +
                    (link_ ? what.absence : proof_.filename + what.suffix + " is not beside the wheel"));
        return text ? *std::move(text) : std::nullopt;
    }

    [[nodiscard]] std::string beside(std::string_view suffix) const {
        auto url = base::parse_url(link_ ? link_->url : std::string());
        if (!url) return {};
        url->path += suffix;
        return url->text();
    }

    void check_statement(const attest::Trust& trust) {
        const bool is_trusting = trust.key || trust.root;
        const Proved without = is_trusting ? Proved::no : Proved::nothing;
        const auto text =
            find({"statement", ".prov", beside(".prov"), link_ && !link_->provenance_sha256.empty(),
                  attest::max_signed_bytes, without, "no agent of this index built the wheel"});
        if (!text) return;
        if (!is_trusting) {
            add("statement", without,
                "not verified, since nobody is trusted to sign: give --root FILE or --key FILE, which the "
                "registry's operator gave you");
            return;
        }
        const auto wheel = attest::verify_wheel(proof_.filename, proof_.sha256, *text, trust);
        if (!wheel) {
            add("statement", Proved::no, wheel.error().text());
            return;
        }
        add("statement", Proved::yes,
            "signed by " + attest::text_in(wheel->summary.predicate, {"registry", "id"}) + " at " +
                base::render_rfc3339(wheel->time));
        tell(*wheel);
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
        proof_.warnings.insert(proof_.warnings.end(), wheel.warnings.begin(), wheel.warnings.end());
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

    // Anybody may sign: what counts is a publisher that was named, but for what others made its job do.
    void check_attestations(const sigstore::TrustedRoot& root) {
        const Proved without = asked_.publishers.empty() ? Proved::nothing : Proved::no;
        const bool is_named =
            link_ && (!link_->attestations_sha256.empty() || !link_->provenance_url.empty());
        const auto text = find({"attestation", ".pep740", attestations_url(), is_named,
                                sigstore::max_document_bytes, without, "no publisher attests it"});
        if (!text) return;
        const auto found = sigstore::verify_provenance(*text, proof_.filename, proof_.sha256, root);
        if (!found) return add("attestation", Proved::no, found.error().text());
        bool has_named = false;
        for (const auto& one : found->attested) {
            const auto& who = one.identity;
            const std::string address = sigstore::publisher_address(who);
            const bool counts =
                std::any_of(asked_.publishers.begin(), asked_.publishers.end(),
                            [&](const std::string& name) { return sigstore::is_publisher(who, name); });
            has_named = has_named || counts;
            const std::string but =
                counts                ? ""
                : who.is_of_request() ? "; no proof, since others may have written what this job runs"
                : address.empty()     ? "; no proof, since nobody can name this kind of publisher"
                                      : "; no proof without --publisher " + address;
            add("attestation", counts ? Proved::yes : Proved::nothing,
                (who.repository.empty() ? who.subject : who.repository + " " + who.workflow()) + " at " +
                    base::render_rfc3339(one.time) + ", says " + who.issuer + but);
            proof_.attested.push(sigstore::record_of(one));
        }
        if (!has_named && without == Proved::no)
            add("attestation", without, "none of a publisher that --publisher names");
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
