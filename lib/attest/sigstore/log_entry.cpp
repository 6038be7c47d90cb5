// Entries of a log: form, promise, inclusion, checkpoint, and what they are about.
#include "lib/attest/sigstore/log_entry.hpp"

#include <cstddef>
#include <limits>
#include <utility>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::sigstore {
namespace {

constexpr std::size_t max_path = 63;  // hashes of an inclusion proof: a log has fewer than 2^63 entries
constexpr std::size_t max_checkpoint_signatures = 16;  // of the log, and of witnesses

using io::Json;

constexpr std::size_t hash_bytes = 32;
constexpr std::size_t key_hint_bytes =
    4;  // before a signature of a checkpoint: the first bytes of the log's ID

tl::unexpected<base::Error> fail_form(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attestation.form", std::move(sentence), std::move(value),
                                "send attestations as PEP 740 describes them");
}

tl::unexpected<base::Error> refuse_entry(std::string code, std::string sentence, std::string value = {}) {
    return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                         {std::move(code), std::move(sentence), std::move(value),
                          "make the attestation again; if it stays so, ask the operator of the log"});
}

std::string sha256_of(std::initializer_list<std::string_view> pieces) {
    base::Digest digest(base::DigestKind::sha256);
    for (const std::string_view piece : pieces)
        digest.update(piece);
    return digest.finish();
}

const Json& member(const Json& json, std::string_view name) {
    static const Json none;
    const Json* found = json.find(name);
    return found == nullptr ? none : *found;
}

// Numbers of 64 bits are texts in protobuf's JSON.
base::Result<std::int64_t> number_at(const Json& json, std::string_view name) {
    const auto number = base::parse_decimal(json.string_or(name, {}));
    if (number && *number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return static_cast<std::int64_t>(*number);
    return fail_form("A log entry lacks the number `" + std::string(name) + "`");
}

base::Status read_proof(const Json& proof, LogEntry& entry) {
    WHEELYARD_ASSIGN(entry.tree_index, number_at(proof, "logIndex"));
    WHEELYARD_ASSIGN(entry.tree_size, number_at(proof, "treeSize"));
    WHEELYARD_ASSIGN(entry.tree_root, strict_base64_at(proof, "rootHash"));
    if (proof.items("hashes").size() > max_path)
        return fail_form("The proof of a log entry has too many hashes");
    for (const Json& hash : proof.items("hashes")) {
        WHEELYARD_ASSIGN(std::string bytes, strict_base64_at(Json::object({{"hashes", hash}}), "hashes"));
        if (bytes.size() != hash_bytes) return fail_form("A hash of a log entry's proof has not 32 bytes");
        entry.path.push_back(std::move(bytes));
    }
    entry.checkpoint = member(proof, "checkpoint").string_or("envelope", {});
    return {};
}

// A checkpoint (c2sp.org/tlog-checkpoint): origin, size and root, an empty line, signatures. The name in the
// log's signature line is the beginning of the origin: nothing of the line is left that nobody checks.
base::Status check_checkpoint(const LogEntry& entry, const attest::PublicKey& key) {
    const auto fail_checkpoint = [](std::string value) {
        return refuse_entry("attestation.checkpoint",
                            "The log has not signed the tree that the proof leads to", std::move(value));
    };
    const std::string_view note = entry.checkpoint;
    const std::size_t cut = note.find("\n\n");
    if (cut == std::string_view::npos) return fail_checkpoint("no checkpoint");
    const std::string_view text = note.substr(0, cut + 1);
    const auto lines = base::split(text, '\n');
    if (lines.size() < 4 || lines[1] != std::to_string(entry.tree_size) ||
        lines[2] != base::encode_base64(entry.tree_root))
        return fail_checkpoint("another size or root");
    const auto signatures = base::split(note.substr(cut + 2), '\n');
    if (signatures.size() > max_checkpoint_signatures + 1) return fail_checkpoint("too many signatures");
    for (const std::string_view line : signatures) {
        constexpr std::string_view dash = "\xe2\x80\x94 ";
        const std::size_t space = line.rfind(' ');
        if (!line.starts_with(dash) || space < dash.size()) continue;
        const std::string_view name = line.substr(dash.size(), space - dash.size());
        const bool is_own = lines[0] == name ||
                            (lines[0].starts_with(name) && lines[0].substr(name.size()).starts_with(" - "));
        const auto bytes = strict_base64_at(Json::object({{"line", line.substr(space + 1)}}), "line");
        if (!is_own || !bytes || bytes->size() <= key_hint_bytes) continue;
        if (bytes->substr(0, key_hint_bytes) == entry.log_id.substr(0, key_hint_bytes) &&
            key.verifies(text, std::string_view(*bytes).substr(key_hint_bytes)))
            return {};
    }
    return fail_checkpoint("no signature of the log");
}

}  // namespace

