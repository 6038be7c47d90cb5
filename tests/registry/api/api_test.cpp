// The API's decisions: who may, what a change does, and that the answer waits for the page. Each operation's
// refusals are in tests/golden/operations.
#include "registry/api/api.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/operation.hpp"
#include "registry/upstream/last_failures.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

struct ApiFixture : RegistryFixture {
    registry::Api api{{.config = config,
                       .store = databases,
                       .blobs = store,
                       .tokens = *tokens,
                       .writer = writer,
                       .pages = pages,
                       .clock = clock}};
    std::string filename;

    ApiFixture() {
        const Form form = Form::of(WheelWriter("six", "1.16.0"));
        filename = form.filename;
        REQUIRE(send(form).status == 200);
    }
    std::string add_actor(const std::string& name, const std::vector<std::string>& actions,
                          const std::vector<std::string>& indexes = {"*"},
                          const std::vector<std::string>& projects = {"*"}) {
        return make_token(name, indexes, projects, actions);
    }
    // "200" or "403 auth.scope_refused".
    std::string ask(const std::string& token_text, const std::string& operation, const std::string& body,
                    const std::string& index = "main", const std::string& of_file = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("index", index);
        if (operation == "setProjectStatus")
            request.parameters.emplace("project", "Six");
        else
            request.parameters.emplace("filename", of_file.empty() ? filename : of_file);
        request.authorization = "Bearer " + token_text;
        request.content_type = "application/json";
        request.body = body;
        const auto answer = api.answer(request);
        if (!answer) return said(answer.error());
        if (!answer->when_visible) return "200";
        const auto page = std::make_shared<std::promise<bool>>();
        answer->when_visible([page](bool visible) { page->set_value(visible); });
        return page->get_future().get() ? "200" : said(answer->if_not_visible);
    }
    static std::string said(const wire::Problem& problem) {
        return std::to_string(problem.status).append(" ").append(problem.code);
    }
    static std::string body(const std::string& members = {}) {
        return R"({"format":"wheelyard.change/1","reason":"because")" + members + "}";
    }
};

}  // namespace

TEST_CASE("a change needs a token with its action, for its index and its project") {
    ApiFixture fixture;
    const std::string yanker = fixture.add_actor("yanker", {"yank"}, {"main"}, {"six"});
    CHECK(fixture.ask(yanker, "yankFile", fixture.body()) == "200");
    CHECK(fixture.cli.file("main", fixture.filename).value()->yanked);
    CHECK(fixture.ask(yanker, "unyankFile", fixture.body()) == "200");
    CHECK(fixture.ask(yanker, "deleteFile", fixture.body()) == "403 auth.scope_refused");
    CHECK(fixture.ask(yanker, "yankFile", fixture.body(), "other") == "403 auth.scope_refused");
    CHECK(fixture.ask(yanker, "yankFile", fixture.body(), "main", "seven-1.0-py3-none-any.whl") ==
          "403 auth.scope_refused");
    CHECK(fixture.ask(fixture.token, "yankFile", fixture.body()) == "403 auth.scope_refused");
    CHECK(fixture.ask("", "yankFile", fixture.body()) == "401 auth.missing");
    CHECK(fixture.ask("wy_nonsense", "yankFile", fixture.body()) == "403 auth.token_refused");
    const auto events = fixture.cli.events_after(1, 10).value();
    REQUIRE(events.size() == 2);
    CHECK(events[0].actor == "yanker");
    CHECK(events[0].reason == "because");
}

TEST_CASE("a body that is no change is refused, and a member that is not known is not read") {
    ApiFixture fixture;
    const std::string admin = fixture.add_actor("admin", {"yank", "gc"});
    struct Row {
        const char* operation;
        const char* body;
    };
    for (const Row& row : {
             Row{"yankFile", ""},
             Row{"yankFile", "[]"},
             Row{"yankFile", "{}"},
             Row{"collectBlobs", R"({"format":"wheelyard.change/1","grace_ms":1.5})"},
         }) {
        CAPTURE(row.operation);
        CAPTURE(row.body);
        CHECK(fixture.ask(admin, row.operation, row.body) == "400 lifecycle.body");
    }
    CHECK(fixture.ask(admin, "unyankFile",
                      R"({"format":"wheelyard.change/1","reason":null,"colour":"red"})") == "200");
}

