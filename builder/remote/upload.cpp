// The upload form, in one request or in parts, and the meaning of its answers.
#include "builder/remote/upload.hpp"

#include <algorithm>
#include <array>

#include "builder/remote/refusal.hpp"
#include "builder/remote/resumable_upload.hpp"
#include "builder/remote/secrets.hpp"
#include "builder/remote/upload_form.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/registry_address.hpp"
#include "lib/simple/wheel_list.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_download_bytes = 64 * base::gib;  // a wheel; torch with CUDA has 2.5 GiB

// METADATA field → form field (twine's names). Multiple-use fields are sent once for each value.
struct FieldRow {
    std::string_view metadata;
    std::string_view form;
};
constexpr std::array<FieldRow, 24> metadata_fields = {{
    {"Summary", "summary"},
    {"Description-Content-Type", "description_content_type"},
    {"Keywords", "keywords"},
    {"Home-page", "home_page"},
    {"Download-URL", "download_url"},
    {"Author", "author"},
    {"Author-email", "author_email"},
    {"Maintainer", "maintainer"},
    {"Maintainer-email", "maintainer_email"},
    {"License", "license"},
    {"License-Expression", "license_expression"},
    {"License-File", "license_file"},
    {"Classifier", "classifiers"},
    {"Platform", "platform"},
    {"Supported-Platform", "supported_platform"},
    {"Requires-Dist", "requires_dist"},
    {"Requires-External", "requires_external"},
    {"Provides-Dist", "provides_dist"},
    {"Obsoletes-Dist", "obsoletes_dist"},
    {"Provides-Extra", "provides_extra"},
    {"Project-URL", "project_urls"},
    {"Dynamic", "dynamic"},
    {"Import-Name", "import_name"},
    {"Import-Namespace", "import_namespace"},
}};

// The upload waits until a person replaces the token; the agent keeps the wheel.
tl::unexpected<base::Error> fail_token(base::Error error) {
    return base::fail_as(base::ErrorKind::unauthorized, base::Recovery::person, std::move(error));
}

constexpr int status_unauthorized = 401;
constexpr std::size_t max_fit_bytes = 64u << 10;

}  // namespace

base::Result<std::string> read_token(const std::filesystem::path& file) {
    const auto text = base::read_file(file, max_token_bytes);
    if (!text) {
        return fail_token({"upload.token_file", "The token file cannot be read: " + text.error().sentence,
                           file.string(), "create one with `wheelyard-registry token create`, mode 0600"});
    }
    std::string token(base::trim(*text));
    if (token.empty() || token.find_first_of(" \t\r\n") != std::string::npos) {
        return fail_token(
            {"upload.token_file",
             token.empty() ? "The token file is empty" : "The token file does not contain exactly one token",
             file.string(),
             "put the token into it that the registry's operator prints with `wheelyard-registry token "
             "create`"});
    }
    return token;
}

std::vector<io::MultipartField> render_upload_fields(const inspect::Inspection& inspection,
                                                     const std::string& sha256) {
    const auto& metadata = inspection.metadata;
    std::vector<io::MultipartField> fields = {{":action", "file_upload"},
                                              {"protocol_version", "1"},
                                              {"filetype", "bdist_wheel"},
                                              {"pyversion", base::join(inspection.filename.pythons, ".")},
                                              {"metadata_version", metadata.metadata_version},
                                              {"name", metadata.name},
                                              {"version", metadata.version.as_written()},
                                              {"sha256_digest", sha256}};
    if (!metadata.requires_python.empty()) fields.push_back({"requires_python", metadata.requires_python});
    for (const auto& row : metadata_fields) {
        for (auto& value : metadata.headers.all(row.metadata)) {
            fields.push_back({std::string(row.form), std::move(value)});
        }
    }
    return fields;
}

