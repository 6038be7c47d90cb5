#include "lib/store/blobs/s3/credentials.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::blobs {
namespace {

constexpr std::uint64_t max_credentials_bytes = 64 * base::kib;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

tl::unexpected<base::Error> fail_credentials(std::string sentence, std::string value, std::string advice) {
    return base::fail_as(base::ErrorKind::unauthorized, base::Recovery::person,
                         {"s3.credentials", std::move(sentence), std::move(value), std::move(advice)});
}

}  // namespace

base::Result<S3Credentials> parse_credentials(std::string_view text, std::string_view profile) {
    S3Credentials found;
    std::vector<std::string_view> plain;
    bool is_ini = false;
    bool is_ours = false;
    for (const std::string_view line : base::split_lines(text)) {
        const std::string_view trimmed = base::trim(line);
        if (trimmed.empty() || trimmed.starts_with('#')) continue;
        if (trimmed.starts_with('[')) {
            is_ini = true;
            is_ours = trimmed.ends_with(']') && base::trim(trimmed.substr(1, trimmed.size() - 2)) == profile;
            continue;
        }
        if (!is_ini) {
            plain.push_back(trimmed);
            continue;
        }
        const auto equals = trimmed.find('=');
        if (!is_ours || equals == std::string_view::npos) continue;
        const std::string name = base::ascii_lower(base::trim(trimmed.substr(0, equals)));
        const std::string value(base::trim(trimmed.substr(equals + 1)));
        if (name == "aws_access_key_id") found.access_key = value;
        if (name == "aws_secret_access_key") found.secret_key = value;
        if (name == "aws_session_token") found.session_token = value;
    }
    if (!is_ini && plain.size() == 2) found = {std::string(plain[0]), std::string(plain[1])};
    if (!found.access_key.empty() && !found.secret_key.empty()) return found;
    return fail_credentials("The credentials of the blob store are not in the expected form", {},
                            "write two lines, access key and secret key, or a profile `[" +
                                std::string(profile) + "]` as Amazon's tools read it");
}

base::Result<EndingCredentials> parse_service_answer(std::string_view json) {
    const auto document = io::parse_json(json);
    EndingCredentials found;
    if (document) {
        found.credentials = {document->string_or("AccessKeyId", ""),
                             document->string_or("SecretAccessKey", ""), document->string_or("Token", "")};
        const auto end = base::parse_rfc3339(document->string_or("Expiration", ""));
        if (end && !found.credentials.access_key.empty() && !found.credentials.secret_key.empty()) {
            found.end = *end;
            return found;
        }
    }
    return fail_credentials(
        "The credentials' service answers without AccessKeyId, SecretAccessKey and Expiration", {},
        "see that this machine or container has a role that may use the bucket");
}

namespace {

class FixedCredentials final : public S3CredentialSource {
  public:
    explicit FixedCredentials(S3Credentials credentials) : credentials_(std::move(credentials)) {}
    base::Result<S3Credentials> at(base::UnixMicros) override { return credentials_; }

  private:
    const S3Credentials credentials_;
};

base::Result<S3Credentials> read_credentials(const std::filesystem::path& file) {
    const auto text = base::read_file(file, max_credentials_bytes);
    if (!text)
        return fail_credentials("The credentials of the blob store cannot be read", text.error().text(),
                                "let the user of the registry read the file, and nobody else");
    const std::string profile = variable("AWS_PROFILE");
    auto parsed = parse_credentials(*text, profile.empty() ? "default" : std::string_view(profile));
    if (!parsed) parsed.error().value = file.native();
    return parsed;
}

// What changes when a file is written or replaced.
struct FileState {
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const FileState&) const = default;
    static FileState of(const std::filesystem::path& file) {
        struct stat now = {};
        if (::stat(file.c_str(), &now) != 0) return {};
        constexpr std::int64_t ns_per_s = 1'000'000'000;
        return {now.st_ino, now.st_size, now.st_mtim.tv_sec * ns_per_s + now.st_mtim.tv_nsec};
    }
};