TEST_CASE("a body adds nothing that the right is judged by") {
    ApiFixture fixture;
    const std::string narrow = fixture.add_actor("narrow", {"yank", "delete"}, {"main"}, {"six"});
    CHECK(fixture.ask(narrow, "yankFile",
                      fixture.body(R"(,"index":"main","filename":"six-1.16.0-py3-none-any.whl")"),
                      "other") == "403 auth.scope_refused");
    CHECK(fixture.ask(narrow, "yankFile", fixture.body(R"(,"filename":"six-1.16.0-py3-none-any.whl")"),
                      "main", "seven-1.0-py3-none-any.whl") == "403 auth.scope_refused");
    CHECK(fixture.ask(narrow, "applyRetention",
                      fixture.body(R"(,"keep":1,"filename":"six-1.16.0-py3-none-any.whl")")) ==
          "403 auth.scope_refused");
}

TEST_CASE("an explanation does not wait for commits, nor they for it") {
    ApiFixture fixture;
    http::ApiRequest request{.request_id = "r1", .operation = "explainProject"};
    request.parameters.emplace("index", "main");
    request.parameters.emplace("project", "six");
    request.authorization = "Bearer " + fixture.token;
    std::promise<void> busy;
    std::promise<void> goes_on;
    std::future<void> goes = goes_on.get_future();
    auto writing = std::async(std::launch::async, [&] {
        return fixture.writer.run([&](catalog::Catalog&) -> base::Status {
            busy.set_value();
            goes.wait();
            return {};
        });
    });
    busy.get_future().wait();
    auto explaining = std::async(std::launch::async, [&] { return fixture.api.answer(request); });
    const bool has_answered = explaining.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    goes_on.set_value();
    CHECK(has_answered);
    const auto answer = explaining.get();
    REQUIRE(answer);
    CHECK(io::parse_json(answer->json)->string_or("supplied_by", "") == "main");
    CHECK(writing.get());
}

TEST_CASE("a permitted change on a low disk gets the reserve first, a refused one does not") {
    ApiFixture fixture;
    const std::string yanker = fixture.add_actor("yanker", {"yank"}, {"main"}, {"six"});
    fixture.config.min_free_bytes = base::mib;
    REQUIRE(fixture.config.room().keep_reserve().has_value());
    const std::filesystem::path reserve = fixture.config.store / "reserve";
    fixture.config.min_free_bytes = 2 * blobs::free_bytes_of(fixture.config.store);  // now the disk is low
    CHECK(fixture.ask(yanker, "deleteFile", fixture.body()) == "403 auth.scope_refused");
    fixture.room = fixture.config.room();
    CHECK(fixture.send(Form::of(WheelWriter("six", "1.17.0"))).code == "upload.disk_full");
    CHECK(std::filesystem::exists(reserve));
    CHECK(fixture.ask(yanker, "yankFile", fixture.body()) == "200");
    CHECK_FALSE(std::filesystem::exists(reserve));
}

TEST_CASE("a token administers if any of its actions changes published files") {
    ApiFixture fixture;
    for (const auto& row : {std::pair("upload", false), std::pair("task", false), std::pair("build", false),
                            std::pair("audit", false), std::pair("yank", true), std::pair("gc", true)}) {
        const char* const action = row.first;
        CAPTURE(action);
        const auto admitted =
            fixture.api.admit({.request_id = "r1",
                               .operation = "yankFile",
                               .authorization = "Bearer " + fixture.add_actor("x", {action})});
        REQUIRE(admitted.has_value());
        CHECK(admitted->may_administer == row.second);
    }
}

TEST_CASE(
    "only who has a token is admitted, and where everyone may call, who has none any more is a stranger") {
    ApiFixture fixture;
    const auto admit = [&](const std::string& authorization, std::string_view operation) {
        const auto admitted =
            fixture.api.admit({.request_id = "r3", .operation = operation, .authorization = authorization});
        return admitted ? "admitted as " + admitted->owner : fixture.said(admitted.error());
    };
    CHECK(admit("Bearer " + fixture.token, "yankFile") == "admitted as tester");
    CHECK(admit("", "yankFile") == "401 auth.missing");
    CHECK(admit("Bearer wy_nonsense", "yankFile") == "403 auth.token_refused");
    for (const registry::OperationRow& row : registry::operation_rows()) {
        if (row.right.callers != registry::Callers::everyone) continue;
        CAPTURE(row.http.id);
        for (const char* authorization : {"", "Bearer wy_nonsense", "Basic ###", "Digest x"})
            CHECK(admit(authorization, row.http.id) == "admitted as ");
        CHECK(admit("Bearer " + fixture.token, row.http.id) == "admitted as tester");
    }
}

