#include "registry/intake/resumable.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "tests/registry/upload_fixture.hpp"

namespace wheelyard::registry {
namespace {

using test_support::Form;
using test_support::RegistryFixture;

struct ResumableFixture : RegistryFixture {
    ResumableFixture() {
        clock.set(base::SystemClock().now());  // files carry the system's times
        restart();
    }
    void restart() { resumable = Resumable::open(folder(), config.room(), uploads, *tokens, clock).value(); }
    [[nodiscard]] std::filesystem::path folder() const { return config.store / "resumable"; }
    [[nodiscard]] http::UploadHead head_of(const std::string& body) const {
        http::UploadHead head_ = head();
        head_.content_length = body.size();
        return head_;
    }
    // Sends body[from, to) as one part; "done" when that made the form whole.
    std::string send_part(const std::string& id, const std::string& body, std::size_t from, std::size_t to) {
        auto part = resumable->append(head(), id, from);
        if (!part) return part.error().code;
        if (auto fed = (*part)->feed(std::string_view(body).substr(from, to - from)); !fed)
            return fed.error().code;
        auto done = (*part)->finish();
        if (!done) return done.error().code;
        return done->offset_bytes ? std::to_string(*done->offset_bytes) : "done";
    }
    [[nodiscard]] std::size_t files() const {
        const std::filesystem::directory_iterator entries(folder());
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
    std::unique_ptr<Resumable> resumable;
};

const std::string six = "six-1.16.0-py2.py3-none-any.whl";

std::string form_body() {
    test_support::WheelWriter wheel("six", "1.16.0");
    wheel.add("six.py", "print('six')\n").tag("py2.py3-none-any");
    return Form::of(wheel).body();
}

}  // namespace

TEST_CASE("a note that a killed server was writing goes with the next start, an upload under way stays") {
    ResumableFixture registry;
    const std::string body = form_body();
    const std::string id = registry.resumable->create(registry.head_of(body)).value().id;
    REQUIRE(base::replace_file(registry.folder() / ("." + id + ".note.tmp.0123456789abcdef"), "{"));
    CHECK(registry.files() == 3);
    registry.restart();
    CHECK(registry.files() == 2);
    CHECK(registry.send_part(id, body, 0, body.size()) == "done");
}

TEST_CASE("a form in parts, with restarts between them, is the upload that it would be at once") {
    ResumableFixture registry;
    const std::string body = form_body();
    const std::string id = registry.resumable->create(registry.head_of(body)).value().id;
    CHECK(registry.resumable->find(registry.head(), id).value().offset_bytes == 0);
    const std::size_t third = body.size() / 3;
    CHECK(registry.send_part(id, body, 0, third) == std::to_string(third));
    registry.restart();
    {
        auto cut = registry.resumable->append(registry.head(), id, third).value();
        REQUIRE(cut->feed(std::string_view(body).substr(third, 10)));
    }  // the client went away: what came stays
    const auto state = registry.resumable->find(registry.head(), id).value();
    CHECK(state.offset_bytes == third + 10);
    CHECK(state.length_bytes == body.size());
    registry.restart();
    CHECK(registry.send_part(id, body, third + 10, body.size()) == "done");
    CHECK(registry.cli.file("main", six).value().has_value());
    CHECK(registry.staged() == 0);
}

TEST_CASE("a part continues exactly where the last one ended, alone, and not past the length") {
    ResumableFixture registry;
    const std::string body = form_body();
    const std::string id = registry.resumable->create(registry.head_of(body)).value().id;
    CHECK(registry.send_part(id, body, 0, 100) == "100");
    CHECK(registry.send_part(id, body, 0, 100) == "upload.wrong_offset");
    CHECK(registry.send_part(id, body, 101, 200) == "upload.wrong_offset");
    const auto first = registry.resumable->append(registry.head(), id, 100).value();
    CHECK(registry.resumable->append(registry.head(), id, 100).error().code == "upload.in_progress");
    const std::string too_much(body.size(), 'x');
    CHECK(first->feed(too_much).error().code == "upload.past_length");
    CHECK(registry.resumable->find(registry.head(), id).value().offset_bytes == 100);
}

TEST_CASE("only the token that began an upload sees it, and only by its id") {
    ResumableFixture registry;
    const std::string body = form_body();
    const std::string id = registry.resumable->create(registry.head_of(body)).value().id;
    http::UploadHead other = registry.head();
    other.authorization = "Bearer " + registry.add_token({"main"}, {"*"});
    CHECK(registry.resumable->find(other, id).error().code == "upload.unknown");
    CHECK(registry.resumable->append(other, id, 0).error().code == "upload.unknown");
    CHECK(registry.resumable->drop(other, id).error().code == "upload.unknown");
    CHECK(registry.resumable->find(registry.head("other"), id).error().code == "upload.unknown");
    for (const std::string& strange :
         {std::string("../../registry"), std::string(32, 'g'), std::string(31, 'a')})
        CHECK(registry.resumable->find(registry.head(), strange).error().code == "upload.unknown");
    http::UploadHead nobody = registry.head_of(body);
    nobody.authorization.clear();
    CHECK(registry.resumable->create(nobody).error().status == 401);
    CHECK(registry.resumable->drop(registry.head(), id).has_value());
    CHECK(registry.files() == 0);
}

TEST_CASE("a form that is refused leaves nothing; one whose page lags may be sent again without its bytes") {
    ResumableFixture registry;
    const std::string lie = Form::of(six, "no wheel").body();
    const std::string refused = registry.resumable->create(registry.head_of(lie)).value().id;
    CHECK(registry.send_part(refused, lie, 0, lie.size()) != "done");
    CHECK(registry.files() == 0);
    const std::string body = form_body();
    const std::string id = registry.resumable->create(registry.head_of(body)).value().id;
    CHECK(registry.send_part(id, body, 0, body.size()) == "done");
    CHECK(registry.files() == 2);
    auto again = registry.resumable->append(registry.head(), id, body.size()).value();
    const auto done = again->finish().value();
    CHECK(done.already_there);
    const auto page = std::make_shared<std::promise<bool>>();  // its thread may still be in set_value()
    again->when_visible([page](bool visible) { page->set_value(visible); });
    CHECK(page->get_future().get());
    CHECK(registry.files() == 2);  // the thread that publishes removes nothing
    REQUIRE(done.clean_up);
    done.clean_up();
    CHECK(registry.files() == 0);
}

TEST_CASE("uploads that nobody continues are dropped, and their number has a bound") {
    ResumableFixture registry;
    const std::string body = form_body();
    http::UploadHead head = registry.head_of(body);
    for (std::size_t i = 0; i < max_resumable_uploads; ++i) {
        const std::size_t owner = i / max_resumable_uploads_of_a_token;
        // Tokens of one name, as an agent's that replaces another, are one owner.
        if (i % (max_resumable_uploads_of_a_token / 2) == 0)
            head.authorization =
                "Bearer " + registry.add_token({"main"}, {"*"}, "farm " + std::to_string(owner));
        REQUIRE(registry.resumable->create(head));
    }
    CHECK(registry.resumable->create(head).error().code == "upload.too_many");
    head.authorization = registry.head().authorization;
    CHECK(registry.resumable->create(head).error().code == "upload.busy");
    // What killed runs leave: halves, and what was to become a note.
    REQUIRE(base::replace_file(registry.folder() / (std::string(32, 'a') + ".note"), "{}"));
    REQUIRE(base::replace_file(registry.folder() / (std::string(32, 'b') + ".body"), ""));
    REQUIRE(base::replace_file(registry.folder() / ".note.tmp", "{"));
    registry.restart();
    CHECK(registry.files() == 2 * max_resumable_uploads + 3);
    registry.clock.set(base::SystemClock().now() + (resumable_lifetime_s + 60) * 1'000'000);
    registry.restart();
    CHECK(registry.files() == 0);
}

}  // namespace wheelyard::registry
