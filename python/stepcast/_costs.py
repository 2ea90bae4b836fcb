# SPDX-License-Identifier: Apache-2.0
"""Times of single kernels and collectives, on machines that are read once and asked often."""
import json

from . import _core
from ._errors import InputError, UsageError
from ._hints import with_nearest
from ._plain import plain, text


def _text(given, name):
    if hasattr(given, "keys"):
        return json.dumps(plain(given))
    if given == "":
        raise UsageError(f"{name}: an empty text names none; give a name of the catalog or a dict")
    if isinstance(given, str):
        return text(given, name)
    raise TypeError(f"{name}: expected a name or a dict, not {type(given).__name__}")


def _made(kind, description):
    try:
        return kind(description)
    except ValueError as wrong:
        raise InputError(str(wrong)) from None


def laid_over(description, keys):
    """The description with these keys in place of its own, as --set replaces keys of a file."""
    if not hasattr(description, "keys"):
        raise UsageError("cluster: keywords are laid over a dict alone; give the description as one, such as "
                         "Cluster({'node': 'dgx-h100', 'nodes': 2}, nodes=4)")

    def merged(under, over):
        both = dict(under)
        for key, value in over.items():
            known = both.get(key)
            if isinstance(known, str) and isinstance(value, dict) and "base" not in value:
                known = {"base": known}
            both[key] = merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
        return both

    return merged(plain(description), plain(keys))


def _asked(function, wanted, *given):
    """What the compiled function answers; what it refuses in words of Python: `wanted` is what it takes."""
    try:
        return function(*given)
    except TypeError:
        shown = ", ".join(text if len(text) <= 60 else text[:57] + "..." for text in map(repr, given))
        raise TypeError(f"expected {wanted}; given {shown}") from None
    except ValueError as wrong:
        raise UsageError(with_nearest(str(wrong))) from None


class Cluster:
    """A cluster as a scenario writes it: Cluster(node="dgx-h100", nodes=16). Keywords beside a dict are laid
    over it key by key: Cluster({"node": "dgx-h100", "nodes": 2}, nodes=4)."""

    def __init__(self, description=None, /, **keys):
        if description is None:
            description = keys
        elif keys:
            description = laid_over(description, keys)
        self._description = _text(description, "cluster")
        self._core = _made(_core.Cluster, self._description)

    def __reduce__(self):
        return Cluster, (self._description,)

    @property
    def gpus(self):
        return self._core.gpus

    @property
    def gpus_per_node(self):
        return self._core.gpus_per_node

    def group(self, gpus, sharing=1):
        """GPUs that communicate, counted from 0, in ring order: cluster.group(range(0, 64, 8)). `sharing`
        such groups use each node's NICs at the same time."""
        return Group(self, list(gpus), sharing)


class Group:
    """GPUs of a cluster; see Cluster.group."""

    def __init__(self, cluster, gpus, sharing=1):
        self._made_of = cluster, gpus, sharing
        self._core = _asked(cluster._core.group, "numbers of GPUs from 0 on, and how many such groups share NICs",
                            gpus, sharing)

    def __reduce__(self):
        return Group, self._made_of

    @property
    def ranks(self):
        return self._core.ranks

    @property
    def nodes(self):
        return self._core.nodes

    def time(self, collective, bytes):
        """Seconds of "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast" or "reduce"
        of so many bytes on an idle network: the message per rank of an all-reduce, broadcast or reduce;
        ranks × the shard of the others. Of many sizes (a list or an array) as many times."""
        wanted = "the name of a collective and a number of bytes, such as 2**30 for 1 GiB, or a list of them"
        if hasattr(bytes, "__len__") and not isinstance(bytes, str) and getattr(bytes, "ndim", 1) > 0:
            times = _asked(self._core.times, wanted, collective, bytes)
            if hasattr(bytes, "__array__"):
                import numpy

                return numpy.asarray(times)
            return times
        return _asked(self._core.time, wanted, collective, bytes)


class Device:
    """A device of the catalog, or a dict over one: Device("h100-80gb-sxm")."""

    def __init__(self, description):
        self._description = description
        self._core = _made(_core.Device, _text(description, "device"))

    def __reduce__(self):
        return Device, (self._description,)

    @property
    def name(self):
        return self._core.name

    def product(self, m, n, k, *, batch=1, precision="bf16", kernel_pass="forward"):
        """Seconds of `batch` matrix products (m × k)·(k × n), without what the host takes to launch
        them. `kernel_pass`: forward, input_gradient or weight_gradient."""
        return _asked(self._core.product, "m, n, k and batch as whole numbers, precision and kernel_pass as words",
                      m, n, k, batch, precision, kernel_pass)

    def attention(self, batch, sequence, head_dim, *, causal=True, precision="bf16", kernel_pass="forward"):
        """Seconds of fused attention; `batch`: sequences × heads. `kernel_pass`: forward or backward, of
        which one kernel has all gradients."""
        return _asked(self._core.attention, "batch, sequence and head_dim as whole numbers, causal as True or False, "
                      "precision and kernel_pass as words", batch, sequence, head_dim, causal, precision, kernel_pass)

    def stream(self, bytes):
        """Seconds of an element-wise kernel that moves so many bytes."""
        return _asked(self._core.stream, "a number of bytes", bytes)
