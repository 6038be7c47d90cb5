// Why two builds of the same inputs give different bytes: the table of causes. docs/how-to/check-reproducibility.md shows
// it, and a test compares the two.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

enum class Cause {
    settings,
    tools,
    build_path,
    temporary_path,
    build_time,
    order,
    symbol_order,
    compiler,
    code,
    generator,
    members,
    member_order,
    member_time,
    member_mode,
    packing,
    bytes,
    // The cause of none: these follow from the others.
    build_id,
    offsets,
    record,
};

struct CauseRow {
    Cause cause;
    std::string_view code;
    std::string_view sentence;    // for people
    std::string_view recognised;  // how the comparison finds it
    std::string_view cure;        // what to set; empty: nothing, once the other causes are gone
    bool follows = false;         // it disappears with the others
};
[[nodiscard]] const CauseRow& cause_row(Cause cause);
// A Markdown table with one row for each cause.
[[nodiscard]] std::string render_causes();

}  // namespace wheelyard::builder