base::Result<std::string> strict_base64_at(const Json& json, std::string_view name) {
    const std::string text = json.string_or(name, {});
    auto bytes = base::decode_base64(text);
    if (bytes && !bytes->empty() && base::encode_base64(*bytes) == text) return bytes;
    return fail_form("An attestation lacks the base64 of `" + std::string(name) + "`");
}

std::string tree_root_of(std::string_view leaf, std::int64_t index, std::int64_t size,
                         const std::vector<std::string>& path) {
    if (index < 0 || index >= size) return {};
    std::string node = sha256_of({std::string_view("\0", 1), leaf});
    std::int64_t last = size - 1;
    for (const std::string& sibling : path) {
        if (last == 0) return {};
        if (index % 2 == 1 || index == last) {
            node = sha256_of({"\1", sibling, node});
            while (index % 2 == 0 && index != 0) {
                index /= 2;
                last /= 2;
            }
        } else {
            node = sha256_of({"\1", node, sibling});
        }
        index /= 2;
        last /= 2;
    }
    return last == 0 ? node : std::string();
}

base::Result<LogEntry> read_log_entry(const Json& json) {
    const Json& kind = member(json, "kindVersion");
    const std::string found = kind.string_or("kind", {}) + " " + kind.string_or("version", {});
    if (found.ends_with(" 0.0.2"))
        return base::fail_as(
            base::ErrorKind::unsupported, base::Recovery::never,
            {"attestation.rekor_v2", "The attestation is in a log of Rekor v2, which is not supported", found,
             "sign with a log of Rekor v1, or upload without the attestation"});
    if (found != "dsse 0.0.1") return fail_form("A log entry is of another kind than `dsse 0.0.1`", found);
    LogEntry entry;
    WHEELYARD_ASSIGN(entry.log_id, strict_base64_at(member(json, "logId"), "keyId"));
    WHEELYARD_ASSIGN(entry.index, number_at(json, "logIndex"));
    WHEELYARD_ASSIGN(entry.time_s, number_at(json, "integratedTime"));
    if (entry.time_s > max_time_s) return fail_form("The time of a log entry is too late");
    WHEELYARD_ASSIGN(entry.body, strict_base64_at(json, "canonicalizedBody"));
    WHEELYARD_ASSIGN(entry.promise,
                     strict_base64_at(member(json, "inclusionPromise"), "signedEntryTimestamp"));
    WHEELYARD_TRY(read_proof(member(json, "inclusionProof"), entry));
    return entry;
}

base::Status verify_log_entry(const LogEntry& entry, const TrustedRoot& root) {
    const std::string id = base::encode_hex(entry.log_id);
    const Log* log = find_log(root.entry_logs, id, entry.time());
    if (log == nullptr)
        return refuse_entry("attestation.unknown_log",
                            "The log of the attestation is not trusted, or was not then", id);
    // Keys sorted, no spaces: RFC 8785.
    const std::string promised = Json::object({{"body", base::encode_base64(entry.body)},
                                               {"integratedTime", entry.time_s},
                                               {"logID", id},
                                               {"logIndex", entry.index}})
                                     .render();
    if (!log->key.verifies(promised, entry.promise))
        return refuse_entry("attestation.promise", "The log has not promised this entry for this time");
    if (tree_root_of(entry.body, entry.tree_index, entry.tree_size, entry.path) != entry.tree_root)
        return refuse_entry("attestation.inclusion",
                            "The proof does not lead from the entry to the root of the log's tree");
    return check_checkpoint(entry, log->key);
}

base::Status check_logged(const LogEntry& entry, const Logged& logged) {
    const auto fail_entry = [](std::string value) {
        return refuse_entry("attestation.other_entry",
                            "The log entry is about something else than the attestation", std::move(value));
    };
    const auto body = io::parse_strict_json(entry.body, {.bytes = max_field_bytes, .depth = max_depth});
    if (!body || body->string_or("kind", {}) != "dsse" || body->string_or("apiVersion", {}) != "0.0.1")
        return fail_entry("another kind");
    const Json& spec = member(*body, "spec");
    const Json& hash = member(spec, "payloadHash");
    const Json::Array& signatures = spec.items("signatures");
    if (hash.string_or("algorithm", {}) != "sha256" ||
        hash.string_or("value", {}) != base::sha256_hex(logged.payload))
        return fail_entry("another statement");
    if (signatures.size() != 1 ||
        signatures[0].string_or("signature", {}) != base::encode_base64(logged.signature))
        return fail_entry("another signature");
    if (signatures[0].string_or("verifier", {}) != base::encode_base64(logged.certificate_pem))
        return fail_entry("another certificate");
    return {};
}

}  // namespace wheelyard::sigstore
