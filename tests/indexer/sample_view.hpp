// A project whose files cover everything that a page can contain: local versions, an epoch, a yank,
// Requires-Python, several platforms.
#pragma once

#include <string>

#include "indexer/pages/project_view.hpp"

namespace wheelyard::indexer {

inline catalog::FileRow sample_row(const std::string& version, const std::string& filename, char digit) {
    catalog::FileRow row;
    row.index = "main";
    row.project = "sample";
    row.version = version;
    row.filename = filename;
    row.sha256 = std::string(64, digit);
    row.size_bytes = 11'053;
    row.metadata_sha256 = std::string(64, digit);
    row.metadata_sha256.back() = 'f';
    row.metadata_size_bytes = 200;
    row.upload_time = 1'795'176'000'123'456;  // 2026-11-20T12:00:00.123456Z
    return row;
}

inline ProjectView sample_view() {
    auto old = sample_row("1.9.0", "sample-1.9.0-py2.py3-none-any.whl", 'a');
    old.requires_python = ">=2.7, !=3.0.*";
    auto yanked = sample_row("1.10.0", "sample-1.10.0-cp312-cp312-linux_aarch64.whl", 'b');
    yanked.yanked = true;
    yanked.yanked_reason = "wrong <results> & \"worse\" on sm_90";
    auto local = sample_row("1.10.0+cu126", "sample-1.10.0+cu126-1-cp312-cp312-linux_aarch64.whl", 'c');
    auto local_other = sample_row("1.10.0+cu126", "sample-1.10.0+cu126-1-cp311-cp311-linux_aarch64.whl", 'd');
    auto epoch = sample_row("1!0.1", "sample-1!0.1-py3-none-any.whl", 'e');
    return make_project_view("sample", {epoch, local, yanked, old, local_other});
}

}  // namespace wheelyard::indexer
