#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh VERSION [--no-ci]: makes a release in build/release: the Debian package, an archive, the static
# program, a wheel, the sources, and their checksums. Tags the commit; pushes nothing.
# Run it on a clean checkout whose CMakeLists.txt and CHANGELOG.md say VERSION; --no-ci where .ci/run has passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/install.sh

version=${1:?release.sh VERSION [--no-ci]}
refuse() {
  echo "release.sh: $1" >&2
  exit 1
}
[[ -z $(git status --porcelain) ]] || refuse 'the tree has changes that are not committed'
grep -q "^project(stepcast VERSION $version " CMakeLists.txt || refuse "CMakeLists.txt does not say VERSION $version"
grep -q "^## $version, [0-9]" CHANGELOG.md || refuse "CHANGELOG.md has no '## $version, DATE'"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || refuse "there is a tag v$version"

[[ ${2:-} == --no-ci ]] || .ci/run
install_packages "${build_packages[@]}" "${python_packages[@]}" dpkg-dev file
build_preset release build all stepcast_static
tests/packages.sh build

out=build/release
rm -rf "$out" && mkdir -p "$out"
(cd build && cpack -G 'DEB;TGZ' -B release >/dev/null && rm -rf release/_CPack_Packages)
cp build/static/stepcast "$out/stepcast-$version-$(uname -m)-static"
strip "$out/stepcast-$version-$(uname -m)-static"
python3 - "$out" <<'END'
import sys
sys.path.insert(0, "python")
import build_backend
build_backend.build_wheel(sys.argv[1], {"build-dir": "build"})
build_backend.build_sdist(sys.argv[1])
END
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
git tag -a "v$version" -m "stepcast $version"
echo "tagged v$version; publish build/release, then: git push origin v$version"