base::Status judge_upload_answer(const io::HttpAnswer& answer) {
    if (answer.status == 200) return {};
    const auto problem = wire::parse_problem(answer.body);
    const std::string message = message_of(answer, problem);
    const std::string value = problem ? problem->value : "";
    const std::string advice = problem ? problem->advice : "";
    const Refusal refusal = problem ? refusal_of(problem->code) : Refusal::other;
    if (answer.status == 202 || refusal == Refusal::quarantined)
        return base::fail(
            "upload.quarantined", "The registry keeps the wheel in quarantine: " + message, value,
            "ask the registry's operator to read the findings and to `wheelyard-registry release` the wheel; "
            "then `wheelyard-builder retry` ends the task");
    const std::string sentence = "The registry answers " + std::to_string(answer.status) + ": " + message;
    if (io::is_temporary_status(answer.status))
        return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry,
                             {"upload.unavailable", sentence, value, advice});
    // The next tick asks for the task again.
    if (refusal == Refusal::task_lost)
        return base::fail_as(base::ErrorKind::lost, base::Recovery::retry,
                             {"upload.no_task", sentence, value, advice});
    // The answer concerns the token, not this wheel: every other upload would fail, too.
    if (answer.status == status_unauthorized || refusal == Refusal::bad_token)
        return fail_token({"upload.not_allowed", sentence, value,
                           "put a valid token into the `token_file` of site.toml; built wheels are kept"});
    return base::fail("upload.refused", sentence, value, advice);
}

base::Result<std::string> HttpRegistry::token() const {
    return read_token(settings_.token_file);
}

base::Result<io::HttpHeaders> HttpRegistry::credentials() const {
    WHEELYARD_ASSIGN(const auto token, this->token());
    return io::HttpHeaders{{"Authorization", "Basic " + base::encode_base64("__token__:" + token)}};
}

// All pages are below the URL of the settings. libcurl drops the header when a redirect leads to another
// host.
simple::GetPage HttpRegistry::page_reader() {
    return [this](const std::string& url, const io::HttpHeaders& headers,
                  const io::BodyLimit& limit) -> base::Result<io::HttpAnswer> {
        auto answer = http_.get(url, headers, limit);
        if (!answer || answer->status != status_unauthorized) return answer;
        WHEELYARD_ASSIGN(auto all, credentials());
        all.insert(all.end(), headers.begin(), headers.end());
        return http_.get(url, all, limit);
    };
}

// A page may name a file of another host, which gets no token.
base::Result<io::HttpAnswer> HttpRegistry::fetch(const std::string& url, const std::filesystem::path& file,
                                                 const io::HttpProgress& progress) {
    auto answer = http_.download(url, file, max_download_bytes, progress);
    const bool is_ours = url.starts_with(settings_.url + "/");
    if (!answer || answer->status != status_unauthorized || !is_ours) return answer;
    WHEELYARD_ASSIGN(const auto headers, credentials());
    return http_.download(url, file, max_download_bytes, progress, headers);
}

// What is absent is to be built: a registry has to say so.
base::Result<std::optional<simple::ProjectPage>> HttpRegistry::page_of(const std::string& index_url,
                                                                       const std::string& project) {
    WHEELYARD_ASSIGN(auto page,
                     simple::fetch_project(page_reader(), index_url, project, simple::Forbidden::is_error));
    if (page || is_registry_) return page;
    WHEELYARD_TRY(simple::check_registry(simple::page_getter(http_), settings_.url));
    is_registry_ = true;
    return page;
}

base::Result<std::optional<simple::ProjectPage>> HttpRegistry::page(const std::string& project) {
    return page_of(settings_.simple_url(), project);
}

base::Result<std::optional<simple::ProjectPage>> HttpRegistry::promoted_page(const std::string& project) {
    return page_of(settings_.promoted_url(), project);
}

base::Status HttpRegistry::download(const simple::FileLink& link, const std::filesystem::path& file,
                                    const io::HttpProgress& progress) {
    WHEELYARD_ASSIGN(const auto answer, fetch(link.url, file, progress));
    if (answer.status != 200) {
        return io::fail_status(
            answer.status,
            {"reproduce.gone", "The registry answers " + std::to_string(answer.status) + " " + answer.reason,
             link.filename, "the recorded wheel is needed to compare with"});
    }
    WHEELYARD_ASSIGN(const auto sha256, base::sha256_hex_of_file(file));
    if (sha256 == link.sha256) return {};
    return base::fail("reproduce.hash_mismatch",
                      "The registry's wheel has the wrong digest: sha256 " + sha256, link.filename,
                      "its operator checks the store");
}

