// What only blobs in an S3 bucket do: parts, repeated requests, errors, URLs, removals beside uploads of another process.
// What every store does: store_test.cpp.
#include "lib/store/blobs/s3/s3_blobs.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/store/blobs/s3/s3_double.hpp"
#include "tests/support/becomes_true.hpp"

using namespace wheelyard;
using testing::LoopbackAnswer;
using testing::LoopbackRequest;
using testing::S3Double;

namespace {

constexpr base::UnixMicros day_us = 24LL * 3600 * 1'000'000;

struct Store {
    base::TempDir dir = base::TempDir::make("s3").value();
    S3Double store;
    std::unique_ptr<blobs::S3Blobs> blobs = store.open(dir.path());
    // The first `times` requests of this method get `answer`.
    void fail_first(int times, std::string method, LoopbackAnswer answer) {
        const auto left = std::make_shared<std::atomic<int>>(times);
        store.fail([left, method, answer](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
            if (request.method != method || left->fetch_sub(1) <= 0) return std::nullopt;
            return answer;
        });
    }
    S3Double::Object& object(const std::string& sha256) {
        return store.objects().at("some/prefix/" + blobs::key_of(sha256));
    }
};

}  // namespace

TEST_CASE("an address is a bucket with a prefix, by path or by host") {
    blobs::Place place("/data", "s3://wheels/farm/a/");
    place.endpoint = "https://s3.example.org:9000";
    place.path_style = true;
    const auto by_path = blobs::S3Address::of(place).value();
    CHECK(by_path.host == "s3.example.org:9000");
    CHECK(by_path.folder == "/wheels/farm/a/");
    CHECK(by_path.bucket_path == "/wheels");
    place.path_style = false;
    place.public_endpoint = "https://wheels.example.org";
    const auto by_host = blobs::S3Address::of(place).value();
    CHECK(by_host.host == "wheels.s3.example.org:9000");
    CHECK(by_host.public_base == "https://wheels.wheels.example.org");
    CHECK(by_host.folder == "/farm/a/");
    CHECK(by_host.bucket_path == "/");
    place = blobs::Place("/data", "s3://wheels");
    place.region = "eu-west-2";
    CHECK(blobs::S3Address::of(place)->host == "wheels.s3.eu-west-2.amazonaws.com");
    CHECK(blobs::S3Address::of(place)->folder == "/");
    for (const char* url : {"s3://", "s3://a//b", "s3://a/../b", "s3://a/b c", "http://a/b", "s3://a?b"})
        CHECK_MESSAGE(!blobs::S3Address::of({"/data", url}), url);
    place.endpoint = "https://user:secret@s3.example.org";
    CHECK_FALSE(blobs::S3Address::of(place));
}

