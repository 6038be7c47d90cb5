#include "lib/inspect/dist_info/metadata_alone.hpp"

#include <algorithm>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/zip/member_stream.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::inspect {

base::Result<std::string> read_metadata_alone(const std::filesystem::path& wheel) {
    const auto none = [&] {
        return base::fail("metadata.none", "The file has no readable METADATA", wheel.filename().native());
    };
    WHEELYARD_ASSIGN(const auto bytes, base::FileReader::open(wheel));
    const Policy policy;
    Findings findings(policy);
    WHEELYARD_ASSIGN(const auto frame, read_frame(bytes, findings));
    if (!frame) return none();
    const auto found = std::find_if(frame->members.begin(), frame->members.end(), [](const Member& member) {
        constexpr std::string_view ending = ".dist-info/METADATA";
        return member.readable && member.name.ends_with(ending) &&
               member.name.find('/') == member.name.size() - std::string_view("/METADATA").size();
    });
    if (found == frame->members.end()) return none();
    return read_member(bytes, *found, wheel::max_metadata_bytes);
}

}  // namespace wheelyard::inspect
