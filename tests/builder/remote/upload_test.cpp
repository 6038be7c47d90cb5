// The upload form and the meaning of its answers; the form is sent over loopback.
#include "builder/remote/upload.hpp"

#include <doctest/doctest.h>

#include "lib/simple/wheel_list.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

using wheelyard::testing::LoopbackAnswer;
using wheelyard::testing::LoopbackServer;

const LoopbackAnswer api_document{.body = R"({"openapi":"3.1.0"})"};

inspect::Inspection inspection(const test_support::WheelWriter& wheel) {
    const std::string bytes = wheel.bytes();
    const base::MemoryReader reader(bytes);
    auto inspected = inspect::inspect_wheel(reader, wheel.filename());
    REQUIRE(inspected.has_value());
    return *inspected;
}

TEST_CASE("the form has the fields that twine sends") {
    auto wheel = testing::demo_wheel();
    wheel.metadata_line("Requires-Python: >=3.8")
        .metadata_line("Classifier: A")
        .metadata_line("Classifier: B");
    std::string text;
    for (const auto& field : render_upload_fields(inspection(wheel), "SHA"))
        text += field.name + "=" + field.value + "\n";
    CHECK(text ==
          ":action=file_upload\nprotocol_version=1\nfiletype=bdist_wheel\npyversion=py3\nmetadata_version=2."
          "1\nname=demo\n"
          "version=1.0\nsha256_digest=SHA\nrequires_python=>=3.8\nclassifiers="
          "A\nclassifiers=B\n");
}

TEST_CASE("answers are final or temporary, and include the registry's message") {
    struct Row {
        int status;
        const char* code;
    };
    const Row rows[] = {{200, ""},
                        {202, "upload.quarantined"},
                        {400, "upload.refused"},
                        {401, "upload.not_allowed"},
                        {403, "upload.refused"},
                        {404, "upload.refused"},
                        {408, "upload.unavailable"},
                        {409, "upload.refused"},
                        {413, "upload.refused"},
                        {425, "upload.unavailable"},
                        {429, "upload.unavailable"},
                        {500, "upload.unavailable"},
                        {503, "upload.unavailable"},
                        {302, "upload.refused"}};
    for (const auto& row : rows) {
        io::HttpAnswer answer;
        answer.status = row.status;
        answer.body =
            R"({"type":"about:blank","title":"t","status":409,"detail":"the name is taken","value":"x.whl","advice":"rename"})";
        const auto judged = judge_upload_answer(answer);
        CHECK((judged ? "" : judged.error().code) == row.code);
        if (!judged) CHECK(judged.error().text().find("the name is taken") != std::string::npos);
    }
    io::HttpAnswer token;
    token.status = 403;
    token.body = R"({"status":403,"code":"auth.token_refused","detail":"it is expired"})";
    CHECK(judge_upload_answer(token).error().code == "upload.not_allowed");
    token.body = R"({"status":403,"code":"auth.project_refused","detail":"not this one"})";
    CHECK(judge_upload_answer(token).error().code == "upload.refused");
    token.body = R"({"status":403,"code":"auth.version_refused","detail":"The task is for another wheel"})";
    CHECK(judge_upload_answer(token).error().code == "upload.refused");
    CHECK(judge_upload_answer(token).error().text().find("another wheel") != std::string::npos);
    token.body = R"({"status":409,"code":"task.lost","detail":"it is late"})";
    CHECK(judge_upload_answer(token).error().code == "upload.no_task");
    token.body = R"({"status":409,"code":"task.other_wheel","detail":"it has one"})";
    CHECK(judge_upload_answer(token).error().code == "upload.refused");
    io::HttpAnswer bare;
    bare.status = 502;
    bare.reason = "Bad Gateway";
    CHECK(judge_upload_answer(bare).error().sentence == "The registry answers 502: Bad Gateway");
}

