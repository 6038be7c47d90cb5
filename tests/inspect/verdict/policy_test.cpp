// Policy presets and their messages.
#include "lib/inspect/verdict/policy.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using inspect::Severity;

namespace {

inspect::InspectOptions with_preset(std::string_view name) {
    inspect::InspectOptions options;
    auto policy = inspect::make_preset(name);
    REQUIRE(policy);
    options.policy = std::move(*policy);
    return options;
}

}  // namespace

TEST_CASE("every preset exists and uses known rules only; a mirror refuses only unreadable wheels") {
    for (const auto& preset : inspect::policy_presets()) {
        const auto policy = inspect::make_preset(preset.name);
        REQUIRE(policy);
        for (const auto& [code, severity] : policy->severities)
            CHECK_MESSAGE(inspect::find_rule(code) != nullptr, code);
    }
    CHECK_FALSE(inspect::make_preset("strict"));
    const auto mirror = inspect::make_preset("mirror");
    for (const inspect::Rule& rule : inspect::rules()) {
        const auto chosen = mirror->severities.find(rule.code);
        CHECK((chosen == mirror->severities.end() ? rule.severity : chosen->second) <= Severity::warn);
    }
}

TEST_CASE("the index's preset decides whether a wheel is accepted, quarantined or refused") {
    const auto plain = with_elf(linux_311, {});
    const auto unknown =
        with_elf("cp311-cp311-manylinux_2_28_x86_64", {.needed = {"libc.so.6", "libgomp.so.1"}});
    const auto outside = with_elf(linux_311, {.rpath = "/opt/elsewhere/lib"});
    struct Row {
        std::function<Wheel()> wheel;
        std::string_view preset, outcome;
    };
    for (const Row& row : {Row{plain, "linux", "accepted"}, Row{plain, "manylinux-strict", "refused"},
                           Row{plain, "mirror", "accepted"}, Row{unknown, "linux", "quarantined"},
                           Row{unknown, "manylinux-strict", "refused"}, Row{unknown, "mirror", "accepted"},
                           Row{outside, "linux", "refused"}, Row{outside, "manylinux-strict", "refused"},
                           Row{outside, "mirror", "accepted"}}) {
        CAPTURE(row.preset);
        CHECK(checked(row.wheel(), with_preset(row.preset)).outcome() == row.outcome);
    }
}

TEST_CASE("an ignored finding is not reported; a quarantined wheel is neither accepted nor refused") {
    inspect::InspectOptions options;
    options.policy.severities = {{"elf.search_path", Severity::ignore}};
    CHECK(checked(with_elf(linux_311, {.rpath = "/opt/elsewhere/lib"})(), options).verdicts.empty());
    options.policy.severities = {{"elf.search_path", Severity::quarantine}};
    const auto inspection = checked(with_elf(linux_311, {.rpath = "/opt/elsewhere/lib"})(), options);
    CHECK_FALSE(inspection.accepted());
    CHECK_FALSE(inspection.refused());
    // Unreadable device code proves nothing, even if the finding is ignored.
    options.policy.severities = {{"gpu.malformed", Severity::ignore}};
    const ElfImage junk = {.sections = {{".nv_fatbin", "what is this, 32 bytes of junk?!"}}};
    CHECK(checked(with_elf(linux_311, junk)(), options).verdicts.empty());
    const auto promised = checked(with_elf(linux_311, junk, "six/_six.so", "1.16.0+cu126")(), options);
    REQUIRE(promised.verdicts.size() == 1);
    CHECK(promised.verdicts.front().code == "gpu.unproven");
    CHECK(promised.outcome() == "quarantined");
}

TEST_CASE("severities parse back, and unknown words get the nearest known one") {
    for (const std::string_view text : {"ignore", "note", "warn", "quarantine", "reject"})
        CHECK(inspect::severity_text(*inspect::parse_severity(text)) == text);
    CHECK_FALSE(inspect::parse_severity("error"));
    CHECK(inspect::unknown_rule_sentence("elf.serch_path") ==
          "unknown rule `elf.serch_path`; did you mean \"elf.search_path\"?");
    CHECK(
        inspect::unknown_preset_sentence("manylinux_strict").ends_with("did you mean \"manylinux-strict\"?"));
    CHECK(inspect::unknown_severity_sentence("elf.malformed", "error") ==
          "`elf.malformed` must be \"reject\", \"quarantine\", \"warn\", \"note\" or \"ignore\", not "
          "\"error\"");
}

TEST_CASE("the policy limits how much a wheel may unpack to") {
    WheelWriter wheel = valid_wheel();
    wheel.add("six_data/much.txt", std::string(100'000, 'x'));
    struct Row {
        inspect::SizeLimits sizes;
        bool bomb;
    };
    for (const Row& row :
         {Row{{}, false}, Row{{.ratio = 10, .ratio_from_bytes = 1000}, true},
          Row{{.ratio = 1032, .ratio_from_bytes = 1000}, false}, Row{{.unpacked_bytes = 100'000}, true}}) {
        inspect::InspectOptions options;
        options.policy.sizes = row.sizes;
        const auto inspection = checked(pack(wheel), options);
        CHECK(inspection.refused() == row.bomb);
        if (row.bomb) CHECK(inspection.verdicts.front().code == "zip.bomb");
    }
}
