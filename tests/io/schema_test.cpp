// The expectations are JSON Schema's (2020-12) and OpenAPI 3.1's.
#include "lib/io/schema.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace wheelyard::io {
namespace {

struct Job {
    std::int64_t memory_mib = 0;
};
constexpr auto job_record = record<Job>({field<&Job::memory_mib>("memory_mib", "what it requests")});

struct Sample {
    std::string name;
    std::optional<std::int64_t> place = {};
    std::vector<std::string> tags = {};
    bool is_late = false;
    base::UnixMicros ended = 0;
    std::vector<Job> jobs = {};
    std::optional<Job> last = {};
    Job size = {};
};
constexpr auto sample_record = record<Sample>(
    {
        field<&Sample::name>("name", "its name", Need::required),
        field<&Sample::place>("place", "null: none"),
        field<&Sample::tags>("tags", "words"),
        field<&Sample::is_late>("late", "absent: no", Need::optional, Written::if_given),
        field<Time, &Sample::ended>("ended", "null: not yet"),
        field<ListOf<Nested<job_record>, 5>, &Sample::jobs>("jobs", "at most five"),
        field<Nested<job_record>, &Sample::last>("last", "null: none"),
        field<&Sample::size, &Job::memory_mib>("size.memory_mib", "in a group"),
    },
    "wheelyard.sample_of/1");

}  // namespace

TEST_CASE("a table's schema has its types, and requires what is always written") {
    Json shared = Json::object();
    CHECK(schema_of(document_of<sample_record>(), shared).render() ==
          R"({"$ref":"#/components/schemas/SampleOf"})");
    const std::string job =
        R"({"type":"object","properties":{"memory_mib":{"type":"integer"}},"required":["memory_mib"]})";
    CHECK(shared.find("SampleOf")->render() ==
          R"({"type":"object","properties":{"format":{"type":"string","const":"wheelyard.sample_of/1"},)"
          R"("name":{"type":"string"},"place":{"type":["integer","null"]},)"
          R"("tags":{"type":"array","items":{"type":"string"}},"late":{"type":"boolean"},)"
          R"("ended":{"type":["string","null"],"format":"date-time"},"jobs":{"type":"array","items":)" +
              job + R"(},"last":{"anyOf":[)" + job + R"(,{"type":"null"}]},"size":)" + job +
              R"(},"required":["format","name","place","tags","ended","jobs","last","size"]})");
}

TEST_CASE("of a document that is kept as it was sent only what its reader requires is required") {
    Json shared = Json::object();
    Document kept = document_of<sample_record>();
    kept.is_kept = true;
    (void)schema_of(kept, shared);
    CHECK(shared.find("SampleOf")->find("required")->render() == R"(["format","name"])");
}

TEST_CASE("a document that may be another one is either") {
    Json shared = Json::object();
    Document one = document_of<sample_record>();
    one.other = document_of<job_record>;
    CHECK(schema_of(one, shared).find("anyOf")->items().size() == 2);
}

}  // namespace wheelyard::io
