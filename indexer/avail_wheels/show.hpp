// The text of an answer: a table, file names, a document, an install line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/run.hpp"

namespace wheelyard::avail_wheels {

// How the head of a table begins and ends on a terminal (ECMA-48, SGR).
inline constexpr std::string_view bold = "\033[1m";
inline constexpr std::string_view not_bold = "\033[0m";

// The line that main() and every command print for an error; returns their exit status.
int print_error(std::ostream& err, const base::Error& error);

// A table of any rows. On a terminal it fits its width in the two formats without lines, and its header is
// bold.
void print_table(const DisplayOptions& display, const std::vector<std::string>& headers,
                 std::vector<Row> rows, const World& world, std::ostream& out);

// The wheels of an answer as the display options say: file names, a document, or a table.
void print_answer(const DisplayOptions& display, const Answer& answer, const World& world, std::ostream& out);

// "pip install --index-url … torch==2.6.0"; empty: there is no wheel. pip itself chooses among a version's
// wheels.
[[nodiscard]] std::string render_install_line(const SourceOptions& source, const Answer& answer,
                                              const std::vector<Wanted>& wanted);

// Names the packages without a wheel, if several were asked for and the output does not show it.
void tell_missing(const Query& query, const DisplayOptions& display, const Answer& answer, std::ostream& err);

// What an install line holds without a promise that it runs.
void warn_of_unsure(const Answer& answer, std::ostream& err);

}  // namespace wheelyard::avail_wheels