TEST_CASE("who may delete applies retention, who may `gc` collects blobs") {
    ApiFixture fixture;
    CHECK(fixture.ask(fixture.add_actor("deletes", {"delete"}), "applyRetention",
                      fixture.body(R"(,"keep":1)")) == "200");
    CHECK(fixture.ask(fixture.add_actor("collects", {"gc"}), "collectBlobs", fixture.body()) == "200");
}

TEST_CASE("a file is promoted with rights on both indexes") {
    ApiFixture fixture;
    const std::string releaser = fixture.add_actor("releaser", {"promote"}, {"main", "other"});
    CHECK(fixture.ask(releaser, "promoteFile", fixture.body(R"(,"to":"nowhere")")) ==
          "403 auth.scope_refused");
    CHECK(fixture.ask(releaser, "promoteFile", fixture.body(R"(,"to":"other")")) == "200");
    CHECK(fixture.cli.file("other", fixture.filename).value().has_value());
}

TEST_CASE("a set needs the rights and another uploader for each of its files") {
    ApiFixture fixture;
    const Form second = Form::of(WheelWriter("seven", "1.0"));
    REQUIRE(fixture.send(second).status == 200);
    const std::string of_six = fixture.add_actor("of-six", {"promote"}, {"main", "other"}, {"six"});
    const std::string own = fixture.add_actor("tester", {"promote"});  // as the uploading token is named
    const std::string other = fixture.add_actor("releaser", {"promote"}, {"main", "other"});
    const auto to = [&](const std::string& with) {
        return fixture.body(R"(,"to":"other","with":[")" + with + "\"]");
    };
    CHECK(fixture.ask(of_six, "promoteFile", to(second.filename)) == "403 auth.scope_refused");
    CHECK(fixture.ask(own, "promoteFile", to(second.filename)) == "403 lifecycle.own_file");
    CHECK_FALSE(fixture.cli.file("other", fixture.filename).value().has_value());
    CHECK(fixture.ask(other, "promoteFile", to(second.filename)) == "200");
    CHECK(fixture.cli.file("other", fixture.filename).value().has_value());
    CHECK(fixture.cli.file("other", second.filename).value().has_value());
}

