// The tables of the documents of this folder, for those who describe them (lib/io/schema.hpp).
#pragma once

#include <span>

#include "lib/io/record.hpp"

namespace wheelyard::status {

[[nodiscard]] io::Document site_report_document();
[[nodiscard]] io::Document index_status_document();
// Of a build, as its site reports it.
[[nodiscard]] std::span<const io::Member> build_members();

}  // namespace wheelyard::status
