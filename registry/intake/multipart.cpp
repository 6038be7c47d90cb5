#include "registry/intake/multipart.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<wire::Problem> bad_form(std::string detail, std::string_view value = {}) {
    return wire::refuse({400, "upload.bad_form"}, "The upload form is malformed", std::move(detail),
                        wire::one_line_title(value), "send multipart/form-data as twine does");
}

tl::unexpected<wire::Problem> form_too_large(std::string detail) {
    return wire::refuse("upload.form_too_large", "The upload form is too large", std::move(detail), {},
                        "send the file as `content` and only the fields of the upload form");
}

// `type; name=value; name="quoted \" value"`: the form of Content-Type and Content-Disposition.
struct HeaderValue {
    std::string type;                                             // lower case
    std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case
    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const {
        for (const auto& [key, value] : parameters) {
            if (key == name) return value;
        }
        return std::nullopt;
    }
};

// The value at the start of `rest`: a quoted string, or everything up to the next `;`. nullopt: unclosed
// quote.
std::optional<std::string> take_parameter_value(std::string_view& rest) {
    if (rest.empty() || rest.front() != '"') {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        std::string value(base::trim(rest.substr(0, end)));
        rest.remove_prefix(end);
        return value;
    }
    std::string value;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        // Only `\"` and `\\` are escapes: some clients send unescaped backslashes.
        if (rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\')) {
            value += rest[++i];
        } else if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return value;
        } else {
            value += rest[i];
        }
    }
    return std::nullopt;
}

std::optional<HeaderValue> parse_header_value(std::string_view text) {
    HeaderValue header;
    const std::size_t type_end = std::min(text.find(';'), text.size());
    header.type = base::ascii_lower(base::trim(text.substr(0, type_end)));
    text.remove_prefix(type_end);
    while (true) {
        text = base::trim(text);
        if (text.empty()) return header;
        if (text.front() != ';') return std::nullopt;
        text = base::trim(text.substr(1));
        if (text.empty()) return header;  // a `;` at the end is common
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        std::string name = base::ascii_lower(base::trim(text.substr(0, equals)));
        text.remove_prefix(equals + 1);
        auto value = take_parameter_value(text);
        if (!value || name.empty() || header.parameter(name)) return std::nullopt;
        header.parameters.emplace_back(std::move(name), *std::move(value));
    }
}

struct PartHeader {
    std::string name;
    std::optional<std::string> filename;
};

wire::Answered<PartHeader> parse_part_header(std::string_view lines) {
    std::optional<HeaderValue> disposition;
    for (const std::string_view line : base::split_lines(lines)) {
        if (line.empty()) continue;  // the end of the headers
        if (line.front() == ' ' || line.front() == '\t')
            return bad_form("A part has a folded header line", line);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0)
            return bad_form("A part has a header line without a name", line);
        const std::string_view name = line.substr(0, colon);
        const std::string_view value = base::trim(line.substr(colon + 1));
        if (base::equals_ignoring_case(name, "content-disposition")) {
            if (disposition) return bad_form("A part has two Content-Disposition headers", value);
            disposition = parse_header_value(value);
            if (!disposition) return bad_form("A part's Content-Disposition is malformed", value);
        } else if (base::equals_ignoring_case(name, "content-transfer-encoding")) {
            // RFC 7578 §4.7 deprecates it. An encoding that changes bytes would change what the digests
            // cover.
            if (!base::equals_ignoring_case(value, "binary") && !base::equals_ignoring_case(value, "8bit") &&
                !base::equals_ignoring_case(value, "7bit"))
                return bad_form("A part has a Content-Transfer-Encoding that this server does not support",
                                value);
        }
    }
    if (!disposition || disposition->type != "form-data")
        return bad_form("A part has no `Content-Disposition: form-data`");
    const auto name = disposition->parameter("name");
    if (!name || name->empty()) return bad_form("A part has no name");
    PartHeader part{.name = *name, .filename = disposition->parameter("filename")};
    if (!base::is_utf8(part.name) || (part.filename && !base::is_utf8(*part.filename)))
        return bad_form("A part's name is not UTF-8");
    return part;
}

}  // namespace

base::Result<std::string> parse_boundary(std::string_view content_type) {
    const auto header = parse_header_value(content_type);
    if (!header || header->type != "multipart/form-data") {
        return base::fail_as(base::ErrorKind::unsupported, base::Recovery::never,
                             {"multipart.not_a_form", "An upload must be multipart/form-data",
                              wire::one_line_title(content_type), "use twine, uv publish or `curl --form`"});
    }
    const std::string boundary = header->parameter("boundary").value_or("");
    // RFC 2046 §5.1.1: 1 to 70 of these characters, and the last one is not a space.
    const auto fits = [](char c) {
        return base::is_ascii_alnum(c) || std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
    };
    if (boundary.empty() || boundary.size() > max_boundary || boundary.back() == ' ' ||
        !std::all_of(boundary.begin(), boundary.end(), fits)) {
        return base::fail_as(
            base::ErrorKind::invalid, base::Recovery::never,
            {"multipart.boundary", "The Content-Type of an upload must have a boundary of 1 to 70 characters",
             wire::one_line_title(content_type)});
    }
    return boundary;
}

MultipartParser::MultipartParser(std::string_view boundary, MultipartHandler& handler)
    : delimiter_("\r\n--" + std::string(boundary)), handler_(handler) {}

wire::Answered<void> MultipartParser::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        wire::Answered<void> fed;
        switch (where_) {
            case Where::preamble:
            case Where::data:
                fed = feed_data(bytes);
                break;
            case Where::after_boundary:
                fed = feed_after_boundary(bytes);
                break;
            case Where::headers:
                fed = feed_headers(bytes);
                break;
            case Where::epilogue:
                fed = count_around_parts(bytes.size());
                bytes = {};
                break;
        }
        if (!fed) return fed;
    }
    return {};
}

