// Governed builds as JSON and as text.
#include "lib/wire/governed_build.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/record.hpp"

namespace wheelyard::wire {
namespace {

using io::field;
using io::Json;

constexpr std::string_view summary_format = "wheelyard.governor-summary/1";
constexpr double max_number = 1e18;  // fits an integer of 64 bits

// At most `max_governor_text` bytes, cut between UTF-8 characters.
std::string shorten(std::string text) {
    text.resize(base::cut_utf8(text, max_governor_text).size());
    return text;
}

// The codecs of these members: numbers have a fraction or none, and invalid ones are 0; texts and lists are
// cut.
struct Number : io::Plain<double> {
    static bool from(const Json& json, double& into) {
        if (!io::Plain<double>::from(json, into)) return false;
        into = into > 0 ? std::min(into, max_number) : 0;
        return true;
    }
};
struct Count : io::Plain<std::uint64_t> {
    static bool from(const Json& json, std::uint64_t& into) {
        double value = 0;
        const bool is_read = Number::from(json, value);
        into = static_cast<std::uint64_t>(value);
        return is_read;
    }
};
struct Text : io::Plain<std::string> {
    static bool from(const Json& json, std::string& into) {
        const bool is_read = io::Plain<std::string>::from(json, into);
        into = shorten(std::move(into));
        return is_read;
    }
};
template <typename Codec, std::size_t max_items>
struct First : Codec {
    template <typename List>
    static bool from(const Json& json, List& into, io::Fault& fault) {
        const Json::Array& items = json.items();
        const auto count = static_cast<std::ptrdiff_t>(std::min(items.size(), max_items));
        return io::read_value<Codec>(Json(Json::Array(items.begin(), items.begin() + count)), into, fault);
    }
};

constexpr auto worst_record = io::record<WorstCompile>({
    field<Text, &WorstCompile::source>("source", "its source file"),
    field<Count, &WorstCompile::peak_bytes>("peak_bytes", "its peak memory"),
    field<Number, &WorstCompile::seconds>("seconds", "how long it ran"),
});

using B = GovernedBuild;
constexpr auto governed_record = io::record<B>({
    field<Count, &B::compiles>("compiles", "how many ran"),
    field<Count, &B::killed>("killed", "killed by the governor for memory, then run again"),
    field<Count, &B::oom_kills>("oom_kills", "killed by the kernel, then run again"),
    field<Count, &B::could_not_fit>("could_not_fit", "failed for lack of memory alone"),
    field<Number, &B::wall_seconds>("wall_s", "time of the build"),
    field<Count, &B::high_water_bytes>("high_water_bytes", "peak memory of all compiles together"),
    field<Count, &B::limit_bytes>("limit_bytes", "the limit of memory"),
    field<Text, &B::limit>("limit", "the source of the limit"),
    field<First<io::ListOf<io::Nested<worst_record>>, max_worst_compiles>, &B::worst>(
        "worst", "the compiles that needed most"),
    field<First<io::ListOf<Text>, max_governor_messages>, &B::messages>("messages", "for people"),
});

}  // namespace

Json render_governed_build(const GovernedBuild& build) {
    return governed_record.write(build);
}

GovernedBuild parse_governed_build(const Json& json) {
    GovernedBuild build;
    io::Fault fault;
    (void)governed_record.read(json, build, fault);  // every member is optional
    return build;
}

base::Result<GovernedBuild> parse_governor_summary(std::string_view text) {
    WHEELYARD_ASSIGN(const auto json, io::parse_json(text));
    const std::string found = json.string_or("format", "");
    if (found != summary_format) {
        return base::fail("governor.format",
                          "The governor's summary does not have the format " + std::string(summary_format),
                          found);
    }
    return parse_governed_build(json);
}

std::string describe(const GovernedBuild& build) {
    std::string text = std::to_string(build.compiles) + (build.compiles == 1 ? " compile" : " compiles") +
                       ", at most " + base::render_bytes(build.high_water_bytes) + " of " +
                       base::render_bytes(build.limit_bytes);
    if (!build.limit.empty()) text += " (" + build.limit + ")";
    if (build.retries() > 0) text += ", " + std::to_string(build.retries()) + " run again";
    if (build.could_not_fit > 0) text += ", " + std::to_string(build.could_not_fit) + " could not fit";
    return text;
}

}  // namespace wheelyard::wire
