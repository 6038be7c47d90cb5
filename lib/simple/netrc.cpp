#include "lib/simple/netrc.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::simple {
namespace {

constexpr std::uint64_t max_netrc_bytes = base::mib;

namespace fs = std::filesystem;

constexpr std::string_view login_account = "wheelyard-login";
constexpr std::string_view netrc_blanks = " \t\r\n";
constexpr mode_t only_the_user = 0600;

struct NetrcWord {
    std::string text;
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Words of the file; a word in quotes has backslashes, a comment is no word, and a macro ends at the first
// empty line.
class NetrcWords {
  public:
    explicit NetrcWords(std::string_view text) : text_(text) {}

    std::optional<NetrcWord> next(bool is_value = false) {
        for (;;) {
            at_ = text_.find_first_not_of(netrc_blanks, at_);
            if (at_ == std::string_view::npos) return std::nullopt;
            if (text_[at_] != '#' || is_value) break;
            at_ = text_.find('\n', at_);
            if (at_ == std::string_view::npos) return std::nullopt;
        }
        NetrcWord word{{}, at_, at_};
        if (text_[at_] == '"') {
            for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
                if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
                word.text += text_[at_];
            }
            if (at_ < text_.size()) ++at_;
        } else {
            at_ = std::min(text_.find_first_of(netrc_blanks, at_), text_.size());
            word.text = text_.substr(word.begin, at_ - word.begin);
        }
        word.end = at_;
        return word;
    }

    void skip_macro() {
        std::size_t end = text_.find("\n\n", at_);
        if (const auto other = text_.find("\n\r\n", at_); other < end) end = other;
        at_ = std::min(end, text_.size());
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

struct NetrcEntry {
    std::string host;  // empty: `default`
    std::string password = {};
    bool is_login = false;
    std::size_t begin = 0;
    std::size_t end = 0;
};

std::vector<NetrcEntry> entries_of(std::string_view text) {
    std::vector<NetrcEntry> entries;
    NetrcWords words(text);
    while (const auto word = words.next()) {
        if (word->text == "macdef") {
            words.skip_macro();
        } else if (word->text == "default") {
            entries.push_back({.host = {}, .begin = word->begin, .end = word->end});
        } else if (word->text == "machine") {
            const auto host = words.next(true);
            if (!host) break;
            entries.push_back(
                {.host = base::ascii_lower(host->text), .begin = word->begin, .end = host->end});
        } else {
            const auto value = words.next(true);
            if (!value || entries.empty()) continue;
            NetrcEntry& entry = entries.back();
            if (word->text == "password") entry.password = value->text;
            if (word->text == "account") entry.is_login = value->text == login_account;
            entry.end = value->end;
        }
    }
    return entries;
}

std::string render_login(std::string_view host, std::string_view token) {
    std::string text = "machine ";
    text.append(host)
        .append(" login __token__ account ")
        .append(login_account)
        .append(" password ")
        .append(token);
    return text;
}

// The file to replace: that which a link names.
base::Result<fs::path> netrc_file(const fs::path& home) {
    const fs::path file = home / ".netrc";
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(file, error))) return file;
    const fs::path real_home = fs::canonical(home, error);
    const fs::path target = error ? fs::path() : fs::canonical(file, error);
    const std::string inside = real_home.native() + "/";
    if (error || !target.native().starts_with(inside))
        return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                             {"netrc.link", "The file of log-ins is a link to outside your home folder",
                              file.native(), "replace it by a file of your own, mode 0600"});
    return target;
}

}  // namespace

std::optional<std::string> find_login(std::string_view netrc, std::string_view host) {
    for (const NetrcEntry& entry : entries_of(netrc)) {
        if (entry.is_login && entry.host == host) return entry.password;
    }
    return std::nullopt;
}

base::Result<std::string> with_login(std::string_view netrc, std::string_view host, std::string_view token) {
    std::optional<NetrcEntry> own;
    std::size_t default_begin = std::string_view::npos;
    for (const NetrcEntry& entry : entries_of(netrc)) {
        if (entry.host.empty()) default_begin = std::min(default_begin, entry.begin);
        if (entry.host != host || host.empty()) continue;
        if (!entry.is_login)
            return base::fail_as(
                base::ErrorKind::conflict, base::Recovery::person,
                {"netrc.other", "~/.netrc has an entry for this host that no log-in wrote", std::string(host),
                 "remove it, or move it away: programs read one entry for a host"});
        if (!own) own = entry;
    }
    std::string text(netrc);
    if (own) return text.replace(own->begin, own->end - own->begin, render_login(host, token));
    if (default_begin != std::string_view::npos)
        return text.insert(default_begin, render_login(host, token) + "\n");
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    if (text.find("macdef") != std::string::npos) text += '\n';  // an empty line ends a macro
    return text + render_login(host, token) + "\n";
}

std::string without_login(std::string_view netrc, std::string_view host) {
    std::string text(netrc);
    const auto entries = entries_of(netrc);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        if (!entry->is_login || entry->host != host) continue;
        std::size_t end = entry->end;
        if (end < text.size() && text[end] == '\n') ++end;  // the line of its own
        text.erase(entry->begin, end - entry->begin);
    }
    return text;
}

base::Result<std::string> read_netrc(const fs::path& home) {
    WHEELYARD_ASSIGN(const fs::path file, netrc_file(home));
    auto text = base::read_file(file, max_netrc_bytes);
    if (!text && text.error().os_error == ENOENT) return std::string();
    return text;
}

base::Status write_netrc(const fs::path& home, std::string_view bytes) {
    WHEELYARD_ASSIGN(const fs::path file, netrc_file(home));
    return base::replace_file(file, bytes, only_the_user);
}

}  // namespace wheelyard::simple