wire::Answered<void> MultipartParser::finish() const {
    // `--BOUNDARY--` may end the body without a line end.
    if (where_ == Where::epilogue || (where_ == Where::after_boundary && line_ == "--")) return {};
    return wire::refuse("upload.body_cut", "The upload is incomplete",
                        "The upload's body ended before its closing boundary", {}, "send the upload again");
}

// Searches for the delimiter and emits everything before it. Between calls, `matched_` bytes of a possible
// delimiter are held back.
wire::Answered<void> MultipartParser::feed_data(std::string_view& bytes) {
    if (matched_ > 0) {
        const std::size_t wanted = std::min(delimiter_.size() - matched_, bytes.size());
        const auto differs = std::mismatch(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(wanted),
                                           delimiter_.begin() + static_cast<std::ptrdiff_t>(matched_));
        const auto equal = static_cast<std::size_t>(differs.first - bytes.begin());
        if (equal < wanted) {
            const std::string_view held = std::string_view(delimiter_).substr(0, matched_ + equal);
            bytes.remove_prefix(equal);
            matched_ = 0;
            return emit(held);
        }
        bytes.remove_prefix(wanted);
        matched_ += wanted;
    } else {
        const auto* found = static_cast<const char*>(
            ::memmem(bytes.data(), bytes.size(), delimiter_.data(), delimiter_.size()));
        std::size_t data = bytes.size();
        if (found != nullptr) {
            data = static_cast<std::size_t>(found - bytes.data());
            matched_ = delimiter_.size();
        } else {
            const std::size_t tail = bytes.size() - std::min(bytes.size(), delimiter_.size() - 1);
            const std::size_t cr = bytes.substr(tail).rfind('\r');
            if (cr != std::string_view::npos && delimiter_.starts_with(bytes.substr(tail + cr))) {
                data = tail + cr;
                matched_ = bytes.size() - data;
            }
        }
        const std::string_view out = bytes.substr(0, data);
        bytes.remove_prefix(data + matched_);
        if (auto emitted = emit(out); !emitted) return emitted;
    }
    if (matched_ < delimiter_.size()) return {};
    matched_ = 0;
    line_.clear();
    where_ = Where::after_boundary;
    return end_part();
}

// After `--BOUNDARY`: `--` closes the form; otherwise blanks and CRLF lead to the next part's headers. RFC
// 2046 §5.1.1 treats any line that begins with the boundary as a delimiter, so anything else here is an error
// and not data.
wire::Answered<void> MultipartParser::feed_after_boundary(std::string_view& bytes) {
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (auto counted = count_around_parts(1); !counted) return counted;
    if (line_ == "--") {
        if (c != ' ' && c != '\t' && c != '\r')
            return bad_form("The closing boundary is followed by other characters");
        where_ = Where::epilogue;
        return {};
    }
    if (c == '-' && (line_.empty() || line_ == "-")) {
        line_ += c;
        return {};
    }
    if (c == '\n' && line_ == "\r") {
        line_.clear();
        where_ = Where::headers;
        return {};
    }
    if (c == '\r' && line_.empty()) {
        line_ += c;
        return {};
    }
    if ((c == ' ' || c == '\t') && line_.empty()) return {};
    return bad_form("A boundary is followed by other characters");
}

wire::Answered<void> MultipartParser::feed_headers(std::string_view& bytes) {
    // Consumes up to the end of one line; an empty line ends the headers.
    const std::size_t newline = bytes.find('\n');
    const std::size_t length = newline == std::string_view::npos ? bytes.size() : newline + 1;
    if (line_.size() + length > max_part_header_bytes)
        return form_too_large("The headers of a part are too long");
    line_ += bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (newline == std::string_view::npos) return {};
    if (line_ != "\r\n" && !std::string_view(line_).ends_with("\r\n\r\n")) {
        if (!std::string_view(line_).ends_with("\r\n"))
            return bad_form("A header line of a part ends without CR");
        return {};
    }
    where_ = Where::data;
    return begin_part();
}

wire::Answered<void> MultipartParser::count_around_parts(std::size_t bytes) {
    around_bytes_ += bytes;
    if (around_bytes_ > max_around_parts_bytes + max_parts * 8)
        return form_too_large("There is too much text around the parts");
    return {};
}

wire::Answered<void> MultipartParser::begin_part() {
    if (++parts_ > max_parts) return form_too_large("The form has too many parts");
    auto header = parse_part_header(line_);
    if (!header) return tl::unexpected(std::move(header.error()));
    line_.clear();
    value_.clear();
    name_ = std::move(header->name);
    part_ = header->filename ? Part::file : Part::field;
    return header->filename ? handler_.file_begin(name_, *header->filename) : wire::Answered<void>{};
}

wire::Answered<void> MultipartParser::emit(std::string_view bytes) {
    if (bytes.empty()) return {};
    switch (part_) {
        case Part::none:
            return count_around_parts(bytes.size());
        case Part::file:
            return handler_.file_bytes(bytes);
        case Part::field:
            break;
    }
    fields_bytes_ += bytes.size();
    if (value_.size() + bytes.size() > max_field_bytes || fields_bytes_ > max_all_fields_bytes)
        return form_too_large("The form's fields are too long");
    value_ += bytes;
    return {};
}

wire::Answered<void> MultipartParser::end_part() {
    const Part ended = std::exchange(part_, Part::none);
    if (ended == Part::file) return handler_.file_end();
    if (ended == Part::none) return {};
    if (!base::is_utf8(value_)) return bad_form("A field's value is not UTF-8", name_);
    return handler_.field(name_, value_);
}

}  // namespace wheelyard::registry