TEST_CASE("who may read a wheel may read its bill of materials, which says by its tag whether it changed") {
    ApiFixture fixture;
    const auto ask = [&](const std::string& token, const std::string& file,
                         const std::string& if_none_match = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = "readSbom"};
        request.if_none_match = if_none_match;
        request.parameters = {{"index", "main"}, {"filename", file}};
        if (!token.empty()) request.authorization = "Bearer " + token;
        CHECK(fixture.api.admit(request).has_value());
        return fixture.api.answer(request);
    };
    const auto code = [&](const auto& answer) { return answer ? "200" : ApiFixture::said(answer.error()); };
    const auto first = ask("", fixture.filename);
    REQUIRE_MESSAGE(first, code(first));
    const auto document = io::parse_json(first->json).value();
    CHECK(document.string_or("bomFormat", "") == "CycloneDX");
    const auto hashes = document.find("metadata")->find("component")->items("hashes");
    REQUIRE(hashes.size() == 1);
    CHECK(hashes[0].string_or("content", "") == fixture.cli.file("main", fixture.filename).value()->sha256);
    CHECK_FALSE(first->tag.empty());
    CHECK(ask("", fixture.filename)->tag == first->tag);
    // For a client that has it, nothing is made.
    const auto kept = ask("", fixture.filename, "W/\"" + first->tag + "\"");
    REQUIRE_MESSAGE(kept, code(kept));
    CHECK(kept->tag == first->tag);
    CHECK(kept->json.empty());
    CHECK_FALSE(ask("", fixture.filename, "\"other\"")->json.empty());
    // Another document has another tag.
    const WheelWriter wheel("seven", "1.0");
    wire::WheelProvenance made;
    made.wheel = {wheel.filename(), base::sha256_hex(wheel.bytes()), wheel.bytes().size()};
    made.source.kind = "sdist";
    made.source.origin = "https://example.org/seven-1.0.tar.gz";
    Form form = Form::of(wheel);
    form.fields.emplace_back("wheelyard_provenance", wire::render_wheel_provenance(made));
    REQUIRE(fixture.send(form).status == 200);
    const auto second = ask(fixture.add_actor("any", {"upload"}), wheel.filename());
    REQUIRE_MESSAGE(second, code(second));
    CHECK(second->json.find("https://example.org/seven-1.0.tar.gz") != std::string::npos);
    CHECK(second->tag != first->tag);

    fixture.config.indexes.front().is_private = true;
    CHECK(code(ask("", fixture.filename)) == "404 index.unknown");
    CHECK(code(ask(fixture.add_actor("other", {"read"}, {"main"}, {"seven"}), fixture.filename)) ==
          "404 index.unknown");
    CHECK(code(ask(fixture.add_actor("reader", {"read"}, {"main"}, {"six"}), fixture.filename)) == "200");
    fixture.config.indexes.front().is_private = false;
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "quarantineFile", fixture.body()) == "200");
    CHECK(code(ask("", fixture.filename)) == "404 file.unknown");
    CHECK(code(ask(all, fixture.filename)) == "200");
    REQUIRE(fixture.ask(all, "releaseFile", fixture.body()) == "200");
    REQUIRE(fixture.ask(all, "setProjectStatus", fixture.body(R"(,"status":"quarantined")")) == "200");
    CHECK(code(ask("", fixture.filename)) == "404 file.unknown");
}

TEST_CASE("a wheel is held against a torch of its index by the names of both") {
    ApiFixture fixture;
    const std::string zeros = "_ZN2at4_ops5zeros4callEv";
    const auto wheel_with = [](const std::string& name, const std::string& version, const std::string& file,
                               const test_support::ElfImage& elf) {
        WheelWriter wheel(name, version);
        wheel.tag("cp311-cp311-linux_x86_64").purelib(false);
        wheel.add(file, test_support::write_elf(elf));
        return wheel;
    };
    const WheelWriter has = wheel_with("torch", "2.7.0", "torch/lib/libtorch_cpu.so",
                                       {.soname = "libtorch_cpu.so", .exports = {zeros}});
    const WheelWriter lacks =
        wheel_with("torch", "2.6.0", "torch/lib/libtorch_cpu.so",
                   {.soname = "libtorch_cpu.so", .exports = {"_ZN2at4_ops4ones4callEv"}});
    const WheelWriter vision = wheel_with("torchvision", "0.22.0", "torchvision/_C.so",
                                          {.needed = {"libtorch_cpu.so"}, .imports = {zeros}});
    for (const WheelWriter* wheel : {&has, &lacks, &vision})
        REQUIRE(fixture.send(Form::of(*wheel)).status == 200);
    const auto ask = [&](const std::string& file, const std::string& torch, const std::string& token = "") {
        http::ApiRequest request{
            .request_id = "r1", .operation = "judgeWithTorch", .query = "torch=" + torch};
        request.parameters = {{"index", "main"}, {"filename", file}};
        if (!token.empty()) request.authorization = "Bearer " + token;
        const auto answer = fixture.api.answer(request);
        if (!answer) return ApiFixture::said(answer.error());
        const auto document = io::parse_json(answer->json).value();
        return document.string_or("fits", "") + " " + document.string_or("reason", "") + ": " +
               document.string_or("sentence", "");
    };
    CHECK(ask(vision.filename(), has.filename()).starts_with("yes has_all_symbols"));
    const std::string missing =
        "no symbols_missing: torch 2.6.0 lacks `at::_ops::zeros::call`, one name of torch that it needs";
    CHECK(ask(vision.filename(), lacks.filename()) == missing);
    // What it uses is kept: the same answer without the bytes; and made again where it is lost.
    const auto kept = fixture.config.store / "torch" / "uses" / base::sha256_hex(vision.bytes());
    CHECK(std::filesystem::exists(kept));
    REQUIRE(base::replace_file(kept, "{"));
    CHECK(ask(vision.filename(), lacks.filename()) == missing);
    CHECK(ask(fixture.filename, has.filename()) ==
          "unknown not_read: nothing is known of the names of torch that it uses");
    const WheelWriter stub("torch", "2.8.0");
    REQUIRE(fixture.send(Form::of(stub)).status == 200);
    CHECK(ask(vision.filename(), stub.filename()) ==
          "unknown not_read: This wheel defines no name of torch's interface");

    CHECK(ask("-", has.filename()) == "400 torch_fit.names");
    CHECK(ask(vision.filename(), "torch-9-cp311-cp311-linux_x86_64.whl") == "404 file.unknown");
    CHECK(ask(vision.filename(), has.filename(), "wy_nobody") == ask(vision.filename(), has.filename()));
    fixture.config.indexes.front().is_private = true;
    CHECK(ask(vision.filename(), has.filename()) == "404 index.unknown");
    const std::string half = fixture.add_actor("half", {"read"}, {"main"}, {"torchvision"});
    CHECK(ask(vision.filename(), has.filename(), half) == "404 index.unknown");
    const std::string both = fixture.add_actor("both", {"read"}, {"main"}, {"torchvision", "torch"});
    CHECK(ask(vision.filename(), has.filename(), both).starts_with("yes has_all_symbols"));
}

