// The rights of tokens to private indexes, as a table: who may learn what.
#include "registry/api/readers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/reading_cookie.hpp"
#include "registry/http/cookie.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using http::ReadScope;
using test_support::RegistryFixture;

namespace {

struct ReadersFixture : RegistryFixture {
    registry::RegistryConfig farm = [] {
        registry::RegistryConfig made;
        registry::IndexConfig lab;
        lab.name = "lab";
        lab.is_private = true;
        registry::UpstreamConfig up;
        up.cache_index = "lab.up";
        lab.upstreams.push_back(up);
        registry::IndexConfig open;
        open.name = "open";
        made.indexes = {lab, open};
        return made;
    }();
    registry::Readers readers{farm, *tokens};

    std::string add(const std::vector<std::string>& indexes, const std::vector<std::string>& projects,
                    const std::vector<std::string>& actions, base::UnixMicros expires = 0) {
        return make_token("anna", indexes, projects, actions, expires);
    }
    wire::Answered<bool> ask(const std::string& sent, ReadScope scope, const std::string& project = {}) {
        return readers
            .may_read({.authorization = "Bearer " + sent, .index = "lab", .scope = scope, .project = project})
            .map([](const http::Reader& reader) { return reader.may_read; });
    }
    // One letter for each scope that is granted: e(xists), s(ome), p(roject torch), a(ll).
    std::string granted(const std::string& sent) {
        std::string letters;
        if (*ask(sent, ReadScope::index_exists)) letters += 'e';
        if (*ask(sent, ReadScope::some_project)) letters += 's';
        if (*ask(sent, ReadScope::project, "torch")) letters += 'p';
        if (*ask(sent, ReadScope::all_projects)) letters += 'a';
        return letters;
    }
};

}  // namespace

TEST_CASE_FIXTURE(ReadersFixture,
                  "a token reads what its indexes, projects and actions say, and nothing beside") {
    const struct {
        std::vector<std::string> indexes, projects, actions;
        const char* granted;
    } rows[] = {
        {{"lab"}, {"*"}, {"read"}, "espa"},
        {{"*"}, {"*"}, {"read"}, "espa"},
        {{"*"}, {"*"}, {"*"}, "espa"},
        {{"lab"}, {"torch"}, {"read"}, "esp"},
        {{"lab"}, {"numpy"}, {"read"}, "es"},
        {{"lab"}, {"*"}, {"upload"}, "e"},
        {{"lab"}, {"torch"}, {"build"}, "e"},
        {{"open"}, {"*"}, {"read"}, ""},
        {{"lab.up"}, {"*"}, {"read"}, ""},
        {{"open"}, {"*"}, {"*"}, ""},
        {{"lab"}, {"*"}, {"upload", "read"}, "espa"},
    };
    for (const auto& row : rows) {
        CAPTURE(base::join(row.indexes, " "));
        CAPTURE(base::join(row.projects, " "));
        CAPTURE(base::join(row.actions, " "));
        CHECK(granted(add(row.indexes, row.projects, row.actions)) == row.granted);
    }
}

TEST_CASE_FIXTURE(ReadersFixture,
                  "what cannot be a token is refused at sight, and no other credentials are") {
    for (const char* sent : {"", "Bearer x", "Bearer ", "Basic !", "Digest a=b", "wy_5f0c9a31d2be"}) {
        CAPTURE(sent);
        const auto refused = readers.refuse_at_sight(sent);
        REQUIRE(refused.has_value());
        CHECK(refused->status == 401);
    }
    CHECK_FALSE(readers.refuse_at_sight("Bearer " + registry::make_token_text().text()).has_value());
    CHECK_FALSE(readers.refuse_at_sight("bearer " + add({"lab"}, {"*"}, {"read"})).has_value());
}

