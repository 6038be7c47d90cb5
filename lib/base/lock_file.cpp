// Taking a lock: our claim is written whole into a file of its own and then linked to the lock's name, which
// link(2) does at most once, on network file systems too.
//
// Taking over from a dead holder must let exactly one claimant through, and must never remove a lock that
// another claimant has just taken. So each holder's token names an heir file, ".NAME.heir.TOKEN", which again
// is made with link(2): whoever makes it, and no other, may rename its claim over that holder's lock. An heir
// that dies in between is inherited from in the same way, by its own token. The heir file goes only after the
// lock has changed, so a slow claimant who makes it anew finds another token in the lock and steps back.
//
// Claims and heir files of claimants that were killed are swept away by the next holder, and only while it
// holds the lock: a claimant that was slow and not dead then misses its claim, but it could not have had the
// lock either. An heir file is of use only as long as its token's lock is there, or an heir of that lock's.
//
// How long ago another host wrote a file is told by the file system's own clock, that is against the time of
// our claim, which we have just written in the same folder. Where a file system stamps a file by the clock of
// the host that writes it, hosts' clocks still have to agree.
#include "lib/base/lock_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/digest.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::base {
namespace {

constexpr std::uint64_t max_lock_bytes = 4 * 1024;
constexpr int max_tries = 50;            // rounds that others' comings and goings may cost us
constexpr int max_takeover_claims = 16;  // heirs that died one after another
constexpr std::string_view first_line = "wheelyard-lock 1";

struct Claim {
    LockHolder holder;
    std::string token;
    UnixMicros written = 0;  // by the file system's clock
};

std::string render(const Claim& claim) {
    return std::string(first_line) + "\nhost " + claim.holder.host + "\npid " +
           std::to_string(claim.holder.pid) + "\nprocess_start " +
           std::to_string(claim.holder.process_start) + "\nrefreshed " +
           render_rfc3339(claim.holder.refreshed) + "\ntoken " + claim.token + "\n";
}

struct Written {
    std::string text;
    UnixMicros at = 0;
};

Result<Claim> parse(const Written& file, const fs::path& path) {
    Claim claim;
    claim.written = file.at;
    int known = 0;
    for (const auto line : split_lines(file.text)) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const auto name = line.substr(0, space);
        const auto value = line.substr(space + 1);
        const auto number = parse_decimal(value);
        if (name == "host") {
            claim.holder.host = std::string(value);
        } else if (name == "pid" && number && *number <= std::numeric_limits<std::int32_t>::max()) {
            claim.holder.pid = static_cast<std::int64_t>(*number);
        } else if (name == "process_start" && number) {
            claim.holder.process_start = *number;
        } else if (name == "token" && value.find('/') == std::string_view::npos && !value.empty()) {
            claim.token = std::string(value);
        } else if (name == "refreshed") {
            WHEELYARD_ASSIGN(claim.holder.refreshed, parse_rfc3339(value));
        } else {
            continue;
        }
        ++known;
    }
    if (known != 5) {
        return fail("lock.broken", "this lock file cannot be read", path.native(),
                    "remove it when nothing that uses it is running");
    }
    return claim;
}

// Opened, and only then asked for its time: with every opening NFS asks the server anew (close-to-open
// consistency, nfs(5)), but stat(2) may answer what it heard a minute ago, and make a holder older than it
// is.
Result<Written> open_and_read(const fs::path& path) {
    WHEELYARD_ASSIGN(const auto fd, open_read(path));
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail_errno("stat", path.native(), errno);
    WHEELYARD_ASSIGN(auto text, read_file(fd, path, max_lock_bytes));
    return Written{std::move(text), status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1000};
}

// nullopt: no such file.
Result<std::optional<Written>> read_written(const fs::path& path) {
    auto file = open_and_read(path);
    if (!file && (file.error().code == "os.ENOENT" || file.error().code == "os.ESTALE")) return std::nullopt;
    if (!file) return fail(std::move(file.error()));
    return std::optional(std::move(*file));
}

// nullopt: no such file.
Result<std::optional<Claim>> read_claim(const fs::path& path) {
    WHEELYARD_ASSIGN(const auto file, read_written(path));
    if (!file) return std::nullopt;
    WHEELYARD_ASSIGN(auto claim, parse(*file, path));
    return std::optional(std::move(claim));
}

// The tokens of the locks that this process holds: one that names this process and is not among them was left
// behind by a release that failed (EIO of its unlink), and would otherwise be held until the process ends.
class HeldTokens {
  public:
    void add(const std::string& token) {
        const std::lock_guard lock(mutex_);
        tokens_.insert(token);
    }
    void remove(const std::string& token) {
        const std::lock_guard lock(mutex_);
        tokens_.erase(token);
    }
    [[nodiscard]] bool contain(const std::string& token) {
        const std::lock_guard lock(mutex_);
        return tokens_.contains(token);
    }

