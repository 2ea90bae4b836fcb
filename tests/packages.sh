#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh BUILD: checks that the build installs, packs, and answers README's question away from
# the checkout.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
scenario=$source/scenarios/examples/gpt3-175b-1024-a100.yaml
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$build/stepcast" simulate "$scenario" --json --quiet | grep -v wall_s >"$place/expected.json"

# answers PROGRAM...: checks that the program forecasts what the build forecasts.
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

for kind in scenario sweep purchase corrections; do
  test -s "$place/installed/share/stepcast/schema/$kind.json"
done
# The first line of an example leads to its schema.
for example in "$place"/installed/share/doc/stepcast/examples/{gpt3-175b-1024-a100,sweeps/gpt3-175b-a100}.yaml; do
  test -s "$(dirname "$example")/$(sed -n '1s/.*\$schema=//p' "$example")"
done

# The program of docs/c-interface.md compiles against the installed library.
sed -n '/^```c$/,/^```$/p' docs/c-interface.md | sed '1d;$d' >"$place/planner.c"
libraries=$(dirname "$(find "$place/installed" -name libstepcast.so)")
read -ra flags < <(PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config --cflags --libs stepcast)
cc -std=c11 -Wall -Wextra -Werror "$place/planner.c" -o "$place/planner" "${flags[@]}" -Wl,-rpath,"$libraries"
cp "$scenario" "$place/scenario.yaml"
(cd "$place" && ./planner >planner.txt)
"$build/stepcast" simulate "$scenario" --set plan.tensor=8 --json --quiet | grep -v wall_s >"$place/tensor8.json"
grep -v 'wall_s\|^$\| us$' "$place/planner.txt" | cmp - "$place/tensor8.json"
grep -q '^1048576 bytes [0-9.]* us$' "$place/planner.txt"

(cd "$build" && cpack -G DEB -B "$place" >/dev/null)
dpkg -x "$place"/stepcast_*.deb "$place/root"
answers "$place/root/usr/bin/stepcast"
# The package installs in a root that has nothing but apt, with the libraries that it asks for. What follows need
# not wait for that.
clean_root() {
  mmdebstrap --quiet --mode=root --variant=apt --skip=cleanup/apt \
    --customize-hook="mkdir \"\$1/package\" && cp $place/stepcast_*.deb $scenario \"\$1/package\"" \
    --customize-hook='chroot "$1" sh -c "apt-get install -y -qq --no-install-recommends /package/*.deb"' \
    bookworm "$place/clean" >"$place/clean.log" 2>&1
}
if ((EUID == 0)); then
  clean_root &
  clean=$!
fi

cmake --build "$build" --target stepcast_static >/dev/null 2>&1
mkdir "$place/empty"
cp "$build/static/stepcast" "$scenario" "$place/empty"
if ((EUID == 0)); then
  chroot "$place/empty" /stepcast simulate "$(basename "$scenario")" --json --quiet | grep -v wall_s |
    cmp - "$place/expected.json"
fi
answers "$place/empty/stepcast"

# The module of Python works in a fresh environment, away from the checkout, and so does the notebook, which prints
# the figures that it holds.
if [[ -d $build/python/stepcast ]]; then
  python=$(sed -n 's/^Python3_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
  "${python:-python3}" -m venv --system-site-packages "$place/venv"
  "$place/venv/bin/pip" install --quiet --no-index --config-settings build-dir="$build" .
  (cd "$place" && venv/bin/python -c "
import stepcast, sys
sys.stdout.write(stepcast.simulate('$scenario').to_json())
assert stepcast.__file__.startswith('$place'), stepcast.__file__
assert stepcast.validate('korthikanti2022_table5').rows > 0" | grep -v wall_s | cmp - expected.json)
  # Jupyter's kernel may be the distribution's Python, which does not know the environment.
  packages=$(echo "$place"/venv/lib/python3*/site-packages)
  (cd "$place" && PYTHONPATH=$packages venv/bin/python "$source/tools/run_notebook.py" \
    "$source/docs/notebooks/llama3-70b.ipynb" done.ipynb --compare 2>notebook.log) ||
    { cat "$place/notebook.log" >&2; exit 1; }
  (($(grep -c image/png "$place/done.ipynb") == 4))
  echo 'packages: the notebook runs'
fi

if ((EUID == 0)); then
  wait "$clean" || { cat "$place/clean.log" >&2; exit 1; }
  chroot "$place/clean" stepcast simulate "/package/$(basename "$scenario")" --json --quiet | grep -v wall_s |
    cmp - "$place/expected.json"
fi
echo 'packages: all answer'
