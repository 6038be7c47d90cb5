// Uploads from the first byte to the page, without HTTP: every refusal leaves nothing, every retry converges.
#include "registry/intake/uploads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/attest/verify.hpp"
#include "lib/attest/wheel_statements.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/wheel/metadata.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::Answer;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

WheelWriter six(const std::string& version = "1.16.0", const std::string& text = "print('six')\n") {
    WheelWriter wheel("six", version);
    wheel.add("six.py", text).tag("py2.py3-none-any").metadata_line("Requires-Python: >=2.7");
    return wheel;
}

std::string digest_hex(base::DigestKind kind, const std::string& bytes) {
    base::Digest digest(kind);
    digest.update(bytes);
    return base::encode_hex(digest.finish());
}

}  // namespace

TEST_CASE(
    "an honest wheel is stored, committed with what its bytes prove, and acknowledged with its serial") {
    RegistryFixture registry;
    const WheelWriter wheel = six();
    const Answer answer = registry.send(Form::of(wheel));
    REQUIRE_MESSAGE(answer.status == 200, answer.detail);
    CHECK(answer.done.serial == 1);
    CHECK_FALSE(answer.done.already_there);
    CHECK(answer.done.filename == wheel.filename());
    const auto row = registry.cli.file("main", wheel.filename()).value();
    REQUIRE(row.has_value());
    CHECK(row->project == "six");
    CHECK(row->version == "1.16.0");
    CHECK(row->requires_python == ">=2.7");
    CHECK(row->uploaded_by == "tester");
    CHECK(row->upload_time == registry.clock.now());
    CHECK(row->size_bytes == wheel.bytes().size());
    CHECK(row->facts_json.find("py2-none-any") != std::string::npos);
    CHECK(base::read_file(registry.store.path_of(row->sha256), 1 << 20).value() == wheel.bytes());
    const std::string metadata =
        base::read_file(registry.store.path_of(row->metadata_sha256), 1 << 20).value();
    CHECK(metadata.size() == row->metadata_size_bytes);
    CHECK(wheel::parse_metadata(metadata)->name == "six");
    CHECK(registry.staged() == 0);
}

namespace {

std::string provenance_of(const WheelWriter& wheel, const std::string& site = "bede") {
    wire::WheelProvenance made;
    made.wheel = {wheel.filename(), base::sha256_hex(wheel.bytes()), wheel.bytes().size()};
    made.site = site;
    made.attempt = "w1";
    return wire::render_wheel_provenance(made);
}

}  // namespace

TEST_CASE("what made a wheel is stored in the commit of its upload, and a retry does not replace it") {
    RegistryFixture registry;
    const WheelWriter wheel = six();
    Form form = Form::of(wheel);
    form.fields.emplace_back("wheelyard_provenance", provenance_of(wheel));
    REQUIRE(registry.send(form).status == 200);
    const auto row = registry.cli.file("main", wheel.filename()).value();
    REQUIRE(row.has_value());
    const auto stored = base::read_file(registry.store.path_of(row->provenance_sha256), 1 << 20);
    REQUIRE(stored.has_value());
    CHECK(*stored == provenance_of(wheel));
    CHECK(row->provenance_size_bytes == stored->size());
    CHECK(io::parse_json(row->facts_json)->string_or("stated_by", "") ==
          registry::parse_token_text(registry.token)->id);
    const auto events = registry.cli.events_after(0, 10).value();
    CHECK(events.back().details_json.find(row->provenance_sha256) != std::string::npos);
    // Lost bytes come back with the same document, and only with that.
    std::filesystem::remove(registry.store.path_of(row->provenance_sha256));
    form.fields.back().second = provenance_of(wheel, "another");
    CHECK(registry.send(form).status == 200);
    CHECK(registry.cli.file("main", wheel.filename()).value()->provenance_sha256 == row->provenance_sha256);
    CHECK_FALSE(registry.store.contains(row->provenance_sha256));
    form.fields.back().second = provenance_of(wheel);
    CHECK(registry.send(form).status == 200);
    CHECK(registry.store.contains(row->provenance_sha256));
}

TEST_CASE("verified attestations are stored in the commit of the upload, with who signed them") {
    RegistryFixture registry;
    const std::string name = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
    const std::string folder = std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/";
    const std::string bytes = base::read_file(folder + name, base::mib).value();
    const std::string attestation =
        base::read_file(folder + name + ".publish.attestation", base::mib).value();
    Form form = Form::of(name, bytes);
    form.set("attestations", "[" + attestation + "]");
    registry.config.indexes.front().attested_by = {
        {.projects = {"*"}, .issuer = "https://gitlab.com", .subject = "x"}};
    CHECK(registry.send(form).code == "upload.not_attested");
    registry.config.indexes.front().attested_by = {
        {.projects = {"circleci-sign-publish-example"},
         .issuer = "https://oidc.circleci.com",
         .repository = "github.com/CircleCI-Public/sign-and-publish-examples"}};
    const Answer answer = registry.send(form);
    REQUIRE_MESSAGE(answer.status == 200, answer.detail);
    const auto row = registry.cli.file("main", name).value().value();
    const std::string stored =
        base::read_file(registry.store.path_of(row.attestations_sha256), base::mib).value();
    CHECK(row.attestations_size_bytes == stored.size());
    CHECK(io::parse_json(stored)->items("attestation_bundles").at(0).items("attestations").at(0) ==
          io::parse_json(attestation).value());
    const auto attested = io::parse_json(row.facts_json)->items("attested");
    REQUIRE(attested.size() == 1);
    CHECK(attested[0].string_or("issuer", "") == "https://oidc.circleci.com");
    CHECK(attested[0].string_or("repository", "") == "github.com/CircleCI-Public/sign-and-publish-examples");
    // Lost bytes come back with a retry; one without attestations is a retry, too.
    std::filesystem::remove(registry.store.path_of(row.attestations_sha256));
    CHECK(registry.send(form).status == 200);
    CHECK(registry.store.contains(row.attestations_sha256));
    CHECK(registry.send(Form::of(name, bytes)).status == 200);
}