TEST_CASE("no torch of the other index can load a promoted companion, unless one comes with it") {
    ApiFixture fixture;
    auto& other = *std::find_if(fixture.config.indexes.begin(), fixture.config.indexes.end(),
                                [](const auto& index) { return index.name == "other"; });
    other.policy.severities.insert_or_assign("torch.cannot_load", inspect::Severity::quarantine);
    const auto upload = [&](const std::string& name, const std::string& version, const std::string& symbol,
                            bool exports) {
        WheelWriter wheel(name, version);
        wheel.tag("cp311-cp311-linux_x86_64").purelib(false);
        test_support::ElfImage elf{.soname = "libtorch_cpu.so"};
        if (exports) elf.exports = {symbol};
        if (!exports) elf = {.needed = {"libtorch_cpu.so"}, .imports = {symbol}};
        wheel.add(exports ? "torch/lib/libtorch_cpu.so" : name + "/_C.so", test_support::write_elf(elf));
        REQUIRE(fixture.send(Form::of(wheel)).status == 200);
        return wheel.filename();
    };
    const std::string zeros = "_ZN2at4_ops5zeros4callEv", ones = "_ZN2at4_ops4ones4callEv";
    const std::string old_torch = upload("torch", "2.6.0", ones, true);
    const std::string new_torch = upload("torch", "2.7.0", zeros, true);
    const std::string vision = upload("torchvision", "0.22.0", zeros, false);
    const std::string all = fixture.add_actor("all", {"*"});
    const auto promote = [&](const std::string& file, const std::string& with = "") {
        const std::string more = with.empty() ? "" : R"(,"with":[")" + with + R"("])";
        return fixture.ask(all, "promoteFile", fixture.body(R"(,"to":"other")" + more), "main", file);
    };
    CHECK(promote(old_torch) == "200");
    CHECK(promote(vision) == "409 lifecycle.cannot_load");
    CHECK_FALSE(fixture.cli.file("other", vision).value().has_value());
    CHECK(promote(vision, new_torch) == "200");
    CHECK(fixture.cli.file("other", vision).value().has_value());
}

