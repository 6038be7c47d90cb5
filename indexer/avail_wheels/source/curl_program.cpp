// curl prints heads and body to a pipe, so that the limits hold while they arrive. The URL and the headers
// are passed on standard input, so that passwords do not appear in the argument list.
#include "indexer/avail_wheels/source/source.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/http_arrival.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::uint64_t max_answer_bytes = 1u << 20;  // of a POST

// Quotes a value for curl's configuration file.
std::string config_value(std::string_view text) {
    return "\"" + base::replace_all(base::replace_all(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

// What curl prints with --include: the head of each answer, and the body of the last one.
class Arriving {
  public:
    Arriving(const std::string& url, const io::BodyLimit& limit, bool follows) : follows_(follows) {
        arrival_.limit = limit;
        arrival_.answer.final_url = url;
    }

    bool take(std::string_view piece) {
        problem_ = take_piece(piece);
        return problem_.has_value();
    }
    [[nodiscard]] const base::Status& problem() const { return problem_; }
    io::HttpAnswer answer() { return std::move(arrival_.answer); }

  private:
    base::Status take_piece(std::string_view piece) {
        while (!is_in_body_ && !piece.empty()) {
            const auto end = std::min(piece.find('\n'), piece.size() - 1) + 1;
            line_ += piece.substr(0, end);
            piece.remove_prefix(end);
            if (line_.size() > io::max_header_bytes || line_.back() == '\n') {
                WHEELYARD_TRY(arrival_.take_header(line_));
                if (base::trim(line_).empty()) end_head();
                line_.clear();
            }
        }
        return piece.empty() ? base::Status{} : arrival_.take_body(piece);
    }

    // An interim answer and a redirect that is followed have no body here.
    void end_head() {
        io::HttpAnswer& answer = arrival_.answer;
        const std::string location = answer.header("location");
        is_in_body_ = answer.status >= 200 && !(follows_ && answer.status / 100 == 3 && !location.empty());
        if (is_in_body_ || location.empty()) return;
        const auto from = base::parse_url(answer.final_url);
        const auto to = from ? base::resolve_url(*from, location) : from;
        if (to) answer.final_url = to->text();
    }

    io::HttpArrival arrival_;
    bool follows_;
    bool is_in_body_ = false;
    std::string line_;
    base::Status problem_ = {};
};

// `sent`: lines of curl's configuration, for what is sent and how redirects are handled.
base::Result<io::HttpAnswer> run_curl(const std::string& url, const io::HttpHeaders& headers,
                                      const io::BodyLimit& limit, const std::string& sent, bool follows) {
    if (!base::find_program("curl")) {
        return base::fail("http.library", "The program `curl` is not installed", {},
                          "install curl, or use --wheelhouse");
    }
    if (url.find_first_of("\r\n") != std::string::npos)
        return base::fail("http.url", "A URL must not contain line breaks");
    base::Command command;
    command.argv = {"curl",
                    "--silent",
                    "--show-error",
                    "--compressed",
                    "--proto",
                    "=http,https",
                    "--proto-redir",  // never follow a redirect from https to http
                    url.starts_with("https://") ? "=https" : "=http,https",
                    "--max-redirs",
                    "5",
                    "--connect-timeout",
                    "20",
                    "--speed-time",
                    "60",
                    "--speed-limit",
                    "1",
                    "--max-time",
                    std::to_string(max_answer_s),
                    "--include",
                    "--write-out",  // whatever ~/.curlrc says: it would become part of the body
                    "",
                    "--no-buffer",
                    "--config",
                    "-"};
    const auto environment = base::current_environment();
    // Old versions of curl do not know the option; without a proxy there is no such head.
    for (const char* const proxy : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
        if (environment.count(proxy) == 0) continue;
        command.argv.emplace_back("--suppress-connect-headers");
        break;
    }
    const auto netrc = io::other_netrc(environment);
    std::error_code ignored;
    if (!netrc)
        command.argv.emplace_back("--netrc-optional");
    else if (std::filesystem::exists(*netrc, ignored))
        command.argv.insert(command.argv.end(), {"--netrc-optional", "--netrc-file", netrc->native()});
    command.timeout_ms = 0;  // curl has its own timeouts
    command.input = "url = " + config_value(url) + "\n" + sent;
    for (const auto& [name, value] : headers)
        command.input += "header = " + config_value(name + ": " + value) + "\n";
    Arriving arriving(url, limit, follows);
    command.take_output = [&arriving](std::string_view piece) { return arriving.take(piece); };
    WHEELYARD_ASSIGN(const auto finished, base::run_command(command));
    if (!arriving.problem()) {
        base::Error problem = arriving.problem().error();
        const auto parsed = base::parse_url(url);
        if (problem.value.empty() && parsed) problem.value = parsed->text_without_secrets();
        return base::fail(std::move(problem));
    }
    if (finished.exit_code != 0) {
        // curl's message names the host but, unlike the URL, no password.
        return base::fail("http.connect", "The index is not reachable",
                          std::string(base::trim(finished.err)));
    }
    return arriving.answer();
}

}  // namespace

base::Result<io::HttpAnswer> get_by_curl_program(const std::string& url, const io::HttpHeaders& headers,
                                                 const io::BodyLimit& limit) {
    return run_curl(url, headers, limit, "location\n", true);
}

base::Result<io::HttpAnswer> post_by_curl_program(const std::string& url, const std::string& body,
                                                  const io::HttpHeaders& headers) {
    return run_curl(url, headers, max_answer_bytes, "data-raw = " + config_value(body) + "\n", false);
}

}  // namespace wheelyard::avail_wheels
