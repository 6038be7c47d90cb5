#include "lib/store/lifecycle/verify.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/store/lifecycle/backup.hpp"

namespace wheelyard::lifecycle {
namespace {

constexpr std::string_view format_name = "wheelyard.verify/1";
// The first upload of a registry may be killed before its event, and leave an orphan that is older.
constexpr base::UnixMicros max_upload_us = 3'600'000'000;

// The file is in the cache of its upstream, which has the same bytes. A promoted one is no such copy.
bool is_cached_copy(const catalog::FileRow& file) {
    const std::size_t dot = file.index.find('.');
    return dot != std::string::npos && file.uploaded_by == "upstream:" + file.index.substr(dot + 1);
}

// The first reads of blobs, in the order in which they were asked for, by threads of its own. Without
// threads each is made when its result is taken.
class FirstReads {
  public:
    using Read =
        std::function<base::Result<std::string>(const std::string& sha256)>;  // the hash of the bytes
    using Hash = std::future<base::Result<std::string>>;

    FirstReads(std::size_t threads, Read read) : read_(std::move(read)) {
        for (std::size_t number = 0; number < threads; ++number)
            threads_.emplace_back([this] { run(); });
    }
    ~FirstReads() {  // what has not begun is dropped
        {
            const std::lock_guard lock(mutex_);
            is_stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }
    FirstReads(const FirstReads&) = delete;
    FirstReads& operator=(const FirstReads&) = delete;

    [[nodiscard]] Hash ask(const std::string& sha256) {
        if (threads_.empty()) return std::async(std::launch::deferred, read_, sha256);
        std::packaged_task<base::Result<std::string>()> task([this, sha256] { return read_(sha256); });
        Hash hash = task.get_future();
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        wake_.notify_one();
        return hash;
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [this] { return is_stopping_ || !tasks_.empty(); });
            if (is_stopping_) return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            lock.lock();
        }
    }

    const Read read_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::packaged_task<base::Result<std::string>()>> tasks_;
    bool is_stopping_ = false;
    std::vector<std::thread> threads_;
};

// One thread decides, in the order of the hashes, and reads again what was read wrong; only the first reads
// of blobs are made ahead of it.
class Scrub {
  public:
    Scrub(const LifecycleParts& place, base::Clock& clock, const VerifySettings& settings,
          const VerifyHooks& hooks)
        : place_(place),
          clock_(clock),
          settings_(settings),
          hooks_(hooks),
          started_(clock.now()),
          readers_(place.blobs.serves_files() && settings.bytes_per_second == 0 ? remote_readers : 0),
          first_reads_(readers_,
                       [this](const std::string& sha256) { return read_once(sha256, readers_ == 0); }) {}

