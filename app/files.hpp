// SPDX-License-Identifier: Apache-2.0
// The files that a command writes. What is nobody's to replace stays.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>

namespace app {

// Writes a plain file whole or not at all: beside it, under a name of nobody else's, and then in
// its place. A link stays, and what it leads to is written. The mode stays, and the owner where
// that is allowed; a new file has the mode that the umask leaves. Of several hard links the others
// keep what they had. Into a device, a pipe or an open stream (/dev/stdout) it writes, and replaces
// nothing. Throws Mistake, and whatever `write` throws.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace app
