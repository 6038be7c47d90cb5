// Uploads in parts to a scripted registry. tests/system/flaky_line_test.py uses the real registry over an unreliable
// connection.
#include "builder/remote/resumable_upload.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

using wheelyard::testing::LoopbackAnswer;
using wheelyard::testing::LoopbackRequest;
using wheelyard::testing::LoopbackServer;

const std::string wheel_bytes(3'000, 'w');

LoopbackAnswer problem(int status, const std::string& code) {
    return {.status = status,
            .body = R"({"status":)" + std::to_string(status) + R"(,"code":")" + code + "\"}"};
}

LoopbackAnswer begun(const std::string& location = "/main/uploads/ab12") {
    return {.status = 201, .headers = {{"Location", location}, {"Upload-Offset", "0"}}};
}

LoopbackAnswer at(std::uint64_t offset) {
    return {.status = 204, .headers = {{"Upload-Offset", std::to_string(offset)}}};
}

struct Registry {
    using Handler = LoopbackServer::Handler;
    explicit Registry(Handler handler) : server(std::move(handler)) {
        ::setenv("no_proxy", "*", 1);
        REQUIRE(base::replace_file(file, wheel_bytes));
        form.emplace(UploadForm::open({{"name", "demo"}}, file, base::sha256_hex(wheel_bytes)).value());
        target = {server.url("/main/uploads/"), "Basic c2VjcmV0", folder.path() / "w.whl.upload"};
    }
    base::Result<std::optional<io::HttpAnswer>> send(const io::HttpProgress& progress = {}) {
        return send_in_parts(http, clock, target, *form, progress);
    }
    [[nodiscard]] bool has_note() const { return std::filesystem::exists(target.note); }
    // "POST main/uploads/, PATCH ab12 @0 …"
    [[nodiscard]] std::string asked() const {
        std::string text;
        for (const auto& request : server.requests()) {
            text += request.method + " " + request.target.substr(request.target.rfind('/') + 1);
            if (!request.header("upload-offset").empty()) text += "@" + request.header("upload-offset");
            text += " ";
        }
        return text;
    }

    base::TempDir folder = base::TempDir::make("parts").value();
    std::filesystem::path file = folder.path() / "w.whl";
    LoopbackServer server;
    io::HttpClient http;
    base::ManualClock clock{0};
    std::optional<UploadForm> form;
    UploadTarget target;
};

std::string whole(const UploadForm& form) {
    std::string text(static_cast<std::size_t>(form.size()), '\0');
    REQUIRE(form.read_at(0, text.data(), text.size()));
    return text;
}

TEST_CASE("the form has the same bytes in every read pattern, and its digest identifies them") {
    const auto folder = base::TempDir::make("form").value();
    const auto file = folder.path() / "w.whl";
    REQUIRE(base::replace_file(file, "bytes"));
    const auto form = UploadForm::open({{"name", "demo"}, {"version", "1"}}, file, "SHA").value();
    const std::string text = whole(form);
    CHECK(text ==
          "--SHA\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\ndemo\r\n"
          "--SHA\r\nContent-Disposition: form-data; name=\"version\"\r\n\r\n1\r\n"
          "--SHA\r\nContent-Disposition: form-data; name=\"content\"; filename=\"w.whl\"\r\n"
          "Content-Type: application/octet-stream\r\n\r\nbytes\r\n--SHA--\r\n");
    CHECK(form.content_type() == "multipart/form-data; boundary=SHA");
    std::string piecemeal(text.size(), '\0');
    for (std::size_t i = 0; i < text.size(); i += 7)
        REQUIRE(form.read_at(i, piecemeal.data() + i, std::min<std::size_t>(7, text.size() - i)));
    CHECK(piecemeal == text);
    char beyond = 0;
    CHECK_FALSE(form.read_at(form.size(), &beyond, 1));
    CHECK(UploadForm::open({{"name", "demo"}, {"version", "1"}}, file, "SHA").value().digest() ==
          form.digest());
    CHECK(UploadForm::open({{"name", "demo"}, {"version", "2"}}, file, "SHA").value().digest() !=
          form.digest());
}

TEST_CASE("an upload without interruptions uses one part and leaves no note") {
    Registry registry([](const LoopbackRequest& request) {
        return request.method == "POST" ? begun() : LoopbackAnswer{.status = 200, .body = "{}"};
    });
    std::uint64_t most = 0;
    const auto sent = registry.send([&](std::uint64_t done, std::uint64_t) {
        most = std::max(most, done);
        return true;
    });
    REQUIRE_MESSAGE(sent, sent.error().text());
    REQUIRE(sent->has_value());
    CHECK((*sent)->status == 200);
    CHECK(registry.asked() == "POST  PATCH ab12@0 ");
    CHECK(registry.server.requests()[1].body == whole(*registry.form));
    CHECK(registry.server.requests()[0].header("upload-length") == std::to_string(registry.form->size()));
    for (const auto& request : registry.server.requests())
        CHECK(request.header("authorization") == "Basic c2VjcmV0");
    CHECK(most <= registry.form->size());
    CHECK_FALSE(registry.has_note());
}