TEST_CASE_FIXTURE(ReadersFixture, "a file belongs to the project that its name begins with") {
    const std::string made = add({"lab"}, {"yard-torch"}, {"read"});
    const auto may_read = [&](const std::string& filename) {
        return readers
            .may_read({.authorization = "Bearer " + made,
                       .index = "lab",
                       .scope = ReadScope::project,
                       .filename = filename})
            ->may_read;
    };
    CHECK(may_read("Yard_Torch-1.0-py3-none-any.whl"));
    CHECK(may_read("yard_torch-1.0-py3-none-any.whl.metadata"));
    CHECK(may_read("yard.torch-1.0-py3-none-any.whl.prov"));
    for (const char* other : {"yard-torch-1.0-py3-none-any.whl", "torch-1.0-py3-none-any.whl",
                              "-yard_torch-1.whl", "yard_torch_more-1.0-py3-none-any.whl", "x", "..."})
        CHECK_FALSE(may_read(other));
}

TEST_CASE_FIXTURE(ReadersFixture,
                  "credentials that are none, unknown, expired or revoked are asked for again") {
    const std::string expired = add({"lab"}, {"*"}, {"read"}, clock.now());
    const std::string revoked = add({"lab"}, {"*"}, {"read"});
    CHECK(granted(revoked) == "espa");
    REQUIRE(cli.revoke_token(revoked.substr(0, registry::token_id_length), {.actor = "anna"}).value());
    for (const std::string& sent :
         {std::string("nonsense"), registry::make_token_text().text(), expired, revoked}) {
        const auto answer = ask(sent, ReadScope::all_projects);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().status == 401);
        CHECK(readers.readable("Bearer " + sent).empty());
    }
    CHECK(readers.may_read({.authorization = "", .index = "lab"}).error().status == 401);
}

TEST_CASE_FIXTURE(ReadersFixture, "names of private indexes are known only to who has a right there") {
    const auto row = [](std::vector<std::string> indexes, std::vector<std::string> actions) {
        catalog::TokenRow made;
        made.indexes = std::move(indexes);
        made.projects = {"*"};
        made.actions = std::move(actions);
        return made;
    };
    CHECK(base::join(registry::known_indexes(farm, row({"open"}, {"token"})), " ") == "open");
    CHECK(base::join(registry::known_indexes(farm, row({"lab"}, {"token"})), " ") == "lab open");
    CHECK_FALSE(registry::may_know(farm, row({"open"}, {"*"}), "lab.up"));
    CHECK(registry::may_read(farm, row({}, {}), "open", "six"));
    CHECK_FALSE(registry::may_read(farm, row({"open"}, {"read"}), "lab", "six"));
    CHECK(readers.readable("Bearer " + add({"lab"}, {"torch"}, {"read"})) == std::vector<std::string>{"lab"});
    CHECK(readers.readable("Bearer " + add({"lab"}, {"*"}, {"upload"})).empty());
}

TEST_CASE("the project of a file's name: an sdist's may have dashes, and a suffix may follow") {
    struct Row {
        const char* filename;
        const char* project;
    };
    const Row rows[] = {
        {"six-1.16.0-py2.py3-none-any.whl", "six"},
        {"six-1.16.0-py2.py3-none-any.whl.metadata", "six"},
        {"ruamel_yaml-0.18.6.tar.gz", "ruamel-yaml"},
        {"six-secret-1.0.tar.gz", "six-secret"},
        {"six-secret-1.0.tar.gz.metadata", "six-secret"},
        {"six-secret-1.0.zip.prov", "six-secret"},
        {"six-secret.tar.gz", ""},
        {"Six_Secret==1.0", "six-secret"},
        {"", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.filename);
        CHECK(registry::project_of_filename(row.filename) == row.project);
    }
}

