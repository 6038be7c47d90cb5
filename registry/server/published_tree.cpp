// Serves pages from memory or disk, and files by descriptor.
#include "registry/server/published_tree.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/io/zstd.hpp"
#include "registry/http/compression.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/http/pypi_json.hpp"
#include "registry/http/ranges.hpp"
#include "registry/http/rendered_page.hpp"
#include "registry/server/limits.hpp"

namespace wheelyard::http {

namespace {

constexpr std::size_t max_cached_bytes = 64 * base::mib;
constexpr std::size_t max_cached_pages = 20'000;  // of any size: their names and dates take memory, too
// The JSON root page, which is sent with serials and so not from the disk: 300,000 projects.
constexpr std::size_t max_cached_root_bytes = 8 * base::mib;
// Other indexes in which a project is looked for that one lacks: a call of the file system each.
constexpr std::size_t max_indexes_asked = 64;
// A project's page of which PyPI's JSON form is made: 30,000 files.
constexpr std::size_t max_pypi_page_bytes = 16 * base::mib;

Reply reply_not_found(std::string detail, std::string value) {
    return reply_problem(wire::make_problem("file.not_found", "Not found", std::move(detail),
                                            std::move(value), "see the project's page for its files"));
}

Reply reply_no_project(std::string name) {
    return reply_problem(wire::make_problem("file.not_found", "Not found", "This index has no such project.",
                                            std::move(name), "see the index's page for its projects"));
}

// Maps a failed open to a reply. Absence is a 404; anything else is a server error.
Reply reply_unreadable(int error_number, const std::string& path) {
    if (error_number == EMFILE || error_number == ENFILE)
        return reply_problem(wire::make_problem("server.busy", "Too many open files",
                                                "The server has no free file descriptors.", {},
                                                "try again shortly"));
    io::log_error("tree.unreadable", {{"path", path}, {"error", std::strerror(error_number)}});
    return reply_problem(
        wire::make_problem("server.internal", "Internal server error",
                           "The published file cannot be read; see the server log for this request ID.", {},
                           "report the request ID to the administrator"));
}

bool means_absent(int error_number) {
    return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP ||
           error_number == ENAMETOOLONG;
}

// O_NONBLOCK: a FIFO placed there by mistake must not block the thread.
constexpr int open_flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

// Opens folder by folder without following links, for kernels and sandboxes without openat2.
base::Fd walk_to(int folder, std::string_view path, int flags) {
    base::Fd current;
    for (;;) {
        const auto slash = path.find('/');
        const std::string name(path.substr(0, slash));
        const bool last = slash == std::string_view::npos;
        base::Fd next(::openat(folder, name.c_str(), last ? flags : open_flags | O_DIRECTORY | O_PATH));
        if (!next || last) return next;
        current = std::move(next);
        folder = current.get();
        path.remove_prefix(slash + 1);
    }
}

base::Fd open_without_links(int folder, const std::string& path, int flags = open_flags) {
    open_how how{};
    how.flags = static_cast<unsigned int>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    base::Fd file(static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
    if (file || (errno != ENOSYS && errno != EPERM)) return file;
    return walk_to(folder, path, flags);
}

std::int64_t modified_ns(const struct stat& info) {
    return std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

base::UnixMicros modified_us(const struct stat& info) {
    return modified_ns(info) / 1000;
}

// Identifies the exact file behind a page: a replaced page has a new inode and time.
std::string tag_of_page(const struct stat& info) {
    char text[80];
    const int size = std::snprintf(
        text, sizeof text, "%llx-%llx-%llx", static_cast<unsigned long long>(modified_ns(info)),
        static_cast<unsigned long long>(info.st_size), static_cast<unsigned long long>(info.st_ino));
    return std::string(text, static_cast<std::size_t>(size));
}

// nginx percent-decodes the path of X-Accel-Redirect.
std::string percent_encode_path(std::string_view path) {
    std::string encoded;
    for (const std::string_view segment : base::split(path, '/'))
        encoded.append("/").append(base::encode_percent(segment));
    return encoded;
}

// Returns false with errno if the file ended early or could not be read.
bool read_whole(int file, std::string& into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(done));
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (got == 0 || errno != EINTR) {
            if (got == 0) errno = EIO;
            return false;
        }
    }
    return true;
}

// "INDEX/simple/index.json"
bool is_json_root(std::string_view path) {
    constexpr std::string_view end = "/simple/index.json";
    return path.ends_with(end) && path.find('/') == path.size() - end.size();
}

// Mirrors look for changes by `_last-serial`, as PyPI has it. The pages on the disk have none: each upload
// would rewrite the root page. Every project has the serial of its index, so a mirror looks at all of them
// after any change, and downloads what it does not have.
std::string with_serial(const std::string& text, std::int64_t serial) {
    const std::string member = R"("_last-serial":)" + std::to_string(serial) + ",";
    return base::replace_all(base::replace_all(text, R"("meta":{)", R"("meta":{)" + member), R"({"name":)",
                             "{" + member + R"("name":)");
}

}  // namespace

bool PublishedTree::Page::is_still(const struct stat& now) const {
    return device == now.st_dev && inode == now.st_ino && size == static_cast<std::uint64_t>(now.st_size) &&
           modified_ns == http::modified_ns(now);
}

void PublishedTree::forget(const std::string& path) {
    const auto known = pages_.find(path);
    if (known == pages_.end()) return;
    if (known->second.text) cached_bytes_ -= known->second.text->size();
    for (const Packed* made : {&known->second.gzip, &known->second.zstd})
        if (made->text) cached_bytes_ -= made->text->size();
    pages_.erase(known);
}

base::Fd PublishedTree::open(const std::string& path, struct stat& info) {
    // The second try reopens the root: the tree may have been replaced since it was opened.
    for (const bool again : {false, true}) {
        if (!root_folder_ || again)
            root_folder_ = base::Fd(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!root_folder_) return base::Fd();
        base::Fd file = open_without_links(root_folder_.get(), path);
        bool is_readable = true;
        if (!file && errno == EACCES) {  // a stand-in, unless this is root
            file = open_without_links(root_folder_.get(), path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            is_readable = false;
        }
        if (!file && again) return file;
        if (!file) {
            if (!means_absent(errno) || is_root_still()) return file;
            continue;
        }
        if (::fstat(file.get(), &info) != 0) return base::Fd();
        if (S_ISREG(info.st_mode) && (is_readable || base::is_stand_in(info))) return file;
        errno = is_readable ? ENOENT : EACCES;
        return base::Fd();
    }
    return base::Fd();
}

// Preserves errno, which holds the reason of the failed open.
bool PublishedTree::is_root_still() const {
    const int why = errno;
    struct stat open_one {};
    struct stat named {};
    const bool still = ::fstat(root_folder_.get(), &open_one) == 0 && ::stat(root_.c_str(), &named) == 0 &&
                       open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
    errno = why;
    return still;
}

void PublishedTree::make_room(const Page& page) {
    if (cached_bytes_ <= max_cached_bytes && pages_.size() < max_cached_pages) return;
    pages_.clear();  // rare, so clearing is simpler than LRU bookkeeping
    cached_bytes_ = page.text ? page.text->size() : 0;
}

// Compresses a page once per thread, when the first client requests it.
SharedText PublishedTree::packed(Page& page, Coding coding) {
    if (coding == Coding::none || !page.text) return nullptr;
    Packed& made = coding == Coding::zstd ? page.zstd : page.gzip;
    if (made.tried) return made.text;
    made.tried = true;
    made.text = compressed(*page.text, coding);
    if (made.text) cached_bytes_ += made.text->size();
    return made.text;
}

// nullptr with errno if there is no such page.
PublishedTree::Page* PublishedTree::find_page(const std::string& path, base::Fd& large) {
    struct stat info {};
    const auto known = pages_.find(path);
    const std::int64_t serial = is_json_root(path) ? serial_of(path.substr(0, path.find('/'))) : 0;
    // No link check is needed here: the name still refers to the very file that was read.
    if (known != pages_.end() && known->second.text && root_folder_ && known->second.serial == serial &&
        ::fstatat(root_folder_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        known->second.is_still(info))
        return &known->second;
    forget(path);
    base::Fd file = open(path, info);
    if (!file) return nullptr;
    Page page;
    page.device = info.st_dev;
    page.inode = info.st_ino;
    page.size = static_cast<std::uint64_t>(info.st_size);
    page.modified_ns = modified_ns(info);
    page.tag = tag_of_page(info);
    page.last_modified = base::render_http_date(modified_us(info));
    if (page.size > (serial != 0 ? max_cached_root_bytes : max_cached_page_bytes)) {
        large = std::move(file);
    } else {
        std::string text(static_cast<std::size_t>(page.size), '\0');
        if (!read_whole(file.get(), text)) return nullptr;
        if (serial != 0) {
            text = with_serial(text, serial);
            page.serial = serial;
            page.tag += "-s" + std::to_string(serial);
        }
        page.text = std::make_shared<const std::string>(std::move(text));
        cached_bytes_ += page.text->size();
    }
    make_room(page);
    return &(pages_[path] = std::move(page));
}

// Clients may cache a page but must revalidate, so that they see every upload that was answered with 200.
// Only its tag shows whether it has changed: a date has whole seconds, and a root page's is not its serial's
// (RFC 9110, 8.8.2.2).
std::optional<Reply> PublishedTree::reply_text(const std::string& path, const Sent& sent,
                                               const RequestHead& head) {
    base::Fd large;
    Page* page = find_page(path, large);
    if (page == nullptr) {
        if (means_absent(errno)) return std::nullopt;
        return reply_unreadable(errno, path);
    }
    Coding coding = choose_coding(head.accept_encoding, io::has_zstd());
    std::string tag = page->tag;
    std::uint64_t size = page->size;
    const SharedText smaller = packed(*page, coding);
    if (page->text) {
        if (!smaller) coding = Coding::none;
    } else {  // too large to compress here: the indexer has written the copies
        coding = Coding::none;
        for (const bool has_zstd : {io::has_zstd(), false}) {
            const Coding wanted = choose_coding(head.accept_encoding, has_zstd);
            if (wanted == Coding::none) break;
            struct stat info {};
            base::Fd copy = open(path + (wanted == Coding::zstd ? ".zst" : ".gz"), info);
            if (!copy) continue;
            coding = wanted;
            large = std::move(copy);
            tag = tag_of_page(info);
            size = static_cast<std::uint64_t>(info.st_size);
            break;
        }
    }
    const std::string etag = etag_of(tag, sent.form_tag, coding);
    Reply reply;
    reply.fields.reserve(10);
    reply.add("ETag", etag);
    reply.add("Last-Modified", page->last_modified);
    reply.add("Cache-Control", "no-cache");
    reply.add("Vary", sent.vary);
    if (names_etag(head.if_none_match, etag)) {
        reply.status = 304;
        return reply;
    }
    if (coding != Coding::none) reply.add("Content-Encoding", content_coding(coding));
    reply.add("Content-Type", sent.content_type);
    reply.add("X-Content-Type-Options", "nosniff");
    struct stat info {};
    if (coding == Coding::none && page->text && page->text->size() > max_copied_page_bytes) {
        base::Fd file = open(path, info);
        if (file && page->is_still(info) && page->serial == 0) large = std::move(file);
    }
    if (large)
        reply.body = FileSlice{std::move(large), 0, size};
    else
        reply.body = smaller ? smaller : page->text;
    return reply;
}

Reply PublishedTree::page(const Route& route, const RequestHead& head) {
    const auto form = route.form ? route.form : choose_page_form(head.accept);
    if (!form) return reply_not_acceptable(head.accept);
    std::string path = route.index + "/simple/";
    if (!route.project.empty()) path.append(route.project).append("/");
    path.append(*form == PageForm::json ? "index.json" : "index.html");
    auto reply = reply_text(
        path, {content_type_of(*form), *form == PageForm::html_v1 ? "-v1" : "", "Accept, Accept-Encoding"},
        head);
    if (!reply) {
        reply = route.project.empty() ? reply_not_found("This index has no such page.", route.index)
                                      : reply_no_project(route.project);
        reply->add("Vary", "Accept");
    } else if (reply->status == 200 && *form != PageForm::json) {
        reply->add("Content-Security-Policy", simple_page_policy);
    }
    return *std::move(reply);
}

Reply PublishedTree::file(const Route& route, const RequestHead& head, bool may_redirect) {
    std::string path = route.index;
    if (route.project.empty())
        path.append("/files/").append(route.sha256, 0, 2);
    else  // a version's variants
        path.append("/simple/").append(route.project);
    path.append("/").append(route.sha256);
    path.append("/").append(route.filename);
    struct stat info {};
    base::Fd file = open(path, info);
    if (!file) {
        if (!means_absent(errno)) return reply_unreadable(errno, path);
        return reply_not_found("This index has no such file.", route.filename);
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::string etag = "\"" + route.sha256;
    for (const std::string_view beside : {".metadata", ".prov", ".pep740"})
        if (route.filename.ends_with(beside)) etag += beside;
    etag += '"';
    const std::string last_modified = base::render_http_date(modified_us(info));

    const std::string_view type = route.project.empty() ? "application/octet-stream" : "application/json";

    Reply reply;
    reply.fields.reserve(10);
    reply.add("ETag", etag);
    reply.add("Last-Modified", last_modified);
    reply.add("Cache-Control", "public, max-age=31536000, immutable");
    reply.add("Accept-Ranges", "bytes");
    if (not_modified(head.if_none_match, head.if_modified_since, etag, modified_us(info))) {
        reply.status = 304;
        return reply;
    }
    const bool is_remote = base::is_stand_in(info);
    if (may_redirect && !accel_prefix_.empty() &&
        !is_remote) {  // the proxy handles ranges and further conditions
        reply.add("Content-Type", type);
        reply.add("X-Content-Type-Options", "nosniff");
        reply.add("X-Accel-Redirect", accel_prefix_ + percent_encode_path(path));
        return reply;
    }
    // Range applies only to GET (RFC 9110 §14.2); uv and pip's lazy wheel probe with HEAD and expect 200.
    RangeChoice choice{RangeKind::whole, 0, size};
    if (head.method == "GET" && !head.range.empty() && range_still_valid(head.if_range, etag, last_modified))
        choice = choose_range(head.range, size);
    if (choice.kind == RangeKind::unsatisfiable) {
        Reply refusal = reply_problem(wire::make_problem(
            "file.range", "Range not satisfiable", "The range begins after the end of the file.",
            head.range.substr(0, 200), "the file has " + std::to_string(size) + " bytes"));
        refusal.add("Content-Range", "bytes */" + std::to_string(size));
        return refusal;
    }
    if (choice.kind == RangeKind::part) {
        reply.status = 206;
        reply.add("Content-Range", "bytes " + std::to_string(choice.offset) + "-" +
                                       std::to_string(choice.offset + choice.length - 1) + "/" +
                                       std::to_string(size));
    }
    reply.add("Content-Type", type);
    reply.add("X-Content-Type-Options", "nosniff");
    if (is_remote)
        reply.body = RemoteFile{route.sha256, route.filename, choice.offset, choice.length};
    else
        reply.body = FileSlice{std::move(file), choice.offset, choice.length};
    return reply;
}

Reply PublishedTree::listing(const Route& route, const RequestHead& head) {
    const bool is_html = route.filename.ends_with(".html");
    const std::string_view type = is_html                             ? "text/html; charset=utf-8"
                                  : route.filename.ends_with(".json") ? "application/json"
                                                                      : "text/plain; charset=utf-8";
    Reply reply = reply_text_file(route.index + "/" + route.filename, type, head);
    if (is_html && reply.status == 200) reply.add("Content-Security-Policy", simple_page_policy);
    return reply;
}

std::vector<IndexEntry> PublishedTree::indexes_with(const Route& route,
                                                    const std::vector<IndexEntry>& indexes) {
    std::vector<IndexEntry> found;
    std::size_t asked = 0;
    for (const IndexEntry& index : indexes) {
        if (!index.is_advertised || !index.has_pages || index.name == route.index) continue;
        if (asked++ == max_indexes_asked) break;
        struct stat info {};
        if (open(index.name + "/project/" + route.project + "/index.html", info)) found.push_back(index);
    }
    return found;
}

Reply PublishedTree::web_page(const Route& route, const RequestHead& head,
                              const std::vector<IndexEntry>& indexes) {
    const std::string& name = route.filename;
    const bool is_html = name.ends_with(".html");
    const std::string_view type = is_html                   ? "text/html; charset=utf-8"
                                  : name.ends_with(".json") ? "application/json"
                                                            : "application/atom+xml; charset=utf-8";
    Reply reply = reply_text_file(route.index + "/" + name, type, head);
    if (is_html && reply.status == 404 && !route.project.empty()) {
        reply = reply_problem(wire::make_problem(
            "file.not_found", "Not found", "This index has no such project.", route.project,
            "search at /" + route.index + "/project/, or ask for it: avail_wheels --request " +
                route.project));
        if (is_for_browsers(head.accept))
            show_page(reply, render_missing_project_page(farm_, root_from(head), route.index, route.project,
                                                         indexes_with(route, indexes)));
    }
    if (is_html && reply.status < 400) reply.add("Content-Security-Policy", web_ui_policy());
    return reply;
}

std::optional<Reply> PublishedTree::front(const RequestHead& head) {
    Reply reply = reply_text_file("index.html", "text/html; charset=utf-8", head);
    if (reply.status >= 400) return std::nullopt;
    reply.add("Content-Security-Policy", web_ui_policy());
    return reply;
}

Reply PublishedTree::reply_text_file(const std::string& path, std::string_view content_type,
                                     const RequestHead& head) {
    if (auto reply = reply_text(path, {content_type}, head)) return *std::move(reply);
    return reply_not_found("This index has no such file.", path.substr(path.find('/') + 1));
}

std::int64_t PublishedTree::serial_of(const std::string& index) {
    constexpr std::size_t max_record_bytes = base::mib;
    const std::string path = ".wheelyard/published.json";
    struct stat info {};
    const bool is_same = serials_.inode != 0 && root_folder_ &&
                         ::fstatat(root_folder_.get(), path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                         serials_.inode == info.st_ino && serials_.modified_ns == modified_ns(info);
    if (!is_same) {
        serials_ = {};
        const base::Fd file = open(path, info);
        if (!file || static_cast<std::uint64_t>(info.st_size) > max_record_bytes) return 0;
        std::string text(static_cast<std::size_t>(info.st_size), '\0');
        const auto record = read_whole(file.get(), text) ? io::parse_json(text) : io::Json();
        const io::Json* serials = record ? record->find("serials") : nullptr;
        serials_ = {info.st_ino, modified_ns(info), serials != nullptr ? *serials : io::Json()};
    }
    return serials_.of_indexes.int_or(index, 0);
}

tl::expected<SharedText, Reply> PublishedTree::page_text(const Route& route) {
    base::Fd large;
    const Page* page = find_page(route.index + "/simple/" + route.project + "/index.json", large);
    if (page != nullptr && page->text) return page->text;
    if (page == nullptr || page->size > max_pypi_page_bytes || page->size == 0)
        return tl::unexpected(reply_no_project(route.project));
    std::string text(static_cast<std::size_t>(page->size), '\0');
    if (!read_whole(large.get(), text)) return tl::unexpected(reply_unreadable(errno, route.project));
    return std::make_shared<const std::string>(std::move(text));
}

Reply PublishedTree::integrity(const Route& route, const RequestHead& head) {
    auto text = page_text(route);
    if (!text) return std::move(text.error());
    const auto project = read_pypi_project(**text, route.version);
    const auto place =
        base::decode_percent(project ? attested_place(*project, route.filename) : std::string());
    if (!place || place->empty())
        return reply_not_found("This version has no such file, or it was uploaded without attestations.",
                               route.filename);
    const std::string_view type = choose_integrity_type(head.accept);
    auto reply = reply_text(route.index + "/" + *place + ".pep740",
                            {.content_type = type,
                             .form_tag = type == "application/json" ? "json" : "integrity",
                             .vary = "Accept, Accept-Encoding"},
                            head);
    return reply ? *std::move(reply) : reply_not_found("The tree lacks the attestations.", route.filename);
}

Reply PublishedTree::pypi_json(const Route& route, const PypiIndex& place) {
    auto text = page_text(route);
    if (!text) return std::move(text.error());
    return pypi_json(read_pypi_project(**text, route.version), nullptr, place);
}

Reply PublishedTree::pypi_json(const base::Result<PypiProject>& project, SharedText metadata,
                               PypiIndex place) {
    if (!project) return reply_not_found(project.error().sentence + ".", project.error().value);
    if (!metadata) metadata = std::make_shared<const std::string>(metadata_of(place.index, *project));
    place.serial = serial_of(place.index);
    Reply reply = reply_json(200, render_pypi_json(*project, *metadata, place));
    reply.replace("Cache-Control", "no-cache");
    if (place.serial != 0) reply.add("X-PyPI-Last-Serial", std::to_string(place.serial));
    return reply;
}

std::string PublishedTree::metadata_of(const std::string& index, const PypiProject& project) {
    struct stat info {};
    const auto name = base::decode_percent(project.wheel);
    const base::Fd file = name ? open(index + "/" + *name + ".metadata", info) : base::Fd();
    if (!file || static_cast<std::uint64_t>(info.st_size) > max_cached_page_bytes) return {};
    std::string metadata(static_cast<std::size_t>(info.st_size), '\0');
    return read_whole(file.get(), metadata) ? metadata : std::string();
}

bool PublishedTree::is_there() const {
    struct stat info {};
    return ::stat(root_.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace wheelyard::http
