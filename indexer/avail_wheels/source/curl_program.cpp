// curl writes the header and body of the last response to two files of a private folder. The URL and the
// headers are passed on standard input, so that passwords do not appear in the argument list.
#include "indexer/avail_wheels/source/curl_program.hpp"

#include <filesystem>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/netrc_file.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::uint64_t max_head_bytes = 1u << 20;
constexpr std::uint64_t max_answer_bytes = 1u << 20;  // of a POST

// Quotes a value for curl's configuration file.
std::string config_value(std::string_view text) {
    return "\"" + base::replace_all(base::replace_all(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

// Redirects add a header block each; the last one counts.
void read_head(std::string_view text, io::HttpAnswer& answer) {
    for (const auto line : base::split_lines(text)) {
        if (line.starts_with("HTTP/")) {
            answer.headers.clear();
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        answer.headers.emplace_back(base::ascii_lower(line.substr(0, colon)),
                                    base::trim(line.substr(colon + 1)));
    }
}

// `sent`: lines of curl's configuration, for what is sent and how redirects are handled.
base::Result<io::HttpAnswer> run_curl(const std::string& url, const io::HttpHeaders& headers,
                                      std::uint64_t limit_bytes, const std::string& sent) {
    if (!base::find_program("curl")) {
        return base::fail("http.library", "The program `curl` is not installed", {},
                          "install curl, or use --wheelhouse");
    }
    if (url.find_first_of("\r\n") != std::string::npos)
        return base::fail("http.url", "A URL must not contain line breaks");
    WHEELYARD_ASSIGN(const auto folder, base::TempDir::make("wheelyard-curl"));
    const auto body = folder.path() / "body";
    const auto head = folder.path() / "head";
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
                    "--max-filesize",
                    std::to_string(limit_bytes),
                    "--dump-header",
                    head.native(),
                    "--output",
                    body.native(),
                    "--write-out",
                    "%{http_code} %{url_effective}",
                    "--config",
                    "-"};
    const auto netrc = io::other_netrc(base::current_environment());
    std::error_code ignored;
    if (!netrc)
        command.argv.emplace_back("--netrc-optional");
    else if (std::filesystem::exists(*netrc, ignored))
        command.argv.insert(command.argv.end(), {"--netrc-optional", "--netrc-file", netrc->native()});
    command.timeout_ms = 0;  // curl has its own timeouts
    command.input = "url = " + config_value(url) + "\n" + sent;
    for (const auto& [name, value] : headers)
        command.input += "header = " + config_value(name + ": " + value) + "\n";
    WHEELYARD_ASSIGN(const auto finished, base::run_command(command));
    if (finished.exit_code != 0) {
        // curl's message names the host but, unlike the URL, no password.
        return base::fail("http.connect", "The index is not reachable",
                          std::string(base::trim(finished.err)));
    }
    io::HttpAnswer answer;
    const auto space = finished.out.find(' ');
    answer.status =
        static_cast<int>(base::parse_decimal(std::string_view(finished.out).substr(0, space)).value_or(0));
    if (space != std::string::npos) answer.final_url = finished.out.substr(space + 1);
    WHEELYARD_ASSIGN(const auto head_text, base::read_file(head, max_head_bytes));
    read_head(head_text, answer);
    if (auto bytes = base::read_file(body, limit_bytes)) answer.body = std::move(*bytes);
    return answer;
}

}  // namespace

base::Result<io::HttpAnswer> get_by_curl_program(const std::string& url, const io::HttpHeaders& headers,
                                                 std::uint64_t limit_bytes) {
    return run_curl(url, headers, limit_bytes, "location\n");
}

base::Result<io::HttpAnswer> post_by_curl_program(const std::string& url, const std::string& body,
                                                  const io::HttpHeaders& headers) {
    return run_curl(url, headers, max_answer_bytes, "data-raw = " + config_value(body) + "\n");
}

}  // namespace wheelyard::avail_wheels
