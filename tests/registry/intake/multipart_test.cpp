// The form parser: the same parse wherever the body is cut, and every form that it refuses.
#include "registry/intake/multipart.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace wheelyard;

namespace {

// What a parse saw, one line an event; file bytes are joined, since where they are cut is nobody's business.
class Recorder final : public registry::MultipartHandler {
  public:
    std::vector<std::string> seen;
    std::string refuse_at;
    std::size_t max_piece = 0;

    wire::Answered<void> field(std::string_view name, std::string_view value) override {
        return note("field " + std::string(name) + "=" + std::string(value));
    }
    wire::Answered<void> file_begin(std::string_view name, std::string_view filename) override {
        bytes_.clear();
        return note("file " + std::string(name) + " " + std::string(filename));
    }
    wire::Answered<void> file_bytes(std::string_view bytes) override {
        max_piece = std::max(max_piece, bytes.size());
        bytes_ += bytes;
        return {};
    }
    wire::Answered<void> file_end() override { return note("bytes " + bytes_); }

  private:
    wire::Answered<void> note(std::string line) {
        if (line == refuse_at)
            return tl::unexpected(wire::Problem{
                .status = 418, .code = "test", .title = {}, .detail = {}, .value = {}, .advice = {}});
        seen.push_back(std::move(line));
        return {};
    }
    std::string bytes_;
};

struct Parsed {
    std::vector<std::string> seen;
    std::string code;  // of the problem, or empty
    int status = 0;
};

Parsed parse(std::string_view body, std::string_view boundary = "BB",
             std::size_t piece = std::string_view::npos) {
    Recorder recorder;
    registry::MultipartParser parser(boundary, recorder);
    wire::Answered<void> result;
    for (std::size_t i = 0; i < body.size() && result; i += std::min(piece, body.size()))
        result = parser.feed(body.substr(i, piece));
    if (result) result = parser.finish();
    return {recorder.seen, result ? std::string() : result.error().code, result ? 0 : result.error().status};
}

std::string part(std::string_view headers, std::string_view body) {
    return "--BB\r\n" + std::string(headers) + "\r\n\r\n" + std::string(body) + "\r\n";
}
std::string field(std::string_view name, std::string_view value) {
    return part("Content-Disposition: form-data; name=\"" + std::string(name) + "\"", value);
}
std::string file(std::string_view name, std::string_view bytes) {
    return part("Content-Disposition: form-data; name=\"" + std::string(name) +
                    "\"; filename=\"f.whl\"\r\nContent-Type: application/zip",
                bytes);
}
const std::string closing = "--BB--\r\n";

}  // namespace

TEST_CASE("fields come whole and files with their name, in order") {
    const Parsed parsed = parse(field(":action", "file_upload") + field("empty", "") +
                                file("content", "PK\r\n--B") + field("after", "x") + closing);
    CHECK(parsed.code.empty());
    CHECK(parsed.seen == std::vector<std::string>{"field :action=file_upload", "field empty=",
                                                  "file content f.whl", "bytes PK\r\n--B", "field after=x"});
}

TEST_CASE("wherever the body is cut into pieces, the parse is the same") {
    // Everything that looks like the beginning of a boundary, over and over.
    std::string bytes;
    for (const char* near : {"\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--B", "\r\n--C", "--BB",
                             "\r\r\n--B\r\n--B", "\r\n\r\n"})
        bytes += near;
    const std::string body = "preamble\r\n" + field("a", "1\r\n2") + file("content", bytes) +
                             file("sig", "") + field("b", bytes) + "--BB-- \t\r\nepilogue\r\n--BB\r\n";
    const Parsed whole = parse(body);
    REQUIRE(whole.code.empty());
    REQUIRE(whole.seen.size() == 6);
    CHECK(whole.seen[2] == "bytes " + bytes);
    for (std::size_t piece = 1; piece <= 40; ++piece) {
        CAPTURE(piece);
        const Parsed cut = parse(body, "BB", piece);
        CHECK(cut.code.empty());
        CHECK(cut.seen == whole.seen);
    }
    for (std::size_t at = 1; at < body.size(); ++at) {
        CAPTURE(at);
        Recorder recorder;
        registry::MultipartParser parser("BB", recorder);
        REQUIRE(parser.feed(std::string_view(body).substr(0, at)));
        REQUIRE(parser.feed(std::string_view(body).substr(at)));
        CHECK(parser.finish().has_value());
        CHECK(recorder.seen == whole.seen);
    }
}

