// Compares RECORD with the archive: listed and missing members, hashes and sizes.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <optional>
#include <unordered_set>

#include "lib/base/text/encoding.hpp"

namespace wheelyard::inspect {
namespace {

struct StrongHash {
    std::string_view name;
    base::DigestKind kind;
};
// The binary distribution format requires sha256 or better; these are the algorithms that every installer
// supports.
constexpr StrongHash strong_hashes[] = {{"sha256", base::DigestKind::sha256},
                                        {"sha384", base::DigestKind::sha384},
                                        {"sha512", base::DigestKind::sha512}};

std::optional<base::DigestKind> strong_kind(std::string_view algorithm) {
    for (const auto& hash : strong_hashes) {
        if (hash.name == algorithm) return hash.kind;
    }
    return std::nullopt;
}

}  // namespace

RecordCheck::RecordCheck(std::vector<wheel::RecordRow> rows, std::string dist_info)
    : rows_(std::move(rows)), dist_info_(std::move(dist_info)) {
    by_path_.reserve(rows_.size());
    for (const auto& row : rows_)
        by_path_.emplace(row.path, &row);
}

const wheel::RecordRow* RecordCheck::row_of(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
}

bool RecordCheck::is_exempt(std::string_view path) const {
    if (!path.starts_with(dist_info_)) return false;
    path.remove_prefix(dist_info_.size());
    return path == "/RECORD" || path == "/RECORD.jws" || path == "/RECORD.p7s";
}

void RecordCheck::check_listing(const std::vector<Member>& members, Findings& findings) const {
    std::unordered_set<std::string_view> names;
    for (const Member& member : members) {
        names.insert(member.name);
        if (!member.is_directory() && !is_exempt(member.name) && row_of(member.name) == nullptr) {
            findings.add("record.unlisted", member.name);
        }
    }
    std::unordered_set<std::string_view> seen;
    for (const auto& row : rows_) {
        if (!seen.insert(row.path).second) findings.add("record.duplicate", row.path);
        if (names.count(row.path) == 0) findings.add("record.member_missing", row.path);
        if (is_exempt(row.path)) {
            if (!row.algorithm.empty()) findings.add("record.self_hash", row.path, "no hash", row.algorithm);
            continue;
        }
        if (row.has_fault) continue;  // record.invalid reports it
        if (row.algorithm.empty()) {
            if (!row.path.ends_with('/')) findings.add("record.no_hash", row.path, "sha256=…", "none");
        } else if (!strong_kind(row.algorithm)) {
            findings.add("record.weak_hash", row.path, "sha256, sha384 or sha512", row.algorithm);
        }
    }
    for (const Member& member : members) {
        const wheel::RecordRow* row = row_of(member.name);
        if (row != nullptr && row->size && *row->size != member.unpacked_bytes && !is_exempt(member.name)) {
            findings.add("record.size_mismatch", member.name, std::to_string(*row->size) + " bytes",
                         std::to_string(member.unpacked_bytes));
        }
    }
}

base::DigestKind RecordCheck::digest_kind(const Member& member) const {
    const wheel::RecordRow* row = row_of(member.name);
    return row == nullptr ? base::DigestKind::sha256
                          : strong_kind(row->algorithm).value_or(base::DigestKind::sha256);
}

void RecordCheck::check_digest(const Member& member, std::string_view digest, Findings& findings) const {
    const wheel::RecordRow* row = row_of(member.name);
    if (row == nullptr || is_exempt(member.name) || !strong_kind(row->algorithm)) return;
    if (row->digest == digest) return;
    findings.add("record.hash_mismatch", member.name,
                 row->algorithm + "=" + base::encode_base64url(row->digest),
                 row->algorithm + "=" + base::encode_base64url(digest));
}

}  // namespace wheelyard::inspect
