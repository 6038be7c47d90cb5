// Parses the e-mail headers of METADATA and WHEEL, strictly. Where installers' e-mail parsers would guess (a
// line without a colon, a lone carriage return), readers could disagree about the content, so the input is
// rejected. With a list of faults it guesses as Python's e-mail parser does.
#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::wheel {
namespace {

tl::unexpected<base::Error> fail_at_header(std::size_t line, std::string code, const std::string& sentence,
                                           std::string_view value) {
    return base::fail(std::move(code), "Header line " + std::to_string(line) + ": " + sentence,
                      excerpt(value));
}

bool is_header_name(std::string_view name) {  // RFC 5322: printable ASCII except the colon
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

// Unfolds a continuation line. The core metadata specification folds Description with seven spaces and a '|'
// or with eight spaces and keeps further indentation; other fields fold with any white space.
std::string_view unfold(std::string_view line) {
    constexpr std::string_view bar = "       |";
    constexpr std::string_view spaces = "        ";
    if (line.starts_with(bar) || line.starts_with(spaces)) return line.substr(bar.size());
    const auto first = line.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// Removes the next line from `text` and returns it without its LF, CR LF or CR.
std::string_view take_line(std::string_view& text) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    const auto line = text.substr(0, end);
    const bool is_lone = end + 1 >= text.size() || text[end] != '\r' || text[end + 1] != '\n';
    text.remove_prefix(std::min(end + (is_lone ? 1 : 2), text.size()));
    return line;
}

// Says whether the line `line`, which `rest` follows, ends in a CR without LF.
bool ends_in_lone_cr(std::string_view line, std::string_view rest) {
    return line.data() + line.size() + 1 == rest.data() && line.data()[line.size()] == '\r';
}

}  // namespace

const std::string* HeaderFile::first(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) {
        return base::equals_ignoring_case(field.first, name);
    });
    return found == fields.end() ? nullptr : &found->second;
}

std::vector<std::string> HeaderFile::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [field, value] : fields) {
        if (base::equals_ignoring_case(field, name)) values.push_back(value);
    }
    return values;
}

base::Result<HeaderFile> parse_headers(std::string_view text, Faults* faults) {
    HeaderFile file;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::string_view from_here = text;
        const auto line = take_line(text);
        const bool has_lone_cr = ends_in_lone_cr(line, text);
        if (line.empty() && !has_lone_cr) {
            file.body = text;
            break;
        }
        if (has_lone_cr || line.find('\0') != std::string_view::npos) {
            WHEELYARD_TRY(
                tolerate(fail_at_header(number, "metadata.control",
                                        "A header contains a lone carriage return or a zero byte", line),
                         faults));
        }
        if (line.empty()) {
            file.body = text;
            break;
        }
        if (number == 1 && line.starts_with("From ")) {  // of a mailbox; Python's e-mail parser skips it
            WHEELYARD_TRY(tolerate(
                fail_at_header(number, "metadata.header", "A header must have the form Name: value", line),
                faults));
            continue;
        }
        if (line.front() == ' ' || line.front() == '\t') {
            if (file.fields.empty()) {
                WHEELYARD_TRY(tolerate(
                    fail_at_header(number, "metadata.header", "A continuation line without a header", line),
                    faults));
                continue;
            }
            file.fields.back().second.append("\n").append(unfold(line));
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !is_header_name(line.substr(0, colon))) {
            WHEELYARD_TRY(tolerate(
                fail_at_header(number, "metadata.header", "A header must have the form Name: value", line),
                faults));
            file.body = from_here;  // Python's e-mail parser ends the headers here
            break;
        }
        if (file.fields.size() == max_metadata_fields) {
            return fail_at_header(number, "metadata.too_many", "Too many headers", line);
        }
        file.fields.emplace_back(line.substr(0, colon), base::trim(line.substr(colon + 1)));
    }
    return file;
}

}  // namespace wheelyard::wheel