TEST_CASE("a body that ends anywhere before its closing boundary is cut short") {
    const std::string body = field("a", "1") + file("content", "PK") + "--BB--";
    CHECK(parse(body).code.empty());
    for (std::size_t length = 0; length < body.size(); ++length) {
        CAPTURE(length);
        CHECK(parse(std::string_view(body).substr(0, length)).code == "upload.body_cut");
    }
}

TEST_CASE("header values as real clients write them") {
    struct Row {
        const char* disposition;
        const char* event;
    };
    const Row rows[] = {
        {"Content-Disposition: form-data; name=\"content\"; filename=\"a b.whl\"", "file content a b.whl"},
        {"content-disposition:form-data;name=content;filename=a.whl", "file content a.whl"},
        {"Content-Disposition: form-data; filename=\"a.whl\"; name=\"content\";", "file content a.whl"},
        {"Content-Disposition: FORM-DATA; NAME=\"x\"", "field x=v"},
        {"Content-Disposition: form-data; name=\"a\\\"b\"", "field a\"b=v"},
        {"Content-Disposition: form-data; name=\"a\\\\b\"", "field a\\b=v"},
        {"Content-Disposition: form-data; name=\"C:\\temp\"", "field C:\\temp=v"},
        {"Content-Disposition: form-data; name=\"x;y\"", "field x;y=v"},
        {"Content-Type: text/plain\r\nContent-Disposition: form-data; name=\"x\"\r\nX-Other: a:b",
         "field x=v"},
        {"Content-Disposition: form-data; name=\"x\"\r\nContent-Transfer-Encoding: binary", "field x=v"},
        {"Content-Disposition: form-data; name=\"x\"; filename=\"\"", "file x "},
        {"Content-Disposition: form-data; name=\"\xc3\xbc\"", "field \xc3\xbc=v"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.disposition);
        const Parsed parsed = parse(part(row.disposition, "v") + closing);
        CHECK(parsed.code.empty());
        REQUIRE_FALSE(parsed.seen.empty());
        CHECK(parsed.seen[0] == row.event);
    }
}

TEST_CASE("forms that cannot be read are 400") {
    const std::string bodies[] = {
        part("Content-Type: text/plain", "v") + closing,                                   // no disposition
        part("Content-Disposition: attachment; name=\"x\"", "v") + closing,                // not form-data
        part("Content-Disposition: form-data", "v") + closing,                             // no name
        part("Content-Disposition: form-data; name=\"\"", "v") + closing,                  // an empty one
        part("Content-Disposition: form-data; name=\"x", "v") + closing,                   // an open quote
        part("Content-Disposition: form-data; name", "v") + closing,                       // no value
        part("Content-Disposition: form-data; name=\"x\" filename=\"y\"", "v") + closing,  // no semicolon
        part("Content-Disposition: form-data; name=x; name=y", "v") + closing,             // two names
        part("Content-Disposition: form-data; name=x\r\nContent-Disposition: form-data; name=y", "v") +
            closing,
        part("Content-Disposition: form-data;\r\n name=x", "v") + closing,  // folded
        part("Content-Disposition: form-data; name=x\r\nContent-Transfer-Encoding: base64", "v") + closing,
        part("no colon here", "v") + closing,
        part(": no name", "v") + closing,
        part("Content-Disposition: form-data; name=\"\xff\"", "v") + closing,  // not UTF-8
        field("x", "\xff\xfe") + closing,
        "--BB\r\n\r\nv\r\n" + closing,                                          // no headers at all
        "--BB\nContent-Disposition: form-data; name=x\r\n\r\nv\r\n" + closing,  // LF for CRLF
        "--BB\r\nContent-Disposition: form-data; name=x\n\r\nv\r\n" + closing,
        "--BBB\r\nContent-Disposition: form-data; name=x\r\n\r\nv\r\n" +
            closing,  // goes on after the boundary
        field("x", "v") + "--BB--X",
        field("x", "v") + "--BB-\r\n",
        "--BB \r\r\n",
    };
    for (const std::string& body : bodies) {
        CAPTURE(body);
        for (const std::size_t piece : {std::size_t{1}, std::string_view::npos}) {
            const Parsed parsed = parse(body, "BB", piece);
            CHECK(parsed.code == "upload.bad_form");
            CHECK(parsed.status == 400);
        }
    }
}

