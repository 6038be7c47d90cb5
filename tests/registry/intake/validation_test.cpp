// What is refused about a form and a file, one row a refusal.
#include "registry/intake/validation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "tests/support/elf_writer.hpp"
#include "tests/support/wheel_writer.hpp"

using namespace wheelyard;
using registry::UploadForm;
using test_support::WheelWriter;

namespace {

using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

// What twine sends for six-1.16.0-py2.py3-none-any.whl, with changes; nullopt takes a field away.
UploadForm form_with(const Changes& changes = {}) {
    UploadForm form;
    form.action = "file_upload";
    form.protocol_version = "1";
    form.name = "six";
    form.version = "1.16.0";
    form.filetype = "bdist_wheel";
    form.metadata_version = "2.1";
    form.sha256_digest = std::string(64, 'a');
    for (const auto& [name, value] : changes)
        *form.field(name) = value;
    return form;
}

template <typename T>
std::string code_of(const wire::Answered<T>& answer) {
    return answer ? std::string() : answer.error().code;
}
template <typename T>
int status_of(const wire::Answered<T>& answer) {
    return answer ? 200 : answer.error().status;
}

inspect::Inspection inspection_of(const WheelWriter& wheel, const inspect::Policy& policy = {}) {
    const std::string bytes = wheel.bytes();
    return inspect::inspect_wheel(base::MemoryReader(bytes), wheel.filename(),
                                  {.policy = policy, .threads = 1, .progress = {}})
        .value();
}

WheelWriter six() {
    WheelWriter wheel("six", "1.16.0");
    wheel.add("six.py", "print('six')\n").tag("py2.py3-none-any");
    return wheel;
}

}  // namespace

TEST_CASE("every field that is wrong by itself has its status and code") {
    struct Row {
        Changes changes;
        int status;
        const char* code;
    };
    const Row rows[] = {
        {{}, 200, ""},
        {{{"protocol_version", std::nullopt}}, 200, ""},
        {{{"metadata_version", std::nullopt}}, 200, ""},
        {{{"metadata_version", "2.6"}}, 200, ""},
        {{{"metadata_version", "2.0"}}, 200, ""},
        {{{"sha256_digest", std::nullopt}, {"md5_digest", std::string(32, '0')}}, 200, ""},
        {{{":action", std::nullopt}}, 400, "upload.no_action"},
        {{{":action", "submit"}}, 410, "upload.action_retired"},
        {{{":action", "submit_pkg_info"}}, 410, "upload.action_retired"},
        {{{":action", "doc_upload"}}, 410, "upload.action_retired"},
        {{{":action", "remove"}}, 400, "upload.unknown_action"},
        {{{"protocol_version", "2"}}, 400, "upload.unknown_protocol"},
        {{{"filetype", std::nullopt}}, 400, "upload.field_missing"},
        {{{"filetype", "sdist"}}, 200, ""},
        {{{"filetype", "bdist_egg"}}, 400, "upload.unknown_filetype"},
        {{{"name", std::nullopt}}, 400, "upload.field_missing"},
        {{{"version", std::nullopt}}, 400, "upload.field_missing"},
        {{{"metadata_version", "3.0"}}, 400, "upload.unknown_metadata_version"},
        {{{"sha256_digest", std::nullopt}}, 400, "upload.no_digest"},
        {{{"sha256_digest", std::string(63, 'a')}}, 400, "upload.bad_digest"},
        {{{"sha256_digest", std::string(64, 'g')}}, 400, "upload.bad_digest"},
        {{{"md5_digest", std::string(64, 'a')}}, 400, "upload.bad_digest"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.code);
        CAPTURE(row.changes.empty() ? std::string() : row.changes[0].first);
        const auto checked = registry::check_form(form_with(row.changes));
        CHECK(code_of(checked) == row.code);
        CHECK(status_of(checked) == row.status);
        if (!checked) CHECK_FALSE(checked.error().title.empty());
    }
}

