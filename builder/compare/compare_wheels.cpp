#include "builder/compare/compare_wheels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "builder/compare/explain_bytes.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t archive_piece_bytes = 1 * base::mib;  // of two wheels, read at once

namespace fs = std::filesystem;
using inspect::Frame;
using inspect::Member;
using inspect::MemberStream;

base::Result<Frame> read_wheel(const base::Reader& bytes, std::string_view which) {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    WHEELYARD_ASSIGN(auto frame, inspect::read_frame(bytes, findings));
    const std::string sentence = "The " + std::string(which) + " wheel cannot be read";
    if (!frame) {
        const auto verdicts = findings.take();
        return base::fail("compare.unreadable", sentence, verdicts.empty() ? "" : verdicts.front().text());
    }
    const auto unreadable = std::find_if(frame->members.begin(), frame->members.end(),
                                         [](const Member& member) { return !member.readable; });
    if (unreadable == frame->members.end()) return std::move(*frame);
    return base::fail("compare.unreadable",
                      sentence + ": a member is encrypted, or packed by an unknown method", unreadable->name);
}

// Both streams at once, so that neither member has to fit into memory.
base::Result<bool> has_same_contents(const base::Reader& a_bytes, const Member& a,
                                     const base::Reader& b_bytes, const Member& b) {
    if (a.crc32 != b.crc32 || a.unpacked_bytes != b.unpacked_bytes) return false;
    MemberStream a_stream(a_bytes, a);
    MemberStream b_stream(b_bytes, b);
    std::string_view a_piece;
    std::string_view b_piece;
    while (true) {
        if (a_piece.empty()) {
            WHEELYARD_ASSIGN(a_piece, a_stream.next());
        }
        if (b_piece.empty()) {
            WHEELYARD_ASSIGN(b_piece, b_stream.next());
        }
        if (a_piece.empty() || b_piece.empty()) return a_piece.empty() && b_piece.empty();
        const std::size_t length = std::min(a_piece.size(), b_piece.size());
        if (a_piece.substr(0, length) != b_piece.substr(0, length)) return false;
        a_piece.remove_prefix(length);
        b_piece.remove_prefix(length);
    }
}

base::Result<base::FileReader> unpack(const base::Reader& bytes, const Member& member, const fs::path& file) {
    WHEELYARD_TRY(base::remove_file(file));
    WHEELYARD_ASSIGN(auto opened, base::create_new(file, 0600));
    MemberStream stream(bytes, member);
    while (true) {
        WHEELYARD_ASSIGN(const auto piece, stream.next());
        if (piece.empty()) break;
        WHEELYARD_TRY(base::write_all(opened.get(), piece));
    }
    WHEELYARD_TRY(base::close_file(std::move(opened), file.native()));
    return base::FileReader::open(file);
}

bool is_record(std::string_view name) {
    return name.ends_with(".dist-info/RECORD");
}

// The header of a .pyc file has the time of its source (PEP 552).
bool differs_by_source_time(std::string_view name, std::string_view a, std::string_view b) {
    constexpr std::size_t time_at = 8;
    constexpr std::size_t code_at = 16;
    return name.ends_with(".pyc") && a.size() > code_at && b.size() > code_at &&
           a.substr(0, time_at) == b.substr(0, time_at) && a.substr(code_at) == b.substr(code_at);
}

class WheelComparer {
  public:
    explicit WheelComparer(const WheelPair& pair) : pair_(pair) {}

    base::Result<Comparison> compare() {
        WHEELYARD_ASSIGN(recorded_, read_wheel(pair_.recorded, "recorded"));
        WHEELYARD_ASSIGN(again_, read_wheel(pair_.again, "rebuilt"));
        for (const Member& member : again_.members)
            others_.emplace(member.name, &member);
        for (const Member& member : recorded_.members) {
            WHEELYARD_TRY(base::renew_or_abort(pair_.keep_alive));
            WHEELYARD_TRY(compare_member(member));
        }
        for (const auto& [name, member] : others_)
            add(name, {Cause::members, "", "no such member", "a member"});
        compare_order();
        WHEELYARD_TRY(judge_record());
        if (result_.causes.empty()) {
            WHEELYARD_TRY(compare_archives());
        }
        return std::move(result_);
    }

  private:
    void add(const std::string& member, const Evidence& evidence) { result_.add(member, evidence); }

    base::Status compare_member(const Member& recorded) {
        const auto found = others_.find(recorded.name);
        if (found == others_.end()) {
            add(recorded.name, {Cause::members, "", "a member", "no such member"});
            return {};
        }
        const Member& again = *found->second;
        others_.erase(found);
        common_.push_back(recorded.name);
        WHEELYARD_ASSIGN(const bool same, has_same_contents(pair_.recorded, recorded, pair_.again, again));
        ++(same ? result_.same_members : result_.differing_members);
        if (recorded.time_and_date != again.time_and_date)
            add(recorded.name, {Cause::member_time, "", "", ""});
        if (recorded.may_run != again.may_run) {
            const auto text = [](const Member& one) { return one.may_run ? "executable" : "not executable"; };
            add(recorded.name, {Cause::member_mode, "", text(recorded), text(again)});
        }
        const bool same_packing =
            recorded.method == again.method && recorded.packed_bytes == again.packed_bytes;
        if (same && !same_packing) {
            add(recorded.name, {Cause::packing, "", std::to_string(recorded.packed_bytes) + " bytes",
                                std::to_string(again.packed_bytes) + " bytes"});
        }
        if (same) return {};
        if (is_record(recorded.name)) {
            differing_record_ = {&recorded, &again};
            return {};
        }
        return explain(recorded, again);
    }