base::Result<std::map<std::string, io::Json>> HttpRegistry::facts(const std::set<std::string>& projects) {
    WHEELYARD_ASSIGN(const auto folder, base::TempDir::make("wheel-list"));
    for (const auto name : {simple::wheel_list_name, simple::wheel_list_delta_name}) {
        const std::string url = settings_.simple_url() + std::string(name);
        WHEELYARD_ASSIGN(const auto answer, fetch(url, folder.path() / name, {}));
        if (answer.status != 200 && name == simple::wheel_list_name)
            return io::fail_status(answer.status, {"wheel_list.http",
                                                   "The index's wheel list has status " +
                                                       std::to_string(answer.status) + " " + answer.reason,
                                                   url, "the registry writes it after the first wheel"});
    }
    WHEELYARD_ASSIGN(const auto list, simple::WheelList::open(folder.path()));
    std::map<std::string, io::Json> found;
    for (const auto& project : projects) {
        base::Status read;
        WHEELYARD_TRY(
            list.visit_one(base::replace_all(project, "-", "_"), [&](const simple::WheelListView& view) {
                const auto text = view.part->facts(view.entry);
                if (!text) {
                    read = tl::unexpected(text.error());
                    return;
                }
                const auto wheels = base::split_lines(view.lines);
                const auto lines = base::split_lines(*text);
                for (std::size_t i = 0; i < std::min(wheels.size(), lines.size()); ++i) {
                    auto facts = io::parse_json(lines[i]);
                    if (facts)
                        found.emplace(simple::parse_wheel_list_line(wheels[i]).filename, std::move(*facts));
                }
            }));
        WHEELYARD_TRY(read);
    }
    return found;
}

base::Result<std::optional<io::Json>> HttpRegistry::with_torch(const std::string& filename,
                                                               const std::string& torch) {
    const auto all = credentials();  // for those who may not read, a private index is not there
    WHEELYARD_ASSIGN(const auto answer, http_.get(settings_.with_torch_url(filename, torch),
                                                  all ? *all : io::HttpHeaders(), max_fit_bytes));
    if (answer.status != 200) return std::nullopt;
    WHEELYARD_ASSIGN(auto json, io::parse_json(answer.body));
    return json;
}

base::Status HttpRegistry::promote(const std::vector<std::string>& filenames) {
    WHEELYARD_ASSIGN(const auto token, read_token(settings_.promote_token_file));
    io::Json body = io::Json::object({{"format", "wheelyard.change/1"},  // docs/reference/api.md
                                      {"to", settings_.promote_to},
                                      {"reason", "its tests passed"}});
    const std::vector<std::string> with(filenames.begin() + 1, filenames.end());
    if (!with.empty()) body.set("with", io::Json::array_of(with));
    WHEELYARD_ASSIGN(const auto answer, http_.post(settings_.promote_url(filenames.front()), body.render(),
                                                   {{"Authorization", "Bearer " + token},
                                                    {"Content-Type", "application/json"}}));
    auto judged = judge_upload_answer(answer);
    if (!judged && judged.error().kind == base::ErrorKind::unauthorized)
        judged.error().advice =
            "put a token with permission to promote into the `promote_token_file` of site.toml";
    return judged;
}

base::Status HttpRegistry::upload(const WheelToUpload& wheel, const io::HttpProgress& progress) {
    WHEELYARD_ASSIGN(const auto token, this->token());
    auto fields = render_upload_fields(wheel.inspection, wheel.sha256);
    if (!wheel.provenance.empty()) fields.push_back({"wheelyard_provenance", wheel.provenance});
    if (!task_.empty()) fields.push_back({"wheelyard_task", task_});
    WHEELYARD_ASSIGN(const auto size, base::file_size(wheel.file));
    if (size >= in_parts_from_bytes) {
        WHEELYARD_ASSIGN(const auto form, UploadForm::open(fields, wheel.file, wheel.sha256));
        std::filesystem::path note = wheel.file;
        note += ".upload";
        const UploadTarget target{settings_.parts_url(), "Basic " + base::encode_base64("__token__:" + token),
                                  std::move(note)};
        WHEELYARD_ASSIGN(const auto answer, send_in_parts(http_, clock_, target, form, progress));
        if (answer) return judge_upload_answer(*answer);
    }
    WHEELYARD_ASSIGN(const auto answer,
                     http_.upload_form(settings_.upload_url(), fields, wheel.file,
                                       wheel.file.filename().string(), "__token__", token, progress));
    return judge_upload_answer(answer);
}

}  // namespace wheelyard::builder