TEST_CASE("file names: a wheel's, in normal form, of plain characters") {
    struct Row {
        std::string filename;
        const char* code;
    };
    const Row rows[] = {
        {"six-1.16.0-py2.py3-none-any.whl", ""},
        {"torch-2.4.0+cu126-1-cp312-cp312-linux_aarch64.whl", ""},
        {"ruamel_yaml-0.18.6-py3-none-any.whl", ""},
        {"", "upload.bad_filename"},
        {"../six-1.16.0-py3-none-any.whl", "upload.bad_filename"},
        {"a\\six-1.16.0-py3-none-any.whl", "upload.bad_filename"},
        {"six-1.16.0-py3-none-any.whl\n", "upload.bad_filename"},
        {std::string("six-1.16.0-py3-none-any.whl\0.whl", 32), "upload.bad_filename"},
        {"six 1.16.0-py3-none-any.whl", "upload.bad_filename"},
        {"s\xc3\xafx-1.16.0-py3-none-any.whl", "upload.bad_filename"},
        {"six-1.16.0+" + std::string(246 - 28, 'a') + "-py3-none-any.whl", ""},
        {"six-1.16.0+" + std::string(247 - 28, 'a') + "-py3-none-any.whl", "upload.bad_filename"},
        {"six-1.16.0.tar.gz", "upload.sdist"},
        {"Six Package-1.16.0.zip", "upload.sdist"},
        {"six-1.16.0-py3-none-any.whl.zip", "upload.not_a_wheel"},
        {"six-1.16.0.whl", "upload.bad_filename"},
        {"six-one-py3-none-any.whl", "upload.bad_filename"},
        {"MarkupSafe-3.0.2-cp312-cp312-manylinux_2_17_x86_64.whl", ""},
        {"ruamel.yaml-0.18.6-py3-none-any.whl", ""},
        {"six-1.16.0.RC1-py3-none-any.whl", "upload.name_not_normalized"},
        {"six-v1.16.0-py3-none-any.whl", "upload.name_not_normalized"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        CHECK(code_of(registry::check_filename(row.filename)) == row.code);
    }
}

TEST_CASE("a name that is not normalised is answered with the right one") {
    const auto checked = registry::check_filename("Ruamel.Yaml-0.18.6.post01-1-cp312-cp312-linux_x86_64.whl");
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().title.find("ruamel_yaml-0.18.6.post1-1-cp312-cp312-linux_x86_64.whl") !=
          std::string::npos);
}

TEST_CASE("a policy decides on other spellings and on other versions, as the inspection does") {
    const auto mirror = inspect::make_preset("mirror");
    REQUIRE(mirror);
    const std::string markupsafe = "MarkupSafe-3.0.2-cp312-cp312-manylinux_2_17_x86_64.whl";
    const inspect::Policy strict{.severities = {{"filename.not_normalized", inspect::Severity::reject}}};
    CHECK(code_of(registry::check_filename(markupsafe, strict)) == "upload.name_not_normalized");
    const auto taken = registry::check_filename(markupsafe);
    REQUIRE(taken);
    CHECK(taken->project == "markupsafe");
    CHECK(code_of(registry::check_filename("six-v1.16.0-py3-none-any.whl", *mirror)) == "");
    CHECK(code_of(registry::check_filename("../" + markupsafe, *mirror)) == "upload.bad_filename");
    CHECK(code_of(registry::check_filename("six-1.16.0-py3-none-any-x8664v3.whl", *mirror)) ==
          "filename.variant");
    inspect::Policy taking;
    taking.variants = true;
    CHECK(code_of(registry::check_filename("six-1.16.0-py3-none-any-x8664v3.whl", taking)) == "");
    CHECK(code_of(registry::check_filename("six-1.16.0-py3-none-any-X86.whl", taking)) ==
          "upload.bad_filename");
}