TEST_CASE("attestations that come after the file are refused, for they would be lost") {
    RegistryFixture registry;
    const std::string name = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
    const std::string folder = std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/";
    Form form = Form::of(name, base::read_file(folder + name, base::mib).value());
    REQUIRE(registry.send(form).status == 200);
    form.set("attestations",
             "[" + base::read_file(folder + name + ".publish.attestation", base::mib).value() + "]");
    CHECK(registry.send(form).status == 409);
    CHECK(registry.send(form).code == "upload.attestations_late");
}

TEST_CASE("a retry has the attestations of the first upload, in any JSON, or none: others would be lost") {
    RegistryFixture registry;
    const std::string name = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
    const std::string folder = std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/";
    const io::Json attestation =
        io::parse_json(base::read_file(folder + name + ".publish.attestation", base::mib).value()).value();
    const auto send = [&](const std::string& attestations) {
        Form form = Form::of(name, base::read_file(folder + name, base::mib).value());
        if (!attestations.empty()) form.set("attestations", attestations);
        return registry.send(form);
    };
    REQUIRE(send("[" + attestation.render() + "]").status == 200);
    CHECK(send("[\n  " + attestation.render() + "\n]").status == 200);
    CHECK(send("").status == 200);
    io::Json other = attestation;
    other.set("note", "signed again");
    const Answer answer = send("[" + other.render() + "]");
    CHECK(answer.status == 409);
    CHECK(answer.code == "upload.attestations_late");
    CHECK(answer.detail.find("these attestations would be lost") != std::string::npos);
}

namespace {

// Lets something happen while an upload goes on: the next time it asks for the time.
struct EventfulClock final : base::Clock {
    base::UnixMicros time = 0;
    mutable std::function<void()> event;
    base::UnixMicros now() const override {
        if (event) std::exchange(event, nullptr)();
        return time;
    }
    void sleep_ms(std::int64_t) override {}
};

}  // namespace

TEST_CASE("of two first uploads of a file at once, none with attestations is answered as if they were kept") {
    RegistryFixture registry;
    const std::string name = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
    const std::string folder = std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/";
    const std::string bytes = base::read_file(folder + name, base::mib).value();
    const std::string field =
        "[" + base::read_file(folder + name + ".publish.attestation", base::mib).value() + "]";
    wire::WheelProvenance made;
    made.wheel = {name, base::sha256_hex(bytes), bytes.size()};
    made.site = "bede";
    made.attempt = "w1";
    // The first upload asks for the time when it signs what its agent said: it has looked for the file by then.
    const attest::SigningKey key = attest::SigningKey::generate();
    EventfulClock clock;
    clock.time = registry.clock.now();
    registry::Uploads uploads({.config = registry.config,
                               .blobs = registry.store,
                               .room = registry.room,
                               .tokens = *registry.tokens,
                               .writer = registry.writer,
                               .pages = registry.pages,
                               .clock = clock,
                               .signing_key = &key});
    Form slow = Form::of(name, bytes);
    slow.fields.emplace_back("wheelyard_provenance", wire::render_wheel_provenance(made));
    slow.set("attestations", field);
    const auto request = uploads.begin(registry.head());
    REQUIRE(request);
    REQUIRE((*request)->feed(slow.body()));
    int answered = 0;
    clock.event = [&] { answered = registry.send(Form::of(name, bytes)).status; };
    const auto done = (*request)->finish();
    REQUIRE(answered == 200);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == "upload.attestations_late");
    CHECK(registry.cli.file("main", name).value()->attestations_sha256.empty());
}