class CredentialFile final : public S3CredentialSource {
  public:
    static base::Result<std::shared_ptr<S3CredentialSource>> open(std::filesystem::path file) {
        const FileState state = FileState::of(file);
        WHEELYARD_ASSIGN(S3Credentials first, read_credentials(file));
        return std::shared_ptr<S3CredentialSource>(
            new CredentialFile(std::move(file), state, std::move(first)));
    }
    // A file that is gone or half written changes nothing: the store says when the old ones have ended.
    base::Result<S3Credentials> at(base::UnixMicros) override {
        const std::lock_guard lock(mutex_);
        const FileState now = FileState::of(file_);
        if (now == state_) return credentials_;
        state_ = now;
        auto read = read_credentials(file_);
        if (!read)
            io::log_warn("s3.credentials_not_read", {{"error", read.error().text()}});
        else
            credentials_ = *std::move(read);
        return credentials_;
    }

  private:
    CredentialFile(std::filesystem::path file, FileState state, S3Credentials first)
        : file_(std::move(file)), state_(state), credentials_(std::move(first)) {}
    const std::filesystem::path file_;
    std::mutex mutex_;
    FileState state_;
    S3Credentials credentials_;
};

constexpr base::UnixMicros renew_before_us =
    600 * base::second_us;  // services have newer ones five minutes before the end
constexpr base::UnixMicros pause_us = 30 * base::second_us;     // between questions while the old ones work
constexpr base::UnixMicros pause_without_us = base::second_us;  // and while there are none

class ServiceCredentials final : public S3CredentialSource {
  public:
    using Ask = std::function<base::Result<EndingCredentials>()>;
    explicit ServiceCredentials(Ask ask) : ask_(std::move(ask)) {}

    // One caller asks; the others go on with what is known, if that still works.
    base::Result<S3Credentials> at(base::UnixMicros now) override {
        if (const auto known = known_at(now)) return *known;
        std::unique_lock asking(asking_, std::defer_lock);
        const auto old = works_at(now);
        if (!old) asking.lock();
        if (old && !asking.try_lock()) return *old;
        if (const auto known = known_at(now)) return *known;  // another one has asked
        return ask(now);
    }
    std::optional<S3Credentials> for_url(base::UnixMicros now) override {
        const std::lock_guard lock(mutex_);
        if (now < known_.end - renew_before_us) return known_.credentials;
        return std::nullopt;
    }

  private:
    // An answer that needs no question.
    std::optional<base::Result<S3Credentials>> known_at(base::UnixMicros now) const {
        const std::lock_guard lock(mutex_);
        if (now >= next_question_) return std::nullopt;
        if (now < known_.end) return known_.credentials;
        return base::fail(failure_);
    }
    std::optional<S3Credentials> works_at(base::UnixMicros now) const {
        const std::lock_guard lock(mutex_);
        return now < known_.end ? std::optional(known_.credentials) : std::nullopt;
    }
    base::Result<S3Credentials> ask(base::UnixMicros now) {
        auto answer = ask_();
        if (answer && now >= answer->end)
            answer = fail_credentials("The credentials' service gives credentials that have ended", {},
                                      "set this machine's clock, or see the service's log");
        const std::lock_guard lock(mutex_);
        if (answer) {
            known_ = *std::move(answer);
            next_question_ = std::max(now + pause_us, known_.end - renew_before_us);
            return known_.credentials;
        }
        failure_ = std::move(answer.error());
        const bool is_working = now < known_.end;
        next_question_ = now + (is_working ? pause_us : pause_without_us);
        if (!is_working) return base::fail(failure_);
        io::log_warn("s3.credentials_not_renewed", {{"error", failure_.text()}});
        return known_.credentials;
    }

    const Ask ask_;
    std::mutex asking_;
    mutable std::mutex mutex_;  // guards all below
    EndingCredentials known_;
    base::Error failure_;
    base::UnixMicros next_question_ = 0;
};

// Both are on the machine itself or beside it.
io::HttpSettings service_settings() {
    constexpr std::int64_t connect_ms = 1'000, answer_ms = 2'000;
    io::HttpSettings settings;
    settings.connect_timeout_ms = connect_ms;
    settings.stall_timeout_ms = settings.answer_timeout_ms = settings.total_timeout_ms = answer_ms;
    settings.follows_redirects = false;
    settings.uses_environment = false;
    return settings;
}

base::Result<std::string> body_of(const base::Result<io::HttpAnswer>& answer, const std::string& url) {
    const char* advice =
        "see that this machine or container has a role, or set blobs_credentials_file in [stores]";
    if (!answer)
        return fail_credentials("The credentials' service does not answer", answer.error().text(), advice);
    if (answer->status == 200) return answer->body;
    return fail_credentials("The credentials' service refuses with status " + std::to_string(answer->status),
                            url, advice);
}

// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html, version 2.
base::Result<EndingCredentials> ask_instance(const std::string& endpoint) {
    const std::string roles = endpoint + "/latest/meta-data/iam/security-credentials/";
    io::HttpClient client(service_settings());
    const base::MemoryReader nothing{std::string_view()};
    const std::string token_url = endpoint + "/latest/api/token";
    WHEELYARD_ASSIGN(
        const std::string token,
        body_of(client.send("PUT", token_url, {{"X-aws-ec2-metadata-token-ttl-seconds", "60"}}, nothing, 0),
                token_url));
    const io::HttpHeaders headers{{"X-aws-ec2-metadata-token", std::string(base::trim(token))}};
    WHEELYARD_ASSIGN(const std::string listed,
                     body_of(client.get(roles, headers, max_credentials_bytes), roles));
    const std::string role(base::trim(listed.substr(0, listed.find('\n'))));
    const std::string url = roles + base::encode_percent(role);
    WHEELYARD_ASSIGN(const std::string answer, body_of(client.get(url, headers, max_credentials_bytes), url));
    return parse_service_answer(answer);
}

// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
base::Result<EndingCredentials> ask_container(const std::string& url) {
    std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (const std::string file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
        const auto text = base::read_file(file, max_credentials_bytes);  // each time: it is renewed, too
        if (!text)
            return fail_credentials("The token for the credentials' service cannot be read",
                                    text.error().text(), "see AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        token = base::trim(*text);
    }
    io::HttpHeaders headers;
    if (!token.empty()) headers.emplace_back("Authorization", token);
    io::HttpClient client(service_settings());
    WHEELYARD_ASSIGN(const std::string answer, body_of(client.get(url, headers, max_credentials_bytes), url));
    return parse_service_answer(answer);
}

// The addresses of such services that are not on this machine.
constexpr std::array<std::string_view, 3> container_hosts{"169.254.170.2", "169.254.170.23",
                                                          "[fd00:ec2::23]"};

bool is_safe_service(const std::string& text) {
    const auto url = base::parse_url(text);
    if (!url) return false;
    return url->scheme == "https" || base::is_loopback_host(url->host) ||
           std::find(container_hosts.begin(), container_hosts.end(), url->host) != container_hosts.end();
}

base::Result<std::string> container_url() {
    if (const std::string path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty())
        return "http://" + std::string(container_hosts[0]) + path;
    std::string url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (url.empty() || is_safe_service(url)) return url;
    return fail_credentials("The credentials' service is neither https nor on this machine", url,
                            "correct AWS_CONTAINER_CREDENTIALS_FULL_URI");
}

std::shared_ptr<S3CredentialSource> instance_credentials() {
    std::string endpoint = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    while (endpoint.ends_with('/'))
        endpoint.pop_back();
    if (endpoint.empty()) endpoint = "http://169.254.169.254";
    return std::make_shared<ServiceCredentials>([endpoint] { return ask_instance(endpoint); });
}

}  // namespace

std::shared_ptr<S3CredentialSource> fixed_credentials(S3Credentials credentials) {
    return std::make_shared<FixedCredentials>(std::move(credentials));
}

base::Result<std::shared_ptr<S3CredentialSource>> find_credentials(const std::filesystem::path& file) {
    if (!file.empty()) return CredentialFile::open(file);
    S3Credentials found{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                        variable("AWS_SESSION_TOKEN")};
    if (!found.access_key.empty() && !found.secret_key.empty()) return fixed_credentials(std::move(found));
    if (const std::string shared = variable("AWS_SHARED_CREDENTIALS_FILE"); !shared.empty())
        return CredentialFile::open(shared);
    WHEELYARD_ASSIGN(const std::string container, container_url());
    if (!container.empty())
        return std::make_shared<ServiceCredentials>([container] { return ask_container(container); });
    constexpr const char* advice =
        "set blobs_credentials_file in [stores], or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
        "environment, or give this machine a role";
    if (base::ascii_lower(variable("AWS_EC2_METADATA_DISABLED")) == "true")
        return fail_credentials("There are no credentials of the blob store", {}, advice);
    auto instance = instance_credentials();
    // Nobody has named this one: without it, there are none.
    if (const auto first = instance->at(base::SystemClock().now()); !first)
        return fail_credentials("There are no credentials of the blob store", first.error().text(), advice);
    return instance;
}

}  // namespace wheelyard::blobs