TEST_CASE("a large blob is sent in parts, each with its hash, and read as one") {
    Store tried;
    std::string bytes(2'345, 'x');
    bytes[1'999] = 'y';
    const std::string sha256 = tried.blobs->store_bytes(bytes).value();
    CHECK(tried.store.count("PUT", "partNumber=") == 6);
    CHECK(tried.object(sha256).bytes == bytes);
    CHECK(tried.store.uploads().empty());
    CHECK(tried.blobs->is_intact(sha256));
}

TEST_CASE("an upload of parts that fails is aborted, and one that was left is aborted after a day") {
    Store tried;
    tried.store.fail([](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.target.find("partNumber=3") == std::string::npos) return std::nullopt;
        return S3Double::refusal(403, "AccessDenied");
    });
    CHECK(tried.blobs->store_bytes(std::string(2'000, 'x')).error().code == "s3.403");
    CHECK(tried.store.objects().empty());
    CHECK(tried.store.uploads().empty());
    tried.store.fail({});
    const base::UnixMicros now = base::SystemClock().now();
    tried.store.uploads()["old"] = {"some/prefix/sha256/aa/" + std::string(64, 'a'),
                                    now - day_us - 60'000'000};
    tried.store.uploads()["new"] = {"some/prefix/sha256/bb/" + std::string(64, 'b'),
                                    now - day_us + 60'000'000};
    tried.store.uploads()["other"] = {"other/key", now - 2 * day_us};
    tried.store.uploads()["another program's"] = {"some/prefix/films/1", now - 2 * day_us};
    tried.store.objects()["some/prefix/dying/" + std::string(64, 'c')] = {"", now - 2 * day_us};
    CHECK(tried.blobs->drop_unfinished().value() == 1);
    CHECK(tried.store.uploads().size() == 3);
    CHECK_FALSE(tried.store.uploads().contains("old"));
    CHECK(tried.store.objects().empty());
}

TEST_CASE("a store that is busy is asked again, with another signature; one that refuses is not") {
    Store tried;
    for (const int status : {503, 500, 429}) {
        tried.fail_first(2, "PUT", S3Double::refusal(status, "SlowDown"));
        CHECK(tried.blobs->store_bytes("wheel" + std::to_string(status)));
    }
    tried.fail_first(2, "PUT", {.raw = "HTTP/1.1 200"});  // the connection breaks
    CHECK(tried.blobs->store_bytes("again"));
    const std::size_t before = tried.store.count("PUT", "sha256/");
    for (const auto& [status, code] : std::vector<std::pair<int, std::string>>{{400, "BadDigest"},
                                                                               {403, "AccessDenied"},
                                                                               {404, "NoSuchBucket"},
                                                                               {404, "NoSuchKey"},
                                                                               {409, "ObjectParentIsFile"},
                                                                               {501, "NotImplemented"}}) {
        tried.fail_first(1, "PUT", S3Double::refusal(status, code));
        const auto refused = tried.blobs->store_bytes("wheel" + code);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == base::ErrorKind::unavailable);
        CHECK(refused.error().os_error != ENOENT);
        CHECK(refused.error().text().find(code) != std::string::npos);
        CHECK(refused.error().text().find("s3://wheels/some/prefix at http://127.0.0.1") !=
              std::string::npos);
        CHECK_FALSE(refused.error().advice.empty());
        CHECK(refused.error().text().find("secret") == std::string::npos);
    }
    CHECK(tried.store.count("PUT", "sha256/") == before + 6);
    tried.fail_first(99, "PUT", S3Double::refusal(503, "SlowDown"));
    CHECK(tried.blobs->store_bytes("never").error().code == "s3.503");
    CHECK(tried.store.count("PUT", "sha256/") == before + 9);
}

TEST_CASE("a wrong clock is corrected by the store's, once") {
    Store tried;
    const auto refuse = [](base::UnixMicros time) {
        LoopbackAnswer answer = S3Double::refusal(403, "RequestTimeTooSkewed");
        answer.headers.emplace_back("Date", base::render_http_date(time));
        return answer;
    };
    const base::UnixMicros later = base::SystemClock().now() + 3'600'000'000;
    tried.fail_first(1, "PUT", refuse(later));
    CHECK(tried.blobs->store_bytes("wheel"));
    const auto dated = tried.store.requests().back().header("x-amz-date");
    const std::string hour = base::render_rfc3339(later).substr(11, 2);
    CHECK(dated.substr(9, 2) == hour);
    tried.fail_first(9, "PUT", refuse(later + 7'200'000'000));
    const auto refused = tried.blobs->store_bytes("other");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("clock") != std::string::npos);
}

TEST_CASE(
    "nothing is acknowledged whose object has another size, and no bytes but the right number are read") {
    Store tried;
    const std::string sha256 = tried.blobs->store_bytes(std::string(900, 'x')).value();
    tried.store.fail([](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.method != "HEAD" || request.target.find("/sha256/") == std::string::npos)
            return std::nullopt;
        return LoopbackAnswer{.body = "short", .headers = {{"Last-Modified", base::render_http_date(0)}}};
    });
    CHECK(tried.blobs->store_bytes("truncated").error().code == "s3.wrong_size");
    tried.fail_first(9, "HEAD", {.body = "no time"});
    CHECK(tried.blobs->store_bytes("wheel").error().code == "s3.answer");
    for (const LoopbackAnswer& wrong : std::vector<LoopbackAnswer>{
             {.status = 206, .body = "abc", .headers = {{"Content-Range", "bytes 0-899/900"}}},
             {.status = 206, .body = std::string(900, 'x')},
             {.status = 206,
             .body = std::string(900, 'x'),
             .headers = {{"Content-Range", "bytes 1-900/901"}}}}) {
        tried.fail_first(9, "GET", wrong);
        CHECK(tried.blobs->open(sha256, blobs::ReadFrom::cache).error().code == "s3.answer");
    }
    // A body that ends early, and a store that falls silent.
    tried.fail_first(
        9, "GET",
        {.raw = "HTTP/1.1 206 OK\r\nContent-Length: 900\r\nContent-Range: bytes 0-899/900\r\n\r\nab"});
    CHECK(tried.blobs->open(sha256, blobs::ReadFrom::cache).error().code == "s3.unreachable");
    tried.fail_first(9, "GET", {.silent = true});
    const auto hasty = tried.store.open(tried.dir.path() / "hasty", 1000);
    const std::size_t before = tried.store.count("GET", sha256);
    CHECK(hasty->open(sha256, blobs::ReadFrom::cache).error().code == "s3.unreachable");
    CHECK(tried.store.count("GET", sha256) == before + 2);
    tried.store.fail({});
    std::string passed;
    const auto take = [&](std::string_view bytes) -> base::Status {
        passed.append(bytes);
        return {};
    };
    CHECK(tried.blobs->stream(sha256, 890, 10, take));
    CHECK(passed == std::string(10, 'x'));
    CHECK(tried.blobs->stream(sha256, 890, 11, take).error().code == "s3.answer");
    tried.fail_first(9, "GET", {.body = "not a list"});
    CHECK(tried.blobs->list("aa").error().code == "s3.answer");
    tried.fail_first(9, "GET",
                     {.body = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"});
    CHECK(tried.blobs->list("aa").error().code == "s3.answer");
}

TEST_CASE("a round over a small bucket takes one list, over a large one a list for each part") {
    Store tried;
    std::vector<std::string> stored;
    for (const char* text : {"a", "b", "c"}) {
        stored.push_back(base::sha256_hex(text));
        tried.store.objects()["some/prefix/" + blobs::key_of(stored.back())] = {text, 0};
    }
    std::sort(stored.begin(), stored.end());
    const auto round = [&] {
        std::vector<std::string> found;
        REQUIRE(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
            WHEELYARD_ASSIGN(const auto part, tried.blobs->list(digits));
            for (const blobs::StoredBlob& blob : part)
                found.push_back(blob.sha256);
            return {};
        }));
        return found;
    };
    tried.store.page_size = 3;
    CHECK(round() == stored);
    CHECK(tried.store.count("GET", "list-type") == 1);
    tried.store.page_size = 2;
    CHECK(round() == stored);
    CHECK(tried.store.count("GET", "list-type") == 1 + 1 + 256);
}

TEST_CASE("a reader reads ahead: a large blob costs few requests") {
    Store tried;
    constexpr std::size_t size = 3'000'000;
    const std::string sha256 = base::sha256_hex(std::string(size, 'x'));
    tried.store.objects()["some/prefix/" + blobs::key_of(sha256)] = {std::string(size, 'x'), 0};
    CHECK(tried.blobs->is_intact(sha256));
    CHECK(tried.store.count("GET", sha256) <= 5);
}

TEST_CASE("a URL is the same for a quarter of an hour, and there is none without a public address") {
    Store tried;
    const std::string sha256(64, 'a');
    CHECK(tried.blobs->url_for(sha256, "a-1-py3-none-any.whl") == std::nullopt);
    blobs::Place place = tried.store.place(tried.dir.path());
    place.public_endpoint = "https://wheels.example.org";
    const blobs::S3Blobs open(blobs::Staging(tried.dir.path()),
                              std::make_unique<blobs::S3Client>(blobs::S3Address::of(place).value(),
                                                                blobs::fixed_credentials({"key", "secret"})));
    const std::string url = open.url_for(sha256, "a-1+b-py3-none-any.whl").value();
    CHECK(url.starts_with("https://wheels.example.org/wheels/some/prefix/sha256/aa/" + sha256 +
                          "?X-Amz-Algorithm="));
    CHECK(url.find("&response-cache-control=max-age%3D31536000%2C%20immutable") != std::string::npos);
    CHECK(url.find("filename%3D%22a-1%2Bb-py3-none-any.whl%22") != std::string::npos);
    CHECK(url.find("secret") == std::string::npos);
    const auto at = url.find("&X-Amz-Date=") + 12;
    CHECK(std::stoi(url.substr(at + 11, 2)) % 15 == 0);
    CHECK(url.substr(at + 13, 3) == "00Z");
    const auto date_of = [&](const char* filename) { return open.url_for(sha256, filename)->substr(at, 16); };
    // Not if the quarter ends in between.
    CHECK(test_support::becomes_true([&] { return date_of("a.whl") == date_of("b.whl"); }));
}

TEST_CASE("an upload beside a removal of the same bytes waits for its end, and stores them again") {
    Store tried;
    const std::string sha256 = tried.blobs->store_bytes("wheel").value();
    const base::UnixMicros long_ago = base::SystemClock().now() - day_us;
    tried.object(sha256).stored = long_ago;
    const auto other = tried.store.open(tried.dir.path() / "other");
    std::atomic<int> uploads = 0;
    std::thread uploader;
    // The removal has looked at the blob's time, and is about to remove it: then the upload comes.
    tried.store.fail([&](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        const bool is_removal =
            request.method == "DELETE" && request.target.find("/sha256/") != std::string::npos;
        if (!is_removal || uploader.joinable()) return std::nullopt;
        uploader = std::thread([&] { uploads += other->store_bytes("wheel").has_value() ? 1 : 0; });
        std::this_thread::sleep_for(
            std::chrono::milliseconds(20));  // more coincidences; right without it, too
        return std::nullopt;
    });
    CHECK(tried.blobs->remove_if_stored_before(sha256, long_ago + 1).value());
    uploader.join();
    CHECK(uploads == 1);
    CHECK(other->is_intact(sha256));
    CHECK_FALSE(tried.store.objects().contains("some/prefix/" + blobs::dying_key_of(sha256)));
}

TEST_CASE("an upload that a removal has overtaken stores the bytes again") {
    Store tried;
    const std::string sha256 = base::sha256_hex("wheel");
    // The removal, of another process, had looked at the old object. It ends while the upload asks for its mark.
    tried.store.fail([&, ended = std::make_shared<std::atomic<bool>>()](
                         const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.method == "HEAD" && request.target.find("/dying/") != std::string::npos &&
            !ended->exchange(true))
            tried.store.objects().clear();
        return std::nullopt;
    });
    CHECK(tried.blobs->store_bytes("wheel").value() == sha256);
    CHECK(tried.blobs->is_intact(sha256));
    // A bucket that keeps nothing.
    tried.store.fail([&](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.method == "HEAD") tried.store.objects().clear();
        return std::nullopt;
    });
    CHECK(tried.blobs->store_bytes("other").error().code == "s3.gone");
}

TEST_CASE("how long a mark counts is measured by the store's clock") {
    Store tried;
    const std::string sha256 = tried.blobs->store_bytes("wheel").value();
    tried.object(sha256).stored = base::SystemClock().now() - day_us;
    // It is 12 minutes behind, and the mark is a minute old.
    const base::UnixMicros theirs = base::SystemClock().now() - 720'000'000;
    tried.store.fail([&](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.method != "HEAD" || request.target.find("/dying/") == std::string::npos)
            return std::nullopt;
        return LoopbackAnswer{.headers = {{"Last-Modified", base::render_http_date(theirs - 60'000'000)},
                                          {"Date", base::render_http_date(theirs)}}};
    });
    CHECK_FALSE(tried.blobs->remove_if_stored_before(sha256, base::SystemClock().now()).value());
    CHECK(tried.blobs->contains(sha256));
}