TEST_CASE("with a key, what the agent said and what was proved is signed in the commit of the upload") {
    RegistryFixture registry;
    const attest::SigningKey key = attest::SigningKey::generate();
    const std::string token_id = registry::parse_token_text(registry.token)->id;
    registry.config.attest.service_accounts = {"tester"};  // a name is no ID
    registry::Uploads uploads({.config = registry.config,
                               .blobs = registry.store,
                               .room = registry.room,
                               .tokens = *registry.tokens,
                               .writer = registry.writer,
                               .pages = registry.pages,
                               .clock = registry.clock,
                               .signing_key = &key});
    const auto upload = [&](const WheelWriter& wheel, const std::string& provenance) {
        Form form = Form::of(wheel);
        if (!provenance.empty()) form.fields.emplace_back("wheelyard_provenance", provenance);
        const auto request = uploads.begin(registry.head());
        REQUIRE(request);
        REQUIRE((*request)->feed(form.body()));
        const auto done = (*request)->finish();
        REQUIRE(done);
        return registry.cli.file("main", wheel.filename()).value().value();
    };
    const WheelWriter wheel = six();
    const catalog::FileRow row = upload(wheel, provenance_of(wheel));
    const std::string stored =
        base::read_file(registry.store.path_of(row.provenance_sha256), 1 << 20).value();
    CHECK(row.provenance_size_bytes == stored.size());
    CHECK(attest::split_statements(stored)->document == provenance_of(wheel));
    const auto verified = attest::verify_wheel(wheel.filename(), base::sha256_hex(wheel.bytes()), stored,
                                               {key.public_key(), {}, registry.clock.now()});
    REQUIRE(verified);
    CHECK(verified->time == registry.clock.now());
    const std::string said = verified->provenance.predicate.render();
    CHECK(said.find(R"("asserted_by":{"token":")" + token_id + R"(","registry":"urn:wheelyard:registry:)" +
                    key.public_key().id()) != std::string::npos);
    CHECK(stored.find("tester") == std::string::npos);  // names may be those of persons
    const std::string proved = verified->summary.predicate.render();
    CHECK(proved.find(R"("level":"SLSA_BUILD_LEVEL_1")") != std::string::npos);
    CHECK(proved.find(R"("tags":["py2-none-any","py3-none-any"])") != std::string::npos);
    // The site says that this token's agent is a service account; the next wheel knows.
    registry.config.attest.service_accounts = {token_id};
    const WheelWriter next = six("1.17.0");
    const std::string of_next =
        base::read_file(registry.store.path_of(upload(next, provenance_of(next)).provenance_sha256), 1 << 20)
            .value();
    CHECK(attest::verify_wheel(next.filename(), base::sha256_hex(next.bytes()), of_next,
                               {key.public_key(), {}, registry.clock.now()})
              ->summary.predicate.render()
              .find("SLSA_BUILD_LEVEL_2") != std::string::npos);
    registry.tokens->recognise_publishers({"six"});
    // A job's token is forgotten, its publisher is not. No table of the file makes it a service account.
    const std::string usual =
        std::exchange(registry.token, registry.make_token("publisher:six", {"main"}, {"six"}, {"upload"},
                                                          registry.clock.now() + 1'000'000));
    registry.config.attest.service_accounts = {"publisher:six"};
    const WheelWriter of_job = six("1.17.1");
    const auto of_publisher = attest::verify_wheel(
        of_job.filename(), base::sha256_hex(of_job.bytes()),
        base::read_file(registry.store.path_of(upload(of_job, provenance_of(of_job)).provenance_sha256),
                        1 << 20)
            .value(),
        {key.public_key(), {}, registry.clock.now()});
    REQUIRE(of_publisher);
    CHECK(of_publisher->provenance.predicate.render().find(R"("asserted_by":{"token":"publisher:six")") !=
          std::string::npos);
    CHECK(of_publisher->summary.predicate.render().find("SLSA_BUILD_LEVEL_1") != std::string::npos);
    // The token of an agent that enrolled is forgotten as well, its name stays; an operator's token of that name is another one.
    registry.config.attest.service_accounts = {"agent:bede"};
    for (const bool is_enrolled : {true, false}) {
        CAPTURE(is_enrolled);
        const registry::TokenText text = registry::make_token_text();
        REQUIRE(registry.cli.add_token({.id = text.id,
                                        .secret_sha256 = registry::hash_token_secret(text.secret),
                                        .name = "agent:bede",
                                        .indexes = {"main"},
                                        .projects = {"*"},
                                        .actions = {"upload"},
                                        .created_by = is_enrolled ? "agent:bede" : "local:root"}));
        registry.token = text.text();
        const WheelWriter built = six(is_enrolled ? "1.17.2" : "1.17.3");
        const auto of_agent = attest::verify_wheel(
            built.filename(), base::sha256_hex(built.bytes()),
            base::read_file(registry.store.path_of(upload(built, provenance_of(built)).provenance_sha256),
                            1 << 20)
                .value(),
            {key.public_key(), {}, registry.clock.now()});
        REQUIRE(of_agent);
        CHECK(of_agent->provenance.predicate.render().find(
                  R"("asserted_by":{"token":")" + (is_enrolled ? std::string("agent:bede") : text.id) +
                  "\"") != std::string::npos);
        CHECK(of_agent->summary.predicate.render().find(
                  is_enrolled ? "SLSA_BUILD_LEVEL_2" : "SLSA_BUILD_LEVEL_1") != std::string::npos);
    }
    registry.token = usual;
    // An agent's statements of its own are not kept; a wheel that no agent built gets none.
    const WheelWriter sly = six("1.18.0");
    std::string forged = provenance_of(sly);
    forged.replace(forged.size() - 2, 2,
                   R"(,"statements":[{"payload":""}]})"
                   "\n");
    const std::string of_sly =
        base::read_file(registry.store.path_of(upload(sly, forged).provenance_sha256), 1 << 20).value();
    CHECK(attest::split_statements(of_sly)->document == provenance_of(sly));
    CHECK(attest::split_statements(of_sly)->statements.size() == 2);
    CHECK(upload(six("1.19.0"), "").provenance_sha256.empty());
    // What cannot be signed is refused with the reason.
    const WheelWriter large = six("1.20.0");
    wire::WheelProvenance made = wire::parse_wheel_provenance(provenance_of(large)).value();
    made.source.origin = std::string(60'000, '<');
    Form form = Form::of(large);
    form.fields.emplace_back("wheelyard_provenance", wire::render_wheel_provenance(made));
    const auto request = uploads.begin(registry.head());
    REQUIRE(request);
    REQUIRE((*request)->feed(form.body()));
    const auto refused = (*request)->finish();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().status == 400);
    CHECK(refused.error().code == "upload.provenance");
    CHECK(refused.error().detail.find("too large to be signed") != std::string::npos);
    CHECK_FALSE(registry.cli.file("main", large.filename()).value().has_value());
}

TEST_CASE(
    "a provenance that is malformed, too large or about another wheel is refused, and nothing is stored") {
    RegistryFixture registry;
    const WheelWriter wheel = six();
    const auto send = [&](const std::string& provenance) {
        Form form = Form::of(wheel);
        form.fields.emplace_back("wheelyard_provenance", provenance);
        const Answer answer = registry.send(form);
        return std::to_string(answer.status) + " " + answer.code;
    };
    CHECK(send("{") == "400 upload.provenance");
    CHECK(send(R"({"format":"wheelyard.provenance/2"})") == "400 upload.provenance");
    CHECK(send(R"({"format":"wheelyard.provenance/1"})") == "400 upload.provenance");
    CHECK(send(provenance_of(wheel) + std::string(wire::max_provenance_bytes, ' ')) ==
          "400 upload.provenance");
    CHECK(send(provenance_of(six("1.17.0"))) == "400 upload.provenance_of_another");
    CHECK(registry.staged() == 0);
    CHECK_FALSE(registry.cli.file("main", wheel.filename()).value().has_value());
    CHECK(send(" ") == "200 ");
    CHECK(registry.cli.file("main", wheel.filename()).value()->provenance_sha256.empty());
}