TEST_CASE("readers find the wheels that contain a component, of the projects that they may read") {
    ApiFixture fixture;
    const auto ask = [&](const std::string& token, const std::string& query) {
        http::ApiRequest request{.request_id = "r1", .operation = "findContaining", .query = query};
        request.parameters.emplace("index", "main");
        if (!token.empty()) request.authorization = "Bearer " + token;
        const auto answer = fixture.api.answer(request);
        if (!answer) return fixture.said(answer.error());
        const io::Json document = io::parse_json(answer->json).value();
        CHECK(document.string_or("format", "") == "wheelyard.contains/1");
        CHECK(document.find("next")->is_null());
        std::string found;
        for (const io::Json& one : document.items("found"))
            found +=
                one.string_or("filename", "") + " " + one.find("component")->string_or("version", "") + ";";
        return found;
    };
    for (const char* project : {"seven", "eight"}) {
        WheelWriter wheel(project, "1.0");
        wheel.add(
            std::string(project) + "-1.0.dist-info/sboms/a.cdx.json",
            R"({"bomFormat":"CycloneDX","components":[{"name":"zlib","version":"1:1.2.11-2"},{"name":"a"}]})");
        REQUIRE(fixture.send(Form::of(wheel)).status == 200);
    }
    const std::string eight = "eight-1.0-py3-none-any.whl 1:1.2.11-2;";
    const std::string seven = "seven-1.0-py3-none-any.whl 1:1.2.11-2;";
    CHECK(ask("", "component=ZLIB&version=1.2.11") == eight + seven);
    CHECK(ask("", "component=z*") == eight + seven);
    CHECK(ask("", "component=zlib&version=1.2.12") == "");
    CHECK(ask("", "component=zlib&after=eight-1.0-py3-none-any.whl") == seven);
    CHECK(ask("", "component=z&version=" + std::string(201, '1')) == "400 contains.component");
    fixture.config.indexes.front().is_private = true;
    CHECK(ask(fixture.add_actor("of seven", {"read"}, {"main"}, {"seven"}), "component=zlib") == seven);
    fixture.config.indexes.front().is_private = false;
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "quarantineFile", fixture.body(), "main", "seven-1.0-py3-none-any.whl") ==
            "200");
    CHECK(ask("", "component=zlib") == eight);
    CHECK(ask(all, "component=zlib") == eight + seven);
}

TEST_CASE(
    "the files of an index are listed, with what pages do not show, for those who may change them all") {
    ApiFixture fixture;
    const std::string seven = WheelWriter("seven", "1.0").filename();
    REQUIRE(fixture.send(Form::of(WheelWriter("seven", "1.0"))).status == 200);
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "quarantineFile", fixture.body()) == "200");
    const auto list = [&](const std::string& token_text, const std::string& query) {
        http::ApiRequest request{.request_id = "r2", .operation = "listIndexFiles", .query = query};
        request.parameters.emplace("index", "main");
        request.authorization = "Bearer " + token_text;
        const auto answer = fixture.api.answer(request);
        if (!answer) return fixture.said(answer.error());
        std::string names;
        const io::Json document = io::parse_json(answer->json).value();
        for (const io::Json& file : document.items("files"))
            names += file.string_or("filename", "") + " " + file.string_or("state", "") + " " +
                     file.string_or("state_reason", "") + " " + file.string_or("uploaded_by", "") + "\n";
        return names;
    };
    const std::string six_row = fixture.filename + " quarantined because tester\n";
    const std::string seven_row = seven + " active  tester\n";
    CHECK(list(all, "") == seven_row + six_row);
    CHECK(list(all, "state=quarantined") == six_row);
    CHECK(list(all, "state=active&after=" + seven) == "");
    CHECK(list(all, "after=" + seven) == six_row);
    CHECK(list(fixture.add_actor("yanker", {"yank"}, {"main"}), "") == seven_row + six_row);
}

TEST_CASE("what an index keeps is described: by project, uploader and day") {
    ApiFixture fixture;
    const WheelWriter seven("seven", "1.0");
    REQUIRE(fixture.send(Form::of(seven)).status == 200);
    REQUIRE(fixture.send(Form::of(WheelWriter("seven", "1.1"))).status == 200);
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "quarantineFile", fixture.body()) == "200");
    http::ApiRequest request{.request_id = "r2", .operation = "describeStorage"};
    request.parameters.emplace("index", "main");
    request.authorization = "Bearer " + all;
    const io::Json document = io::parse_json(fixture.api.answer(request)->json).value();
    CHECK(document.string_or("format", "") == "wheelyard.storage/1");
    CHECK(document.int_or("files", 0) == 3);
    const io::Json& quarantined = *document.find("quarantined");
    CHECK(quarantined.int_or("files", 0) == 1);
    const auto& projects = document.items("projects");
    REQUIRE(projects.size() == 2);
    CHECK(projects[0].string_or("project", "") == "seven");
    CHECK(projects[0].int_or("files", 0) == 2);
    CHECK(projects[1].string_or("project", "") == "six");
    CHECK(projects[1].int_or("bytes", 0) == quarantined.int_or("bytes", -1));
    CHECK(projects[0].int_or("bytes", 0) + projects[1].int_or("bytes", 0) == document.int_or("bytes", -1));
    REQUIRE(document.items("uploaders").size() == 1);
    CHECK(document.items("uploaders")[0].string_or("name", "") == "tester");
    CHECK(document.find("quota_bytes")->is_null());
    CHECK(document.int_or("free_bytes", 0) > 0);
    const auto& growth = document.items("growth");  // all came today
    REQUIRE(growth.size() == 1);
    CHECK(growth[0].string_or("day", "") == base::render_rfc3339(fixture.clock.now()).substr(0, 10));
    CHECK(growth[0].int_or("files", 0) == 3);
    CHECK(growth[0].int_or("bytes", 0) == document.int_or("bytes", -1));
}

