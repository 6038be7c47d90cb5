// A registry without its HTTP server: store, catalog, tokens, writer and pages in a temporary folder, and
// uploads sent to it as bodies.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "lib/store/store.hpp"
#include "registry/api/api.hpp"
#include "registry/intake/uploads.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::test_support {

// The body of a form, field by field, as twine sends it.
class Form {
  public:
    using Fields = std::vector<std::pair<std::string, std::string>>;

    // All that twine sends that is looked at, for an honest upload of `bytes`.
    [[nodiscard]] static Form of(const std::string& filename, std::string bytes) {
        Form form;
        const std::size_t name_end = filename.find('-');
        const std::size_t version_end = filename.find('-', name_end + 1);
        form.fields = {{":action", "file_upload"},
                       {"protocol_version", "1"},
                       {"name", filename.substr(0, name_end)},
                       {"version", filename.substr(name_end + 1, version_end - name_end - 1)},
                       {"filetype", "bdist_wheel"},
                       {"sha256_digest", base::sha256_hex(bytes)},
                       {"classifiers", "Programming Language :: Python"},
                       {"classifiers", "Topic :: Software Development"}};
        form.filename = filename;
        form.content = std::move(bytes);
        return form;
    }
    [[nodiscard]] static Form of(const WheelWriter& wheel) { return of(wheel.filename(), wheel.bytes()); }

    Form& set(const std::string& name, const std::string& value) {
        for (auto& [field, there] : fields) {
            if (field == name) {
                there = value;
                return *this;
            }
        }
        fields.emplace_back(name, value);
        return *this;
    }
    Form& drop(const std::string& name) {
        std::erase_if(fields, [&name](const auto& field) { return field.first == name; });
        return *this;
    }
    [[nodiscard]] std::string body() const {
        std::string text;
        const auto begin = [&text](const std::string& name) {
            text += "--BOUNDARY\r\nContent-Disposition: form-data; name=\"" + name + "\"";
        };
        const auto add_content = [&] {
            begin("content");
            text += "; filename=\"" + filename + "\"\r\nContent-Type: application/octet-stream\r\n\r\n" +
                    content + "\r\n";
        };
        if (with_content && content_first) add_content();
        for (const auto& [name, value] : fields) {
            begin(name);
            text += "\r\n\r\n" + value + "\r\n";
        }
        if (with_content && !content_first) add_content();
        return text + "--BOUNDARY--\r\n";
    }

    Fields fields;
    std::string filename;
    std::string content;
    bool with_content = true;
    bool content_first = false;
};

struct Answer {
    int status = 200;
    std::string code;
    std::string title;
    std::string detail;
    http::UploadDone done;
};

class RegistryFixture {
  public:
    base::TempDir dir = base::TempDir::make("uploads").value();
    base::ManualClock clock{1'795'000'000'000'000};
    registry::RegistryConfig config = make_config();
    blobs::FolderBlobs store = blobs::FolderBlobs::open(config.store).value();
    database::Store databases{config.store};
    std::unique_ptr<catalog::Catalog> cli_opened = databases.writer().value();
    catalog::Catalog& cli = *cli_opened;
    std::unique_ptr<registry::TokenVerifier> tokens =
        std::make_unique<registry::TokenVerifier>(databases.reader().value(), clock);
    registry::Writer writer{databases.writer().value(), clock};
    std::atomic<bool> pages_fail = false;
    registry::PublishQueue pages{
        [this, reader = std::shared_ptr<const catalog::Catalog>(databases.reader().value())](
            registry::RootPages) -> base::Result<catalog::Serial> {
            if (pages_fail) return base::fail("os.ENOSPC", "write failed");
            return reader->last_serial();
        }};
    blobs::DiskRoom room{config.store, 0};  // no limit
    registry::Uploads uploads{{.config = config,
                               .blobs = store,
                               .room = room,
                               .tokens = *tokens,
                               .writer = writer,
                               .pages = pages,
                               .clock = clock,
                               .inspect_threads = 2}};
    std::string token = add_token({"main"}, {"*"});

    // What the API works on; a service that no test asks is missing.
    registry::ApiParts parts(tasks::TaskStore* tasks = nullptr, tasks::BuildStore* builds = nullptr,
                             registry::SiteReports* sites = nullptr) {
        return {.config = config,
                .store = databases,
                .blobs = store,
                .tokens = *tokens,
                .writer = writer,
                .pages = pages,
                .clock = clock,
                .tasks = tasks,
                .builds = builds,
                .sites = sites};
    }

    // Adds a token to the catalog and returns its text. `expires` 0: never.
    std::string make_token(const std::string& name, const std::vector<std::string>& indexes,
                           const std::vector<std::string>& projects, const std::vector<std::string>& actions,
                           base::UnixMicros expires = 0) {
        const registry::TokenText text = registry::make_token_text();
        REQUIRE(cli.add_token({.id = text.id,
                               .secret_sha256 = registry::hash_token_secret(text.secret),
                               .name = name,
                               .indexes = indexes,
                               .projects = projects,
                               .actions = actions,
                               .created = clock.now(),
                               .expires = expires,
                               .revoked = false}));
        return text.text();
    }
    std::string add_token(const std::vector<std::string>& indexes, const std::vector<std::string>& projects,
                          const std::string& name = "tester") {
        return make_token(name, indexes, projects, {"upload"});
    }

    [[nodiscard]] http::UploadHead head(const std::string& index = "main") const {
        return {.request_id = "r1",
                .index = index,
                .authorization = "Bearer " + token,
                .content_type = "multipart/form-data; boundary=BOUNDARY",
                .content_length = std::nullopt};
    }
    Answer send(const http::UploadHead& head, const std::string& body,
                std::size_t piece = std::string::npos) {
        auto request = uploads.begin(head);
        if (!request) return answer_of(request.error());
        for (std::size_t i = 0; i < body.size(); i += std::min(piece, body.size())) {
            if (const auto fed = (*request)->feed(std::string_view(body).substr(i, piece)); !fed)
                return answer_of(fed.error());
        }
        auto done = (*request)->finish();
        if (!done) return answer_of(done.error());
        // The server's part of it: a committed upload is answered when its page is out.
        const auto page = std::make_shared<std::promise<bool>>();
        (*request)->when_visible([page](bool visible) { page->set_value(visible); });
        if (!page->get_future().get()) return {503, "upload.page_lags", {}, {}, *done};
        return {.status = 200, .code = {}, .title = {}, .detail = {}, .done = *done};
    }
    Answer send(const Form& form) { return send(head(), form.body()); }

    [[nodiscard]] std::size_t staged() const {
        const std::filesystem::directory_iterator entries(config.store / "staging");
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }

  private:
    [[nodiscard]] registry::RegistryConfig make_config() const {
        return registry::parse_config(
                   "config_version = 1\n[server]\npage_wait_s = 10\n[[index]]\nname = \"main\"\nmax_file_mib "
                   "= 1\n"
                   "[[index]]\nname = \"other\"\n",
                   dir.path() / "registry.toml")
            .value();
    }
    static Answer answer_of(const wire::Problem& problem) {
        return {.status = problem.status,
                .code = problem.code,
                .title = problem.title,
                .detail = problem.detail,
                .done = {}};
    }
};

}  // namespace wheelyard::test_support