TEST_CASE("an agent that enrolled states wheels of its own site only, in a shared index, too") {
    RegistryFixture registry;
    const auto send_as = [&](const std::string& token_name, const std::string& maker,
                             const WheelWriter& wheel, const std::string& provenance) {
        const registry::TokenText text = registry::make_token_text();
        REQUIRE(registry.cli.add_token({.id = text.id,
                                        .secret_sha256 = registry::hash_token_secret(text.secret),
                                        .name = token_name,
                                        .indexes = {"main"},
                                        .projects = {"*"},
                                        .actions = {"upload"},
                                        .created_by = maker}));
        registry.token = text.text();
        Form form = Form::of(wheel);
        if (!provenance.empty()) form.fields.emplace_back("wheelyard_provenance", provenance);
        const Answer answer = registry.send(form);
        return std::to_string(answer.status) + " " + answer.code;
    };
    const std::string alpha = "agent:alpha";
    const WheelWriter wheel = six();
    for (const char* other : {"beta", "", "Alpha", "alpha.login1", "alph"}) {
        CAPTURE(other);
        CHECK(send_as(alpha, alpha, wheel, provenance_of(wheel, other)) == "403 upload.provenance_site");
        CHECK_FALSE(registry.cli.file("main", wheel.filename()).value().has_value());
    }
    CHECK(registry.staged() == 0);
    CHECK(send_as(alpha, alpha, wheel, provenance_of(wheel, "alpha")) == "200 ");
    // A retry is no way around it.
    CHECK(send_as(alpha, alpha, wheel, provenance_of(wheel, "beta")) == "403 upload.provenance_site");
    const WheelWriter bare = six("1.17.0");
    CHECK(send_as(alpha, alpha, bare, "") == "200 ");
    const WheelWriter of_operator = six("1.18.0");
    CHECK(send_as(alpha, "local:root", of_operator, provenance_of(of_operator, "beta")) == "200 ");
}

TEST_CASE("the longest name that can be published is stored letter by letter") {
    RegistryFixture registry;
    const std::string frame = "six-1.16.0+-py2.py3-none-any.whl";
    const WheelWriter wheel =
        six("1.16.0+" + std::string(inspect::max_wheel_filename_bytes - frame.size(), 'a'));
    REQUIRE(wheel.filename().size() == inspect::max_wheel_filename_bytes);
    const Answer answer = registry.send(Form::of(wheel));
    REQUIRE_MESSAGE(answer.status == 200, answer.detail);
    CHECK(answer.done.filename == wheel.filename());
    CHECK(registry.cli.file("main", wheel.filename()).value().has_value());
}

TEST_CASE("a body that comes byte by byte, or with the file before its fields, is the same upload") {
    RegistryFixture registry;
    Form form = Form::of(six());
    CHECK(registry.send(registry.head(), form.body(), 1).status == 200);
    Form reversed = Form::of(six("1.17.0"));
    reversed.content_first = true;
    CHECK(registry.send(reversed).status == 200);
}

TEST_CASE("the same file again is a 200 with the first serial, and nothing changes") {
    RegistryFixture registry;
    const Form form = Form::of(six());
    REQUIRE(registry.send(form).status == 200);
    REQUIRE(registry.send(Form::of(six("1.17.0"))).status == 200);
    const Answer again = registry.send(form);
    CHECK(again.status == 200);
    CHECK(again.done.already_there);
    CHECK(again.done.serial == 1);
    CHECK(registry.cli.last_serial().value() == 2);
    CHECK(registry.staged() == 0);
}

TEST_CASE("the same bytes again leave the staging folder as soon as they are known to be there") {
    RegistryFixture registry;
    const Form form = Form::of(six());
    REQUIRE(registry.send(form).status == 200);
    const auto request = registry.uploads.begin(registry.head());
    REQUIRE(request);
    REQUIRE((*request)->feed(form.body()));
    CHECK(registry.staged() == 1);
    const auto done = (*request)->finish();
    REQUIRE(done);
    CHECK(done->already_there);
    CHECK(registry.staged() == 0);  // though its page is yet to be waited for
}

TEST_CASE("a quarantined wheel is kept under its name, and a retry gets the same reason") {
    RegistryFixture registry;
    registry.config.indexes.front().policy.severities = {
        {"record.hash_mismatch", inspect::Severity::quarantine}};
    const Form form = Form::of(six().wrong_record_hash("six.py"));
    const Answer first = registry.send(form);
    CHECK(first.status == 200);  // of the service; the server makes a 422 of it
    CHECK(first.done.quarantined_because.starts_with("record.hash_mismatch: "));
    const auto row = registry.cli.file("main", form.filename).value();
    REQUIRE(row.has_value());
    CHECK(row->state == catalog::FileState::quarantined);
    CHECK(row->state_reason == first.done.quarantined_because);
    const Answer again = registry.send(form);
    CHECK(again.done.already_there);
    CHECK(again.done.quarantined_because == first.done.quarantined_because);
    CHECK(registry.send(Form::of(six("1.17.0"))).done.quarantined_because.empty());
}

TEST_CASE("the same name with other bytes is a 409, before anybody looks into the file") {
    RegistryFixture registry;
    REQUIRE(registry.send(Form::of(six())).status == 200);
    const Answer other = registry.send(Form::of(six("1.16.0", "print('other')\n")));
    CHECK(other.status == 409);
    CHECK(other.title == "File already exists (six-1.16.0-py2.py3-none-any.whl)");
    const Answer broken = registry.send(Form::of("six-1.16.0-py2.py3-none-any.whl", "no zip"));
    CHECK(broken.status == 409);
    CHECK(registry.staged() == 0);
}

TEST_CASE("the name of a deleted file is refused, even for the bytes that it had") {
    RegistryFixture registry;
    const Form form = Form::of(six());
    {
        const auto database = sqlite::Database::open(registry.config.store / "catalog.sqlite",
                                                     sqlite::Database::Mode::read_write)
                                  .value();
        REQUIRE(database.run("INSERT INTO tombstone VALUES ('main', ?, ?, 1, 0)", form.filename,
                             base::sha256_hex(form.content)));
    }
    const Answer answer = registry.send(form);
    CHECK(answer.status == 400);
    CHECK(answer.code == "upload.name_was_deleted");
    CHECK(answer.title.starts_with("This filename was previously used"));
}