TEST_CASE(
    "a removal keeps what was stored since it was listed, and leaves alone what another process removes") {
    Store tried;
    const std::string sha256 = tried.blobs->store_bytes("wheel").value();
    const base::UnixMicros now = base::SystemClock().now();
    tried.object(sha256).stored = now - day_us;
    // Stored again between the first look and the mark.
    tried.store.fail([&](const LoopbackRequest& request) -> std::optional<LoopbackAnswer> {
        if (request.method == "PUT" && request.target.find("/dying/") != std::string::npos)
            tried.object(sha256).stored = now;
        return std::nullopt;
    });
    CHECK_FALSE(tried.blobs->remove_if_stored_before(sha256, now - day_us + 1'000'000).value());
    CHECK(tried.blobs->contains(sha256));
    tried.store.fail({});
    const std::string mark = "some/prefix/" + blobs::dying_key_of(sha256);
    CHECK_FALSE(tried.store.objects().contains(mark));
    tried.object(sha256).stored = now - day_us;
    tried.store.objects()[mark] = {"", base::SystemClock().now()};
    CHECK_FALSE(tried.blobs->remove_if_stored_before(sha256, now - day_us + 1'000'000).value());
    CHECK(tried.blobs->contains(sha256));
    // A mark that a killed removal left counts for a while only.
    tried.store.objects()[mark] = {"", base::SystemClock().now() - 3'600'000'000};
    CHECK(tried.blobs->store_bytes("wheel").value() == sha256);
    tried.object(sha256).stored = now - day_us;
    CHECK(tried.blobs->remove_if_stored_before(sha256, now - day_us + 1'000'000).value());
}

TEST_CASE("each part of a blob is read over a connection of its own, where they come from the medium") {
    Store tried;
    const std::string sha256(64, 'a');
    tried.store.objects()["some/prefix/" + blobs::key_of(sha256)] = {std::string(100'000, 'x'), 0};
    std::string bytes(100'000, '\0');
    const auto read = [&](blobs::ReadFrom from) {
        REQUIRE(tried.blobs->open(sha256, from).value()->read_at(0, bytes.data(), bytes.size()));
        return tried.store.connections();
    };
    const int kept = read(blobs::ReadFrom::cache);
    CHECK(read(blobs::ReadFrom::medium) == kept + 2);
    CHECK(read(blobs::ReadFrom::medium) == kept + 4);
    CHECK(read(blobs::ReadFrom::cache) == kept + 4);
}

TEST_CASE("a store that does not answer: a server opens it, and every operation says so") {
    const auto dir = base::TempDir::make("s3").value();
    blobs::Place place(dir.path(), "s3://wheels");
    place.path_style = true;
    // Bound, so that no other test gets it, and without a listener.
    const base::Fd port(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(port.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::getsockname(port.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    place.endpoint = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    const blobs::S3Blobs blobs(
        blobs::Staging::open(dir.path()).value(),
        std::make_unique<blobs::S3Client>(blobs::S3Address::of(place).value(),
                                          blobs::fixed_credentials({"key", "secret"}),
                                          blobs::S3Limits{.tries = 2, .first_wait_ms = 1}));
    const auto stored = blobs.store_bytes("wheel");
    REQUIRE_FALSE(stored);
    CHECK(stored.error().code == "s3.unreachable");
    CHECK(stored.error().kind == base::ErrorKind::unavailable);
    CHECK(stored.error().os_error == EHOSTUNREACH);
    CHECK_FALSE(blobs.find(std::string(64, 'a')));
    CHECK_FALSE(blobs.list("aa"));
    CHECK_FALSE(blobs.contains(std::string(64, 'a')));
}
