// Who signed: what an authority of Sigstore has put into a certificate, and the publisher of PEP 740 that it
// is.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::sigstore {

struct Identity {
    std::string issuer;        // the provider of the token: "https://token.actions.githubusercontent.com"
    std::string subject;       // the certificate's only name: a workflow's URI, or an electronic address
    std::string build_signer;  // URI
    std::string repository;    // URI
    std::string digest;        // of the sources
    std::string ref;           // "refs/tags/v1.0"
    std::string build_config;  // URI of the workflow, with its ref or digest
    std::string trigger;       // the event that started the job: "push", "pull_request_target"
    std::string run;           // URI
    bool operator==(const Identity&) const = default;
    // A job that pull_request_claims lists: others may have written, or started, what it runs.
    [[nodiscard]] bool is_of_request() const;
    // Of build_config, with neither the repository nor the ref: ".github/workflows/release.yml". Empty: it is
    // not of the form REPOSITORY/FILE@REF or REPOSITORY/FILE@DIGEST (GitLab: REPOSITORY//FILE@…).
    [[nodiscard]] std::string workflow() const;
};

// The last number of 1.3.6.1.4.1.57264.1.N, whose values are UTF8Strings (Fulcio's list of OIDs).
struct Claim {
    int number;
    std::string Identity::*member;
};
inline constexpr std::array claims{
    Claim{8, &Identity::issuer},   Claim{9, &Identity::build_signer}, Claim{12, &Identity::repository},
    Claim{13, &Identity::digest},  Claim{14, &Identity::ref},         Claim{18, &Identity::build_config},
    Claim{20, &Identity::trigger}, Claim{21, &Identity::run},
};

// Jobs of requests to merge, and jobs that may follow one, by what their identity tokens claim; `*` ends a
// beginning. A certificate has the same values. docs/how-to/publish-from-ci.md lists the rows.
struct PullRequestClaim {
    std::string_view claim;
    std::string_view value;
    std::string Identity::*member;
    // In whatever case: what a provider spells otherwise one day is refused all the same.
    [[nodiscard]] bool fits(std::string_view found) const {
        if (!value.ends_with('*')) return base::equals_ignoring_case(found, value);
        const std::size_t size = value.size() - 1;
        return base::equals_ignoring_case(found.substr(0, size), value.substr(0, size));
    }
};
inline constexpr std::array pull_request_claims{
    PullRequestClaim{"event_name", "pull_request*", &Identity::trigger},
    PullRequestClaim{"event_name", "workflow_run",
                     &Identity::trigger},  // GitHub: with the default branch's ref
    PullRequestClaim{"event_name", "issue_comment", &Identity::trigger},  // the same
    PullRequestClaim{"pipeline_source", "merge_request_event", &Identity::trigger},
    PullRequestClaim{"pipeline_source", "external_pull_request_event", &Identity::trigger},
    // GitLab: also below the pipeline of a merge request.
    PullRequestClaim{"pipeline_source", "parent_pipeline", &Identity::trigger},
    PullRequestClaim{"ref", "refs/pull/*", &Identity::ref},
    PullRequestClaim{"ref", "refs/merge-requests/*", &Identity::ref},
    PullRequestClaim{"ref_path", "refs/pull/*", &Identity::ref},
    PullRequestClaim{"ref_path", "refs/merge-requests/*", &Identity::ref},
};

// The member `publisher` of PEP 740. Of a provider that PyPI does not know: its URI as `kind`, and the
// subject.
[[nodiscard]] io::Json publisher_of(const Identity& identity);
// What people name such a publisher by: "https://github.com/OWNER/REPO", "https://gitlab.com/GROUP/PROJECT", an
// electronic address (Google), the URI of a pipeline (CircleCI). Empty: of a provider that PyPI does not know,
// because a provider may say of any repository that it built it.
[[nodiscard]] std::string publisher_address(const Identity& identity);
// Says whether `name` is that address in whatever case, and the job none of is_of_request().
[[nodiscard]] bool is_publisher(const Identity& identity, std::string_view name);

}  // namespace wheelyard::sigstore