    base::Result<VerifyReport> run() {
        WHEELYARD_TRY(read_state());
        // First, because it is fast and a damaged catalog makes the other findings doubtful.
        WHEELYARD_TRY(check_catalog());
        WHEELYARD_TRY(release_earlier());
        WHEELYARD_TRY(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
            WHEELYARD_TRY(begin_part(digits));
            // Parts of few blobs are read together.
            while (!parts_.empty() && (readers_ == 0 || awaited_ > 2 * readers_))
                WHEELYARD_TRY(end_first_part());
            return {};
        }));
        while (!parts_.empty())
            WHEELYARD_TRY(end_first_part());
        WHEELYARD_TRY(check_history());
        WHEELYARD_TRY(write_finished(clock_.now()));
        return std::move(report_);
    }

  private:
    void note(Fault fault) {
        if (hooks_.found) hooks_.found(fault);
        report_.faults.push_back(std::move(fault));
    }

    base::Status check_catalog() {
        std::vector<std::string> faults;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(faults, catalog.faults());
            return {};
        }));
        for (std::string& fault : faults)
            note({"catalog", std::move(fault), {}});
        return {};
    }

    // Quarantines of a run that was killed, or that a faulty reader caused, end here.
    base::Status release_earlier() {
        std::set<std::string> wheels;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const auto indexes, catalog.indexes());
            for (const std::string& index : indexes) {
                std::vector<catalog::FileRow> some;
                do {
                    WHEELYARD_ASSIGN(
                        some, catalog.files_after(index, some.empty() ? "" : some.back().filename,
                                                  rows_at_once, {.state = catalog::FileState::quarantined}));
                    for (const catalog::FileRow& file : some) {
                        if (file.state_reason.starts_with(verify_reason)) wheels.insert(file.sha256);
                    }
                } while (some.size() == rows_at_once);
            }
            return {};
        }));
        for (const std::string& sha256 : wheels) {
            if (hooks_.stops && hooks_.stops()) return fail_stopped();
            WHEELYARD_TRY(release(sha256));
        }
        return {};
    }

    base::Status release(const std::string& sha256) {
        WHEELYARD_ASSIGN(const auto released, release_intact(place_, sha256, "verify"));
        return released.empty() ? base::Status{} : hooks_.show(released);
    }

    // A new catalog begins after what an earlier one had stored.
    base::Status check_history() {
        if (!oldest_orphan_) return {};
        bool is_lost = false;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const auto now, catalog.blob(oldest_orphan_->sha256));
            WHEELYARD_ASSIGN(const auto first, catalog.events_after(0, 1));
            is_lost = !now && (first.empty() || oldest_orphan_->stored < first.front().time - max_upload_us);
            return {};
        }));
        if (is_lost)
            note({"catalog",
                  std::to_string(report_.orphans) +
                      " blobs are of no file, and some are older than the catalog: "
                      "an earlier catalog is lost, or they are another registry's. Stop the server and "
                      "restore a "
                      "backup; `gc` would remove them",
                  {}});
        return {};
    }

    // The blobs whose hash begins with two digits, what the catalog says of them, and their first reads.
    struct Part {
        std::string two_digits;
        std::vector<blobs::StoredBlob> blobs;  // those that are due
        std::map<std::string, catalog::BlobRow> rows;
        std::vector<FirstReads::Hash> hashes = {};  // of `blobs`
    };

    base::Status begin_part(const std::string& two_digits) {
        if (two_digits < std::string_view(after_).substr(0, 2)) return {};
        Part& part = parts_.emplace_back(Part{two_digits, {}, {}});
        WHEELYARD_ASSIGN(part.blobs, place_.blobs.list(two_digits));
        WHEELYARD_ASSIGN(part.rows, rows_of(two_digits));
        std::erase_if(part.blobs, [&](const blobs::StoredBlob& blob) {
            if (blob.sha256 > after_) return false;
            part.rows.erase(blob.sha256);
            return true;
        });
        for (const blobs::StoredBlob& blob : part.blobs)
            part.hashes.push_back(first_reads_.ask(blob.sha256));
        awaited_ += part.blobs.size();
        return {};
    }

    base::Status end_first_part() {
        Part part = std::move(parts_.front());
        parts_.pop_front();
        awaited_ -= part.blobs.size();
        for (std::size_t at = 0; at < part.blobs.size(); ++at) {
            const blobs::StoredBlob& blob = part.blobs[at];
            const auto row = part.rows.find(blob.sha256);
            const bool has_row = row != part.rows.end();
            if (!has_row) count_orphan(blob);
            WHEELYARD_TRY(
                scrub_blob(blob, has_row ? row->second.size_bytes : blob.size_bytes, part.hashes[at].get()));
            if (has_row) part.rows.erase(row);
        }
        for (const auto& [sha256, row] : part.rows) {
            // Checked again: an upload may have stored the blob after they were listed.
            if (!row.referenced) continue;
            WHEELYARD_ASSIGN(const auto there, place_.blobs.find(sha256));
            if (!there) WHEELYARD_TRY(find_missing({.sha256 = sha256, .size_bytes = row.size_bytes}));
        }
        after_ = part.two_digits + std::string(62, 'f');
        return report_.bytes == noted_bytes_ ? base::Status{}
                                             : write_state();  // where there is none, no fsync
    }

    base::Result<std::map<std::string, catalog::BlobRow>> rows_of(std::string_view two_digits) {
        std::map<std::string, catalog::BlobRow> rows;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            std::string last(two_digits);
            while (true) {
                WHEELYARD_ASSIGN(auto some, catalog.blobs_after(last, rows_at_once));
                for (auto& row : some) {
                    last = row.sha256;
                    if (!last.starts_with(two_digits)) return {};
                    rows.emplace(last, std::move(row));
                }
                if (some.size() < rows_at_once) return {};
            }
        }));
        return rows;
    }

    void count_orphan(const blobs::StoredBlob& blob) {
        ++report_.orphans;
        if (!oldest_orphan_ || blob.stored < oldest_orphan_->stored) oldest_orphan_ = blob;
    }

    base::Status scrub_blob(const blobs::StoredBlob& blob, std::uint64_t size_in_catalog,
                            base::Result<std::string> first) {
        const auto found = read_twice(blob.sha256, std::move(first));
        if (!found && found.error().os_error == ENOENT) return {};  // collected in the meantime
        const bool is_intact = found && *found == blob.sha256;
        bool is_other = false;  // An upload that repairs it may make it shorter while it is read.
        if (!is_intact) {
            // If the store does not say, nothing is known, neither that the blob is damaged nor that it is
            // good.
            WHEELYARD_ASSIGN(is_other, place_.blobs.has_changed(blob));
            if (!found && !is_other) return base::fail(found.error());
        }
        ++report_.blobs;
        report_.bytes += blob.size_bytes;
        if (is_intact) {
            const bool is_better = !control_ || blob.size_bytes >= control_->size_bytes;
            if (is_better && blob.size_bytes <= max_control_bytes) control_ = blob;
            if (blob.size_bytes != size_in_catalog)
                note({"catalog",
                      blob.sha256 + " has " + std::to_string(blob.size_bytes) + " bytes, not " +
                          std::to_string(size_in_catalog),
                      {}});
        } else if (!is_other && found->empty()) {
            note({"unsteady", blob.sha256, {}});
        } else if (!is_other) {
            WHEELYARD_TRY(quarantine(blob, "damaged"));
        }
        after_ = blob.sha256;
        if (readers_ > 0) show_progress(0);
        if (report_.bytes - noted_bytes_ >= verify_note_bytes) WHEELYARD_TRY(write_state());
        return {};
    }

    // The hash of the bytes that two reads give, or one that is right; empty where they differ.
    base::Result<std::string> read_twice(const std::string& sha256, base::Result<std::string> first) {
        if (!first || *first == sha256) return first;
        WHEELYARD_ASSIGN(const std::string second, read_once(sha256));
        return second == *first ? *first : std::string();
    }

    // `is_alone`: on the thread that decides, which keeps the pace and shows the progress.
    base::Result<std::string> read_once(const std::string& sha256, bool is_alone = true) {
        auto found = hash_from_medium(sha256, is_alone);
        if (!found && is_damage(found.error())) return "unreadable";
        return found;
    }

    // A blob that the disk cannot read is damaged, too, and so is what a repair of the file system left in
    // its place. One such blob must not end the run: those behind it would never be read.
    static bool is_damage(const base::Error& error) {
        constexpr std::array of_the_disk = {EIO, EUCLEAN, EBADMSG};
        const bool is_unreadable =
            std::find(of_the_disk.begin(), of_the_disk.end(), error.os_error) != of_the_disk.end();
        return is_unreadable || error.kind == base::ErrorKind::malformed;
    }

    base::Result<std::string> hash_from_medium(const std::string& sha256, bool is_alone) {
        WHEELYARD_ASSIGN(const auto reader, place_.blobs.open(sha256, blobs::ReadFrom::medium));
        base::Digest digest(base::DigestKind::sha256);
        WHEELYARD_TRY(
            base::for_each_piece(*reader, verify_step_bytes, [&](std::string_view piece) -> base::Status {
                if (hooks_.stops && hooks_.stops()) return fail_stopped();
                digest.update(piece);
                if (is_alone) keep_pace(piece.size());
                return {};
            }));
        return base::encode_hex(digest.finish());
    }

    static tl::unexpected<base::Error> fail_stopped() {
        return base::fail("verify.stopped", "The run was stopped; another one continues it");
    }

    void keep_pace(std::size_t bytes) {
        read_ += bytes;
        if (settings_.bytes_per_second > 0) {
            const double due_ms =
                static_cast<double>(read_) * 1000 / static_cast<double>(settings_.bytes_per_second);
            const double elapsed_ms = static_cast<double>(clock_.now() - started_) / 1000;
            if (due_ms > elapsed_ms + 1) clock_.sleep_ms(static_cast<std::int64_t>(due_ms - elapsed_ms));
        }
        show_progress(bytes);
    }

    void show_progress(std::size_t bytes) {
        if (!hooks_.progress) return;
        const std::string two = after_.substr(0, 2);
        const std::string raw = two.empty() ? std::string("\0", 1) : base::decode_hex(two).value_or("\0");
        hooks_.progress({report_.blobs, report_.bytes + bytes,
                         static_cast<double>(static_cast<unsigned char>(raw.front())) / 256});
    }

    // Says whether the reader gives an intact blob as what it is. Not one that is much smaller than the
    // suspect, where there are others: what damages answers may only show in long ones.
    base::Result<bool> is_reader_right(const blobs::StoredBlob& suspect) {
        const std::uint64_t enough = std::min(suspect.size_bytes, max_control_bytes);
        if (!control_ || control_->size_bytes < enough) {
            WHEELYARD_ASSIGN(const int wrong, find_control(suspect, enough));
            if (control_ && control_->size_bytes >= enough) return true;
            if (wrong >= min_control_tries) return false;
        }
        if (control_) {
            const auto again = read_once(control_->sha256);
            if (again || again.error().os_error != ENOENT)
                return again.map([&](const std::string& found) { return found == control_->sha256; });
            control_.reset();  // collected in the meantime
        }
        WHEELYARD_TRY(find_control(suspect, 0));
        return control_.has_value();
    }

    // Reads blobs of at least this size, from the beginning of the store, until one is intact; how many were
    // not.
    base::Result<int> find_control(const blobs::StoredBlob& suspect, std::uint64_t least_bytes) {
        int wrong = 0;
        bool is_over = false;
        WHEELYARD_TRY(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
            if (is_over) return {};
            WHEELYARD_ASSIGN(const auto blobs, place_.blobs.list(digits));
            for (const blobs::StoredBlob& blob : blobs) {
                if (is_over || blob.size_bytes < least_bytes || blob.sha256 == suspect.sha256) continue;
                const auto found = read_once(blob.sha256);
                if (!found && found.error().os_error == ENOENT) continue;  // collected in the meantime
                if (!found) return base::fail(found.error());
                const bool is_intact = *found == blob.sha256;
                if (is_intact) control_ = blob;
                is_over = is_intact || ++wrong == max_control_tries;
            }
            return {};
        }));
        return wrong;
    }

    base::Status quarantine(const blobs::StoredBlob& blob, const std::string& code) {
        WHEELYARD_ASSIGN(const bool is_right, is_reader_right(blob));
        if (!is_right) return blame_reader(blob.sha256);
        Fault fault{code, blob.sha256, {}};
        const std::string reason = std::string(verify_reason) + blob.sha256 + " are " + code;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const auto files, catalog.files_of_blob(blob.sha256));
            for (const catalog::FileRow& file : files) {
                fault.files.push_back({file.index, file.filename});
                if (code == "missing" && is_cached_copy(file)) {
                    WHEELYARD_ASSIGN(const auto evicted,
                                     catalog.evict(fault.files.back(), {"verify", reason, clock_.now()}));
                    if (evicted.outcome == catalog::ChangeOutcome::changed) continue;  // else it is pinned
                }
                WHEELYARD_ASSIGN(
                    const auto changed,
                    catalog.set_file_state(
                        fault.files.back(), catalog::FileState::quarantined, {"verify", reason, clock_.now()},
                        [](const catalog::FileRow& now) { return now.state == catalog::FileState::active; }));
                if (changed.outcome == catalog::ChangeOutcome::changed)
                    quarantined_.emplace_back(fault.files.back(), reason);
            }
            return {};
        }));
        if (!fault.files.empty()) WHEELYARD_TRY(hooks_.show(fault.files));
        // An upload may have stored the same bytes before the quarantine: one that comes later releases them
        // itself.
        WHEELYARD_ASSIGN(const bool is_other, place_.blobs.has_changed(blob));
        if (is_other && place_.blobs.is_intact(blob.sha256)) return release(blob.sha256);
        note(std::move(fault));
        return {};
    }

    base::Status blame_reader(const std::string& sha256) {
        note({"reader", sha256, {}});
        std::vector<catalog::FileName> released;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            for (const auto& [file, reason] : quarantined_) {
                released.push_back(file);
                WHEELYARD_TRY(catalog.set_file_state(
                    file, catalog::FileState::active,
                    {"verify", "verify: the reader is at fault", clock_.now()},
                    [&, &why = reason](const catalog::FileRow& now) { return now.state_reason == why; }));
            }
            return {};
        }));
        if (!released.empty()) WHEELYARD_TRY(hooks_.show(released));
        WHEELYARD_TRY(write_finished(finished_));  // what it has read counts for nothing
        return base::fail(
            "verify.reader",
            "What reads the store is at fault, not the store: no blob that was tried is read as "
            "it was stored. The run has released what it quarantined",
            sha256,
            "check this machine's memory, what is between it and the store, and [stores]; then "
            "run `wheelyard-registry verify --restart`");
    }

    // Checked again by the caller: it is gone.
    base::Status find_missing(const blobs::StoredBlob& blob) {
        std::vector<catalog::FileRow> files;
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(files, catalog.files_of_blob(blob.sha256));
            return {};
        }));
        if (files.empty()) return {};  // deleted and collected in the meantime
        const auto restored = restore(blob.sha256, files);
        if (restored && !*restored) return quarantine(blob, "missing");
        // What cannot be restored now, for want of room or of a readable disk, may be the last copy: pages
        // and tree keep it.
        Fault fault{restored ? "restored" : "missing", blob.sha256, {}};
        for (const catalog::FileRow& file : files)
            fault.files.push_back({file.index, file.filename});
        note(std::move(fault));
        return restored ? release(blob.sha256) : base::Status{};
    }

    // False: the trees have no file with these bytes.
    base::Result<bool> restore(const std::string& sha256, const std::vector<catalog::FileRow>& files) {
        if (place_.blobs.serves_files()) return false;  // it has stand-ins of them
        for (const std::filesystem::path& tree : settings_.trees) {
            for (const catalog::FileRow& file : files) {
                const std::filesystem::path wheel =
                    tree / file.index / "files" / file.sha256.substr(0, 2) / file.sha256 / file.filename;
                const std::array<std::pair<std::string, std::string>, 4> places{
                    {{file.sha256, ""},
                     {file.metadata_sha256, ".metadata"},
                     {file.provenance_sha256, ".prov"},
                     {file.attestations_sha256, ".pep740"}}};
                for (const auto& [of, suffix] : places) {
                    if (of != sha256) continue;
                    WHEELYARD_ASSIGN(const bool is_restored,
                                     restore_from(wheel.native() + suffix, sha256, place_.blobs));
                    if (is_restored) return true;
                }
            }
        }
        return false;
    }

    base::Status write_finished(base::UnixMicros when) {
        return base::replace_file(
            settings_.state_file,
            io::Json::object({{"format", format_name}, {"finished", when}}).render() + "\n", 0600);
    }

    base::Status read_state() {
        finished_ = last_finished(settings_.state_file);
        if (settings_.restart) return {};
        const auto text = base::read_file(settings_.state_file, max_verify_state_bytes);
        if (!text) return text.error().os_error == ENOENT ? base::Status() : base::fail(text.error());
        const auto document = io::parse_json(*text);
        // Without a readable state the run starts from the beginning.
        if (!document || document->string_or("format", "") != format_name) return {};
        const std::string after = document->string_or("after", "");
        if (!base::is_sha256_hex(after)) return {};
        after_ = after;
        report_.resumed = true;
        report_.blobs = static_cast<std::uint64_t>(std::max<std::int64_t>(0, document->int_or("blobs", 0)));
        report_.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, document->int_or("bytes", 0)));
        noted_bytes_ = report_.bytes;
        return {};
    }

    base::Status write_state() {
        noted_bytes_ = report_.bytes;
        return base::replace_file(settings_.state_file,
                                  io::Json::object({{"format", format_name},
                                                    {"after", after_},
                                                    {"started", started_},
                                                    {"blobs", report_.blobs},
                                                    {"bytes", report_.bytes},
                                                    {"finished", finished_}})
                                          .render() +
                                      "\n",
                                  0600);
    }

    const LifecycleParts& place_;
    base::Clock& clock_;
    const VerifySettings& settings_;
    const VerifyHooks& hooks_;
    const base::UnixMicros started_;
    base::UnixMicros finished_ = 0;  // the run before
    std::string after_;              // everything up to this hash is done
    std::uint64_t noted_bytes_ = 0;
    std::uint64_t read_ = 0;
    VerifyReport report_;
    std::optional<blobs::StoredBlob> control_;  // was intact
    std::optional<blobs::StoredBlob> oldest_orphan_;
    std::vector<std::pair<catalog::FileName, std::string>> quarantined_;  // by this run, and why
    std::deque<Part> parts_;                                              // begun, in order
    std::size_t awaited_ = 0;                                             // blobs in them
    const std::size_t readers_;
    FirstReads first_reads_;  // last: its threads use all of the above
};

}  // namespace

