# SPDX-License-Identifier: Apache-2.0
"""What was probably meant: the nearest names of a wrong word, and where a key of a scenario belongs."""
import difflib
import re

# Words of PyTorch and of people for those of the catalog.
_SYNONYMS = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float": "fp32", "float32": "fp32",
             "float8": "fp8", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "tensorfloat32": "tf32"}


def nearest(word, names, alike=0.7):
    """The name that the word is probably meant for, or None."""
    names = list(names)
    meant = _SYNONYMS.get(word.lower().removeprefix("torch."))
    if meant in names:
        return meant
    swapped = [name for name in names if sorted(name) == sorted(word)]
    return swapped[0] if swapped else next(iter(difflib.get_close_matches(word, names, 1, alike)), None)


def with_nearest(said):
    """"unknown precision 'bfloat16'; expected one of fp16, bf16" with "; did you mean 'bf16'?"."""
    found = re.fullmatch(r"unknown \w+ '(.*)'; expected (?:one of )?(.*)", said)
    meant = found and nearest(found[1], re.split(r", | or ", found[2]), 0.6)
    return f"{said}; did you mean '{meant}'?" if meant else said


def options_in(help_text):
    """Options that the text of --help lists, as keywords of Python: {"measured": "TIME", "full": None}."""
    return {name.replace("-", "_"): kind.strip() or None
            for name, kind in re.findall(r"^  (?:-\w,)?--([a-z][a-z-]*)((?: \S+)?)", help_text, re.M)}


def _leaves(schema, path=()):
    for name, one in schema.get("properties", {}).items():
        yield (*path, name)
        for variant in (one, *one.get("anyOf", ()), *one.get("oneOf", ())):
            yield from _leaves(variant, (*path, name))


def _written(path):
    """How a key is given as a keyword: training={"tokens": ...}."""
    if len(path) == 1:
        return f"{path[0]}=..."
    inner = "..."
    for name in reversed(path[1:]):
        inner = f'{{"{name}": {inner}}}'
    return f"{path[0]}={inner}"


def unknown_keyword(said, request, schema_of, options_of):
    """What to say of a keyword that is neither an option of the command nor, where it takes keys of a document, a
    key; or None."""
    found = re.search(r"not expected: (?:-- )?--([\w-]+)", said)
    if not found:
        return None
    word, options = found[1].replace("-", "_"), options_of(request.command)
    paths = sorted(set(_leaves(schema_of(request.kind) if request.kind else {})), key=lambda path: (len(path), path))
    keys = [path[0] for path in paths if len(path) == 1]
    return f"{request.command}: no keyword '{word}'; {_meant(word, paths, [*options, *keys]) or _all(keys, options)}"


def _meant(word, paths, own):
    inside = [path for path in paths if path[-1] == word]
    if inside:
        return f"write {' or '.join(map(_written, inside[:2]))}"
    near = nearest(word, own)
    if near:
        return f"did you mean {near}=?"
    near = len(word) > 4 and nearest(word, [path[-1] for path in paths], 0.8)
    return near and f"did you mean {_written(next(path for path in paths if path[-1] == near))}?"


def _all(keys, options):
    lists = [f"{what} ({', '.join(names)})" for what, names in (("keys", keys), ("options", sorted(options))) if names]
    return f"there are {' and '.join(lists)}"
