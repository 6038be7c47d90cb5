#include "lib/simple/index_folder.hpp"

#include "lib/base/files/file.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::simple {
namespace fs = std::filesystem;

base::Result<io::HttpAnswer> read_page(const std::string& url, const io::HttpHeaders& /*headers*/,
                                       const io::BodyLimit& limit) {
    WHEELYARD_ASSIGN(const auto parsed, base::parse_url(url));
    WHEELYARD_ASSIGN(const auto path, base::file_path(parsed));
    const fs::path page = fs::path(path) / "index.html";
    io::HttpAnswer answer;
    std::error_code ignored;
    if (!fs::exists(page, ignored) && fs::is_directory(page.parent_path().parent_path(), ignored)) {
        answer.status = 404;
        return answer;
    }
    WHEELYARD_ASSIGN(answer.body, base::read_file(page, limit.bytes));
    answer.status = 200;
    answer.headers = {{"content-type", "text/html"}};
    return answer;
}

}  // namespace wheelyard::simple
