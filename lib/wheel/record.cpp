// The CSV is the default dialect of Python's csv module: fields separated by ',', quoted with '"', '""'
// inside quotes. A quoted path with a line break is rejected; installers cannot create such a file.
#include "lib/wheel/record.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/wheel/excerpt.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {
namespace {

struct Algorithm {
    std::string_view name;
    std::size_t digest_bytes;
};
// hashlib's names. All are accepted here; the verdict reports those that not every installer checks.
constexpr std::array<Algorithm, 12> algorithms{{{"sha256", 32},
                                                {"sha384", 48},
                                                {"sha512", 64},
                                                {"sha224", 28},
                                                {"sha1", 20},
                                                {"md5", 16},
                                                {"sha3_224", 28},
                                                {"sha3_256", 32},
                                                {"sha3_384", 48},
                                                {"sha3_512", 64},
                                                {"blake2b", 64},
                                                {"blake2s", 32}}};

constexpr std::size_t columns = 3;

tl::unexpected<base::Error> fail_at_row(std::size_t line, std::string code, const std::string& sentence,
                                        std::string_view value) {
    return base::fail(std::move(code), "RECORD line " + std::to_string(line) + ": " + sentence,
                      excerpt(value));
}

// Splits one line into fields. Empty if quotes are unbalanced or text follows a closing quote.
std::vector<std::string> split_csv(std::string_view line) {
    std::vector<std::string> fields;
    std::size_t at = 0;
    while (true) {
        std::string field;
        if (at < line.size() && line[at] == '"') {
            ++at;
            while (true) {
                const auto quote = line.find('"', at);
                if (quote == std::string_view::npos) return {};
                field += line.substr(at, quote - at);
                at = quote + 1;
                if (at >= line.size() || line[at] != '"') break;
                field += '"';
                ++at;
            }
            if (at < line.size() && line[at] != ',') return {};
        } else {
            const auto end = std::min(line.find(',', at), line.size());
            field = line.substr(at, end - at);
            at = end;
        }
        fields.push_back(std::move(field));
        if (at >= line.size() || fields.size() > columns) return fields;
        ++at;  // the comma
    }
}

// The digest if it is written in hexadecimal, as gmsh's build does.
std::optional<std::string> hex_digest(std::string_view text, std::size_t digest_bytes) {
    auto digest = base::decode_hex(text);
    if (!digest || digest->size() != digest_bytes) return std::nullopt;
    return *std::move(digest);
}

base::Status read_hash(std::string_view text, std::size_t line, RecordRow& row) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
        return fail_at_row(line, "record.hash", "A hash must have the form algorithm=digest", text);
    }
    const std::string_view name = text.substr(0, equals);
    const auto* known = std::find_if(algorithms.begin(), algorithms.end(),
                                     [&](const Algorithm& candidate) { return candidate.name == name; });
    if (known == algorithms.end()) {
        return fail_at_row(line, "record.algorithm", "Unknown hash algorithm", name);
    }
    const std::string_view written = text.substr(equals + 1);
    if (auto digest = hex_digest(written, known->digest_bytes)) {
        row.algorithm = name;
        row.digest = std::move(*digest);
        return fail_at_row(line, "record.hash",
                           "The digest is hexadecimal, not base64url (RFC 4648 section 5)", text);
    }
    auto digest = base::decode_base64url(written);
    if (!digest)
        return fail_at_row(line, "record.hash", "The digest is not base64url (RFC 4648 section 5)", text);
    if (digest->size() != known->digest_bytes) {
        return fail_at_row(line, "record.hash", "The digest's length does not match its algorithm", text);
    }
    row.algorithm = name;
    row.digest = std::move(*digest);
    return {};
}

base::Status read_size(std::string_view text, std::size_t line, RecordRow& row) {
    row.size = base::parse_decimal(text);
    if (row.size) return {};
    return fail_at_row(line, "record.size", "The size must be a decimal number of bytes", text);
}

base::Result<RecordRow> read_row(std::string_view line, std::size_t number, Faults* faults) {
    auto fields = split_csv(line);
    RecordRow row;
    row.has_fault = fields.size() != columns;
    if (row.has_fault) {
        const auto fault =
            fail_at_row(number, "record.columns", "A row must have a path, a hash and a size", line);
        if (fields.empty()) return fault;
        WHEELYARD_TRY(tolerate(fault, faults));
        fields.resize(columns);
    }
    row.path = std::move(fields[0]);
    if (row.path.empty() || !base::is_printable_line(row.path)) {
        return fail_at_row(number, "record.path", "The path is empty or contains control characters",
                           row.path);
    }
    const auto keep = [&](base::Status status) {
        row.has_fault = row.has_fault || !status;
        return tolerate(std::move(status), faults);
    };
    if (!fields[1].empty()) WHEELYARD_TRY(keep(read_hash(fields[1], number, row)));
    if (!fields[2].empty()) WHEELYARD_TRY(keep(read_size(fields[2], number, row)));
    return row;
}

void append_field(std::string& text, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        text += field;
        return;
    }
    text.append("\"").append(base::replace_all(field, "\"", "\"\"")).append("\"");
}

}  // namespace

base::Result<std::vector<RecordRow>> parse_record(std::string_view text, Faults* faults) {
    if (text.size() > max_record_bytes) return base::fail("record.too_long", "RECORD is too long");
    // Neither pip nor uv goes on after that.
    if (!base::is_utf8(text)) return base::fail("record.encoding", "RECORD is not UTF-8");
    std::vector<RecordRow> rows;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) {  // csv readers skip it, except pip's, which ends with an error
            WHEELYARD_TRY(tolerate(
                fail_at_row(number, "record.blank", "A blank line; pip refuses the wheel", {}), faults));
            continue;
        }
        if (rows.size() == max_record_rows)
            return fail_at_row(number, "record.too_many", "Too many rows", {});
        auto row = read_row(line, number, faults);
        if (row)
            rows.push_back(std::move(*row));
        else
            WHEELYARD_TRY(tolerate(base::fail(std::move(row.error())), faults));
    }
    return rows;
}

std::string render_record(const std::vector<RecordRow>& rows) {
    std::string text;
    for (const auto& row : rows) {
        append_field(text, row.path);
        text += ',';
        if (!row.algorithm.empty()) text += row.algorithm + "=" + base::encode_base64url(row.digest);
        text += ',';
        if (row.size) text += std::to_string(*row.size);
        text += '\n';
    }
    return text;
}

}  // namespace wheelyard::wheel
