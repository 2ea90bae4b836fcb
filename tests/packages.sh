#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh BUILD: what is built installs, packs, and answers README's question away from the checkout.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scenario=$PWD/scenarios/examples/gpt3-175b-1024-a100.yaml
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$build/stepcast" simulate "$scenario" --json --quiet | grep -v wall_s >"$place/expected.json"

# answers PROGRAM...: it forecasts what the build forecasts.
answers() {
  (cd "$place" && "$@" simulate "$scenario" --json --quiet) | grep -v wall_s | cmp - "$place/expected.json"
}

cmake --install "$build" --prefix "$place/installed" >/dev/null
answers "$place/installed/bin/stepcast"
(cd "$place" && installed/bin/stepcast validate korthikanti2022_table5 --quiet >/dev/null)
for file in man/man1/stepcast.1 bash-completion/completions/stepcast zsh/vendor-completions/_stepcast \
  fish/vendor_completions.d/stepcast.fish doc/stepcast/CHANGELOG.md; do
  test -s "$place/installed/share/$file"
done

(cd "$build" && cpack -G DEB -B "$place" >/dev/null)
dpkg -x "$place"/stepcast_*.deb "$place/root"
answers "$place/root/usr/bin/stepcast"
if ((EUID == 0)); then
  apt-get install -y -qq --no-install-recommends "$place"/stepcast_*.deb >/dev/null
  answers /usr/bin/stepcast
  apt-get remove -y -qq stepcast >/dev/null
fi

cmake --build "$build" --target stepcast_static >/dev/null 2>&1
mkdir "$place/empty"
cp "$build/static/stepcast" "$scenario" "$place/empty"
if ((EUID == 0)); then
  chroot "$place/empty" /stepcast simulate "$(basename "$scenario")" --json --quiet | grep -v wall_s |
    cmp - "$place/expected.json"
fi
answers "$place/empty/stepcast"
echo 'packages: all answer'