TEST_CASE("the upload of a task's wheel names the task; only task.lost says that the site does not have it") {
    const base::TempDir folder = *base::TempDir::make("upload");
    const auto wheel = testing::demo_wheel();
    testing::write(folder.path() / wheel.filename(), wheel.bytes());
    testing::write(folder.path() / "token", "wy_secret\n");
    std::string code = "auth.token_refused";
    LoopbackServer server([&](const auto&) {
        LoopbackAnswer answer{.status = code == "task.lost" ? 409 : 403};
        answer.body = R"({"status":403,"code":")" + code + R"(","detail":"It is late"})";
        return answer;
    });
    io::HttpClient http;
    base::SystemClock clock;
    const RegistrySettings settings{server.url(""), "main", folder.path() / "token"};
    const auto inspected = inspection(wheel);
    const WheelToUpload upload{folder.path() / wheel.filename(), base::sha256_hex(wheel.bytes()), inspected};
    HttpRegistry of_task(http, clock, settings, "t5f0c9a31d2be");
    CHECK(of_task.upload(upload, {}).error().code == "upload.not_allowed");
    code = "task.lost";
    const auto refused = of_task.upload(upload, {});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "upload.no_task");
    CHECK(refused.error().kind == base::ErrorKind::lost);
    CHECK(refused.error().sentence.find("It is late") != std::string::npos);
    HttpRegistry own(http, clock, settings);
    REQUIRE_FALSE(own.upload(upload, {}).has_value());
    const auto requests = server.requests();
    REQUIRE(requests.size() == 3);
    const std::string field = "name=\"wheelyard_task\"\r\n\r\nt5f0c9a31d2be\r\n";
    CHECK(requests[0].body.find(field) < requests[0].body.find("name=\"content\""));
    CHECK(requests[2].body.find("wheelyard_task") == std::string::npos);
}

TEST_CASE("from our own registry, 404 means absent and 403 is an error; another server's 404 is one, too") {
    int status = 404;
    bool is_ours = false;
    LoopbackServer server([&](const auto& request) {
        return is_ours && request.target == "/api/v1/openapi.json" ? api_document
                                                                   : LoopbackAnswer{.status = status};
    });
    io::HttpClient http;
    base::SystemClock clock;
    HttpRegistry registry(http, clock, {server.url(""), "main", "/nowhere"});
    CHECK(registry.page("demo").error().code == "registry.address");
    is_ours = true;
    const auto absent = registry.page("demo");
    REQUIRE_MESSAGE(absent.has_value(), absent.error().text());
    CHECK(!absent->has_value());
    status = 403;
    const auto forbidden = registry.page("demo");
    REQUIRE(!forbidden.has_value());
    CHECK(forbidden.error().code == "simple.http");
}

TEST_CASE("facts come from the wheel list, of which a delta replaces whole projects") {
    const auto list = [](const char* project, const char* filename, const char* facts, std::int64_t base) {
        simple::ProjectFile wheel;
        wheel.filename = filename;
        const auto line = simple::render_wheel_list_line(wheel);
        return simple::render_wheel_list({.serial = base == 0 ? 7 : 8, .base_serial = base, .index = "main"},
                                         {{project, 2, line + line, std::string("\n") + facts + "\n"}});
    };
    bool has_delta = false;
    LoopbackServer server([&](const auto& request) {
        if (request.target == "/main/simple/catalogue.txt")
            return LoopbackAnswer{.body = list("flash_attn", "flash_attn-1-py3-none-any.whl",
                                               R"({"torch_stable_abi":"false"})", 0)};
        if (request.target != "/main/simple/catalogue-delta.txt" || !has_delta)
            return LoopbackAnswer{.status = 404};
        return LoopbackAnswer{
            .body = list("flash_attn", "flash_attn-2-py3-none-any.whl", R"({"torch_stable_abi":"true"})", 7)};
    });
    io::HttpClient http;
    base::SystemClock clock;
    HttpRegistry registry(http, clock, {server.url(""), "main", "/nowhere"});
    const auto facts = registry.facts({"flash-attn", "torch"});
    REQUIRE_MESSAGE(facts.has_value(), facts.error().text());
    REQUIRE(facts->size() == 1);
    CHECK(facts->at("flash_attn-1-py3-none-any.whl").string_or("torch_stable_abi", "") == "false");
    has_delta = true;
    CHECK(registry.facts({"flash-attn"})
              ->at("flash_attn-2-py3-none-any.whl")
              .string_or("torch_stable_abi", "") == "true");
    CHECK(registry.facts({"torch"})->empty());
    HttpRegistry other(http, clock, {server.url(""), "absent", "/nowhere"});
    CHECK(other.facts({"torch"}).error().code == "wheel_list.http");
}

