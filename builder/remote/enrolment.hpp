// The token of an agent that enrolled (docs/how-to/enrol-an-agent.md): a one-use code gives the first one,
// and a renewal, which lies beside the token file, each further one. Both files have mode 0600; who reads the
// token file needs to know nothing of it.
//
//     TOKEN_FILE.renewal      {"format":"wheelyard.renewal/1","renewal":"wy_…","next":"wy_…","renew_at":"2026-…","code":"wy_…"}
//     TOKEN_FILE.enrolling    the same, while the registry has not answered to a code
//
// The agent makes the next renewal itself, and writes it before it sends it: after a crash it sends the same
// again, which the registry takes for what it is. A lock lets one process of several login nodes renew.
#pragma once

#include <filesystem>
#include <string>

#include "builder/attempt/failpoints.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

struct EnrolmentParts {
    io::HttpClient& http;
    const base::Clock& clock;
    const RegistrySettings& registry;
    const std::string& site;  // its name
    const Failpoints& failpoints;
};

// The file that lies beside a token file.
[[nodiscard]] std::filesystem::path renewal_file(const std::filesystem::path& token_file);

// Exchanges a code. Returns what to tell the user: who, which rights, until when. A code of which the answer
// was lost may be given again. Errors: those of the registry, "agent.*"; "enrol.code", "enrol.address",
// "enrol.answer", "lock.*"; "http.*", "os.*".
[[nodiscard]] base::Result<std::string> enrol(const EnrolmentParts& parts, const std::string& code);

// Renews the token once half its life has passed; does nothing for an agent that has not enrolled, or while
// another process renews. Errors: as enrol(). The token that is there stays.
[[nodiscard]] base::Status renew_token(const EnrolmentParts& parts);

}  // namespace wheelyard::builder
