// Project and root pages in both forms.
#include "lib/simple/page.hpp"

#include <doctest/doctest.h>

namespace wheelyard::simple {
namespace {

const std::string sha256_a(64, 'a');
const std::string sha256_b(64, 'b');

base::Url page_url() {
    return *base::parse_url("https://index.example/whl/simple/torch/");
}

ProjectPage html_page(const std::string& html) {
    auto page = parse_project_html(html, page_url());
    REQUIRE_MESSAGE(page.has_value(), html);
    return *page;
}

ProjectPage json_page(const std::string& file) {
    auto page = parse_project_json(R"({"meta":{"api-version":"1.1"},"name":"torch","files":[)" + file + "]}",
                                   page_url());
    REQUIRE_MESSAGE(page.has_value(), file);
    return *page;
}

}  // namespace

TEST_CASE("a file is found by its whole name") {
    ProjectPage page;
    for (const char* name : {"a-1.0-py3-none-any.whl", "a-1.0.tar.gz"}) {
        FileLink file;
        file.filename = name;
        file.url = std::string("https://h/") + name;
        page.files.push_back(file);
    }
    REQUIRE(find_file(page, "a-1.0.tar.gz") != nullptr);
    CHECK(find_file(page, "a-1.0.tar.gz")->url == "https://h/a-1.0.tar.gz");
    CHECK(find_file(page, "a-1.0") == nullptr);
    CHECK(find_file({}, "a-1.0.tar.gz") == nullptr);
}

TEST_CASE("all data of an HTML page is parsed (PEP 503, 592, 658, 714)") {
    const auto page = html_page(
        "<!DOCTYPE html><html><head><meta name=\"pypi:repository-version\" content=\"1.0\"></head><body>\n"
        "<a href=\"../../files/torch-2.4.0%2Bcu126-cp312-cp312-linux_x86_64.whl#sha256=" +
        sha256_a + "\" data-requires-python=\"&gt;=3.9,&lt;3.13\" data-core-metadata=\"sha256=" + sha256_b +
        "\" data-dist-info-metadata=\"true\">torch</a>\n"
        "<a href=\"/other/torch-2.3.tar.gz\" data-yanked=\"broken &amp; bad\">t</a>\n"
        "<a href=\"https://cdn.example/torch-2.2.zip#egg=torch&amp;sha256=" +
        sha256_a +
        "\" data-yanked>t</a>\n"
        "<a href=\"torch-2.1-py3-none-any.whl#md5=x\" data-dist-info-metadata=\"true\">t</a></body></html>");
    REQUIRE(page.files.size() == 4);
    CHECK(page.files[0].filename == "torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl");
    CHECK(page.files[0].url ==
          "https://index.example/whl/files/torch-2.4.0%2Bcu126-cp312-cp312-linux_x86_64.whl");
    CHECK(page.files[0].sha256 == sha256_a);
    CHECK(page.files[0].requires_python == ">=3.9,<3.13");
    CHECK(page.files[0].has_metadata);
    CHECK(page.files[0].metadata_sha256 == sha256_b);
    CHECK_FALSE(page.files[0].yanked);
    CHECK(page.files[0].size_bytes == 0);
    CHECK(page.files[1].url == "https://index.example/other/torch-2.3.tar.gz");
    CHECK(page.files[1].yanked);
    CHECK(page.files[1].yanked_reason == "broken & bad");
    CHECK(page.files[1].sha256.empty());
    CHECK_FALSE(page.files[1].has_metadata);
    CHECK(page.files[2].url == "https://cdn.example/torch-2.2.zip");
    CHECK(page.files[2].sha256 == sha256_a);
    CHECK(page.files[2].yanked);
    CHECK(page.files[2].yanked_reason.empty());
    CHECK(page.files[3].sha256.empty());
    CHECK(page.files[3].has_metadata);
    CHECK(page.files[3].metadata_sha256.empty());
}

TEST_CASE("links resolve against <base href>") {
    CHECK(html_page("<base href=\"https://cdn.example/x/\"><a href=\"a.whl\">").files[0].url ==
          "https://cdn.example/x/a.whl");
    CHECK(html_page("<base href=\"/y/\"><a href=\"a.whl\">").files[0].url == "https://index.example/y/a.whl");
    CHECK(html_page("<a href=\"a.whl\">").files[0].url == "https://index.example/whl/simple/torch/a.whl");
}

TEST_CASE("links that no client can use are skipped") {
    for (const char* link :
         {"<a>", "<a href>", "<a href=\"../\">", "<a href=\"mailto:a@b\">", "<a href=\"javascript:x\">",
          "<a href=\"x/\">", "<a href=\"%2Fetc\">", "<a href=\"..%2Fx.whl\">", "<a href=\"%2e%2e\">",
          "<a href=\"a%5Cb.whl\">", "<a href=\"a%0Ab.whl\">", "<a href=\"a%00.whl\">",
          "<a href=\"ftp://x/a.whl\">", "<a href=\"a%ZZ.whl\">"}) {
        CHECK_MESSAGE(html_page(link).files.empty(), link);
    }
    CHECK(html_page("<a href=\" a b.whl \">").files[0].filename == "a b.whl");
}

TEST_CASE("all data of a JSON page is parsed (PEP 691, 700, 714)") {
    const auto page = json_page(
        R"({"filename":"torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl","url":"/files/torch-2.4.0%2Bcu126-cp312-cp312-linux_x86_64.whl",)"
        R"("hashes":{"sha256":")" +
        std::string(64, 'A') +
        R"("},"requires-python":">=3.9","size":5000000000,)"
        R"("upload-time":"2024-07-24T12:00:00.000000Z","yanked":"bad","core-metadata":{"sha256":")" +
        sha256_b +
        R"("},"provenance":null,"unknown":[1]},)"
        R"({"filename":"torch-2.3.tar.gz","url":"https://cdn.example/t.tar.gz#sha256=)" +
        sha256_b +
        R"(","hashes":{},"requires-python":null,"yanked":false,"core-metadata":true},)"
        R"({"filename":"torch-2.2.tar.gz","url":"t","hashes":{"sha256":"short"},"yanked":true,"dist-info-metadata":true},)"
        R"({"filename":"torch-2.1.tar.gz","url":"t","hashes":{},"core-metadata":false,"size":-1,"yanked":""})");
    REQUIRE(page.files.size() == 4);
    CHECK_FALSE(page.files[3].yanked);  // not truthy
    CHECK(page.files[0].filename == "torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl");
    CHECK(page.files[0].url ==
          "https://index.example/files/torch-2.4.0%2Bcu126-cp312-cp312-linux_x86_64.whl");
    CHECK(page.files[0].sha256 == sha256_a);
    CHECK(page.files[0].size_bytes == 5'000'000'000U);
    CHECK(page.files[0].requires_python == ">=3.9");
    CHECK(page.files[0].upload_time == base::parse_rfc3339("2024-07-24T12:00:00Z"));
    CHECK(page.files[0].yanked);
    CHECK(page.files[0].yanked_reason == "bad");
    CHECK(page.files[0].has_metadata);
    CHECK(page.files[0].metadata_sha256 == sha256_b);
    CHECK(page.files[1].sha256 == sha256_b);
    CHECK(page.files[1].requires_python.empty());
    CHECK_FALSE(page.files[1].yanked);
    CHECK(page.files[1].has_metadata);
    CHECK(page.files[2].sha256.empty());
    CHECK(page.files[2].yanked);
    CHECK(page.files[2].has_metadata);
    CHECK_FALSE(page.files[3].has_metadata);
    CHECK(page.files[3].size_bytes == 0);
}

