// Acquiring a lock: the claimant writes its claim to a file of its own and hard-links it to the lock's name.
// link(2) succeeds for at most one claimant, on network file systems too.
//
// Taking over the lock of a dead holder must let exactly one claimant through and must never remove a lock
// that another claimant has just acquired. Each holder's token therefore names a takeover claim,
// ".NAME.takeover.TOKEN", also created with link(2). Only the claimant that creates it may rename its claim
// over that holder's lock. If that claimant dies in between, its own token names the next takeover claim in
// the chain. Takeover claims are removed only after the lock has changed, so a slow claimant that creates one
// again finds a different token in the lock and retries.
//
// The next holder sweeps the claims and takeover claims of killed claimants, and only while it holds the
// lock. A claimant that was slow but alive may then miss its claim; it could not have acquired the lock
// anyway. A takeover claim matters only while the lock, or a takeover claim, with its token exists.
//
// The age of a file that another host wrote is measured on the file system's clock, against the timestamp of
// our claim, which we have just written to the same folder. Where a file system uses the writing host's clock
// for timestamps, the hosts' clocks must agree.
#include "lib/base/files/lock_file.hpp"

#include <fcntl.h>
#include <signal.h>
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

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::base {
namespace {

constexpr std::uint64_t max_lock_bytes = 4 * 1024;
constexpr int max_tries = 50;            // rounds lost to concurrent claimants
constexpr int max_takeover_claims = 16;  // takeover claims whose owners died, in a row
constexpr std::string_view first_line = "wheelyard-lock 1";

struct Claim {
    LockHolder holder;
    std::string token;
    UnixMicros written = 0;  // on the file system's clock
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
        return fail("lock.broken", "This lock file is malformed", path.native(),
                    "stop every program that uses it, then remove it");
    }
    return claim;
}

// Opens the file before it reads the timestamp. NFS revalidates attributes at every open (close-to-open
// consistency, nfs(5)); stat(2) may return an outdated cached time and make a live holder look stale.
Result<Written> open_and_read(const fs::path& path) {
    WHEELYARD_ASSIGN(const auto fd, open_read(path));
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail_errno("stat", path.native(), errno);
    WHEELYARD_ASSIGN(auto text, read_file(fd, path, max_lock_bytes));
    return Written{std::move(text), status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1000};
}

// nullopt: the file does not exist.
Result<std::optional<Written>> read_written(const fs::path& path) {
    auto file = open_and_read(path);
    if (!file && (file.error().os_error == ENOENT || file.error().os_error == ESTALE)) return std::nullopt;
    if (!file) return fail(std::move(file.error()));
    return std::optional(std::move(*file));
}

// nullopt: the file does not exist.
Result<std::optional<Claim>> read_claim(const fs::path& path) {
    WHEELYARD_ASSIGN(const auto file, read_written(path));
    if (!file) return std::nullopt;
    WHEELYARD_ASSIGN(auto claim, parse(*file, path));
    return std::optional(std::move(claim));
}

// The tokens of the locks that this process holds. A lock file that names this process with another token was
// left by a release that failed (unlink returned EIO); without this set it would count as held until the
// process ends.
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

// Registers a token that is about to appear in the lock; removes it again unless keep() is called.
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

// Both times are on the file system's clock. A time far in the future means that the clock was set back: as
// stale as a time in the past, for otherwise the lock of a dead holder would stay until that time.
bool is_stale(UnixMicros written, UnixMicros now, std::int64_t stale_after_ms) {
    const UnixMicros apart = now > written ? now - written : written - now;
    return apart > stale_after_ms * 1000;
}

// A /proc with hidepid, as ProtectProc= of systemd mounts it, shows no process of another user; kill(2) tells
// it from none.
bool is_hidden(std::int64_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM;
}

bool is_alive(const Claim& claim, UnixMicros now, std::int64_t stale_after_ms) {
    const LockHolder& holder = claim.holder;
    if (holder.host == host_name()) {
        if (holder.pid == ::getpid() && holder.process_start == process_start_time(holder.pid))
            return held_tokens().contain(claim.token);
        const auto start = process_start_time(holder.pid);
        if (start != 0 || !is_hidden(holder.pid)) return start == holder.process_start && start != 0;
    }
    return !is_stale(claim.written, now, stale_after_ms);
}

tl::unexpected<Error> fail_busy(std::string sentence, const fs::path& path, std::string advice) {
    return fail_as(ErrorKind::busy, Recovery::retry,
                   {"lock.held", std::move(sentence), path.native(), std::move(advice)});
}

tl::unexpected<Error> fail_held(const fs::path& path, const LockHolder& holder) {
    return fail_busy("Process " + std::to_string(holder.pid) + " on " + holder.host +
                         " has held this lock since " + render_rfc3339(holder.refreshed),
                     path, "wait until it finishes, or end it");
}

fs::path sibling(const fs::path& path, std::string_view what, std::string_view token) {
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

// A missing claim was swept by the next holder on another host, which took us for dead.
tl::unexpected<Error> fail_claim(std::string_view call, const fs::path& claim, int why) {
    if (why != ENOENT && why != ESTALE) return fail_errno(call, claim.native(), why);
    return fail_busy("Another process has taken this lock", claim, "try again later");
}

// True if `claim` now also has the name `to`; false if that name is taken. NFS can lose the reply to a
// successful link, so the link count of the claim decides, not the result (open(2) describes this at O_EXCL).
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

// Says whether the claimant that wrote this claim is dead. A partial claim is either being written or was
// left by a crash; its age decides.
bool is_left_behind(const fs::path& path, UnixMicros now, std::int64_t stale_after_ms) {
    const auto file = read_written(path);
    if (!file || !*file) return false;
    const auto claim = parse(**file, path);
    return claim ? !is_alive(*claim, now, stale_after_ms) : is_stale((*file)->at, now, stale_after_ms);
}

std::vector<fs::path> sibling_files(const fs::path& lock, std::string_view what) {
    const std::string start = sibling(lock, what, {}).filename().native();
    const fs::path folder = lock.has_parent_path() ? lock.parent_path() : fs::path(".");
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().native().starts_with(start)) files.push_back(entry->path());
    }
    return files;
}

