// One wheel of a project page: everything that its bytes prove, and on which of the sites' node types it
// runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/web/farm_report.hpp"
#include "lib/io/json.hpp"
#include "lib/page/farm.hpp"
#include "lib/page/html.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

// A row with its parsed parts. `facts` is an empty object if they are unknown.
struct ShownWheel {
    const catalog::FileRow* row = nullptr;
    io::Json facts;
    std::vector<std::string> pythons;     // "3.12", "any 3"
    std::string platform;                 // "aarch64", "any"
    std::string accelerator;              // "CUDA 12.6", "ROCm 6.2", "CPU"; empty: a wheel of Python only
    std::vector<avail_wheels::Fit> fits;  // one for each node type of the report
    std::optional<avail_wheels::Candidate> candidate =
        {};  // its name, without facts; nullopt: its name is invalid
};

[[nodiscard]] ShownWheel read_wheel(const catalog::FileRow& row, const FarmReport& report);
// Says whether pip of this Python takes it, as far as its name and Requires-Python say.
[[nodiscard]] bool suits_python(const ShownWheel& wheel, const avail_wheels::Python& python);
// On a node of this type with this Python.
[[nodiscard]] avail_wheels::Runs runs_on(const ShownWheel& wheel, const ReportedNode& node,
                                         const avail_wheels::Python& python);
// The address of an index in texts to paste: of the farm's public URL, else of a stand-in. Scripts replace
// either by the one that the reader has.
[[nodiscard]] std::string simple_address(const page::Farm& farm, std::string_view index);
// The fragment that leads to the wheel's section: "wheel-0123456789ab".
[[nodiscard]] std::string anchor_of(const catalog::FileRow& row);
[[nodiscard]] std::string anchor_of(std::string_view sha256);
// Values for the filters of the search: "CUDA", "ROCm", "MPI"; GPU architectures.
[[nodiscard]] std::vector<std::string> uses_of(const io::Json& facts);
[[nodiscard]] std::vector<std::string> gpus_of(const io::Json& facts);

// `index`: of the page; `address`: its simple_address(). `provenance`: the document of its agent
// (docs/reference/provenance.md); empty: none.
[[nodiscard]] page::Html render_wheel(const ShownWheel& wheel, std::string_view index,
                                      const std::string& address, const std::vector<ReportedNode>& nodes,
                                      std::string_view provenance, bool is_open);

}  // namespace wheelyard::indexer