TEST_CASE("a private index is read with the agent's token, and no other host gets it") {
    const base::TempDir folder = *base::TempDir::make("private");
    testing::write(folder.path() / "token", "wy_secret\n");
    const std::string bytes = "the wheel";
    std::vector<std::string> seen;
    const auto answer = [&](const wheelyard::testing::LoopbackRequest& request) {
        if (request.target == "/api/v1/openapi.json") return api_document;
        seen.push_back(request.header("authorization"));
        if (seen.back() != "Basic " + base::encode_base64("__token__:wy_secret"))
            return LoopbackAnswer{.status = 401};
        if (request.target.find("/simple/") == std::string::npos) return LoopbackAnswer{.body = bytes};
        return LoopbackAnswer{.status = 404};
    };
    LoopbackServer server(answer);
    LoopbackServer other(answer);
    io::HttpClient http;
    base::SystemClock clock;
    HttpRegistry registry(http, clock, {server.url(""), "main", folder.path() / "token"});
    const auto page = registry.page("demo");
    REQUIRE_MESSAGE(page.has_value(), page.error().text());
    CHECK_FALSE(page->has_value());
    simple::FileLink link;
    link.filename = "demo.whl";
    link.sha256 = base::sha256_hex(bytes);
    link.url = server.url("/main/files/demo.whl");
    CHECK(registry.download(link, folder.path() / "ours", {}).has_value());
    CHECK(testing::read(folder.path() / "ours") == bytes);
    CHECK(seen.size() == 4);  // each without the token first
    link.url = other.url("/main/files/demo.whl");
    CHECK_FALSE(registry.download(link, folder.path() / "theirs", {}).has_value());
    CHECK(seen.size() == 5);
    CHECK(seen.back().empty());
}

TEST_CASE("an upload goes to the index with the token, and a missing token file is an error") {
    const base::TempDir folder = *base::TempDir::make("upload");
    const auto wheel = testing::demo_wheel();
    testing::write(folder.path() / wheel.filename(), wheel.bytes());
    LoopbackServer server([](const auto&) { return LoopbackAnswer{}; });
    io::HttpClient http;
    std::string url = server.url("");
    base::SystemClock clock;
    HttpRegistry registry(http, clock, {url, "main", folder.path() / "token"});
    const auto inspected = inspection(wheel);
    const WheelToUpload upload{folder.path() / wheel.filename(), base::sha256_hex(wheel.bytes()), inspected};
    const auto without = registry.upload(upload, {});
    REQUIRE(!without.has_value());
    CHECK(without.error().code == "upload.token_file");
    testing::write(folder.path() / "token", "wy_secret\n");
    testing::must(registry.upload(upload, {}));
    const auto requests = server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].target == "/main/legacy/");
    CHECK(requests[0].header("authorization") == "Basic " + base::encode_base64("__token__:wy_secret"));
    CHECK(requests[0].body.find(base::sha256_hex(wheel.bytes())) != std::string::npos);
    CHECK(requests[0].body.find("filename=\"demo-1.0-py3-none-any.whl\"") != std::string::npos);
}

TEST_CASE("a large wheel is sent in parts, or in one request if the server does not support parts") {
    const base::TempDir folder = *base::TempDir::make("upload");
    const auto file = folder.path() / testing::demo_wheel().filename();
    testing::write(folder.path() / "token", "wy_secret\n");
    testing::write(file, std::string(in_parts_from_bytes, 'w'));
    const auto inspected = inspection(testing::demo_wheel());
    const WheelToUpload upload{file, std::string(64, 'a'), inspected};
    for (const bool in_parts : {true, false}) {
        LoopbackServer server([in_parts](const auto& request) {
            if (request.target != "/main/uploads/") return LoopbackAnswer{};
            return in_parts ? LoopbackAnswer{.status = 201, .headers = {{"Location", "/main/uploads/ab"}}}
                            : LoopbackAnswer{.status = 404};
        });
        io::HttpClient http;
        base::SystemClock clock;
        HttpRegistry registry(http, clock, {server.url(""), "main", folder.path() / "token"});
        testing::must(registry.upload(upload, {}));
        const auto requests = server.requests();
        REQUIRE(requests.size() == 2);
        CHECK(requests[1].target == (in_parts ? "/main/uploads/ab" : "/main/legacy/"));
        CHECK(requests[1].body.find(std::string(64, 'a')) != std::string::npos);
        for (const auto& request : requests)
            CHECK(request.header("authorization") == "Basic " + base::encode_base64("__token__:wy_secret"));
    }
}

}  // namespace
}  // namespace wheelyard::builder