TEST_CASE("a change whose page is not out is a 503, and the same request again is answered once it is") {
    ApiFixture fixture;
    const std::string all = fixture.add_actor("all", {"*"});
    fixture.pages_fail = true;
    CHECK(fixture.ask(all, "yankFile", fixture.body()) == "503 lifecycle.page_lags");
    CHECK(fixture.cli.file("main", fixture.filename).value()->yanked);
    fixture.pages_fail = false;
    CHECK(fixture.ask(all, "yankFile", fixture.body()) == "200");
    CHECK(fixture.cli.last_serial().value() == 2);
}

TEST_CASE("the audit log is read after a serial, or back from the newest") {
    ApiFixture fixture;
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "yankFile", fixture.body()) == "200");
    const auto read = [&](const std::string& query) {
        return fixture.api.answer(
            {.request_id = "r2", .operation = "readAudit", .query = query, .authorization = "Bearer " + all});
    };
    const auto two = read("");
    REQUIRE(two.has_value());
    CHECK(two->json.find("file_added") != std::string::npos);
    const auto one = read("after=1");
    REQUIRE(one.has_value());
    CHECK(one->json.find("file_added") == std::string::npos);
    CHECK(one->json.find(R"("kind":"file_yanked")") != std::string::npos);
    CHECK(one->json.find(R"("actor":"all","reason":"because")") != std::string::npos);
    const auto newest = read("newest=1");
    REQUIRE(newest.has_value());
    CHECK(newest->json == base::replace_all(one->json, R"("next":null)", R"("next":2)"));
    CHECK(read("newest=2")->json == two->json);
    CHECK(read("newest=1000")->json == two->json);
}

TEST_CASE("everybody who reads an index sees which files came, went or were yanked in a week, not by whom") {
    ApiFixture fixture;
    const std::string all = fixture.add_actor("all", {"*"});
    REQUIRE(fixture.ask(all, "yankFile", fixture.body()) == "200");
    REQUIRE(fixture.ask(all, "pinFile", fixture.body()) == "200");
    const auto read = [&](const std::string& index) {
        http::ApiRequest request{.request_id = "r2", .operation = "listFileChanges"};
        request.parameters.emplace("index", index);
        const auto answer = fixture.api.answer(request);
        return answer ? answer->json : fixture.said(answer.error());
    };
    const std::string seen = read("main");
    CHECK(seen.find(R"("kind":"yanked")") < seen.find(R"("kind":"new")"));
    CHECK(seen.find(R"("reason":"because")") != std::string::npos);
    CHECK(seen.find("\"all\"") == std::string::npos);
    CHECK(seen.find("pin") == std::string::npos);
    REQUIRE(fixture.ask(all, "unpinFile", fixture.body()) == "200");
    REQUIRE(fixture.ask(all, "quarantineFile", fixture.body()) == "200");
    const std::string gone = read("main");
    CHECK(gone.find(R"("kind":"gone")") < gone.find(R"("kind":"yanked")"));
    CHECK(base::replace_all(gone, "because", "").size() + std::string("because").size() == gone.size());
    CHECK(read("nowhere") == "404 index.unknown");
    fixture.clock.sleep_ms(std::int64_t{8} * 24 * 3'600'000);
    CHECK(read("main") == R"({"format":"wheelyard.file_changes/1","changes":[],"cut":false})");
}