    base::Status explain(const Member& recorded, const Member& again) {
        WHEELYARD_ASSIGN(const bool is_explained, explain_as_elf(recorded, again));
        if (is_explained) return {};
        if (std::max(recorded.unpacked_bytes, again.unpacked_bytes) > max_explained_bytes) {
            add(recorded.name, {Cause::bytes, "too large to explain", "", ""});
            return {};
        }
        WHEELYARD_ASSIGN(const auto a, inspect::read_member(pair_.recorded, recorded, max_explained_bytes));
        WHEELYARD_ASSIGN(const auto b, inspect::read_member(pair_.again, again, max_explained_bytes));
        if (differs_by_source_time(recorded.name, a, b)) {
            add(recorded.name, {Cause::build_time, "the time of its source", "", ""});
            return {};
        }
        for (const Evidence& one : explain_bytes(a, b, pair_.names))
            add(recorded.name, one);
        return {};
    }

    // False: not a readable ELF file.
    base::Result<bool> explain_as_elf(const Member& recorded, const Member& again) {
        for (const auto& [bytes, member] :
             {std::pair{&pair_.recorded, &recorded}, std::pair{&pair_.again, &again}}) {
            MemberStream stream(*bytes, *member);
            WHEELYARD_ASSIGN(const auto piece, stream.next());
            if (!piece.starts_with(inspect::elf_magic)) return false;
        }
        WHEELYARD_ASSIGN(const auto a, unpack(pair_.recorded, recorded, pair_.scratch / "recorded.so"));
        WHEELYARD_ASSIGN(const auto b, unpack(pair_.again, again, pair_.scratch / "again.so"));
        const auto found = explain_elf(a, b, pair_.names);
        if (!found && found.error().kind == base::ErrorKind::malformed) return false;
        WHEELYARD_TRY(found);
        for (const Evidence& one : *found)
            add(recorded.name, one);
        return true;
    }

    void compare_order() {
        const std::set<std::string_view> common(common_.begin(), common_.end());
        std::vector<std::string> order;
        for (const Member& member : again_.members) {
            if (common.contains(member.name)) order.push_back(member.name);
        }
        const auto [a, b] = std::mismatch(common_.begin(), common_.end(), order.begin(), order.end());
        if (a != common_.end() && b != order.end()) add("", {Cause::member_order, "", *a, *b});
    }

    // RECORD follows from the other members and from their order.
    base::Status judge_record() {
        if (differing_record_.first == nullptr) return {};
        const bool has_other_order =
            std::any_of(result_.causes.begin(), result_.causes.end(),
                        [](const FoundCause& one) { return one.cause == Cause::member_order; });
        const bool follows = result_.differing_members > 1 || !others_.empty() || has_other_order ||
                             common_.size() < recorded_.members.size();
        if (!follows) return explain(*differing_record_.first, *differing_record_.second);
        add(differing_record_.first->name, {Cause::record, "", "", ""});
        return {};
    }

    // All members are equal.
    base::Status compare_archives() {
        bool same = pair_.recorded.size() == pair_.again.size();
        std::string other;
        std::uint64_t at = 0;
        const auto compare = [&](std::string_view piece) -> base::Status {
            if (!same) return {};
            other.resize(piece.size());
            WHEELYARD_TRY(pair_.again.read_at(at, other.data(), other.size()));
            same = piece == other;
            at += piece.size();
            return {};
        };
        WHEELYARD_TRY(base::for_each_piece(pair_.recorded, archive_piece_bytes, compare));
        result_.identical = same;
        if (!same) add("", {Cause::packing, "the fields of the archive", "", ""});
        return {};
    }

    const WheelPair& pair_;
    Frame recorded_;
    Frame again_;
    std::map<std::string, const Member*> others_;  // of the second wheel, not met yet
    std::vector<std::string> common_;              // in the order of the recorded wheel
    std::pair<const Member*, const Member*> differing_record_ = {nullptr, nullptr};
    Comparison result_;
};

}  // namespace

void Comparison::add(const std::string& member, const Evidence& evidence) {
    auto at = std::lower_bound(causes.begin(), causes.end(), evidence.cause,
                               [](const FoundCause& one, Cause cause) { return one.cause < cause; });
    if (at == causes.end() || at->cause != evidence.cause) at = causes.insert(at, {evidence.cause, 0, {}});
    ++at->places;
    if (at->examples.size() < max_examples)
        at->examples.push_back({member, evidence.where, evidence.recorded, evidence.again});
}

base::Result<Comparison> compare_wheels(const WheelPair& pair) {
    return WheelComparer(pair).compare();
}

}  // namespace wheelyard::builder
