// SPDX-License-Identifier: Apache-2.0
// A page in a browser.
#pragma once
#include <filesystem>
#include <string>

#include "app/command.hpp"

namespace app {

struct OpenRequest {
  std::string file;
  bool only_write = false;  // open no browser
};

// Writes the page of a scenario (searched, where it says `search:`), a sweep or a purchase to
// --report, or to NAME.html in this folder, and opens it in a browser where there is one. Says
// where it lies.
int open_page(const OpenRequest& request, const Common& common, Streams streams);

// Opens a file in the browser of $BROWSER (commands, a colon between them, with "%s" for the
// address or without), of xdg-open where there is a screen, or of open on macOS. Returns the
// command; empty: there is none. Does not wait for it.
std::string open_in_browser(const std::filesystem::path& file);

}  // namespace app