  private:
    std::mutex mutex_;
    std::set<std::string> tokens_;
};

HeldTokens& held_tokens() {
    static HeldTokens tokens;
    return tokens;
}

// Of a token that is about to be the lock's.
class Registration {
  public:
    explicit Registration(const std::string& token) : token_(token) { held_tokens().add(token_); }
    ~Registration() {
        if (!is_kept_) held_tokens().remove(token_);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    [[nodiscard]] const std::string& keep() {
        is_kept_ = true;
        return token_;
    }

  private:
    const std::string token_;
    bool is_kept_ = false;
};

// Both by the file system's clock. What was written in the future was so before that clock stepped back.
bool is_stale(UnixMicros written, UnixMicros now, std::int64_t stale_after_ms) {
    return now - written > stale_after_ms * 1000;
}

bool is_alive(const Claim& claim, UnixMicros now, std::int64_t stale_after_ms) {
    const LockHolder& holder = claim.holder;
    if (holder.host == host_name()) {
        if (holder.pid == ::getpid() && holder.process_start == process_start_time(holder.pid))
            return held_tokens().contain(claim.token);
        const auto start = process_start_time(holder.pid);
        return start != 0 && start == holder.process_start;
    }
    return !is_stale(claim.written, now, stale_after_ms);
}

tl::unexpected<Error> fail_held(const fs::path& path, const LockHolder& holder) {
    return fail_as(ErrorKind::busy, Recovery::retry,
                   {"lock.held",
                    "process " + std::to_string(holder.pid) + " on " + holder.host +
                        " holds this lock since " + render_rfc3339(holder.refreshed),
                    path.native(), "wait for it, or end it"});
}

fs::path beside(const fs::path& path, std::string_view what, std::string_view token) {
    return path.parent_path() /
           ("." + path.filename().native() + "." + std::string(what) + "." + std::string(token));
}

// Removes a file when it goes out of scope.
struct Removed {
    fs::path path;
    explicit Removed(fs::path file) : path(std::move(file)) {}
    Removed(const Removed&) = delete;
    Removed& operator=(const Removed&) = delete;
    ~Removed() { ::unlink(path.c_str()); }
};

// A claim that is gone was swept away by the next holder, on another host: we were slow, and not dead.
tl::unexpected<Error> fail_claim(std::string_view call, const fs::path& claim, int why) {
    if (why != ENOENT && why != ESTALE) return fail_errno(call, claim.native(), why);
    return fail_as(
        ErrorKind::busy, Recovery::retry,
        {"lock.held", "another process took this lock meanwhile", claim.native(), "try again later"});
}

// True if `claim` now also has the name `to`; false if that name is taken. NFS may lose the answer to a link
// that was made, so the claim's count of names decides, not the answer (open(2) on O_EXCL describes this).
Result<bool> link_claim(const fs::path& claim, const fs::path& to) {
    struct stat before {};
    if (::stat(claim.c_str(), &before) != 0) return fail_claim("stat", claim, errno);
    const bool linked = ::link(claim.c_str(), to.c_str()) == 0;
    const int why = errno;
    struct stat after {};
    if (::stat(claim.c_str(), &after) != 0) return fail_claim("stat", claim, errno);
    if (linked || after.st_nlink > before.st_nlink) return true;
    if (why == EEXIST) return false;
    return fail_errno("link", to.native(), why);
}

// Whether a claim is that of a claimant that is no more. One that is not whole was killed while it wrote it
// or writes it now: its age tells.
bool is_left_behind(const fs::path& path, UnixMicros now, std::int64_t stale_after_ms) {
    const auto file = read_written(path);
    if (!file || !*file) return false;
    const auto claim = parse(**file, path);
    return claim ? !is_alive(*claim, now, stale_after_ms) : is_stale((*file)->at, now, stale_after_ms);
}

std::vector<fs::path> files_beside(const fs::path& lock, std::string_view what) {
    const std::string start = beside(lock, what, {}).filename().native();
    const fs::path folder = lock.has_parent_path() ? lock.parent_path() : fs::path(".");
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().native().starts_with(start)) files.push_back(entry->path());
    }
    return files;
}

// By the holder of the lock, and as far as it can: nobody waits for it.
void sweep(const fs::path& lock, const std::string& token, UnixMicros now, std::int64_t stale_after_ms) {
    auto files = files_beside(lock, "claim");
    const auto heirs = files_beside(lock, "heir");
    // Seen while the lock is ours and nobody inherits it, so no heir that was listed is of use any more.
    const auto current = read_claim(lock);
    const bool is_ours = current && *current && (*current)->token == token;
    std::error_code error;
    if (is_ours && !fs::exists(beside(lock, "heir", token), error) && !error)
        files.insert(files.end(), heirs.begin(), heirs.end());
    for (const auto& file : files) {
        if (is_left_behind(file, now, stale_after_ms)) ::unlink(file.c_str());
    }
}