TEST_CASE_FIXTURE(ReadersFixture, "a cookie reads what its token reads, in its index, until either ends") {
    const std::string sent = add({"lab", "open"}, {"torch"}, {"read"});
    const auto held = tokens->verify("Bearer " + sent);
    REQUIRE(held.has_value());
    const auto ask_with = [&](const std::string& cookie, const std::string& index = "lab",
                              const std::string& project = "torch") {
        const std::string authorization = std::string(http::cookie_scheme) + cookie;
        if (const auto refused = readers.refuse_at_sight(authorization)) return refused->code;
        const auto reader = readers.may_read({.authorization = authorization,
                                              .index = index,
                                              .scope = ReadScope::project,
                                              .project = project});
        return reader ? std::string(reader->may_read ? "reads" : "reads not") : reader.error().code;
    };
    const std::string cookie = registry::make_reading_cookie(*held, "lab", clock.now());
    CHECK(ask_with(cookie) == "reads");
    CHECK(ask_with(cookie, "lab", "numpy") == "reads not");
    CHECK(cookie.find(sent.substr(registry::token_id_length + 1)) == std::string::npos);
    // It is no token: nothing but a reader takes it.
    CHECK(tokens->verify("Cookie " + cookie).error().code == "auth.missing");
    CHECK(tokens->verify("Bearer " + cookie).error().code == "auth.token_refused");
    CHECK(readers.readable("Cookie " + cookie).empty());

    const auto parts = base::split(cookie, '-');
    const std::string id(parts[0]);
    const std::string end(parts[1]);
    const std::string mac(parts[2]);
    std::string flipped = mac;
    flipped[0] = flipped[0] == '0' ? '1' : '0';
    const std::string other(add({"lab"}, {"*"}, {"read"}), 0, registry::token_id_length);
    for (const std::string& forged :
         {id + "-" + end + "-" + flipped, id + "-" + std::to_string(std::stoll(end) + 1) + "-" + mac,
          other + "-" + end + "-" + mac, registry::make_reading_cookie(*held, "open", clock.now()),
          id + "-" + end + "-" + std::string(64, '0')}) {
        CAPTURE(forged);
        CHECK(ask_with(forged) == "auth.token_refused");
        // Another site of the domain can have a browser send its own first.
        CHECK(ask_with(forged + " x " + cookie) == "reads");
    }
    for (const std::string& malformed :
         {std::string(), sent, id, id + "-" + end, id + "--" + mac, id + "-x-" + mac,
          id + "-0" + end + "-" + mac, id + "-" + end + "-" + mac + "0", id + "-9999999999999-" + mac,
          id + "-" + end + "-" + std::string(64, 'A'), std::string(5000, '-'), "\x80\xff" + cookie,
          cookie + "-" + mac}) {
        CAPTURE(malformed);
        CHECK(ask_with(malformed) == "auth.missing");
    }

    clock.sleep_ms((registry::reading_cookie_life_s - 1) * 1'000);
    CHECK(ask_with(cookie) == "reads");
    clock.sleep_ms(1'000);
    CHECK(ask_with(cookie) == "auth.token_refused");
    const std::string newer = registry::make_reading_cookie(*held, "lab", clock.now());
    CHECK(ask_with(newer) == "reads");
    CHECK(ask_with(cookie + " " + newer) == "reads");
    CHECK(ask_with(newer + " " + cookie) == "reads");
    REQUIRE(cli.revoke_token(id, {"local:root", {}, clock.now()}).has_value());
    CHECK(ask_with(newer) == "auth.token_refused");
}

TEST_CASE_FIXTURE(ReadersFixture, "a cookie ends with its token at the latest") {
    const std::string sent = add({"lab"}, {"*"}, {"read"}, clock.now() + 60 * base::second_us);
    const std::string cookie =
        registry::make_reading_cookie(*tokens->verify("Bearer " + sent), "lab", clock.now());
    const auto parsed = registry::cookies_of_authorization("Cookie " + cookie);
    REQUIRE(parsed.size() == 1);
    CHECK(parsed[0].until_s == clock.now() / base::second_us + 60);
}
