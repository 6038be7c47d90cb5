// The server over real sockets: a small published tree, an upload service that only counts, raw bytes from
// the client.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/api/operation.hpp"
#include "registry/server/server.hpp"
#include "tests/support/raw_client.hpp"

namespace wheelyard::http {

using testing::get;
using testing::RawAnswer;
using testing::RawClient;

// A gate that a test opens when it has seen enough.
class Gate {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] bool is_open() {
        const std::lock_guard lock(mutex_);
        return open_;
    }
    [[nodiscard]] bool wait() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

// Takes every upload whose password begins with "good", its owner, hashes what it is fed, and knows how each one ended.
struct CountingUploads final : UploadService {
    struct Request final : UploadRequest {
        Request(CountingUploads& the_service, std::string the_owner)
            : service(the_service), owner_name(std::move(the_owner)) {}
        ~Request() override {
            if (!finished) ++service.undone;
            service.destroyed.open();
        }
        std::string owner() const override { return owner_name; }
        Answered<void> feed(std::string_view bytes) override {
            if (service.hold_feed != nullptr) (void)service.hold_feed->wait();
            received += bytes.size();
            digest.update(bytes);
            if (received > service.refuse_after)
                return tl::unexpected(
                    wire::Problem{413, "upload.too_large", "File too large", "Too large.", {}, {}});
            return {};
        }
        Answered<UploadDone> finish() override {
            service.finishing.open();
            if (service.hold_finish != nullptr) (void)service.hold_finish->wait();
            finished = true;
            UploadDone done{false, 7, base::encode_hex(digest.finish()) + "-" + std::to_string(received)};
            done.clean_up = [&cleaned = service.cleaned] { cleaned.open(); };
            return done;
        }
        void when_visible(std::function<void(bool)> then) override {
            if (service.page == Page::never) {
                service.kept =
                    std::move(then);  // as a queue keeps it that is still at work when the server goes
            } else {
                then(service.page == Page::out);
            }
        }
        CountingUploads& service;
        const std::string owner_name;
        base::Digest digest{base::DigestKind::sha256};
        std::uint64_t received = 0;
        bool finished = false;
    };

    Answered<std::unique_ptr<UploadRequest>> begin(const UploadHead& head) override {
        ++begun;
        started.open();
        if (head.authorization.empty() && hold_stranger != nullptr) (void)hold_stranger->wait();
        if (head.authorization.empty())
            return tl::unexpected(
                wire::Problem{401, "upload.no_credentials", "Credentials needed", "No credentials.", {}, {}});
        if (!head.authorization.starts_with("good"))
            return tl::unexpected(
                wire::Problem{403, "upload.forbidden", "Not\r\nallowed \xc3\xa9", "No right.", {}, {}});
        return std::make_unique<Request>(*this, head.authorization);
    }

    enum class Page { out, failed, never };
    Page page = Page::out;
    std::function<void(bool)> kept;
    std::uint64_t refuse_after = UINT64_MAX;
    Gate* hold_feed = nullptr;
    Gate* hold_stranger = nullptr;
    Gate* hold_finish = nullptr;
    std::atomic<int> begun = 0;
    std::atomic<int> undone = 0;
    Gate started;
    Gate finishing;
    Gate destroyed;
    Gate cleaned;
};

inline const std::string sha256 = base::sha256_hex("the wheel");
inline const std::string file_url = "/site/files/" + sha256.substr(0, 2) + "/" + sha256 + "/";

struct Running {
    explicit Running(const std::function<void(ServerSettings&)>& change = {}, ApiService* the_api = nullptr,
                     ForwardService* forward = nullptr)
        : api(the_api) {
        const auto& root = tree.path();
        write("site/simple/index.html", "<!DOCTYPE html><a href=\"six/\">six</a>");
        write("site/simple/index.json", "{\"projects\":[]}");
        write("site/simple/six/index.html", "<!DOCTYPE html>six");
        write("site/simple/six/index.json", "{\"name\":\"six\"}");
        write(file_url.substr(1) + "six-1.0+cpu-py3-none-any.whl", "0123456789");
        write(file_url.substr(1) + "six-1.0+cpu-py3-none-any.whl.metadata", "Name: six\n");
        settings.listen.front().port = 0;
        settings.operations = registry::api_operations();
        settings.published = root;
        settings.indexes = {{"site"}, {"empty"}};
        if (change) change(settings);
        auto started = Server::start(settings, uploads, api, nullptr, nullptr, nullptr, forward);
        REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().text()));
        server = std::make_unique<Server>(std::move(*started));
    }
    void write(const std::string& name, std::string_view bytes) {
        const auto path = tree.path() / name;
        REQUIRE(base::make_directories(path.parent_path()));
        REQUIRE(base::replace_file(path, bytes));
    }
    [[nodiscard]] RawClient connect() const { return RawClient(server->port()); }
    [[nodiscard]] RawAnswer ask(const std::string& request) const { return connect().ask(request); }

    base::TempDir tree = std::move(*base::TempDir::make("server-test"));
    CountingUploads uploads;
    ApiService* api = nullptr;
    ServerSettings settings;
    std::unique_ptr<Server> server;
};

// The answer to what `talk` sends over a connection of its own: once more where a short deadline was over before that came,
// as on a busy machine.
template <typename Talk>
RawAnswer answer_to(const Running& running, Talk talk) {
    constexpr int max_tries = 1'000;
    for (int tries = 0; tries < max_tries; ++tries) {
        RawClient client = running.connect();
        talk(client);
        if (auto answer = client.answer()) return *std::move(answer);
    }
    FAIL("the server answers nothing");
    return {};
}

inline std::string post(std::string_view fields, std::string_view body) {
    return "POST /site/legacy/ HTTP/1.1\r\nHost: test\r\nAuthorization: good\r\n" + std::string(fields) +
           "\r\n" + std::string(body);
}

inline std::string post_sized(std::string_view body) {
    return post("Content-Length: " + std::to_string(body.size()) + "\r\n", body);
}

}  // namespace wheelyard::http
