// The files of a project's two pages, each rendered once: when one of thousands changes, the text of the
// others is used again. A page is always made of such rows, so it does not depend on how they came together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/pages/project_view.hpp"

namespace wheelyard::indexer {

class ProjectRows {
  public:
    // The files of the view, in its order; replaces all rows.
    void render(const ProjectView& view);
    // Puts the file in its place, instead of one of this name. Of `view`, as in every other call, only what
    // concerns all files is read.
    void put(const catalog::FileRow& row, const ProjectView& view);
    void remove(std::string_view filename);

    void append_html(std::string& html, const ProjectView& view) const;
    void append_json(std::string& json, const ProjectView& view) const;

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] std::size_t memory_bytes() const;

  private:
    struct Row {
        std::string version;
        std::string filename;
        std::size_t html_bytes = 0;
        std::size_t json_bytes = 0;
        bool has_size = true;
        [[nodiscard]] ListedFile listed() const { return {version, filename}; }
    };
    using Rows = std::vector<Row>;
    struct Offsets {
        std::size_t html = 0;
        std::size_t json = 0;
    };
    [[nodiscard]] Offsets offsets_of(Rows::const_iterator row) const;

    Rows rows_;
    std::string html_;  // of all rows, one after another
    std::string json_;
};

}  // namespace wheelyard::indexer
