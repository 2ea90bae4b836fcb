#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train small models for a few steps on the GPU at hand; record the allocator and the steps' times.

usage: record_training.py FOLDER [--memory [NAME…]] [--time [NAME…]] [--budget SECONDS] [--list]
       record_training.py FOLDER --compact OTHER_FOLDER

Needs PyTorch 2.6 or newer and one GPU. --memory runs cases at once, each in a process of its own
under the settings of PYTORCH_CUDA_ALLOC_CONF that it names, and writes FOLDER/memory_NAME.jsonl.gz:
one object on the first line (device, versions, settings, bytes by step), then one list for each
event of the caching allocator, in order: [action, address, bytes, stream, frames of the call].
--time runs cases one after the other and writes FOLDER/steps.jsonl, one object a case: seconds of
each step, bytes allocated and reserved at most, clock and power meanwhile. Cases that would begin
after --budget seconds are left out. --list prints the cases. --compact packs recorded cases, without a GPU, into
OTHER_FOLDER/NAME.txt.gz: lines "# key: value", then a line an event, tensors and streams numbered:
  + TENSOR BYTES STREAM        allocated          - TENSOR   freed; its block is free at once
  ~ TENSOR                     freed; its block waits for another stream   = TENSOR   waits no more
  S ADDRESS BYTES STREAM       segment from the driver      F   segment given back to it
  M ADDRESS BYTES STREAM       pages from the driver        U   pages given back to it
  O BYTES STREAM               no memory for so many