TEST_CASE("two indexes hold different bytes under one name") {
    RegistryFixture registry;
    REQUIRE(registry.send(Form::of(six())).status == 200);
    registry.token = registry.add_token({"other"}, {"*"});
    CHECK(registry.send(registry.head("other"), Form::of(six("1.16.0", "print('other')\n")).body()).status ==
          200);
}

TEST_CASE("what the header alone gives away is refused before a byte of the body") {
    struct Row {
        const char* what;
        std::function<void(http::UploadHead&)> change;
        int status;
        const char* code;
    };
    constexpr std::uint64_t mib = 1 << 20;
    const Row rows[] = {
        {"no credentials", [](auto& head) { head.authorization.clear(); }, 401, "auth.missing"},
        {"unknown token",
         [](auto& head) { head.authorization = "Bearer " + registry::make_token_text().text(); }, 403,
         "auth.token_refused"},
        {"unknown index", [](auto& head) { head.index = "nowhere"; }, 404, "index.unknown"},
        {"another index", [](auto& head) { head.index = "other"; }, 403, "auth.index_refused"},
        {"no form", [](auto& head) { head.content_type = "application/json"; }, 415, "upload.bad_form"},
        {"no boundary", [](auto& head) { head.content_type = "multipart/form-data"; }, 400,
         "upload.bad_form"},
        {"too long", [](auto& head) { head.content_length = 100 * mib; }, 413, "upload.too_large"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        RegistryFixture registry;
        http::UploadHead head = registry.head();
        row.change(head);
        const auto begun = registry.uploads.begin(head);
        REQUIRE_FALSE(begun.has_value());
        CHECK(begun.error().status == row.status);
        CHECK(begun.error().code == row.code);
    }
}

TEST_CASE("every refusal about form or file has its status and code, and leaves nothing") {
    struct Row {
        const char* what;
        std::function<void(Form&)> change;
        int status;
        const char* code;
    };
    const Row rows[] = {
        {"no action", [](Form& f) { f.drop(":action"); }, 400, "upload.no_action"},
        {"retired action", [](Form& f) { f.set(":action", "submit"); }, 410, "upload.action_retired"},
        {"documentation", [](Form& f) { f.set(":action", "doc_upload"); }, 410, "upload.action_retired"},
        {"documentation in its archive",
         [](Form& f) {
             f.set(":action", "doc_upload");
             f.filename = "six.zip";
         },
         410, "upload.action_retired"},
        {"unknown action", [](Form& f) { f.set(":action", "yank"); }, 400, "upload.unknown_action"},
        {"unknown protocol", [](Form& f) { f.set("protocol_version", "2"); }, 400, "upload.unknown_protocol"},
        {"sdist", [](Form& f) { f.set("filetype", "sdist"); }, 400, "upload.filetype_differs"},
        {"no digest", [](Form& f) { f.drop("sha256_digest"); }, 400, "upload.no_digest"},
        {"other sha256", [](Form& f) { f.set("sha256_digest", std::string(64, '0')); }, 400,
         "upload.digest_mismatch"},
        {"other md5", [](Form& f) { f.set("md5_digest", std::string(32, '0')); }, 400,
         "upload.digest_mismatch"},
        {"no content", [](Form& f) { f.with_content = false; }, 400, "upload.no_content"},
        {"content without a file name", [](Form& f) { f.set("content", "PK"); }, 400,
         "upload.content_without_name"},
        {"a field twice", [](Form& f) { f.fields.emplace_back("name", "seven"); }, 400, "upload.field_twice"},
        {"another name", [](Form& f) { f.set("name", "seven"); }, 400, "upload.name_differs"},
        {"another version", [](Form& f) { f.set("version", "2"); }, 400, "upload.version_differs"},
        {"attestations", [](Form& f) { f.set("attestations", "[{}]"); }, 400, "upload.attestations"},
        {"a path", [](Form& f) { f.filename = "../" + f.filename; }, 400, "upload.bad_filename"},
        {"not normalised", [](Form& f) { f.filename = "six-v1.16.0-py2.py3-none-any.whl"; }, 400,
         "upload.name_not_normalized"},
        {"an sdist's name", [](Form& f) { f.filename = "six-1.16.0.tar.gz"; }, 400, "upload.sdist"},
        {"too large", [](Form& f) { f.content.append((1 << 20) + 1, 'x'); }, 413, "upload.too_large"},
    };
    RegistryFixture registry;
    for (const Row& row : rows) {
        CAPTURE(row.what);
        Form form = Form::of(six());
        row.change(form);
        const Answer answer = registry.send(form);
        CHECK(answer.status == row.status);
        CHECK(answer.code == row.code);
        CHECK_FALSE(answer.title.empty());
        CHECK(registry.staged() == 0);
        CHECK(registry.cli.last_serial().value() == 0);
    }
    CHECK(registry.send(Form::of(six())).status == 200);
}

TEST_CASE("an index for mirrors takes what `check --policy mirror` accepts") {
    RegistryFixture registry;
    WheelWriter wheel("Six", "1.16.0");
    wheel.add("six.py", "1").tag("py2.py3-none-any").dist_info_name("Six-1.16.0.dist-info");
    wheel.replace("WHEEL", "Wheel-Version: 1.0\n").layout({.comment = "zip-rs"});
    Form form = Form::of(wheel);
    form.set("metadata_version", "2.0");
    form.filename = "Six-v1.16.0-py2.py3-none-any.whl";
    CHECK(registry.send(form).code == "upload.name_not_normalized");
    registry.config.indexes.front().policy = inspect::make_preset("mirror").value();
    const Answer answer = registry.send(form);
    REQUIRE_MESSAGE(answer.status == 200, answer.detail);
    const auto row = registry.cli.file("main", form.filename).value();
    REQUIRE(row.has_value());
    CHECK(row->project == "six");
    CHECK(row->state == catalog::FileState::active);
}

TEST_CASE("a wheel may be spelled as the public index spells PyYAML, but only in one way") {
    RegistryFixture registry;
    WheelWriter wheel("Six", "1.16.0");
    wheel.add("six.py", "1").tag("py2.py3-none-any").dist_info_name("Six-1.16.0.dist-info");
    Form spelled = Form::of(wheel);
    spelled.filename = "Six-1.16.0-py2.py3-none-any.whl";
    REQUIRE(registry.send(spelled).status == 200);
    REQUIRE(registry.send(spelled).status == 200);  // a retry
    const auto row = registry.cli.file("main", spelled.filename).value();
    REQUIRE(row.has_value());
    CHECK(row->project == "six");
    CHECK(row->state == catalog::FileState::active);
    CHECK(row->facts_json.find("filename.not_normalized") != std::string::npos);

    for (Form second : {Form::of(six()), spelled}) {  // other bytes, and the same
        second.filename = "six-1.16.0-py2.py3-none-any.whl";
        const Answer refused = registry.send(second);
        CHECK(refused.status == 409);
        CHECK(refused.code == "upload.name_taken");
        CHECK(refused.detail.find("Six-1.16.0-py2.py3-none-any.whl") != std::string::npos);
        CHECK(registry.staged() == 0);
    }
}

TEST_CASE("a name of another project or version is refused however it is spelled") {
    RegistryFixture registry;
    WheelWriter wheel("Six", "1.16.0");
    wheel.add("six.py", "1").tag("py2.py3-none-any").dist_info_name("Six-1.16.0.dist-info");
    for (const char* name : {"Si.x-1.16.0-py2.py3-none-any.whl", "Six-1.1.60-py2.py3-none-any.whl"}) {
        CAPTURE(name);
        Form form = Form::of(wheel);
        form.filename = name;
        CHECK(registry.send(form).status == 400);
    }
}

TEST_CASE("a wheel that lies is refused with the rule's code, and leaves nothing") {
    struct Row {
        const char* code;
        std::function<WheelWriter()> wheel;
    };
    const Row rows[] = {
        {"record.hash_mismatch", [] { return six().wrong_record_hash("six.py"); }},
        {"record.size_mismatch", [] { return six().wrong_record_size("six.py"); }},
        {"record.unlisted", [] { return six().unlisted("six.py"); }},
        {"metadata.name_mismatch", [] { return six().wrong_metadata_name("seven"); }},
        {"metadata.version_mismatch", [] { return six().wrong_metadata_version("1.16.1"); }},
    };
    RegistryFixture registry;
    for (const Row& row : rows) {
        CAPTURE(row.code);
        const Answer answer = registry.send(Form::of(row.wheel()));
        CHECK(answer.status == 400);
        CHECK(answer.code == row.code);
        CHECK(registry.staged() == 0);
        CHECK(registry.cli.last_serial().value() == 0);
    }
    for (const std::string& bytes : {std::string(), std::string("no zip"), six().truncated(10)}) {
        const Answer answer = registry.send(Form::of("six-1.16.0-py2.py3-none-any.whl", bytes));
        CHECK(answer.status == 400);
        CHECK(answer.code.starts_with("zip."));
    }
}

TEST_CASE("every digest that is sent is checked: right ones pass, in capitals too") {
    RegistryFixture registry;
    Form form = Form::of(six());
    form.set("md5_digest", digest_hex(base::DigestKind::md5, form.content));
    form.set("blake2_256_digest", std::string(64, '0'));  // ignored
    std::string upper = base::sha256_hex(form.content);
    for (char& c : upper)
        c = c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
    form.set("sha256_digest", upper);
    CHECK(registry.send(form).status == 200);
}

TEST_CASE("a token for some projects uploads those only, and learns so before the file's bytes") {
    RegistryFixture registry;
    registry.token = registry.add_token({"main"}, {"torch"});
    auto request = registry.uploads.begin(registry.head()).value();
    const std::string body = Form::of(six()).body();
    const std::size_t content = body.find("\r\n\r\nPK") + 4;
    const auto fed = request->feed(std::string_view(body).substr(0, content));
    REQUIRE_FALSE(fed.has_value());
    CHECK(fed.error().status == 403);
    CHECK(fed.error().code == "auth.project_refused");
    CHECK(registry.staged() == 0);
    registry.token = registry.add_token({"main"}, {"torch", "six"});
    CHECK(registry.send(Form::of(six())).status == 200);
}

TEST_CASE("a body that is cut anywhere is refused, and leaves nothing") {
    RegistryFixture registry;
    const std::string body = Form::of(six()).body();
    for (std::size_t length = 0; length + 2 < body.size(); length += 7) {
        CAPTURE(length);
        CHECK(registry.send(registry.head(), body.substr(0, length)).code == "upload.body_cut");
    }
    CHECK(registry.staged() == 0);
    CHECK(registry.cli.last_serial().value() == 0);
}

TEST_CASE("a connection that goes away takes its staged bytes with it") {
    RegistryFixture registry;
    {
        auto request = registry.uploads.begin(registry.head()).value();
        const std::string body = Form::of(six()).body();
        REQUIRE(request->feed(std::string_view(body).substr(0, body.find("\r\n\r\nPK") + 20)));
        CHECK(registry.staged() == 1);
    }
    CHECK(registry.staged() == 0);
}

TEST_CASE("when the page lags the answer is 503, and the identical retry is a 200 once it is out") {
    RegistryFixture registry;
    registry.pages_fail = true;
    const Form form = Form::of(six());
    for (int i = 0; i < 2; ++i) {
        const Answer lagging = registry.send(form);
        CHECK(lagging.status == 503);
        CHECK(lagging.code == "upload.page_lags");
    }
    CHECK(registry.cli.last_serial().value() == 1);
    registry.pages_fail = false;
    const Answer again = registry.send(form);
    CHECK(again.status == 200);
    CHECK(again.done.already_there);
    CHECK(again.done.serial == 1);
}

TEST_CASE("other files of the form are dropped; a second content is refused") {
    RegistryFixture registry;
    const std::string body = Form::of(six()).body();
    const std::string end = "--BOUNDARY--\r\n";
    const auto with = [&](const std::string& name) {
        return body.substr(0, body.size() - end.size()) +
               "--BOUNDARY\r\nContent-Disposition: form-data; name=\"" + name +
               "\"; filename=\"x.asc\"\r\n\r\nbytes\r\n" + end;
    };
    CHECK(registry.send(registry.head(), with("content")).code == "upload.content_twice");
    CHECK(registry.send(registry.head(), with("gpg_signature")).status == 200);
}

TEST_CASE("of many uploads of one name at once, with other bytes each, exactly one is accepted") {
    RegistryFixture registry;
    constexpr int contenders = 6;
    std::atomic<int> accepted = 0;
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < contenders; ++i) {
        threads.emplace_back([&, i] {
            const Answer answer = registry.send(Form::of(six("1.16.0", "n = " + std::to_string(i) + "\n")));
            if (answer.status == 200) ++accepted;
            if (answer.status == 409) ++taken;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(accepted == 1);
    CHECK(taken == contenders - 1);
    CHECK(registry.cli.last_serial().value() == 1);
}

TEST_CASE("internal failures are reported without details; a full disk is reported as such") {
    using base::ErrorKind;
    struct Row {
        base::Error error;
        int status;
        const char* code;
    };
    const auto of_system = [](int number) {
        return base::fail_errno("secret call", "/srv/data/blobs", number).value();
    };
    const auto of_kind = [](ErrorKind kind, const char* code) {
        return base::Error{.code = code, .sentence = "secret path", .value = "/srv/data/blobs", .kind = kind};
    };
    const Row rows[] = {
        {of_system(ENOSPC), 507, "upload.disk_full"},
        {of_system(EDQUOT), 507, "upload.disk_full"},
        {of_kind(ErrorKind::unavailable, "catalog.busy"), 503, "upload.busy"},
        {of_kind(ErrorKind::unavailable, "writer.busy"), 503, "upload.busy"},
        {of_kind(ErrorKind::unreachable, "store.unreachable"), 503, "upload.no_database"},
        {of_kind(ErrorKind::cut, "store.outcome_unknown"), 503, "upload.outcome_unknown"},
        {of_system(EMFILE), 503, "upload.busy"},
        {of_system(ENFILE), 503, "upload.busy"},
        {of_system(EIO), 500, "upload.failed"},
        {of_kind(ErrorKind::other, "catalog.corrupt"), 500, "upload.failed"},
        {of_kind(ErrorKind::malformed, "json.syntax"), 500, "upload.failed"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.error.code);
        const wire::Problem problem = registry::problem_of_failure(row.error);
        CHECK(problem.status == row.status);
        CHECK(problem.code == row.code);
        CHECK(wire::render_problem(problem).find("/srv") == std::string::npos);
        CHECK(wire::render_problem(problem).find("secret") == std::string::npos);
        for (const auto& [attempted, family] : {std::pair(registry::Attempted::change, "lifecycle"),
                                                std::pair(registry::Attempted::task, "task")}) {
            const wire::Problem other = registry::problem_of_failure(row.error, attempted);
            CHECK(other.status == row.status);
            CHECK(other.code == base::replace_all(row.code, "upload", family));
            // Only what nobody expects is an internal error.
            CHECK((other.detail.find("Internal error") != std::string::npos) == (row.status == 500));
        }
    }
}

TEST_CASE("when the staging folder is gone an upload is a 500, not a crash") {
    RegistryFixture registry;
    std::filesystem::remove_all(registry.config.store / "staging");
    CHECK(registry.send(Form::of(six())).code == "upload.failed");
    std::filesystem::create_directories(registry.config.store / "staging");
    CHECK(registry.send(Form::of(six())).status == 200);
}

TEST_CASE("uploads end where the disk has its minimum of free space, before the body and during it") {
    RegistryFixture registry;
    http::UploadHead head = registry.head();
    const Form form = Form::of(six());
    registry.room = {registry.config.store, blobs::free_bytes_of(registry.config.store) - 64 * base::mib};
    head.content_length = 100 * base::mib;
    registry.config.indexes.front().max_file_bytes = base::gib;
    CHECK(registry.send(head, "").code == "upload.disk_full");
    head.content_length = 1 * base::mib;
    auto request = registry.uploads.begin(head);
    REQUIRE(request.has_value());
    registry.room = {registry.config.store, UINT64_MAX};  // another program fills the disk meanwhile
    const auto fed = (*request)->feed(form.body());
    REQUIRE_FALSE(fed.has_value());
    CHECK(fed.error().status == 507);
    CHECK(registry.staged() == 0);
}

TEST_CASE("an upload takes no room that appears before the reserve has it") {
    RegistryFixture registry;
    registry.room = {registry.config.store, base::mib};
    CHECK_FALSE(registry.room.has_reserve());  // an administrator's work gave it back
    CHECK(registry.send(Form::of(six())).status == 200);
    CHECK(registry.room.has_reserve());
}

TEST_CASE(
    "a quota of an index or of a token refuses the file that exceeds it, and a retry of one that is there "
    "passes") {
    struct Row {
        const char* what;
        registry::Quota index;
        registry::Quota token;
        std::string subject;
    };
    const std::uint64_t size = six().bytes().size();
    const Row rows[] = {
        {"files of the index", {.files = 1}, {}, "the index main"},
        {"bytes of the index", {.bytes = size + size / 2}, {}, "the index main"},
        {"files of the token", {}, {.files = 1}, "this token"},
        {"bytes of the token", {}, {.bytes = size + size / 2}, "this token"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        RegistryFixture registry;
        registry.config.indexes.front().quota = row.index;
        registry.config.indexes.front().token_quota = row.token;
        registry.token = registry.add_token({"*"}, {"*"});
        CHECK(registry.send(Form::of(six())).status == 200);
        const Answer refused = registry.send(Form::of(six("1.17.0")));
        CHECK(refused.status == 403);
        CHECK(refused.code == "upload.quota");
        CHECK(refused.detail.find(row.subject) != std::string::npos);
        CHECK(registry.staged() == 0);
        CHECK(registry.send(Form::of(six())).status == 200);
        CHECK(registry.send(registry.head("other"), Form::of(six("1.17.0")).body()).status == 200);
        REQUIRE(
            registry.cli.delete_file({"main", six().filename()}, {.actor = "a", .reason = "r", .time = 1}));
        CHECK(registry.send(Form::of(six("1.17.0"))).status == 200);
    }
}

TEST_CASE("an upload that the catalog will refuse leaves no blob behind") {
    RegistryFixture registry;
    const WheelWriter wheel = six();
    REQUIRE(registry.send(Form::of(wheel)).status == 200);
    const auto stored = [&] {
        std::size_t count = 0;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(registry.config.store / "blobs"))
            count += entry.is_regular_file() ? 1U : 0U;
        return count;
    };
    const std::size_t before = stored();
    const catalog::Cause cause{.actor = "a", .reason = "r", .time = 1};
    REQUIRE(registry.cli.set_project_status(
        {.index = "main", .project = "six", .status = catalog::ProjectStatus::archived, .status_reason = "r"},
        cause));
    CHECK(registry.send(Form::of(six("1.17.0"))).code == "upload.project_closed");
    REQUIRE(registry.cli.delete_file({"main", wheel.filename()}, cause));
    CHECK(registry.send(Form::of(six("1.16.0", "other bytes\n"))).code == "upload.name_was_deleted");
    CHECK(stored() == before);
}

TEST_CASE("the same upload again repairs lost and flipped bytes of a wheel and of its METADATA") {
    RegistryFixture registry;
    const Form form = Form::of(six());
    REQUIRE(registry.send(form).status == 200);
    const auto row = registry.cli.file("main", form.filename).value().value();
    for (const std::string& sha256 : {row.sha256, row.metadata_sha256}) {
        const std::filesystem::path blob = registry.store.path_of(sha256);
        const std::string bytes = base::read_file(blob, base::mib).value();
        std::string flipped = bytes;
        flipped.back() = static_cast<char>(flipped.back() ^ 1);
        REQUIRE(base::replace_file(blob, flipped, 0444).has_value());
        const Answer again = registry.send(form);
        CHECK(again.status == 200);
        CHECK(again.done.already_there);
        CHECK(registry.store.is_intact(sha256));
        std::filesystem::remove(blob);
        CHECK(registry.send(form).status == 200);
        CHECK(registry.store.is_intact(sha256));
        // The same wheel for another index must not be served from damaged bytes either.
        REQUIRE(base::replace_file(blob, flipped, 0444).has_value());
        registry.token = registry.add_token({"*"}, {"*"});
        CHECK(registry.send(registry.head("other"), form.body()).status == 200);
        CHECK(registry.store.is_intact(sha256));
    }
}

TEST_CASE("a library that a wheel of a required project has is external, not unknown") {
    const auto needing = [](const std::string& name, const std::string& requirement) {
        WheelWriter wheel(name, "1.0");
        wheel.tag("cp311-cp311-manylinux_2_28_x86_64")
            .add(name + "/_fast.so", test_support::write_elf({.needed = {"libc.so.6", "libodd.so.3"}}));
        if (!requirement.empty()) wheel.metadata_line("Requires-Dist: " + requirement);
        return wheel;
    };
    WheelWriter odd("odd-lib", "3.1");
    odd.tag("py3-none-manylinux_2_28_x86_64")
        .add("odd_lib/libodd.so.3.1", test_support::write_elf({.soname = "libodd.so.3"}));
    RegistryFixture registry;
    const auto state_of = [&](const WheelWriter& wheel) {
        REQUIRE(registry.send(Form::of(wheel)).status == 200);
        return registry.cli.file("main", wheel.filename()).value()->state;
    };
    CHECK(state_of(needing("early", "odd-lib >=3")) == catalog::FileState::quarantined);
    CHECK(state_of(odd) == catalog::FileState::active);
    CHECK(state_of(needing("late", "odd_Lib >=3")) == catalog::FileState::active);
    CHECK(state_of(needing("silent", "")) == catalog::FileState::quarantined);
    CHECK(state_of(needing("other", "odd")) == catalog::FileState::quarantined);
    CHECK(state_of(needing("extra", "odd-lib >=3; extra == 'fast'")) == catalog::FileState::quarantined);
    const auto row = registry.cli.file("main", needing("late", "").filename()).value();
    CHECK(row->facts_json.find(R"("project":["libodd.so.3"])") != std::string::npos);
}

TEST_CASE("a token that is revoked, or expires, while its bytes come publishes nothing, new or again") {
    RegistryFixture registry;
    const std::string body = Form::of(six()).body();
    const auto send_while = [&](const std::function<void()>& meanwhile) -> int {
        auto request = registry.uploads.begin(registry.head());
        REQUIRE(request);
        REQUIRE((*request)->feed(body));
        meanwhile();
        const auto done = (*request)->finish();
        return done ? 200 : done.error().status;
    };
    const auto revoke = [&] {
        REQUIRE(registry.cli.revoke_token(registry.token.substr(0, registry::token_id_length), {}).value());
    };
    CHECK(send_while(revoke) == 403);
    CHECK_FALSE(registry.cli.file("main", six().filename()).value());
    CHECK(registry.staged() == 0);
    registry.token =
        registry.make_token("short", {"main"}, {"*"}, {"upload"}, registry.clock.now() + 1'000'000);
    CHECK(send_while([&] { registry.clock.set(registry.clock.now() + 2'000'000); }) == 403);
    CHECK_FALSE(registry.cli.file("main", six().filename()).value());
    registry.token = registry.add_token({"main"}, {"*"});
    CHECK(send_while([] {}) == 200);
    CHECK(send_while(revoke) == 403);  // the same file again
}
