// No piece of a log has a part of a secret, wherever it is cut and however far the log is written.
#include "builder/remote/log_piece.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

const std::string secret = "wy_5f0c9a31d2be_" + std::string(64, 'a');

struct Log {
    base::TempDir folder = *base::TempDir::make("log-piece");
    std::filesystem::path file = folder.path() / "log";
    explicit Log(const std::string& text) { testing::write(file, text); }
    // All of it as it is sent in pieces of this size.
    [[nodiscard]] std::string sent(std::size_t max_bytes, bool is_over) const {
        std::string all;
        while (true) {
            const auto piece = read_log_piece(file, all.size(), max_bytes, is_over, {"hunter2"});
            REQUIRE(piece.has_value());
            REQUIRE(piece->size() <= max_bytes);
            if (piece->empty()) return all;
            all += *piece;
        }
    }
};

TEST_CASE("a secret is masked wherever a piece ends") {
    const std::string text = "begin " + secret + " hunter2\nhttps://me:pass@host/simple\nend\n";
    const std::string expected =
        "begin " + std::string(secret.size(), '*') + " *******\nhttps://*******@host/simple\nend\n";
    const Log log(text);
    for (const std::size_t size : {1u, 2u, 7u, 64u, 1000u}) {
        CAPTURE(size);
        CHECK(log.sent(size, true) == expected);
        CHECK(log.sent(size, false) == expected);
    }
}

TEST_CASE("of a log that is still written only whole lines are sent, so no secret that is half there") {
    const Log log("one\ntwo " + secret.substr(0, 20));
    CHECK(log.sent(1000, false) == "one\n");
    CHECK(log.sent(1000, true) == "one\ntwo " + secret.substr(0, 20));
}

TEST_CASE("a very long line is sent before it ends, but for what may be the begin of a secret") {
    const std::string line(3 * max_secret_bytes, 'x');
    CHECK(Log("a\n" + line).sent(1000, false) == "a\n" + line.substr(max_secret_bytes));
    const Log log(line + secret.substr(0, 30));
    const std::string sent = log.sent(1000, false);
    CHECK(sent.size() > max_secret_bytes);
    CHECK(sent.find("wy_") == std::string::npos);
}

TEST_CASE("what is not there yet is an empty piece, and a missing log an error") {
    const Log log("one\n");
    CHECK(read_log_piece(log.file, 4, 10, true, {})->empty());
    CHECK(read_log_piece(log.file, 400, 10, true, {})->empty());
    CHECK_FALSE(read_log_piece(log.folder.path() / "absent", 0, 10, true, {}).has_value());
}

}  // namespace
}  // namespace wheelyard::builder
