// Why an index shows a project from where it does: the order of its sources and what each of them has. Sends
// no request.
//
//     {"format":"wheelyard.explain/1","index":"main","project":"six","supplied_by":"main.public","why":"…",
//      "steps":[{"index":"main","has":false,"owns":false},
//               {"upstream":"main.public","permitted":true,"page":"fresh","offered":34,"withheld":{"not_a_wheel":30}}]}
#pragma once

#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/record.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/config/config.hpp"
#include "registry/upstream/page_store.hpp"

namespace wheelyard::registry {

// Whom an explanation is for: only those who administer the index are told addresses and names of
// projects for which they did not ask.
enum class ExplainTo { everyone, administrators };

// `index` is configured; `project` is a valid name in any spelling ("explain.name" otherwise).
[[nodiscard]] base::Result<io::Json> explain_project(const RegistryConfig& config,
                                                     const catalog::Catalog& catalog, PageStore& pages,
                                                     const std::string& index, const std::string& project,
                                                     base::UnixMicros now, ExplainTo reader);

[[nodiscard]] io::Document explanation_document();

// The document as lines for people.
[[nodiscard]] std::string render_explanation(const io::Json& document);

}  // namespace wheelyard::registry
