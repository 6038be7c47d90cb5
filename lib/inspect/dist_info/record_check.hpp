// RECORD against the archive: what it lists, what it leaves out, and every hash and size.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/digest.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/record.hpp"

namespace wheelyard::inspect {

class RecordCheck {
  public:
    // `dist_info`: the folder whose RECORD this is.
    RecordCheck(std::vector<wheel::RecordRow> rows, std::string dist_info);

    // Rows and members against each other, hashes strong enough, sizes as declared by the archive.
    void check_listing(const std::vector<Member>& members, Findings& findings) const;
    // The digest that must be computed over `member`.
    [[nodiscard]] base::DigestKind digest_kind(const Member& member) const;
    // `digest`: of that kind, raw, over the member's unpacked bytes.
    void check_digest(const Member& member, std::string_view digest, Findings& findings) const;

  private:
    [[nodiscard]] const wheel::RecordRow* row_of(std::string_view path) const;
    [[nodiscard]] bool is_exempt(
        std::string_view path) const;  // RECORD and its signatures cannot hold their own hash

    std::vector<wheel::RecordRow> rows_;
    std::unordered_map<std::string_view, const wheel::RecordRow*> by_path_;
    std::string dist_info_;
};

}  // namespace wheelyard::inspect