"""
import argparse
import contextlib
import datetime
import gc
import gzip
import heapq
import json
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import time
import traceback

GIB = 1 << 30
LLAMA = dict(model="llama", layers=4, hidden=2048, heads=32, groups=8, ffn=8192, vocab=32000,
             tokens=2048, batch=1)
GPT = dict(model="gpt", layers=6, hidden=1024, heads=16, groups=16, ffn=4096, vocab=50304,
           tokens=1024, batch=4)
MOE = dict(model="moe", layers=3, hidden=1024, heads=16, groups=16, ffn=704, vocab=32000,
           tokens=2048, batch=1, experts=32, topk=4)
LENGTHS = [2048, 1536, 1920, 1024, 1792]  # numbers of tokens of the microbatches, in turn
# limit: the share of what another case reserved that this one may reserve.
# pickled: the snapshot is also written as torch.cuda.memory._dump_snapshot writes it.
# precision: mixed = fp32 parameters under autocast; bf16 = parameters in bf16.
# wrap: fsdp = FSDP2 on one rank, units as torchtitan makes them; ddp = DistributedDataParallel.
MEMORY = {
    "llama_default": dict(LLAMA),
    "llama_recompute": dict(LLAMA, recompute=True),
    "llama_bf16": dict(LLAMA, precision="bf16"),
    "llama_fsdp": dict(LLAMA, wrap="fsdp"),
    "llama_fsdp_recompute": dict(LLAMA, wrap="fsdp", recompute=True),
    "llama_ddp": dict(LLAMA, wrap="ddp"),
    "llama_expandable": dict(LLAMA, conf="expandable_segments:True"),
    "llama_split": dict(LLAMA, conf="max_split_size_mb:64"),
    "llama_divisions": dict(LLAMA, conf="roundup_power2_divisions:4"),
    "llama_lengths": dict(LLAMA, lengths=LENGTHS),
    "llama_collect": dict(LLAMA, lengths=LENGTHS, conf="garbage_collection_threshold:0.7",
                          limit=("llama_lengths", 1.0)),
    "llama_tight": dict(LLAMA, lengths=LENGTHS, limit=("llama_lengths", 0.97)),
    "llama_too_tight": dict(LLAMA, limit=("llama_default", 0.9)),
    "gpt_default": dict(GPT),
    "gpt_accumulate": dict(GPT, microbatches=3),
    "gpt_expandable": dict(GPT, conf="expandable_segments:True"),
    "gpt_split": dict(GPT, conf="max_split_size_mb:32", lengths=[1024, 768, 896]),
    "gpt_divisions": dict(GPT, conf="roundup_power2_divisions:8", lengths=[1000, 700, 900]),
    "gpt_pickled": dict(GPT, layers=2, hidden=512, vocab=4096, heads=8, groups=8, ffn=2048,
                        pickled=True),
    "moe_default": dict(MOE),
    "moe_expandable": dict(MOE, conf="expandable_segments:True"),
    "moe_streams": dict(MOE, streams=True),
}
LLAMA_1B = dict(model="llama", layers=16, hidden=2048, heads=32, groups=8, ffn=8192, vocab=128256,
                tokens=4096, batch=2, wrap="fsdp")
LLAMA_8B = dict(model="llama", layers=6, hidden=4096, heads=32, groups=8, ffn=14336, vocab=128256,
                tokens=8192, batch=1, wrap="fsdp")
GPT_MEDIUM = dict(model="gpt", layers=24, hidden=1536, heads=16, groups=16, ffn=6144, vocab=50304,
                  tokens=2048, batch=4, precision="bf16")
MOE_SMALL = dict(model="moe", layers=8, hidden=2048, heads=16, groups=16, ffn=1408, vocab=102400,
                 tokens=4096, batch=2, experts=64, topk=6, precision="bf16")
TIME = {
    "llama_8b_6_layers": dict(LLAMA_8B),
    "llama_8b_6_layers_recompute": dict(LLAMA_8B, recompute=True),
    "llama_8b_6_layers_bf16": dict(LLAMA_8B, wrap=None, precision="bf16"),
    "llama_1b": dict(LLAMA_1B),
    "moe_small": dict(MOE_SMALL),
    "gpt_medium": dict(GPT_MEDIUM),
    "llama_8b_6_layers_compiled": dict(LLAMA_8B, compiled=True),
    "llama_1b_recompute": dict(LLAMA_1B, recompute=True),
    "llama_1b_bf16": dict(LLAMA_1B, wrap=None, precision="bf16"),
    "llama_1b_512_tokens": dict(LLAMA_1B, tokens=512, batch=1),
    "llama_1b_512_tokens_bf16": dict(LLAMA_1B, tokens=512, batch=1, wrap=None, precision="bf16"),
    "llama_1b_32k_tokens": dict(LLAMA_1B, tokens=32768, batch=1, recompute=True),
    "gpt_medium_mixed": dict(GPT_MEDIUM, precision="mixed"),
    "gpt_medium_recompute": dict(GPT_MEDIUM, recompute=True, batch=8),
    "moe_small_recompute": dict(MOE_SMALL, recompute=True),
    "llama_8b_6_layers_accumulate": dict(LLAMA_8B, wrap=None, precision="bf16", microbatches=4),
    "mixtral_2_layers": dict(MOE_SMALL, layers=2, hidden=4096, heads=32, groups=8, ffn=14336,
                             vocab=32000, experts=8, topk=2),
    "llama_1b_compiled": dict(LLAMA_1B, compiled=True),
}

# These cases ran on an H200 after they had been forecast.
TIME.update({
    "llama_3b_recompute": dict(LLAMA_1B, layers=28, hidden=3072, heads=24, batch=1, recompute=True),
    "llama_8b_bf16": dict(LLAMA_8B, layers=32, tokens=4096, wrap=None, precision="bf16",
                          recompute=True),
    "mistral_8_layers": dict(LLAMA_8B, layers=8, vocab=32000, batch=2),
    "gpt_wide": dict(GPT_MEDIUM, layers=12, hidden=4096, heads=32, groups=32, ffn=16384),
    "llama_1b_32k_bf16": dict(LLAMA_1B, vocab=32000, tokens=32768, batch=1, wrap=None,
                              precision="bf16", recompute=True),
    "moe_wide": dict(MOE_SMALL, layers=6, experts=16, topk=2, ffn=5632, vocab=32000),
    "moe_many": dict(MOE_SMALL, layers=4, experts=128, topk=8, ffn=768, vocab=32000),
    "llama_1b_accumulate": dict(LLAMA_1B, batch=1, microbatches=4),
})


def define_models():
    """The three models; imported late, so that --list needs no PyTorch."""
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Norm(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)

    def rotate(x, cos, sin):
        one, two = x.float().chunk(2, -1)
        return torch.cat((one * cos - two * sin, two * cos + one * sin), -1).type_as(x)

    class Attention(nn.Module):
        def __init__(self, case):
            super().__init__()
            width, self.heads, self.groups = case["hidden"], case["heads"], case["groups"]
            self.size, bias = width // self.heads, case["model"] == "gpt"
            self.rotary = not bias
            self.q = nn.Linear(width, width, bias=bias)
            self.k = nn.Linear(width, self.groups * self.size, bias=bias)
            self.v = nn.Linear(width, self.groups * self.size, bias=bias)
            self.out = nn.Linear(width, width, bias=bias)

        def forward(self, x, tables):
            batch, tokens, width = x.shape
            q = self.q(x).view(batch, tokens, self.heads, self.size).transpose(1, 2)
            k = self.k(x).view(batch, tokens, self.groups, self.size).transpose(1, 2)
            v = self.v(x).view(batch, tokens, self.groups, self.size).transpose(1, 2)
            if self.rotary:
                q, k = rotate(q, *tables), rotate(k, *tables)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True,
                                               enable_gqa=self.heads != self.groups)
            return self.out(y.transpose(1, 2).reshape(batch, tokens, width))

    class Gated(nn.Module):
        def __init__(self, case):
            super().__init__()
            self.gate = nn.Linear(case["hidden"], case["ffn"], bias=False)
            self.up = nn.Linear(case["hidden"], case["ffn"], bias=False)
            self.down = nn.Linear(case["ffn"], case["hidden"], bias=False)

        def forward(self, x):
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Plain(nn.Module):
        def __init__(self, case):
            super().__init__()
            self.up = nn.Linear(case["hidden"], case["ffn"])
            self.down = nn.Linear(case["ffn"], case["hidden"])

        def forward(self, x):
            return self.down(F.gelu(self.up(x), approximate="tanh"))

    class Experts(nn.Module):
        """Routed experts, balanced by force: one grouped product for each projection."""

        def __init__(self, case):
            super().__init__()
            count, width, ffn = case["experts"], case["hidden"], case["ffn"]
            self.count, self.topk, self.streams = count, case["topk"], case.get("streams")
            self.router = nn.Linear(width, count, bias=False)
            self.gate_up = nn.Parameter(torch.randn(count, 2 * ffn, width) * 0.02)
            self.down = nn.Parameter(torch.randn(count, width, ffn) * 0.02)
            self.side = None

        def forward(self, x):
            batch, tokens, width = x.shape
            rows = x.reshape(-1, width)
            scores = self.router(rows).float().softmax(-1)
            place = torch.arange(rows.shape[0] * self.topk, device=x.device) % self.count
            chosen = place.view(-1, self.topk)
            weight = scores.gather(1, chosen)
            order = place.argsort(stable=True)
            counts = torch.bincount(place, minlength=self.count)
            ends = counts.cumsum(0).to(torch.int32)
            sent = rows.index_select(0, order // self.topk)
            kind = torch.bfloat16
            if self.streams:  # a second stream uses permuted rows, as an exchange does
                self.side = self.side or torch.cuda.Stream()
                self.side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(self.side):
                    copied = sent.clone()
                sent.record_stream(self.side)
                torch.cuda.current_stream().wait_stream(self.side)
                copied.record_stream(torch.cuda.current_stream())
                sent = copied
            up = torch._grouped_mm(sent.to(kind), self.gate_up.to(kind).transpose(-2, -1),
                                   offs=ends)
            gate, up = up.chunk(2, -1)
            down = torch._grouped_mm(F.silu(gate) * up, self.down.to(kind).transpose(-2, -1),
                                     offs=ends)
            back = down * weight.reshape(-1)[order].unsqueeze(1).to(kind)
            result = torch.zeros_like(rows, dtype=kind).index_add(0, order // self.topk, back)
            return result.view(batch, tokens, width)

    class Block(nn.Module):
        def __init__(self, case):
            super().__init__()
            norm = (lambda: nn.LayerNorm(case["hidden"])) if case["model"] == "gpt" else (
                lambda: Norm(case["hidden"]))
            self.first, self.second = norm(), norm()
            self.attention = Attention(case)
            self.mlp = {"llama": Gated, "gpt": Plain, "moe": Experts}[case["model"]](case)

        def forward(self, x, tables):
            x = x + self.attention(self.first(x), tables)
            return x + self.mlp(self.second(x))

    class Model(nn.Module):
        def __init__(self, case):
            super().__init__()
            self.recompute = case.get("recompute")
            self.embedding = nn.Embedding(case["vocab"], case["hidden"])
            self.positions = (nn.Embedding(case["tokens"], case["hidden"])
                              if case["model"] == "gpt" else None)
            self.blocks = nn.ModuleList(Block(case) for _ in range(case["layers"]))
            self.norm = (nn.LayerNorm if case["model"] == "gpt" else Norm)(case["hidden"])
            self.head = nn.Linear(case["hidden"], case["vocab"], bias=False)
            half = case["hidden"] // case["heads"] // 2
            angle = torch.outer(torch.arange(case["tokens"]).float(),
                                10000.0 ** (-torch.arange(half).float() / half))
            self.register_buffer("cos", angle.cos(), persistent=False)
            self.register_buffer("sin", angle.sin(), persistent=False)

        def forward(self, tokens):
            x = self.embedding(tokens)
            if self.positions is not None:
                x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
            tables = self.cos[:tokens.shape[1]].float(), self.sin[:tokens.shape[1]].float()
            for block in self.blocks:
                x = (checkpoint(block, x, tables, use_reentrant=False) if self.recompute
                     else block(x, tables))
            return self.head(self.norm(x))

    return Model


def wrapped(model, case):
    """The model under the data parallelism of the case, on one rank."""
    import torch
    import torch.distributed as dist
    if not dist.is_initialized():
        dist.init_process_group("nccl", init_method=f"file:///tmp/rendezvous-{os.getpid()}", rank=0,
                                world_size=1, device_id=torch.device("cuda", 0))
    if case["wrap"] == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32,
                                  cast_forward_inputs=False)
    fully_shard(model.embedding, mp_policy=policy)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard([model.norm, model.head], mp_policy=policy, reshard_after_forward=False)
    return fully_shard(model, mp_policy=policy)


class Sensors:
    """The clock and power of the device, where pynvml is there."""

    def __init__(self):
        try:
            import pynvml
            pynvml.nvmlInit()
            self.nvml, self.handle = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
        except Exception:
            self.nvml = None

    def read(self):
        if self.nvml is None:
            return None
        try:
            return [self.nvml.nvmlDeviceGetClockInfo(self.handle, self.nvml.NVML_CLOCK_SM),
                    self.nvml.nvmlDeviceGetPowerUsage(self.handle) / 1000]
        except Exception:
            return None


def environment():
    import torch
    gpu = torch.cuda.get_device_properties(0)
    try:
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version,power.limit",
                                 "--format=csv,noheader"], capture_output=True, text=True,
                                check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        driver = "unknown"
    return dict(device=gpu.name, memory=gpu.total_memory, torch=torch.__version__,
                cuda=torch.version.cuda, driver=driver, date=datetime.date.today().isoformat())


def profiled(run):
    """The kernels of one call, those that take most time first: [name, calls, microseconds]."""
    import torch
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    rows = [[row.key[:120], row.count, round(row.self_device_time_total, 1)]
            for row in profile.key_averages() if row.self_device_time_total > 0]
    return sorted(rows, key=lambda row: -row[2])[:60]


def train(case, steps, kernels=False):
    """Runs the case; returns the measurements of each step."""
    import torch
    import torch.nn.functional as F
    torch.manual_seed(0)
    mixed = case.get("precision", "mixed") == "mixed" and case.get("wrap") != "fsdp"
    with torch.device("cuda"):
        model = define_models()(case)
    if case.get("precision") == "bf16":
        model = model.to(torch.bfloat16)
    parameters = sum(p.numel() for p in model.parameters())
    if case.get("compiled"):
        for block in model.blocks:
            block.compile()
    if case.get("wrap"):
        model = wrapped(model, case)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    lengths = case.get("lengths") or [case["tokens"]]
    sensors, seconds, readings, peaks = Sensors(), [], [], []

    def one(step):
        for micro in range(case.get("microbatches", 1)):
            length = lengths[(step + micro) % len(lengths)]
            tokens = torch.randint(case["vocab"], (case["batch"], length + 1), device="cuda")
            cast = (torch.autocast("cuda", torch.bfloat16) if mixed else contextlib.nullcontext())
            with cast:
                logits = model(tokens[:, :-1])
                loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
            del logits
            loss.backward()
            del loss, tokens
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for step in range(steps):
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        begin = time.perf_counter()
        one(step)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
        readings.append(sensors.read())
        peaks.append([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()])
    try:
        spent = profiled(lambda: one(steps)) if kernels else []
    except Exception:
        spent = traceback.format_exc()[-300:]
    return dict(parameters=parameters, seconds=seconds, kernels=spent, clock_mhz_and_watts=readings,
                allocated_and_reserved=peaks)


def frames_of(event):
    """The innermost frames that tell whose tensor it is."""
    said = []
    for frame in event.get("frames", []):
        name = frame["filename"]
        if name.endswith(("record_training.py",)) or "/fsdp/" in name or "/optim/" in name or (
                "distributed.py" in name):
            said.append(f"{pathlib.Path(name).name}:{frame['line']}:{frame['name']}")
        if len(said) == 3:
            break
    return "|".join(said)


def reserved_by(name, folder):
    """The most bytes that a recorded case reserved."""
    with gzip.open(folder / f"memory_{name}.jsonl.gz", "rt") as file:
        return max(reserved for _, reserved in json.loads(next(file))["allocated_and_reserved"])


def record(name, folder):
    """Runs one case of MEMORY in this process."""
    import torch
    case = MEMORY[name]
    torch.cuda.init()
    limit = None
    if "limit" in case:
        other, share = case["limit"]
        reserved = reserved_by(other, folder)
        limit = share * reserved / torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(limit)
    torch.cuda.memory._record_memory_history(enabled="all", context="alloc", stacks="python",
                                             max_entries=1_000_000)
    steps = max(3, len(case.get("lengths", [])) + 2)
    failure, measured = None, {}
    try:
        measured = train(case, steps)
    except torch.OutOfMemoryError as error:
        failure = str(error)
    stats = {key: value for key, value in torch.cuda.memory_stats().items()
             if key in ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")
             or key.startswith(("allocated_bytes.all", "reserved_bytes.all", "active_bytes.all",
                                "requested_bytes.all", "segment.all"))}
    free, total = torch.cuda.mem_get_info()
    snapshot = torch.cuda.memory._snapshot()
    head = dict(name=name, case=case, steps=steps, failure=failure, stats=stats,
                settings=str(snapshot.get("allocator_settings")),
                memory_fraction=limit, free_and_total=[free, total],
                **environment(), **measured)
    with gzip.open(folder / f"memory_{name}.jsonl.gz", "wt") as file:
        print(json.dumps(head), file=file)
        for event in (event for trace in snapshot["device_traces"] for event in trace):
            print(json.dumps([event["action"], event.get("addr", 0), event.get("size", 0),
                              event.get("stream", 0), frames_of(event)]), file=file)
    if case.get("pickled"):
        with gzip.open(folder / f"snapshot_{name}.pickle.gz", "wb") as file:
            pickle.dump(snapshot, file, protocol=2)
    print(f"{name}: {measured.get('allocated_and_reserved')} {failure or ''}", flush=True)


def record_all(names, folder):
    """Runs each case in a process of its own, eight at once."""
    first = [name for name in names if "limit" not in MEMORY[name]]
    for wave in first, [name for name in names if name not in first]:
        record_wave(wave, folder)


def record_wave(names, folder):
    waiting, running = list(names), []
    while waiting or running:
        while waiting and len(running) < 8:
            name = waiting.pop(0)
            conf = MEMORY[name].get("conf", "")
            running.append(subprocess.Popen(
                [sys.executable, __file__, str(folder), "--one", name],
                env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": conf} if conf else None))
        running = [process for process in running if process.poll() is None]
        time.sleep(0.1)


def timed(names, folder, budget):
    import torch
    begun = time.perf_counter()
    with open(folder / "steps.jsonl", "a") as file:
        for name in names:
            if time.perf_counter() - begun > budget:
                print(f"{name}: left out, no time", flush=True)
                continue
            start = time.perf_counter()
            try:
                result = train(TIME[name], 9, kernels=True)
            except Exception:
                result = dict(failure=traceback.format_exc()[-600:])
            gc.collect()
            torch.cuda.empty_cache()
            print(json.dumps(dict(name=name, case=TIME[name], **result, **environment())),
                  file=file, flush=True)
            middle = statistics.median(result.get("seconds", [0] * 9)[3:])
            print(f"{name}: {middle * 1e3:.1f} ms, {result.get('allocated_and_reserved', [0])[-1]} "
                  f"{result.get('clock_mhz_and_watts', [0])[-1]} {result.get('failure', '')} "
                  f"({time.perf_counter() - start:.0f} s)", flush=True)


DRIVER = {"segment_alloc": "S", "segment_free": "F", "segment_map": "M", "segment_unmap": "U"}


def compact_lines(events):
    """The lines of --compact for recorded events."""
    streams, numbers, spare = {}, {}, []  # numbers: the tensor at each address
    for place, (action, address, size, pointer, _) in enumerate(events):
        stream = streams.setdefault(pointer, len(streams))
        if action == "alloc":
            numbers[address] = heapq.heappop(spare) if spare else len(numbers)
            yield f"+ {numbers[address]} {size} {stream}"
        elif action == "free_requested":
            following = events[place + 1][:2] if place + 1 < len(events) else None
            at_once = following == ["free_completed", address]
            yield f"{'-' if at_once else '~'} {numbers[address]}"
            if at_once:
                heapq.heappush(spare, numbers.pop(address))
        elif action == "free_completed" and address in numbers:
            yield f"= {numbers[address]}"
            heapq.heappush(spare, numbers.pop(address))
        elif action == "oom":
            yield f"O {size} {stream}"
        elif action in DRIVER:
            yield f"{DRIVER[action]} {address} {size} {stream}"


def compact(folder, into):
    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("memory_*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            head, *events = map(json.loads, file)
        limit = int(head["memory_fraction"] * head["memory"]) if head["memory_fraction"] else 0
        peaks = head.get("allocated_and_reserved", [])
        allocated, reserved = (max([head["stats"][f"{kind}_bytes.all.peak"],
                                    *(step[place] for step in peaks)])
                               for place, kind in enumerate(("allocated", "reserved")))
        said = [f"device: {head['device']}", f"date: {head['date']}", f"torch: {head['torch']}",
                f"driver: {head['driver']}", f"case: {json.dumps(head['case'])}",
                f"conf: {head['case'].get('conf', '')}", f"memory: {head['memory']}",
                f"limit: {limit}",
                f"reserved_at_most: {reserved}", f"allocated_at_most: {allocated}"]
        text = "".join(f"# {line}\n" for line in said)
        text += "".join(f"{line}\n" for line in compact_lines(events))
        name = path.name.removeprefix("memory_").replace(".jsonl.gz", ".txt.gz")
        (into / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--memory", nargs="*", metavar="NAME", help="record these, or all")
    parser.add_argument("--time", nargs="*", metavar="NAME", help="time these, or all")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds for --time")
    parser.add_argument("--compact", type=pathlib.Path, metavar="FOLDER", help="pack what is there")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="print the cases")
    asked = parser.parse_args()
    if asked.list:
        for name, case in {**MEMORY, **TIME}.items():
            print(name, json.dumps(case))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.compact:
        return compact(asked.folder, asked.compact)
    if asked.one:
        return record(asked.one, asked.folder)
    if asked.memory is not None:
        record_all(asked.memory or list(MEMORY), asked.folder)
    if asked.time is not None:
        timed(asked.time or list(TIME), asked.folder, asked.budget)


if __name__ == "__main__":
    main()
