#include "registry/lifecycle/verify.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::lifecycle {
namespace {

constexpr std::string_view format_name = "wheelyard.verify/1";

class Scrub {
  public:
    Scrub(const LifecycleParts& place, base::Clock& clock, const VerifySettings& settings,
          const VerifyHooks& hooks)
        : place_(place), clock_(clock), settings_(settings), hooks_(hooks), started_(clock.now()) {}

    base::Result<VerifyReport> run() {
        WHEELYARD_TRY(read_state());
        // First, because it is fast and a damaged catalog makes the other findings doubtful.
        WHEELYARD_TRY(check_catalog());
        WHEELYARD_TRY(
            blobs::for_each_two_digits([&](const std::string& digits) { return scrub_some(digits); }));
        WHEELYARD_TRY(base::remove_file(settings_.state_file));
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

    base::Status scrub_some(std::string_view two_digits) {
        if (two_digits < std::string_view(after_).substr(0, 2)) return {};
        WHEELYARD_ASSIGN(const auto blobs, place_.blobs.list(two_digits));
        WHEELYARD_ASSIGN(auto rows, rows_of(two_digits));
        for (const auto& blob : blobs) {
            const auto row = rows.find(blob.sha256);
            const bool has_row = row != rows.end();
            if (blob.sha256 > after_) {
                if (!has_row) ++report_.orphans;
                WHEELYARD_TRY(scrub_blob(blob, has_row ? row->second.size_bytes : blob.size_bytes));
            }
            if (has_row) rows.erase(row);
        }
        for (const auto& [sha256, row] : rows) {
            // Checked again: an upload may have stored the blob after they were listed.
            if (!row.referenced) continue;
            WHEELYARD_ASSIGN(const auto there, place_.blobs.find(sha256));
            if (!there) WHEELYARD_TRY(report_missing(sha256));
        }
        after_ = std::string(two_digits) + std::string(62, 'f');
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

    base::Status scrub_blob(const blobs::StoredBlob& blob, std::uint64_t size_in_catalog) {
        auto found = hash_from_medium(blob.sha256);
        if (!found && found.error().os_error == ENOENT) return {};  // collected in the meantime
        // An upload that repairs it may make it shorter while it is read.
        if (!found && !is_damage(found.error())) {
            // If the store does not say, nothing is known, neither that the blob is damaged nor that it is good.
            WHEELYARD_ASSIGN(const bool changed, place_.blobs.has_changed(blob));
            if (!changed) return base::fail(std::move(found.error()));
        }
        ++report_.blobs;
        report_.bytes += blob.size_bytes;
        if (!found || *found != blob.sha256) {
            WHEELYARD_TRY(isolate(blob));
        } else if (blob.size_bytes != size_in_catalog) {
            note({"catalog",
                  blob.sha256 + " has " + std::to_string(blob.size_bytes) + " bytes, not " +
                      std::to_string(size_in_catalog),
                  {}});
        }
        after_ = blob.sha256;
        if (report_.bytes - noted_bytes_ >= verify_note_bytes) WHEELYARD_TRY(write_state());
        return {};
    }

    // A blob that the disk cannot read is damaged, too, and so is what a repair of the file system left in its place. One
    // such blob must not end the run: those behind it would never be read.
    static bool is_damage(const base::Error& error) {
        constexpr std::array of_the_disk = {EIO, EUCLEAN, EBADMSG};
        const bool is_unreadable =
            std::find(of_the_disk.begin(), of_the_disk.end(), error.os_error) != of_the_disk.end();
        return is_unreadable || error.kind == base::ErrorKind::malformed;
    }

    base::Result<std::string> hash_from_medium(const std::string& sha256) {
        WHEELYARD_ASSIGN(const auto reader, place_.blobs.open(sha256, blobs::ReadFrom::medium));
        base::Digest digest(base::DigestKind::sha256);
        WHEELYARD_TRY(
            base::for_each_piece(*reader, verify_step_bytes, [&](std::string_view piece) -> base::Status {
                if (hooks_.stops && hooks_.stops())
                    return base::fail("verify.stopped", "The run was stopped; another one continues it");
                digest.update(piece);
                keep_pace(piece.size());
                return {};
            }));
        return base::encode_hex(digest.finish());
    }

    void keep_pace(std::size_t bytes) {
        read_ += bytes;
        if (settings_.bytes_per_second > 0) {
            const double due_ms =
                static_cast<double>(read_) * 1000 / static_cast<double>(settings_.bytes_per_second);
            const double elapsed_ms = static_cast<double>(clock_.now() - started_) / 1000;
            if (due_ms > elapsed_ms + 1) clock_.sleep_ms(static_cast<std::int64_t>(due_ms - elapsed_ms));
        }
        if (!hooks_.progress) return;
        const std::string two = after_.substr(0, 2);
        const std::string raw = two.empty() ? std::string("\0", 1) : base::decode_hex(two).value_or("\0");
        hooks_.progress({report_.blobs, report_.bytes + bytes,
                         static_cast<double>(static_cast<unsigned char>(raw.front())) / 256});
    }

    // Unless an upload stores the same bytes meanwhile: it compares them with the disk's, and repairs those.
    base::Status isolate(const blobs::StoredBlob& blob) {
        WHEELYARD_ASSIGN(const bool is_other, place_.blobs.has_changed(blob));
        if (is_other) return {};
        Fault fault{"damaged", blob.sha256, {}};
        std::vector<catalog::FileName> quarantined;  // by this run
        const std::string reason = "verify: the stored bytes of " + blob.sha256 + " are damaged";
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const auto files, catalog.files_of_blob(blob.sha256));
            for (const auto& file : files) {
                fault.files.push_back({file.index, file.filename});
                WHEELYARD_ASSIGN(const auto changed,
                                 catalog.set_file_state(fault.files.back(), catalog::FileState::quarantined,
                                                        {"verify", reason, clock_.now()}));
                if (changed.outcome == catalog::ChangeOutcome::changed)
                    quarantined.push_back(fault.files.back());
            }
            return {};
        }));
        // Hidden before the blob is moved: the tree's file is a hard link to it.
        if (!fault.files.empty()) WHEELYARD_TRY(hooks_.hide(fault.files));
        WHEELYARD_ASSIGN(const bool is_isolated, place_.blobs.isolate_damaged(blob));
        if (!is_isolated && place_.blobs.is_intact(blob.sha256)) return release(blob.sha256, quarantined);
        note(std::move(fault));
        return {};
    }

    base::Status release(const std::string& sha256, const std::vector<catalog::FileName>& files) {
        const std::string reason = "verify: an upload has repaired " + sha256;
        return place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            for (const auto& file : files)
                WHEELYARD_TRY(catalog.set_file_state(file, catalog::FileState::active,
                                                     {"verify", reason, clock_.now()}));
            return {};
        });
    }

    base::Status report_missing(const std::string& sha256) {
        Fault fault{"missing", sha256, {}};
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(const auto files, catalog.files_of_blob(sha256));
            for (const auto& file : files)
                fault.files.push_back({file.index, file.filename});
            return {};
        }));
        if (fault.files.empty()) return {};  // deleted and collected in the meantime
        note(std::move(fault));
        return {};
    }

    base::Status read_state() {
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
                                                    {"bytes", report_.bytes}})
                                          .render() +
                                      "\n",
                                  0600);
    }

    const LifecycleParts& place_;
    base::Clock& clock_;
    const VerifySettings& settings_;
    const VerifyHooks& hooks_;
    const base::UnixMicros started_;
    std::string after_;  // everything up to this hash is done
    std::uint64_t noted_bytes_ = 0;
    std::uint64_t read_ = 0;
    VerifyReport report_;
};

}  // namespace

base::Result<VerifyReport> verify(const LifecycleParts& place, base::Clock& clock,
                                  const VerifySettings& settings, const VerifyHooks& hooks) {
    return Scrub(place, clock, settings, hooks).run();
}

}  // namespace wheelyard::lifecycle
