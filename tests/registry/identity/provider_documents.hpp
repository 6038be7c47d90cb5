// What a provider serves in a test: documents by address, which the test may change. Other addresses do not answer.
#pragma once

#include <map>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::test_support {

using ProviderDocuments = std::map<std::string, std::string>;

inline auto fetch_from(const ProviderDocuments& documents) {
    return [&documents](const std::string& url) -> base::Result<std::string> {
        if (const auto found = documents.find(url); found != documents.end()) return found->second;
        return base::fail_for_now("http.connect", "no connection", url);
    };
}

}  // namespace wheelyard::test_support
