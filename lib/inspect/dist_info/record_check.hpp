// Compares RECORD with the archive: listed and missing members, hashes and sizes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/record.hpp"

namespace wheelyard::inspect {

class RecordCheck {
  public:
    // `dist_info` is the folder that contains this RECORD.
    RecordCheck(std::vector<wheel::RecordRow> rows, std::string dist_info);

    // Checks that rows and members correspond, hashes are strong enough, and sizes match the archive's
    // directory.
    void check_listing(const std::vector<Member>& members, Findings& findings) const;
    // The algorithm to compute over `member`.
    [[nodiscard]] base::DigestKind digest_kind(const Member& member) const;
    // `digest` is the raw digest of the member's unpacked bytes, of kind digest_kind(member).
    void check_digest(const Member& member, std::string_view digest, Findings& findings) const;

  private:
    [[nodiscard]] const wheel::RecordRow* row_of(std::string_view path) const;
    // RECORD and its signatures cannot contain their own hash.
    [[nodiscard]] bool is_exempt(std::string_view path) const;

    std::vector<wheel::RecordRow> rows_;
    std::unordered_map<std::string_view, const wheel::RecordRow*> by_path_;
    std::string dist_info_;
};

}  // namespace wheelyard::inspect