TEST_CASE("file names that are paths are skipped in JSON pages too") {
    for (const char* name : {"../x.whl", "a/b.whl", "a\\\\b.whl", "..", ".", "a\\nb.whl", "a\\u0000.whl"}) {
        CHECK_MESSAGE(
            json_page(std::string(R"({"filename":")") + name + R"(","url":"t","hashes":{}})").files.empty(),
            name);
    }
    CHECK(json_page(R"({"filename":"","url":"","hashes":{}})").files.empty());
}

TEST_CASE("a page of another protocol is an error") {
    struct Row {
        const char* body;
        const char* type;
        const char* code;
    };
    const Row rows[] = {
        {"{}", "application/vnd.pypi.simple.v1+json", "simple.json"},
        {"[]", "application/vnd.pypi.simple.v1+json", "simple.json"},
        {R"({"meta":{"api-version":1},"files":[]})", "application/vnd.pypi.simple.v1+json", "simple.json"},
        {R"({"meta":{"api-version":"1.0"},"files":{}})", "application/vnd.pypi.simple.v1+json",
         "simple.json"},
        {R"({"meta":{"api-version":"2.0"},"files":[]})", "application/vnd.pypi.simple.v1+json",
         "simple.version"},
        {R"({"meta":{"api-version":"1.0"},"files":[1]})", "application/json", "json.missing"},
        {R"({"meta":{"api-version":"1.0"},"files":[{"url":"x"}]})", "application/json", "json.missing"},
        {R"({"meta":{"api-version":"1.0"},"files":[{"url":1,"filename":"x"}]})", "application/json",
         "json.type"},
        {"{", "application/json", "json.syntax"},
        {"<meta name='pypi:repository-version' content='2.0'>", "text/html", "simple.version"},
        {"<meta name='pypi:repository-version' content='x'>", "text/html", "simple.version"},
        {"", "", "simple.content_type"},
        {"", "text/plain", "simple.content_type"},
        {"", "application/vnd.pypi.simple.v2+json", "simple.content_type"}};
    for (const auto& row : rows) {
        const auto page = parse_project_page(row.body, row.type, page_url());
        REQUIRE_MESSAGE(!page.has_value(), row.body);
        CHECK_MESSAGE(page.error().code == row.code, row.body);
    }
}

TEST_CASE("the Content-Type selects the parser, regardless of case and parameters") {
    const std::string json =
        R"({"meta":{"api-version":"1.0"},"files":[{"filename":"a.whl","url":"a.whl","hashes":{}}]})";
    const std::string html = "<a href=a.whl>";
    for (const char* type : {"application/vnd.pypi.simple.v1+json", "Application/JSON ; charset=utf-8",
                             "application/vnd.pypi.simple.latest+json"}) {
        CHECK(parse_project_page(json, type, page_url())->files.size() == 1);
    }
    for (const char* type : {"text/html", "TEXT/HTML;charset=utf-8", "application/vnd.pypi.simple.v1+html"}) {
        CHECK(parse_project_page(html, type, page_url())->files.size() == 1);
    }
}

TEST_CASE("root pages list names as written") {
    const std::vector<std::string> names{"Torch", "foo.bar"};
    CHECK(*parse_root_page(
              "<a href=\"/simple/torch/\">Torch</a><a href=\"foo-bar/\"> foo.bar </a><a>no</a><a href=x></a>",
              "text/html") == names);
    CHECK(
        *parse_root_page(R"({"meta":{"api-version":"1.4"},"projects":[{"name":"Torch"},{"name":"foo.bar"}]})",
                         "application/json") == names);
    CHECK(parse_root_page(R"({"meta":{"api-version":"1.4"},"projects":[{}]})", "application/json")
              .error()
              .code == "json.missing");
    CHECK(parse_root_page(R"({"meta":{"api-version":"1.4"}})", "application/json").error().code ==
          "simple.json");
}

TEST_CASE("HTML has times as PyTorch's index has them") {
    CHECK(html_page("<a href=\"a.whl\" data-upload-time=\"2026-04-23T10:20:30Z\">").files[0].upload_time ==
          base::parse_rfc3339("2026-04-23T10:20:30Z"));
    CHECK(html_page("<a href=\"a.whl\">").files[0].upload_time == 0);
}

}  // namespace wheelyard::simple
