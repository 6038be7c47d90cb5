// A wheel, made a variant and read again as any wheel is.
#include "lib/inspect/inspect.hpp"

#include "lib/base/text/text.hpp"
#include "tests/inspect/sample.hpp"

namespace wheelyard::inspect_test {
namespace {

WheelWriter labelled_wheel() {
    WheelWriter wheel("six", "1.16.0+cu126.gh200");
    wheel.add("six.py", "print('six')\n")
        .add("six_data/table.txt", std::string(300'000, 'x'))
        .add("six-1.16.0+cu126.gh200.data/scripts/six", "#!python\n")
        .metadata_line("Requires-Dist: torch==2.9.0+cu126.gh200")
        .metadata_line("Requires-Dist: numpy==1.0+cu126.gh200")
        .description("Version: 1.16.0+cu126.gh200 requires torch 2.9.0+cu126.gh200\n");
    return wheel;
}

base::Result<std::string> made_of(const WheelWriter& wheel, const wheel::LabelledVariant& variant) {
    const std::string original = wheel.bytes();
    const base::MemoryReader reader(original);
    std::string bytes;
    const auto done =
        inspect::write_variant_wheel(reader, *wheel::parse_wheel_filename(wheel.filename()), variant,
                                     "2.9.0+cu126.gh200", [&](std::string_view piece) -> base::Status {
                                         bytes += piece;
                                         return {};
                                     });
    if (!done) return tl::unexpected(done.error());
    return bytes;
}

inspect::InspectOptions with_variants() {
    inspect::InspectOptions options;
    options.policy.variants = true;
    return options;
}

const wheel::LabelledVariant null_variant{"null", {}};

}  // namespace

TEST_CASE(
    "a variant wheel is a wheel without findings: label in place of the local version, the same files") {
    const WheelWriter wheel = labelled_wheel();
    const std::string filename =
        inspect::variant_filename(*wheel::parse_wheel_filename(wheel.filename()), "null");
    CHECK(filename == "six-1.16.0-py3-none-any-null.whl");
    const auto bytes = made_of(wheel, null_variant);
    REQUIRE_MESSAGE(bytes.has_value(), bytes.error().text());
    const auto made = checked({*bytes, filename}, with_variants());
    std::string verdicts;
    for (const auto& verdict : made.verdicts)
        verdicts += verdict.text() + "\n";
    CHECK(verdicts == "");
    CHECK(made.metadata.version.text() == "1.16.0");
    CHECK(made.metadata.requires_dist == std::vector<std::string>{"torch==2.9.0", "numpy==1.0+cu126.gh200"});
    // The body is its author's.
    CHECK(made.metadata_bytes.find("\n\nVersion: 1.16.0+cu126.gh200 requires torch 2.9.0+cu126.gh200\n") !=
          std::string::npos);
    CHECK(made.facts.variant.find(R"("null":{})") != std::string::npos);
    CHECK(made.facts.members == checked({wheel.bytes(), wheel.filename()}).facts.members + 1);
    CHECK(*made_of(wheel, null_variant) == *bytes);
}

TEST_CASE("variant.json of a variant wheel replaces one that was there") {
    WheelWriter wheel = labelled_wheel();
    wheel.dist_info("variant.json", "{}");
    const auto bytes = made_of(wheel, null_variant);
    REQUIRE(bytes.has_value());
    CHECK(checked({*bytes, "six-1.16.0-py3-none-any-null.whl"}, with_variants()).verdicts.empty());
}

TEST_CASE("a signed wheel, and one without RECORD, is no variant wheel's source") {
    WheelWriter is_signed = labelled_wheel();
    is_signed.dist_info("RECORD.jws", "{}").record_row("six-1.16.0+cu126.gh200.dist-info/RECORD.jws,,");
    WheelWriter has_none = labelled_wheel();
    has_none.leave_out("six-1.16.0+cu126.gh200.dist-info/RECORD");
    for (const WheelWriter& wheel : {is_signed, has_none}) {
        const auto bytes = made_of(wheel, null_variant);
        REQUIRE(!bytes.has_value());
        CHECK(bytes.error().code == "variant.not_a_wheel");
    }
}

}  // namespace wheelyard::inspect_test