// Called by the lock's holder. Best effort: errors are ignored.
void sweep(const fs::path& lock, const std::string& token, UnixMicros now, std::int64_t stale_after_ms) {
    auto files = sibling_files(lock, "claim");
    const auto takeover_claims = sibling_files(lock, "takeover");
    // The lock is ours and has no takeover claim, so none of the listed takeover claims matters any more.
    const auto current = read_claim(lock);
    const bool is_ours = current && *current && (*current)->token == token;
    std::error_code error;
    if (is_ours && !fs::exists(sibling(lock, "takeover", token), error) && !error)
        files.insert(files.end(), takeover_claims.begin(), takeover_claims.end());
    for (const auto& file : files) {
        if (is_left_behind(file, now, stale_after_ms)) ::unlink(file.c_str());
    }
}

enum class Step { taken, again };

// `dead` holds the lock: creates the first free takeover claim in its chain and replaces the lock.
Result<Step> take_over(const fs::path& path, const fs::path& claim_file, const Claim& dead, UnixMicros now,
                       std::int64_t stale_after_ms) {
    std::vector<fs::path> takeover_claims;
    std::string token = dead.token;
    for (bool chosen = false; !chosen;) {
        if (takeover_claims.size() == max_takeover_claims) {
            return fail("lock.broken", "Too many processes died while taking this lock over", path.native(),
                        "stop every program that uses it, then remove it and the files .NAME.takeover.* in "
                        "its folder");
        }
        takeover_claims.push_back(sibling(path, "takeover", token));
        WHEELYARD_ASSIGN(chosen, link_claim(claim_file, takeover_claims.back()));
        if (chosen) break;
        WHEELYARD_ASSIGN(const auto claim, read_claim(takeover_claims.back()));
        if (!claim) return Step::again;
        if (is_alive(*claim, now, stale_after_ms)) return fail_held(path, claim->holder);
        token = claim->token;
    }
    const Removed own_takeover_claim(takeover_claims.back());
    WHEELYARD_ASSIGN(const auto current, read_claim(path));
    if (!current || current->token != dead.token) return Step::again;
    if (::rename(claim_file.c_str(), path.c_str()) != 0) return fail_claim("rename", claim_file, errno);
    for (const auto& file : takeover_claims)
        ::unlink(file.c_str());
    return Step::taken;
}

}  // namespace

Result<LockFile> LockFile::acquire(const fs::path& path, const Clock& clock, std::int64_t stale_after_ms) {
    const auto self = static_cast<std::int64_t>(::getpid());
    const Claim own{
        {host_name(), self, process_start_time(self), clock.now()}, encode_hex(random_bytes(8)), {}};
    Registration registration(own.token);  // before another thread can find the token in the lock
    const Removed claim_file(sibling(path, "claim", own.token));
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
        if (!current) continue;  // released in the meantime
        if (is_alive(*current, now, stale_after_ms)) return fail_held(path, current->holder);
        WHEELYARD_ASSIGN(const auto step, take_over(path, claim_file.path, *current, now, stale_after_ms));
        if (step == Step::taken) return hold();
    }
    return fail_busy("Other processes keep taking this lock", path, "try again later");
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
                       {"lock.lost", "Another process has taken this lock over", path_.native(),
                        "refresh it within its stale timeout"});
    }
    current->holder.refreshed = clock.now();
    return replace_file(path_, render(*current));
}

std::uint64_t process_start_time(std::int64_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", max_lock_bytes);
    if (!text) return 0;
    // Field 2, the command, may contain spaces and parentheses, so fields are counted from the last
    // parenthesis: 3 is the state, 22 the start time (proc(5)).
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
