// SPDX-License-Identifier: Apache-2.0
// stepcast open: the page of whatever a file asks, in a browser.
#include "app/open.hpp"

#include <fstream>
#include <sstream>

#include "app/sweep.hpp"
#include "report/document.hpp"
#include "scenarios/documents/file.hpp"
#include "scenarios/documents/yaml.hpp"
#include "scenarios/file_kind.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

enum class Asks { step, plans, sweep, purchase };

// Returns what a file asks for, judged by its keys; a job of a framework asks for a step.
Asks asks_of(const std::string& file) {
  scenarios::Value read;
  try {
    read = scenarios::parse_yaml(scenarios::read_file(file), file);
  } catch (const scenarios::Error&) {
    return Asks::step;  // whose reader says what is wrong
  }
  const auto kind = scenarios::file_kind_of(read);
  if (kind == scenarios::FileKind::sweep) return Asks::sweep;
  if (kind == scenarios::FileKind::purchase) return Asks::purchase;
  return read.find("search") != nullptr ? Asks::plans : Asks::step;
}

// Whether the page of an earlier call lies there, or nothing does.
bool replaceable(const fs::path& page) {
  std::error_code wrong;
  if (!fs::exists(page, wrong)) return true;
  std::ifstream in(page, std::ios::binary);
  std::string begin(std::size_t{1} << 13, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find("<title>stepcast</title>") != begin.npos;
}

std::string page_for(const std::string& file) {
  const auto page = fs::path(file).stem().string() + ".html";
  if (!replaceable(page))
    throw Mistake("'" + page +
                  "' is here already and no page of stepcast; name another with "
                  "--report FILE.html");
  return page;
}

int written(const OpenRequest& request, const Common& common, Streams streams) {
  const auto asks = asks_of(request.file);
  if (asks == Asks::sweep || asks == Asks::purchase) refuse_env(common, request.file, false);
  switch (asks) {
    case Asks::step:
      return simulate({.file = request.file}, common, streams);
    case Asks::plans:
      return search({.file = request.file}, common, streams);
    case Asks::sweep:
      return sweep({.file = request.file}, common, streams);
    case Asks::purchase:
      return purchase(request.file, common, streams);
  }
  return own_fault;
}

std::string told(const fs::path& page, const std::string& browser, const OpenRequest& request) {
  auto text = "page: " + page.string() + '\n';
  if (!browser.empty()) return text + "opened with " + browser + '\n';
  if (request.only_write) return text;
  return text + "no browser to open it with: open the file by hand, or set BROWSER\n";
}

}  // namespace

int open_page(const OpenRequest& request, const Common& common, Streams streams) {
  auto inner = common;
  inner.json = false;
  inner.output.clear();
  if (inner.report.empty()) inner.report = page_for(request.file);
  std::ostringstream answer;  // which the page shows
  const auto status =
      written(request, inner, {answer, streams.err, false, streams.err_terminal, 0});
  std::error_code wrong;
  const bool there = fs::exists(inner.report, wrong);
  if (status == wrong_input || status == own_fault || !there) return status;
  const auto page = fs::absolute(inner.report);
  const auto browser = request.only_write ? std::string() : open_in_browser(page);
  deliver(common.json
              ? report::dump(report::Object()
                                 .put("page", page.string())
                                 .put("browser", browser.empty() ? report::Document(nullptr)
                                                                 : report::Document(browser))
                                 .take())
              : told(page, browser, request),
          common, streams);
  return status;
}

}  // namespace app
