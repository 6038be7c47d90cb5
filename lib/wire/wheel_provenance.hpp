// What made a wheel, "wheelyard.provenance/1": the agent sends it with the upload, the registry keeps it with
// the file. Published trees serve it to everybody, so it has no environment beyond a named list, no host and
// no log.
//
//     {"format":"wheelyard.provenance/1","wheel":{"filename":"…","sha256":"…"},"site":"debian12",
//      "program":"wheelyard-builder 0.1.0","attempt":"w1kq7x9aab3cde",…,"source":{"kind":"sdist",…},
//      "build":{"script_sha256":"…","tools":{"c++":"…"},…},"log":"wheelyard-builder logs w1kq7x9aab3cde"}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/wire/outcome.hpp"

namespace wheelyard::wire {

inline constexpr std::size_t max_provenance_bytes = 64 * 1024;  // of one document; an agent's has some 3 KiB

// The build's statement as its agent makes it; nobody else has verified it.
struct WheelProvenance {
    WheelFile wheel;  // the file that it is about
    std::string site;
    std::string program;  // name and version of the agent
    std::string attempt;
    std::string cell;
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;
    int number = 1;  // of the attempt at this cell
    base::UnixMicros began = 0;
    SourceFile source;
    Provenance build;
    std::string recipe = {};                     // name of the recipe's file; empty: none, or unknown
    std::string recipe_sha256 = {};              // empty: it changed after the attempt began
    std::string node_type = {};                  // of the site's description; never a host
    std::optional<GovernedBuild> governed = {};  // counts and bytes only: sources and messages name paths
    std::string notice = {};                     // what people should know of the wheel; empty: nothing
    std::string log;                             // the command that prints the log at the site
    bool is_cut = false;                         // lists were left out: the document would be too large
};

// At most max_provenance_bytes: a longer document loses its lists and gets "cut":true. The same value gives
// the same bytes.
[[nodiscard]] std::string render_wheel_provenance(const WheelProvenance& provenance);
// Members that this version does not know are ignored. Errors: "provenance.format", "provenance.too_large",
// "provenance.wheel".
[[nodiscard]] base::Result<WheelProvenance> parse_wheel_provenance(std::string_view text);
// The governor's summary as the document has it.
[[nodiscard]] io::Json governor_counts(const GovernedBuild& build);
// The table of its members in docs/reference/provenance.md.
[[nodiscard]] std::string document_wheel_provenance();

}  // namespace wheelyard::wire
