# SPDX-License-Identifier: Apache-2.0
"""Builds wheels of stepcast with CMake (PEP 517, PEP 660), from the standard library alone.

A build that is there already (build/CMakeCache.txt) is used; else build/pip is made, without tests.
pip's --config-settings: build-dir=FOLDER, cmake-args="-DNAME=VALUE …", jobs=N.
"""
import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "stepcast"
VERSION = re.search(r"project\(stepcast VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
DIST_INFO = f"{NAME}-{VERSION}.dist-info"
TAG = "cp{0}{1}-cp{0}{1}-{2}".format(*sys.version_info[:2],
                                     sysconfig.get_platform().replace("-", "_").replace(".", "_"))
METADATA = f"""\
Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Forecasts one training step of a large language model on a cluster
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: frames
Requires-Dist: pandas; extra == "frames"
Description-Content-Type: text/markdown

"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: stepcast\nRoot-Is-Purelib: false\nTag: {TAG}\n"
# The folders that `validate` reads beside the program, and where stepcast.validate looks for them.
DATA = {"scenarios/published": f"{NAME}/data/published", "scenarios/collectives": f"{NAME}/data/collectives"}


# The interpreter outside of virtual environments, which may be gone when the build is used again.
_PYTHON = getattr(sys, "_base_executable", None) or sys.executable


def _metadata():
    return METADATA + (ROOT / "README.md").read_text(encoding="utf-8")


def _run(*command):
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not there; on Debian and Ubuntu: sudo apt install cmake ninja-build g++ "
                 "pybind11-dev python3-dev, and what tools/install.sh lists as build_packages")


def _built(settings):
    """The folder of the package with its compiled module."""
    settings = settings or {}
    there = (ROOT / "build/CMakeCache.txt").exists()
    folder = pathlib.Path(settings.get("build-dir") or ROOT / ("build" if there else "build/pip"))
    arguments = [f"-DPython3_EXECUTABLE={_PYTHON}", "-DSTEPCAST_PYTHON=ON",
                 *shlex.split(settings.get("cmake-args", ""))]
    if not (folder / "CMakeCache.txt").exists():
        arguments += ["--preset", "release", "-DSTEPCAST_TESTS=OFF"]
        if shutil.which("ccache"):
            arguments.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    _run("cmake", "-S", str(ROOT), "-B", str(folder), *arguments)
    if "stepcast_python:" not in subprocess.run(["cmake", "--build", str(folder), "--target", "help"],
                                                check=True, capture_output=True, text=True).stdout:
        sys.exit(f"Python's headers or pybind11 are missing for {_PYTHON}; on Debian and Ubuntu: "
                 "sudo apt install python3-dev pybind11-dev")
    jobs = settings.get("jobs") or str(os.cpu_count() or 1)
    _run("cmake", "--build", str(folder), "--target", "stepcast_python", "--parallel", jobs)
    return folder / "python" / NAME


class _Wheel:
    def __init__(self, folder):
        self.name = f"{NAME}-{VERSION}-{TAG}.whl"
        self._zip = zipfile.ZipFile(pathlib.Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, content):
        # The same bytes whenever it is built.
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        data = content if isinstance(content, bytes) else content.encode()
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def finish(self):
        self.add(f"{DIST_INFO}/METADATA", _metadata())
        self.add(f"{DIST_INFO}/WHEEL", WHEEL)
        self.add(f"{DIST_INFO}/LICENSE", (ROOT / "LICENSE").read_bytes())
        record = f"{DIST_INFO}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)),
                           "\n".join([*self._record, f"{record},,"]) + "\n")
        self._zip.close()
        return self.name


def _module(package):
    return package / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))


def _stripped(module):
    strip = shutil.which("strip")
    if strip is None:
        return module.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / module.name
        subprocess.run([strip, "--strip-unneeded", "-o", str(copy), str(module)], check=True)
        return copy.read_bytes()


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / DIST_INFO
    folder.mkdir()
    (folder / "METADATA").write_text(_metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(WHEEL)
    return DIST_INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _built(config_settings)
    wheel = _Wheel(wheel_directory)
    for file in sorted((ROOT / "python" / NAME).iterdir()):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            wheel.add(f"{NAME}/{file.name}", file.read_bytes())
    wheel.add(f"{NAME}/{_module(package).name}", _stripped(_module(package)))
    for source, place in DATA.items():
        for file in sorted((ROOT / source).rglob("*")):
            if file.is_file():
                wheel.add(f"{place}/{file.relative_to(ROOT / source).as_posix()}", file.read_bytes())
    return wheel.finish()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package of the build folder: what is built next is what is imported next."""
    wheel = _Wheel(wheel_directory)
    wheel.add(f"{NAME}.pth", f"{_built(config_settings).parent}\n")
    return wheel.finish()


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}-{VERSION}"
    files = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, capture_output=True,
                           text=True).stdout.split("\0")[:-1]
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as info:
            info.write(_metadata())
            info.flush()
            archive.add(info.name, f"{name}/PKG-INFO")
        for file in sorted(files):
            archive.add(ROOT / file, f"{name}/{file}")
    return f"{name}.tar.gz"