TEST_CASE("who may read the audit log learns what people are called") {
    ApiFixture fixture;
    const std::string person = registry::person_name("campus", "https://idp.example", "s-1", "Anna");
    fixture.make_token(person, {"main"}, {"*"}, {"read"});
    const auto read = [&](const std::string& token_text) {
        const auto answer = fixture.api.answer(
            {.request_id = "r2", .operation = "listPeople", .authorization = "Bearer " + token_text});
        return answer ? answer->json : fixture.said(answer.error());
    };
    CHECK(read(fixture.add_actor("auditor", {"audit"})) == R"({"format":"wheelyard.people/1","names":{")" +
                                                               std::string(registry::actor_of(person)) +
                                                               R"(":"Anna"}})");
}

TEST_CASE("the audit log has a filter and pages, from the first event or back from the last") {
    ApiFixture fixture;
    const std::string all = fixture.add_actor("all", {"*"});
    for (const char* verb : {"yankFile", "unyankFile", "yankFile"})
        REQUIRE(fixture.ask(all, verb, fixture.body()) == "200");
    // The serials of a reply, then where its next page begins.
    const auto read = [&](const std::string& query) {
        const auto answer = fixture.api.answer(
            {.request_id = "r2", .operation = "readAudit", .query = query, .authorization = "Bearer " + all});
        if (!answer) return fixture.said(answer.error());
        const io::Json document = io::parse_json(answer->json).value();
        std::string text;
        for (const io::Json& event : document.items("events"))
            text += std::to_string(event.int_or("serial", 0)) + " ";
        return text + document.find("next")->render();
    };
    CHECK(read("") == "1 2 3 4 null");
    CHECK(read("newest=2") == "3 4 3");
    CHECK(read("newest=2&before=3") == "1 2 null");
    CHECK(read("before=3") == "1 2 null");
    CHECK(read("newest=1&action=file%20yanked") == "4 4");
    CHECK(read("newest=1&action=file_yanked&before=4") == "2 2");
    CHECK(read("action=file_yanked&before=2") == "null");
    CHECK(read("who=ALL") == "2 3 4 null");
    CHECK(read("what=six-1") == "1 2 3 4 null");
    CHECK(read("project=Six&index=main&filename=" + fixture.filename) == "1 2 3 4 null");
    CHECK(read("what=seven") == "null");
    CHECK(read("until=2000-01-01") == "null");
    CHECK(read("from=2000-01-01&after=3") == "4 null");
}

TEST_CASE("how upstreams have failed is described, without their passwords") {
    ApiFixture fixture;
    registry::UpstreamConfig upstream;
    upstream.name = "public";
    upstream.cache_index = "main.public";
    upstream.url = "https://user:secret@index.example.org/simple/";
    fixture.config.indexes.front().upstreams = {upstream};
    registry::LastFailures failures(fixture.config.store / "upstream");
    failures.note("main.public",
                  {.time = 1'000'000, .project = "six", .code = "http.connect", .sentence = "no"});
    failures.note("main.public",
                  {.time = 2'000'000, .project = "six", .code = "http.connect", .sentence = "no"});
    http::ApiRequest request{.request_id = "r2", .operation = "describeUpstreams"};
    request.parameters.emplace("index", "main");
    request.authorization = "Bearer " + fixture.add_actor("all", {"*"});
    const auto seen = fixture.api.answer(request);
    REQUIRE(seen.has_value());
    const io::Json document = io::parse_json(seen->json).value();
    CHECK(seen->json.find("secret") == std::string::npos);
    REQUIRE(document.items("upstreams").size() == 1);
    const io::Json& one = document.items("upstreams")[0];
    CHECK(one.string_or("upstream", "") == "main.public");
    REQUIRE(one.items("failures").size() == 1);
    const io::Json& failure = one.items("failures")[0];
    CHECK(failure.int_or("count", 0) == 2);
    CHECK(failure.string_or("since", "") == "1970-01-01T00:00:01.000000Z");
    CHECK(failure.string_or("time", "") == "1970-01-01T00:00:02.000000Z");
    CHECK(failure.string_or("error", "") == "no");
}
