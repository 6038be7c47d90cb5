// What one node was told and every node shows: the last report of each site, by index and site. Nodes read it
// from here each second or two; the text is that of docs/reference/site-status.md.
#pragma once

#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::nodes {

struct BoardReport {
    std::string index;
    std::string site;
    base::UnixMicros time = 0;
    std::string text = {};
};

// One connection, for one thread at a time. Every call fails within a few seconds if the database does not
// answer.
class ReportBoard {
  public:
    virtual ~ReportBoard() = default;
    // A report that is not newer than the one on the board changes nothing.
    [[nodiscard]] virtual base::Status keep(const BoardReport& report) = 0;
    [[nodiscard]] virtual base::Status remove(const std::string& index, const std::string& site) = 0;
    // All, without their texts.
    [[nodiscard]] virtual base::Result<std::vector<BoardReport>> list() = 0;
    // With its text. An error if it is not there.
    [[nodiscard]] virtual base::Result<BoardReport> read(const std::string& index,
                                                         const std::string& site) = 0;
};

}  // namespace wheelyard::nodes