enum class Step { taken, again };

// The lock is `dead`'s: becomes its heir, or that of the last of its heirs that died, and replaces it.
Result<Step> take_over(const fs::path& path, const fs::path& claim_file, const Claim& dead, UnixMicros now,
                       std::int64_t stale_after_ms) {
    std::vector<fs::path> heirs;
    std::string token = dead.token;
    for (bool chosen = false; !chosen;) {
        if (heirs.size() == max_takeover_claims) {
            return fail(
                "lock.broken", "too many processes died while taking this lock over", path.native(),
                "remove it and the files .NAME.heir.* beside it when nothing that uses it is running");
        }
        heirs.push_back(beside(path, "heir", token));
        WHEELYARD_ASSIGN(chosen, link_claim(claim_file, heirs.back()));
        if (chosen) break;
        WHEELYARD_ASSIGN(const auto heir, read_claim(heirs.back()));
        if (!heir) return Step::again;
        if (is_alive(*heir, now, stale_after_ms)) return fail_held(path, heir->holder);
        token = heir->token;
    }
    const Removed own_heir(heirs.back());
    WHEELYARD_ASSIGN(const auto current, read_claim(path));
    if (!current || current->token != dead.token) return Step::again;
    if (::rename(claim_file.c_str(), path.c_str()) != 0) return fail_claim("rename", claim_file, errno);
    for (const auto& heir : heirs)
        ::unlink(heir.c_str());
    return Step::taken;
}

}  // namespace

Result<LockFile> LockFile::acquire(const fs::path& path, const Clock& clock, std::int64_t stale_after_ms) {
    const auto self = static_cast<std::int64_t>(::getpid());
    const Claim own{
        {host_name(), self, process_start_time(self), clock.now()}, encode_hex(random_bytes(8)), {}};
    Registration registration(own.token);  // before anybody can find it
    const Removed claim_file(beside(path, "claim", own.token));
    {
        WHEELYARD_ASSIGN(const auto fd, create_new(claim_file.path));
        WHEELYARD_TRY(write_all(fd.get(), render(own)));
        WHEELYARD_TRY(fsync_file(fd.get(), claim_file.path.native()));
    }
    WHEELYARD_ASSIGN(const auto written, read_written(claim_file.path));
    if (!written) return fail_claim("open", claim_file.path, ENOENT);
    const UnixMicros now = written->at;
    const auto hold = [&] {
        sweep(path, own.token, now, stale_after_ms);
        return LockFile(path, registration.keep());
    };
    for (int tries = 0; tries < max_tries; ++tries) {
        WHEELYARD_ASSIGN(const bool linked, link_claim(claim_file.path, path));
        if (linked) return hold();
        WHEELYARD_ASSIGN(const auto current, read_claim(path));
        if (!current) continue;  // released meanwhile
        if (is_alive(*current, now, stale_after_ms)) return fail_held(path, current->holder);
        WHEELYARD_ASSIGN(const auto step, take_over(path, claim_file.path, *current, now, stale_after_ms));
        if (step == Step::taken) return hold();
    }
    return fail_as(ErrorKind::busy, Recovery::retry,
                   {"lock.held", "others keep taking this lock", path.native(), "try again later"});
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)), token_(std::exchange(other.token_, {})) {}

LockFile::~LockFile() {
    if (token_.empty()) return;
    const auto current = read_claim(path_);
    if (current && *current && (*current)->token == token_) ::unlink(path_.c_str());
    held_tokens().remove(token_);
}

Status LockFile::refresh(const Clock& clock) {
    WHEELYARD_ASSIGN(auto current, read_claim(path_));
    if (!current || current->token != token_) {
        return fail_as(ErrorKind::lost, Recovery::never,
                       {"lock.lost", "another process has taken this lock over", path_.native(),
                        "refresh it more often than it goes stale"});
    }
    current->holder.refreshed = clock.now();
    return replace_file(path_, render(*current));
}

std::uint64_t process_start_time(std::int64_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", max_lock_bytes);
    if (!text) return 0;
    // Field 2, the command, may itself hold spaces and parentheses, so fields are counted from its last one:
    // 3 is the state, 22 the start (proc(5)).
    const auto fields = split(trim(std::string_view(*text).substr(text->rfind(')') + 1)), ' ');
    constexpr std::size_t state = 0, start = 22 - 3;
    if (fields.size() <= start || fields[state] == "Z" || fields[state] == "X") return 0;
    return parse_decimal(fields[start]).value_or(0);
}

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    return name;
}

}  // namespace wheelyard::base