TEST_CASE("without support for parts the client sends the form in one request; a refusal is final") {
    struct Row {
        LoopbackAnswer answer;
        bool at_once;
    };
    const Row rows[] = {{{.status = 404, .body = "<html>"}, true},
                        {{.status = 405}, true},
                        {{.status = 501}, true},
                        {{.status = 403, .body = "no"}, true},
                        {problem(404, "upload.not_resumable"), true},
                        {problem(429, "upload.too_many"), true},
                        {begun("/main/uploads/../../etc"), false},  // only the last segment counts
                        {begun("/main/uploads/"), true},
                        {begun("/main/uploads/a?b"), true},
                        {problem(403, "auth.token_refused"), false},
                        {problem(413, "upload.too_large"), false},
                        {{.status = 502}, false},
                        {{.status = 425}, false},
                        {{.status = 429}, false},
                        {problem(503, "upload.busy"), false}};
    for (const auto& row : rows) {
        Registry registry([&row](const LoopbackRequest& request) {
            return request.method == "POST" ? row.answer : LoopbackAnswer{};
        });
        const auto sent = registry.send();
        REQUIRE(sent);
        CAPTURE(row.answer.status);
        CAPTURE(row.answer.body);
        CHECK(sent->has_value() == !row.at_once);
    }
}

TEST_CASE("the next call continues the noted upload at the registry's offset") {
    std::uint64_t has = 1'000;
    int refusals = 100;
    Registry registry([&](const LoopbackRequest& request) {
        if (request.method == "POST") return begun();
        if (request.method == "HEAD") return at(has);
        return refusals-- > 0 ? problem(409, "upload.in_progress") : LoopbackAnswer{.status = 200};
    });
    const auto stuck = registry.send();
    REQUIRE_FALSE(stuck);
    CHECK(stuck.error().code == "upload.unavailable");
    CHECK(registry.has_note());
    CHECK(registry.clock.now() > 0);  // the client paused
    refusals = 0;
    has = 2'000;
    const std::size_t before = registry.server.requests().size();
    REQUIRE(registry.send());
    const auto requests = registry.server.requests();
    REQUIRE(requests.size() == before + 2);
    CHECK(requests[before].method == "HEAD");
    CHECK(requests[before + 1].header("upload-offset") == "2000");
    CHECK(requests[before + 1].body == whole(*registry.form).substr(2'000));
    CHECK_FALSE(registry.has_note());
}

TEST_CASE("tries without progress are limited, tries with progress are not") {
    std::uint64_t has = 0;
    std::uint64_t step = 0;
    Registry registry([&](const LoopbackRequest& request) {
        if (request.method == "POST") return begun();
        if (request.method == "HEAD") return at(has += step);
        return problem(409, "upload.wrong_offset");
    });
    REQUIRE_FALSE(registry.send());
    CHECK(registry.server.requests().size() == 1 + 1 + 2 * (max_stuck_parts - 1));
    CHECK(has == 0);
    const std::size_t before = registry.server.requests().size();
    step = 100;  // until the registry reports more bytes than the form has
    const auto beyond = registry.send();
    REQUIRE_FALSE(beyond);
    CHECK(registry.server.requests().size() - before > 2 * max_stuck_parts);
    CHECK_FALSE(registry.has_note());
}

TEST_CASE("a forgotten upload or a refused token is an error, and a note counts only for its own form") {
    int status = 404;
    Registry registry([&](const LoopbackRequest& request) {
        if (request.method == "POST") return begun();
        if (request.method == "HEAD") return LoopbackAnswer{.status = status};
        return problem(409, "upload.in_progress");
    });
    CHECK(registry.send().error().code == "upload.unavailable");
    CHECK_FALSE(registry.has_note());
    status = 403;
    CHECK(registry.send().error().code == "upload.not_allowed");
    CHECK(registry.has_note());
    const std::size_t before = registry.server.requests().size();
    registry.form.emplace(
        UploadForm::open({{"name", "other"}}, registry.file, base::sha256_hex(wheel_bytes)).value());
    CHECK_FALSE(registry.send());
    CHECK(registry.server.requests()[before].method == "POST");  // another form starts from the beginning
}

TEST_CASE("a refusal of the form is final, a server error is not") {
    struct Row {
        LoopbackAnswer answer;
        bool keeps_note;
    };
    const Row rows[] = {{problem(409, "upload.name_taken"), false},
                        {problem(400, "zip.crc_mismatch"), false},
                        {problem(503, "upload.page_lags"), true},
                        {problem(403, "auth.token_refused"), true},
                        {{.status = 202, .body = "quarantined"}, false}};
    for (const auto& row : rows) {
        Registry registry([&row](const LoopbackRequest& request) {
            return request.method == "POST" ? begun() : row.answer;
        });
        const auto sent = registry.send();
        REQUIRE(sent);
        REQUIRE(sent->has_value());
        CHECK((*sent)->status == row.answer.status);
        CHECK(registry.has_note() == row.keeps_note);
    }
}

}  // namespace
}  // namespace wheelyard::builder