TEST_CASE("limits are limits: one more is 413") {
    const auto code = [](const std::string& body) { return parse(body).code; };
    CHECK(code(field("x", std::string(registry::max_field_bytes, 'v')) + closing).empty());
    CHECK(code(field("x", std::string(registry::max_field_bytes + 1, 'v')) + closing) ==
          "upload.form_too_large");
    const std::string large = field("x", std::string(registry::max_field_bytes, 'v'));
    CHECK(code(large + large + closing).empty());
    CHECK(code(large + large + field("x", "v") + closing) == "upload.form_too_large");
    std::string many;
    for (std::size_t i = 0; i < registry::max_parts; ++i)
        many += field("x", "");
    CHECK(code(many + closing).empty());
    CHECK(code(many + field("x", "") + closing) == "upload.form_too_large");
    CHECK(code(part("Content-Disposition: form-data; name=x\r\nX: " +
                        std::string(registry::max_part_header_bytes, 'h'),
                    "v") +
               closing) == "upload.form_too_large");
    CHECK(code(std::string(registry::max_around_parts_bytes, 'p') + "\r\n" + field("x", "v") + closing)
              .empty());
    CHECK(code(std::string(200 * 1024, 'p') + "\r\n" + closing) == "upload.form_too_large");
    CHECK(code(field("x", "v") + closing + std::string(200 * 1024, 'p')) == "upload.form_too_large");
    CHECK(code("--BB" + std::string(200 * 1024, ' ')) == "upload.form_too_large");
}

TEST_CASE("file bytes go through without a copy of the file in memory") {
    Recorder recorder;
    registry::MultipartParser parser("BB", recorder);
    const std::string head = "--BB\r\nContent-Disposition: form-data; name=content; filename=f\r\n\r\n";
    REQUIRE(parser.feed(head));
    const std::string piece(64 * 1024, '\r');  // the worst byte: each may begin the boundary
    for (int i = 0; i < 64; ++i)
        REQUIRE(parser.feed(piece));
    CHECK(recorder.max_piece <= piece.size());
    REQUIRE(parser.feed("\r\n--BB--"));
    CHECK(parser.finish().has_value());
    CHECK(recorder.seen.back().size() == 6 + 64 * piece.size());
}

TEST_CASE("a handler's refusal ends the parse with its own problem") {
    for (const char* at : {"field a=1", "file content f.whl", "bytes PK"}) {
        CAPTURE(at);
        Recorder recorder;
        recorder.refuse_at = at;
        registry::MultipartParser parser("BB", recorder);
        const auto fed = parser.feed(field("a", "1") + file("content", "PK") + closing);
        REQUIRE_FALSE(fed.has_value());
        CHECK(fed.error().status == 418);
    }
}

TEST_CASE("the boundary is read from the Content-Type as RFC 2046 allows it") {
    struct Row {
        const char* content_type;
        const char* boundary;  // empty: refused
    };
    const std::string longest(70, 'b');
    const Row rows[] = {
        {"multipart/form-data; boundary=abc", "abc"},
        {"Multipart/Form-Data;Boundary=\"a b'()+_,-./:=?c\"", "a b'()+_,-./:=?c"},
        {"multipart/form-data; charset=utf-8; boundary=abc", "abc"},
        {"multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk", "----WebKitFormBoundary7MA4YWxk"},
        {"multipart/form-data", ""},
        {"multipart/form-data; boundary=", ""},
        {"multipart/form-data; boundary=\"abc ", ""},
        {"multipart/form-data; boundary=\"abc \"", ""},
        {"multipart/form-data; boundary=a\"b", ""},
        {"multipart/form-data; boundary=\xc3\xbc", ""},
        {"multipart/mixed; boundary=abc", ""},
        {"application/x-www-form-urlencoded", ""},
        {"", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.content_type);
        const auto boundary = registry::parse_boundary(row.content_type);
        CHECK(boundary.value_or("") == row.boundary);
    }
    CHECK(registry::parse_boundary("multipart/form-data; boundary=" + longest).value() == longest);
    CHECK(registry::parse_boundary("multipart/form-data; boundary=" + longest + "b").error().code ==
          "multipart.boundary");
}
