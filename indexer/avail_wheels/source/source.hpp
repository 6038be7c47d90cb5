// Sources of wheels: the wheel list of an index, its pages, or a wheelhouse (a folder of wheels, optionally
// with a subfolder per architecture).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/client.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::avail_wheels {

// The wheels of the wanted projects ("*": all). Fetches only the pages of those projects, and the root page
// only for globs. Ignores files that are not wheels or have invalid names.
[[nodiscard]] base::Result<std::vector<Candidate>> read_index(const simple::GetPage& get,
                                                              const std::string& index_url,
                                                              const std::vector<Wanted>& wanted);

// The wheels on the page of a project; none if the index has no such project.
[[nodiscard]] base::Result<std::vector<Candidate>> read_project(const simple::GetPage& get,
                                                                const std::string& index_url,
                                                                const Wanted& project);

// Every wheel below `folder`. Wheels in a subfolder named after an architecture (the Alliance's layout:
// generic/, avx2/, x86-64-v3/) get that `arch`.
[[nodiscard]] base::Result<std::vector<Candidate>> read_wheelhouse(const std::filesystem::path& folder,
                                                                   const std::vector<Wanted>& wanted);

// The wheels directly in each of `folders` (the Alliance's find-links); `arch` is the name of the folder.
[[nodiscard]] base::Result<std::vector<Candidate>> read_find_links(
    const std::vector<std::filesystem::path>& folders, const std::vector<Wanted>& wanted);

// The wheels of a wheel list that `query` lists; a few may be dropped later by choose(), because each project
// is read only until its newest version is known. URLs start with `simple_url` (…/simple/). Facts, URL, size
// and hash are set only with `with_facts`.
[[nodiscard]] base::Result<std::vector<Candidate>> read_wheel_list(const simple::WheelList& wheel_list,
                                                                   const Query& query,
                                                                   const std::string& simple_url,
                                                                   bool with_facts);
// The projects of a wheel list whose names start with `start` (normalised), for completion.
[[nodiscard]] base::Result<std::vector<std::string>> projects_of_wheel_list(
    const simple::WheelList& wheel_list, std::string_view start);

// Valid values of -a, which are also the names of architecture folders.
[[nodiscard]] const std::vector<std::string>& known_archs();

// Error "index.absent": the URL answers 404, or it is the front page of a registry or of one of its indexes.
// The advice names the indexes that the registry there has. Any other answer is taken for an index.
[[nodiscard]] base::Status check_index(const simple::GetPage& get, const std::string& index_url);

// The time that one answer may take, however it trickles in.
inline constexpr int max_answer_s = 900;
// Errors "http.library" (no curl on PATH) and "http.connect".
[[nodiscard]] base::Result<io::HttpAnswer> get_by_curl_program(const std::string& url,
                                                               const io::HttpHeaders& headers,
                                                               const io::BodyLimit& limit);
// Sends a small body; follows no redirect.
[[nodiscard]] base::Result<io::HttpAnswer> post_by_curl_program(const std::string& url,
                                                                const std::string& body,
                                                                const io::HttpHeaders& headers);

}  // namespace wheelyard::avail_wheels