TEST_CASE("an index takes the names of sdists only where it says so") {
    struct Row {
        const char* filename;
        const char* code;
    };
    const Row rows[] = {
        {"six-1.16.0.tar.gz", ""},
        {"ruamel_yaml-0.18.6.tar.gz", ""},
        {"ruamel.yaml-0.18.6.tar.gz", ""},
        {"Six-1.16.0.tar.gz", ""},
        {"six-1.16.0.post01.tar.gz", "upload.name_not_normalized"},
        {"six-1.16.0.zip", "upload.sdist_archive"},
        {"six-1.16.0.tgz", "upload.sdist_archive"},
        {"six-1.16.0.tar.bz2", "upload.sdist_archive"},
        {"six.tar.gz", "upload.bad_filename"},
        {"../six-1.16.0.tar.gz", "upload.bad_filename"},
        {"six-1.16.0.tar.gz.exe", "upload.not_a_wheel"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        const auto taken =
            registry::check_filename(row.filename, {}, registry::AcceptedFiles::wheels_and_sdists);
        CHECK(code_of(taken) == row.code);
        if (taken) CHECK(taken->is_sdist);
        if (taken) CHECK(code_of(registry::check_filename(row.filename)) == "upload.sdist");
    }
    CHECK(registry::check_filename("six-1.16.0.post01.tar.gz", inspect::make_preset("mirror").value(),
                                   registry::AcceptedFiles::wheels_and_sdists)
              .has_value());
}

TEST_CASE("the form's filetype must be that of the file name") {
    const auto sdist =
        registry::check_filename("six-1.16.0.tar.gz", {}, registry::AcceptedFiles::wheels_and_sdists).value();
    CHECK(code_of(registry::check_form_against(form_with({{"filetype", "sdist"}}), sdist)) == "");
    CHECK(code_of(registry::check_form_against(form_with(), sdist)) == "upload.filetype_differs");
    const auto split =
        registry::check_filename("leo-6.7.8-9.tar.gz", {}, registry::AcceptedFiles::wheels_and_sdists)
            .value();
    const auto refused = registry::check_form_against(
        form_with({{"filetype", "sdist"}, {"name", "leo"}, {"version", "6.7.8-9"}}), split);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().title == "File name is not normalized; it should be leo-6.7.8.post9.tar.gz");
    const auto wheel = registry::check_filename("six-1.16.0-py2.py3-none-any.whl").value();
    CHECK(code_of(registry::check_form_against(form_with({{"filetype", "sdist"}}), wheel)) ==
          "upload.filetype_differs");
}

TEST_CASE("the form must be about the file that it carries") {
    struct Row {
        Changes changes;
        const char* code;
    };
    const Row rows[] = {
        {{}, ""},
        {{{"name", "SIX"}}, ""},
        {{{"version", "v1.16.0"}}, ""},
        {{{"name", "seven"}}, "upload.name_differs"},
        {{{"version", "1.16.1"}}, "upload.version_differs"},
        {{{"version", "1.16"}}, "upload.version_differs"},
        {{{"version", "one"}}, "upload.version_differs"},
    };
    const auto filename = registry::check_filename("six-1.16.0-py2.py3-none-any.whl").value();
    for (const Row& row : rows) {
        CAPTURE(row.changes.empty() ? std::string() : *row.changes[0].second);
        CHECK(code_of(registry::check_form_against(form_with(row.changes), filename)) == row.code);
    }
}

TEST_CASE("every digest that was sent is compared, in either case of its letters") {
    const registry::ContentDigests content{.sha256 = std::string(64, 'a'), .md5 = std::string(32, 'b')};
    CHECK(registry::check_digests(form_with({{"sha256_digest", std::string(64, 'A')}}), content).has_value());
    for (const auto& [field, length] : {std::pair("sha256_digest", 64), std::pair("md5_digest", 32)}) {
        CAPTURE(field);
        const auto checked = registry::check_digests(
            form_with({{field, std::string(static_cast<std::size_t>(length), '0')}}), content);
        REQUIRE_FALSE(checked.has_value());
        CHECK(checked.error().code == "upload.digest_mismatch");
        CHECK(checked.error().title.find(field) != std::string::npos);
    }
}

TEST_CASE("the size limit includes its last byte") {
    CHECK(registry::check_size(0, 10).has_value());
    CHECK(registry::check_size(10, 10).has_value());
    CHECK(status_of(registry::check_size(11, 10)) == 413);
}

TEST_CASE("an honest wheel passes; a false one is refused with rule and place") {
    CHECK(registry::check_inspection(inspection_of(six())).has_value());
    WheelWriter liar = six();
    liar.wrong_record_hash("six.py");
    const auto refused = registry::check_inspection(inspection_of(liar));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().status == 400);
    CHECK(refused.error().code == "record.hash_mismatch");
    CHECK(refused.error().value == "six.py");
    CHECK(refused.error().detail.find("six.py") != std::string::npos);
    CHECK_FALSE(refused.error().advice.empty());
}