base::Result<bool> restore_from(const std::filesystem::path& file, const std::string& sha256,
                                const blobs::BlobStore& blobs) {
    const auto reader = base::FileReader::open(file);
    if (!reader && reader.error().os_error == ENOENT) return false;
    if (!reader) return base::fail(reader.error());
    WHEELYARD_ASSIGN(blobs::StagedBlob staged, blobs.stage());
    WHEELYARD_TRY(base::for_each_piece(*reader, verify_step_bytes,
                                       [&](std::string_view piece) { return staged.write(piece); }));
    if (staged.finish() != sha256) return false;
    WHEELYARD_TRY(blobs.store(std::move(staged)));
    return true;
}

base::UnixMicros last_finished(const std::filesystem::path& state_file) {
    const auto text = base::read_file(state_file, max_verify_state_bytes);
    const auto document = text ? io::parse_json(*text) : tl::unexpected(text.error());
    const std::string format = document ? document->string_or("format", "") : "";
    if (format == format_name) return document->int_or("finished", 0);
    return format == last_backup_format ? document->int_or("time", 0) : 0;
}

base::Result<VerifyReport> verify(const LifecycleParts& place, base::Clock& clock,
                                  const VerifySettings& settings, const VerifyHooks& hooks) {
    return Scrub(place, clock, settings, hooks).run();
}

}  // namespace wheelyard::lifecycle
