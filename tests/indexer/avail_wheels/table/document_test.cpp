// The answer as JSON for programs, with everything known about each wheel.
#include "indexer/avail_wheels/table/table.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/sample_wheels.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("the document has everything known about a wheel and omits unknown members") {
    Answer answer;
    answer.wheels = make_candidates(
        {"torch-2.4.0+cu126-1-cp312-cp312-manylinux_2_28_aarch64.whl", "six-1.16.0-py2.py3-none-any.whl"});
    auto& link = answer.wheels[0].link;
    link.sha256 = std::string(64, 'a');
    link.size_bytes = 797'159'424;
    link.requires_python = ">=3.8.0";
    link.upload_time = base::parse_rfc3339("2026-11-20T12:00:00.000000Z").value();
    link.yanked = true;
    link.yanked_reason = "wrong <NCCL>";
    answer.not_available = {"pip"};
    CHECK(test_support::golden_difference("avail_wheels/document.json", render_document(answer)) == "");
}

TEST_CASE("an empty answer is still a document") {
    CHECK(render_document({}).find("\"wheels\": []") != std::string::npos);
}