TEST_CASE("what a client shows names the offending value") {
    struct Row {
        std::function<void(WheelWriter&)> edit;
        const char* value;
    };
    const auto metadata = [](const char* line) { return [line](WheelWriter& w) { w.metadata_line(line); }; };
    const Row rows[] = {
        {metadata("Requires-Python: >=3.6.*"),
         "Requires-Python is not a set of version specifiers: `>=3.6.*` (e.g. >=3.9)"},
        {metadata("Requires-Dist: pytz (>=2011k)"), "pytz (>=2011k)"},
        {[](WheelWriter& w) { w.dist_info("entry_points.txt", "[console_scripts]\nsix\n"); }, "line 2: six"},
        {[](WheelWriter& w) {
             w.tag("cp311-cp311-linux_x86_64")
                 .add("six/_six.so", test_support::write_elf({.runpath = "/tmp/lib"}));
         },
         "/tmp/lib in six/_six.so"},
        {[](WheelWriter& w) { w.unlisted("six.py"); }, "six.py"},
        {[](WheelWriter& w) { w.add("vendored-1.0.dist-info/METADATA", ""); }, "six-1.16.0.dist-info"},
    };
    for (const Row& row : rows) {
        WheelWriter wheel = six();
        row.edit(wheel);
        const auto refused = registry::check_inspection(inspection_of(wheel));
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().value == row.value);
    }
}

TEST_CASE("only the first ten of many verdicts are reported") {
    WheelWriter liar = six();
    for (int i = 0; i < 30; ++i)
        liar.add("m" + std::to_string(i) + ".py", "x").unlisted("m" + std::to_string(i) + ".py");
    const auto refused = registry::check_inspection(inspection_of(liar));
    REQUIRE_FALSE(refused.has_value());
    const std::string& detail = refused.error().detail;
    CHECK(static_cast<std::size_t>(std::count(detail.begin(), detail.end(), '\n')) ==
          registry::max_verdicts_reported);
    CHECK(detail.ends_with("(and more)"));
}

TEST_CASE("an index's policy may wave a rule through") {
    WheelWriter liar = six();
    liar.wrong_record_hash("six.py");
    inspect::Policy policy;
    policy.severities.emplace("record.hash_mismatch", inspect::Severity::warn);
    CHECK(registry::check_inspection(inspection_of(liar, policy)).has_value());
}

TEST_CASE("no policy publishes a wheel about another project, or without METADATA") {
    inspect::Policy everything;
    for (const inspect::Rule& rule : inspect::rules())
        everything.severities.emplace(rule.code, inspect::Severity::note);
    WheelWriter other = six();
    other.wrong_metadata_name("seven");
    CHECK(code_of(registry::check_inspection(inspection_of(other, everything))) == "metadata.name_mismatch");
    WheelWriter newer = six();
    newer.wrong_metadata_version("1.17.0");
    CHECK(code_of(registry::check_inspection(inspection_of(newer, everything))) ==
          "metadata.version_mismatch");
    WheelWriter without = six();
    without.leave_out("METADATA");
    CHECK(code_of(registry::check_inspection(inspection_of(without, everything))) ==
          "dist_info.file_missing");
}

TEST_CASE("a wheel that is only quarantined passes, with its reason; one that is refused as well does not") {
    WheelWriter liar = six();
    liar.wrong_record_hash("six.py");
    inspect::Policy policy;
    policy.severities.emplace("record.hash_mismatch", inspect::Severity::quarantine);
    CHECK(registry::check_inspection(inspection_of(liar, policy)).has_value());
    CHECK(registry::quarantine_reason(inspection_of(liar, policy)).starts_with("record.hash_mismatch: "));
    CHECK(registry::quarantine_reason(inspection_of(six())).empty());
    liar.metadata_line("Requires-Dist: no requirement");
    CHECK(code_of(registry::check_inspection(inspection_of(liar, policy))) == "metadata.requirement_invalid");
}

TEST_CASE("titles are words that clients know, on one line") {
    const auto taken =
        registry::name_taken("six-1.16.0-py2.py3-none-any.whl", {.sha256_there = std::string(64, 'a')});
    CHECK(taken.status == 409);
    CHECK(taken.title == "File already exists (six-1.16.0-py2.py3-none-any.whl)");
    CHECK(taken.detail.find(std::string(64, 'a')) != std::string::npos);
    const auto inherited =
        registry::name_taken("six-1.16.0-py3-none-any.whl",
                             {.index_there = "base", .filename_there = "Six-1.16.0-py3-none-any.whl"});
    CHECK(inherited.detail.find("inherits from `base`") != std::string::npos);
    CHECK(inherited.detail.find("under the name Six-1.16.0-py3-none-any.whl") != std::string::npos);
    const auto deleted = registry::name_was_deleted("six-1.16.0-py2.py3-none-any.whl");
    CHECK(deleted.status == 400);
    CHECK(deleted.title.starts_with("This filename was previously used"));
    const auto forged = registry::check_filename("a\r\nSet-Cookie: x.whl");
    REQUIRE_FALSE(forged.has_value());
    CHECK(forged.error().value.find('\n') == std::string::npos);
}
