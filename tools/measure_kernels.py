#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the kernels of the GPU at hand, for `stepcast calibrate --kernels`.

usage: measure_kernels.py OUTPUT.csv --peak TFLOPS --bandwidth GBPS [--peak-fp8 TFLOPS]
                          [--fast] [--training TRAINING.csv] [--device N]
       measure_kernels.py [OUTPUT.csv] [--product PASS,BATCH,M,N,K[,fp8]]...
                          [--attention PASS,TOKENS,HEAD,CAUSAL]... [--dry-run]

Needs PyTorch and one GPU, and takes a few minutes. --peak is the dense peak in bfloat16 (in
float16 where the GPU has no bfloat16), --peak-fp8 that in fp8 and --bandwidth that of the device's
memory, all from the data sheet; for some devices they are known here. --fast measures a quarter.
--product and --attention, as `stepcast simulate` prints them, measure these shapes alone, by the
columns below; several may be given. --dry-run lists the shapes that would be measured, and needs no GPU.
Rows are printed as they are measured, and written at the end if OUTPUT.csv is given.
--training writes a second table, of the other kernels of training: the products of experts, in one
kernel or one by one; the optimizer, the loss and kernels between products; and one large product
over and over for ten seconds, with the clock and the power that the device settles at.

Columns, as in scenarios/catalog/kernels/*.csv, and the precision:
  kind            product | attention | stream
  pass            product: forward | input_gradient | weight_gradient
                  attention: forward | backward
                  stream: copy | add | gelu | softmax | layernorm | rmsnorm
  batch,m,n,k     product: (m x k)(k x n), batch times; attention: n = sequence, k = head size
                  stream: n = bytes read and written
  causal          0 | 1, attention only
  implementation  attention only: the kernel, such as flash-2
  efficiency      achieved rate over the dense peak of the precision, or over the bandwidth
  precision       bf16 | fp16 | fp8
Comment lines hold the device, the date, the driver, and the time that a launch takes the host.
"""
import argparse
import datetime
import itertools
import statistics
import subprocess
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:  # --help and --dry-run need no PyTorch
    torch = None

# The dense bf16 and fp8 peaks in TFLOP/s and the memory bandwidth in GB/s, from data sheets.
KNOWN = {"A100-SXM4-40GB": (312, None, 1555), "A100-SXM4-80GB": (312, None, 2039),
         "A100 80GB PCIe": (312, None, 1935), "H100 80GB HBM3": (989, 1979, 3350),
         "H100 PCIe": (756, 1513, 2000), "H200": (989, 1979, 4800), "B200": (2250, 4500, 8000),
         "L40S": (362, 733, 864), "RTX 4090": (165, 330, 1008)}
REPEATS = 5  # timings of each shape, of which the median counts
SHORTEST = 0.02  # seconds that one timing should last
MOST = 500  # calls of one timing: half of what the queue of launches holds
CLOCK = 2e9  # cycles a second, at most, of the counter that a sleeping device watches


def seconds(work):
    """The median time of one call on the device. Launches are queued ahead, so that the host is
    hidden."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def timed(calls, sleep):
        torch.cuda._sleep(int(sleep * CLOCK))  # the host runs ahead meanwhile
        begin.record()
        start = time.perf_counter()
        for _ in range(calls):
            work()
        host = time.perf_counter() - start
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3, host

    timed(3, 0)  # algorithms are chosen and memory is allocated
    calls = max(5, min(MOST, int(SHORTEST / max(timed(5, 0)[0] / 5, 1e-6))))
    host = timed(calls, 0)[1]
    return statistics.median(timed(calls, 1.5 * host)[0] / calls for _ in range(REPEATS))


def host_launch():
    """Seconds that the host needs to launch a kernel while the queue is ahead of the device."""
    x = torch.zeros(1 << 10, device="cuda")
    torch.cuda.synchronize()
    samples = []
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(200):
            x.add_(1)
        samples.append((time.perf_counter() - begin) / 200)
        torch.cuda.synchronize()
    return statistics.median(samples)


def matrix(rows, columns, dtype):
    return torch.randn(rows, columns, device="cuda", dtype=dtype)


PRODUCTS = ("forward", "input_gradient", "weight_gradient")


def whole(text, least, most):
    value = int(text)  # ValueError says that it is no whole number
    if not least <= value <= most:
        raise ValueError
    return value


def product_shape(text):
    """(pass, batch, m, n, k, precision) of "forward,1,4096,8192,8192" or "...,fp8"."""
    cells = text.split(",")
    try:
        if len(cells) not in (5, 6) or cells[0] not in PRODUCTS or cells[5:] not in ([], ["fp8"]):
            raise ValueError
        sizes = [whole(cell, 1, 1 << 40) for cell in cells[1:5]]
        if cells[5:] and (cells[0] != "forward" or sizes[0] != 1):
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no product; write PASS,BATCH,M,N,K with PASS one of "
            f"{', '.join(PRODUCTS)}, or forward,1,M,N,K,fp8") from None
    return (cells[0], *sizes, "fp8" if cells[5:] else None)


def attention_shape(text):
    """(pass, tokens, head, causal) of "forward,4096,128,1"."""
    cells = text.split(",")
    try:
        if len(cells) != 4 or cells[0] not in ("forward", "backward"):
            raise ValueError
        tokens, head = whole(cells[1], 1, 1 << 24), whole(cells[2], 1, 1 << 10)
        return cells[0], tokens, head, bool(whole(cells[3], 0, 1))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no attention; write PASS,TOKENS,HEAD,CAUSAL with PASS forward or "
            "backward, CAUSAL 0 or 1") from None


def one_product(dtype, name, batch, m, n, k, narrow):
    """The work of (m x k)(k x n), `batch` times, as PyTorch lays out this pass of a linear
    layer."""
    if narrow:
        one = torch.ones((), device="cuda")
        x = matrix(m, k, torch.bfloat16).to(torch.float8_e4m3fn)
        weight = matrix(n, k, torch.bfloat16).to(torch.float8_e4m3fn)
        return lambda: torch._scaled_mm(x, weight.t(), scale_a=one, scale_b=one,
                                        out_dtype=torch.bfloat16)

    def operand(rows, columns):
        return torch.randn(batch, rows, columns, device="cuda", dtype=dtype)

    left = operand(k, m).transpose(1, 2) if name == "weight_gradient" else operand(m, k)
    right = operand(n, k).transpose(1, 2) if name == "forward" else operand(k, n)
    if batch == 1:
        return lambda: torch.mm(left[0], right[0])
    return lambda: torch.bmm(left, right)


def products(dtype, fast):
    """(pass, batch, m, n, k, work): a linear layer's three products as PyTorch lays them out."""
    tokens = [512, 4096] if fast else [256, 512, 1024, 2048, 4096, 8192, 16384]
    widths = [(4096, 4096), (1024, 8192)] if fast else [
        (1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192), (12288, 12288), (6144, 2048),
        (2048, 6144), (1024, 4096), (4096, 1024), (11008, 4096), (4096, 11008), (28672, 8192),
        (8192, 28672), (1280, 8192), (8192, 1024), (7168, 2048), (32000, 4096)]
    for m, (n, k) in itertools.product(tokens, widths):
        x, weight, grad = matrix(m, k, dtype), matrix(n, k, dtype), matrix(m, n, dtype)
        yield "forward", 1, m, n, k, lambda: torch.mm(x, weight.t())
        yield "input_gradient", 1, m, k, n, lambda: torch.mm(grad, weight)
        yield "weight_gradient", 1, n, k, m, lambda: torch.mm(grad.t(), x)
    for batch, s, d in [(64, 2048, 64), (64, 2048, 128), (256, 1024, 64)]:
        q = torch.randn(batch, s, d, device="cuda", dtype=dtype)
        scores = torch.randn(batch, s, s, device="cuda", dtype=dtype)
        yield "forward", batch, s, s, d, lambda: torch.bmm(q, q.transpose(1, 2))
        yield "forward", batch, s, d, s, lambda: torch.bmm(scores, q)


def narrow_products(fast):
    """The same products in fp8, where the device and this PyTorch have it."""
    if torch.cuda.get_device_capability() < (8, 9) or not hasattr(torch, "_scaled_mm"):
        return
    one = torch.ones((), device="cuda")
    sizes = [4096] if fast else [1024, 2048, 4096, 8192]
    for m, (n, k) in itertools.product(sizes, [(4096, 4096), (8192, 8192), (28672, 8192)]):
        x = matrix(m, k, torch.bfloat16).to(torch.float8_e4m3fn)
        weight = matrix(n, k, torch.bfloat16).to(torch.float8_e4m3fn)
        yield "forward", 1, m, n, k, lambda: torch._scaled_mm(
            x, weight.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def attention_kernels():
    """(name, PyTorch's name) of the kernels that its attention can be told to take."""
    from torch.nn.attention import SDPBackend
    return [("flash-2", SDPBackend.FLASH_ATTENTION), ("cudnn", SDPBackend.CUDNN_ATTENTION)]


def attention(dtype, s, head, causal):
    """(pass, sequence, head, causal, kernel, flops, work) of both passes: 16k tokens, hidden size
    2048."""
    from torch.nn.attention import sdpa_kernel
    shape = (max(1, 16384 // s), max(1, 2048 // head), s, head)
    q, k, v = (torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
               for _ in range(3))
    flops = 4 * shape[0] * shape[1] * s * s * head / (2 if causal else 1)

    for name, kernel in attention_kernels():
        def forward():
            with sdpa_kernel(kernel):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        try:
            out = forward()
        except RuntimeError:  # this GPU or PyTorch lacks the kernel
            continue
        grad = torch.randn_like(out)
        yield "forward", s, head, causal, name, flops, forward
        yield "backward", s, head, causal, name, 2.5 * flops, lambda: torch.autograd.grad(
            out, (q, k, v), grad, retain_graph=True)


def attentions(dtype, fast):
    sequences = [2048] if fast else [512, 1024, 2048, 4096, 8192, 16384]
    for s, head, causal in itertools.product(sequences, [64, 96, 128], [False, True]):
        yield from attention(dtype, s, head, causal)


def streams(dtype, fast):
    """(name, bytes read and written, work) of kernels that only memory limits."""
    for rows in [64, 16384] if fast else [16, 64, 256, 1024, 4096, 16384, 65536]:
        width = 4096
        x, y, out = (matrix(rows, width, dtype) for _ in range(3))
        size = rows * width * x.element_size()
        weight = torch.ones(width, device="cuda", dtype=dtype)
        yield "copy", 2 * size, lambda: out.copy_(x)
        yield "add", 3 * size, lambda: torch.add(x, y, out=out)
        yield "gelu", 2 * size, lambda: F.gelu(x)
        yield "softmax", 2 * size, lambda: torch.softmax(x, -1)
        yield "layernorm", 2 * size, lambda: F.layer_norm(x, (width,), weight, weight)
        if hasattr(F, "rms_norm"):
            yield "rmsnorm", 2 * size, lambda: F.rms_norm(x, (width,), weight)


EXPERT_SIZES = [(1408, 2048), (2048, 1408), (2048, 7168), (7168, 2048)]


def grouped_products(fast):
    """(implementation, pass, experts, rows of each, n, k, work) of experts in bf16, balanced."""
    rows_of_each = [512] if fast else [128, 512, 2048, 8192]
    for experts, (n, k) in itertools.product([8] if fast else [8, 32, 128], EXPERT_SIZES):
        for rows in rows_of_each:
            if experts * rows > 65536:
                continue
            x = matrix(experts * rows, k, torch.bfloat16)
            grad = matrix(experts * rows, n, torch.bfloat16)
            weight = torch.randn(experts, n, k, device="cuda", dtype=torch.bfloat16)
            ends = torch.arange(rows, experts * rows + 1, rows, device="cuda", dtype=torch.int32)
            xs, grads = x.split(rows), grad.split(rows)

            def one_by_one(left, right):
                return lambda: [torch.mm(a, b) for a, b in zip(left, right)]

            if hasattr(torch, "_grouped_mm"):
                yield "grouped_mm", "forward", experts, rows, n, k, lambda: torch._grouped_mm(
                    x, weight.transpose(1, 2), offs=ends)
                yield "grouped_mm", "input_gradient", experts, rows, k, n, lambda: (
                    torch._grouped_mm(grad, weight, offs=ends))
                yield "grouped_mm", "weight_gradient", experts, n, k, rows, lambda: (
                    torch._grouped_mm(grad.t(), x, offs=ends))
            if rows in (512, 2048) and experts < 128:
                yield ("one by one", "forward", experts, rows, n, k,
                       one_by_one(xs, [w.t() for w in weight]))
                yield "one by one", "input_gradient", experts, rows, k, n, one_by_one(grads, weight)
                yield ("one by one", "weight_gradient", experts, n, k, rows,
                       one_by_one([g.t() for g in grads], xs))


def training_streams():
    """(name, least bytes read and written, work) of kernels between products, in bf16."""
    for tokens in [2048, 8192, 32768]:
        width, ffn = 4096, 14336
        x = matrix(tokens, width, torch.bfloat16).requires_grad_()
        weight = torch.ones(width, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        gate, up = (matrix(tokens, ffn, torch.bfloat16).requires_grad_() for _ in range(2))
        size, wide = 2 * tokens * width, 2 * tokens * ffn
        if hasattr(F, "rms_norm"):
            y = F.rms_norm(x, (width,), weight)
            yield "rmsnorm_backward", 3 * size, lambda: torch.autograd.grad(
                y, (x, weight), x.detach(), retain_graph=True)
        z = F.layer_norm(x, (width,), weight, weight)
        yield "layernorm_backward", 3 * size, lambda: torch.autograd.grad(
            z, (x, weight), x.detach(), retain_graph=True)
        yield "silu", 2 * wide, lambda: F.silu(gate.detach())
        yield "multiply", 3 * wide, lambda: torch.mul(gate.detach(), up.detach())
        s = F.silu(gate)
        yield "silu_backward", 3 * wide, lambda: torch.autograd.grad(
            s, gate, up.detach(), retain_graph=True)
        order = torch.randperm(tokens, device="cuda")
        yield "permute", 2 * size, lambda: x.detach().index_select(0, order)
        out = torch.zeros_like(x.detach())
        yield "index_add", 3 * size, lambda: out.index_add_(0, order, x.detach())
        yield "to_float", 3 * size, lambda: x.detach().float()
        if tokens > 8192:
            continue
        vocabulary = 128256
        logits = matrix(tokens, vocabulary, torch.float32).requires_grad_()
        target = torch.randint(vocabulary, (tokens,), device="cuda")
        loss = F.cross_entropy(logits, target)
        yield "cross_entropy", 8 * tokens * vocabulary, lambda: F.cross_entropy(
            logits.detach(), target)
        yield "cross_entropy_backward", 12 * tokens * vocabulary, lambda: torch.autograd.grad(
            loss, logits, retain_graph=True)
    for millions in [16, 256, 1024]:
        weight = torch.zeros(millions << 20, device="cuda", requires_grad=True)
        weight.grad = torch.zeros_like(weight)
        adam = torch.optim.AdamW([weight], lr=1e-4, fused=True)
        adam.step()
        yield "adamw_fused", 28 * weight.numel(), adam.step
        norm = [weight.grad]
        yield "norm", 4 * weight.numel(), lambda: torch._foreach_norm(norm)


def sensors():
    """A function that reads clock (MHz) and power (W), or returns nothing where pynvml is
    missing."""
    try:
        import pynvml
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(torch.cuda.current_device())
        return lambda: (pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
                        pynvml.nvmlDeviceGetPowerUsage(handle) // 1000)
    except Exception:
        return lambda: ("", "")


def sustained(size, lasting=10.0):
    """(seconds since the begin, TFLOP/s, MHz, W) of one product over and over, each half second."""
    a, b = matrix(size, size, torch.bfloat16), matrix(size, size, torch.bfloat16)
    read, begun = sensors(), time.perf_counter()
    once = seconds(lambda: torch.mm(a, b))
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    while time.perf_counter() - begun < lasting:
        calls = max(1, int(0.5 / once))
        begin.record()
        for _ in range(calls):
            torch.mm(a, b)
        end.record()
        time.sleep(0.4)
        said = read()
        end.synchronize()
        rate = 2 * size**3 * calls / (begin.elapsed_time(end) / 1e3) / 1e12
        yield time.perf_counter() - begun, rate, *said


def training_rows(peak, bandwidth, fast):
    """Rows of --training: kind,pass,groups,m,n,k,implementation,microseconds,efficiency."""
    for name, size, work in training_streams():
        each = seconds(work)
        yield f"stream,{name},,{size},,,,{each * 1e6:.2f},{size / each / bandwidth:.4f}"
    for since, rate, clock, power in sustained(8192):
        yield f"sustained,{since:.1f} s,,8192,8192,8192,{clock} MHz {power} W,,{rate / peak * 1e12:.4f}"
    for implementation, name, experts, m, n, k, work in grouped_products(fast):
        each = seconds(work)
        yield (f"experts,{name},{experts},{m},{n},{k},{implementation},{each * 1e6:.2f},"
               f"{2 * experts * m * n * k / each / peak:.4f}")


def driver():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def asked_rows(asked, dtype, precision, peak, peak_fp8):
    """The rows of the shapes on the command line."""
    for name, batch, m, n, k, narrow in asked.product:
        if narrow and not peak_fp8:
            sys.exit("the fp8 peak of this GPU is not known here; give --peak-fp8")
        rate = 2 * batch * m * n * k / seconds(one_product(dtype, name, batch, m, n, k, narrow))
        of = rate / (peak_fp8 if narrow else peak)
        yield f"product,{name},{batch},{m},{n},{k},,,{of:.4f},{narrow or precision}"
    for wanted, s, head, causal in asked.attention:
        for name, _, _, _, kernel, flops, work in attention(dtype, s, head, causal):
            if name == wanted:
                rate = flops / seconds(work)
                yield (f"attention,{name},,{s},{s},{head},{int(causal)},{kernel},"
                       f"{rate / peak:.4f},{precision}")


def dry_run(asked):
    """The measurements that would be made, one line each."""
    for name, batch, m, n, k, narrow in asked.product:
        print(f"product,{name},{batch},{m},{n},{k},,,,{narrow or 'bf16 or fp16'}")
    for name, s, head, causal in asked.attention:
        print(f"attention,{name},,{s},{s},{head},{int(causal)},,,bf16 or fp16")
    if not asked.product and not asked.attention:
        print(f"{'a quarter' if asked.fast else 'all'} of the products, attention and streams")


def rows(dtype, precision, peak, peak_fp8, bandwidth, fast):
    for name, batch, m, n, k, work in products(dtype, fast):
        rate = 2 * batch * m * n * k / seconds(work)
        yield f"product,{name},{batch},{m},{n},{k},,,{rate / peak:.4f},{precision}"
    if peak_fp8:
        for name, batch, m, n, k, work in narrow_products(fast):
            rate = 2 * batch * m * n * k / seconds(work)
            yield f"product,{name},{batch},{m},{n},{k},,,{rate / peak_fp8:.4f},fp8"
    for name, s, head, causal, kernel, flops, work in attentions(dtype, fast):
        rate = flops / seconds(work)
        yield (f"attention,{name},,{s},{s},{head},{int(causal)},{kernel},{rate / peak:.4f},"
               f"{precision}")
    for name, size, work in streams(dtype, fast):
        yield f"stream,{name},,,{size},,,,{size / seconds(work) / bandwidth:.4f},{precision}"


def known(name):
    short = name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    return KNOWN.get(short, (None, None, None))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", nargs="?", help="the table; left out: rows are only printed")
    parser.add_argument("--peak", type=float, help="dense bf16 peak, TFLOP/s")
    parser.add_argument("--peak-fp8", type=float, help="dense fp8 peak, TFLOP/s")
    parser.add_argument("--bandwidth", type=float, help="memory bandwidth, GB/s")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--fast", action="store_true", help="a quarter of the shapes")
    parser.add_argument("--training", metavar="TRAINING.csv",
                        help="measure what training has besides, into this table")
    parser.add_argument("--product", type=product_shape, action="append", default=[],
                        metavar="PASS,BATCH,M,N,K[,fp8]", help="measure this product; repeatable")
    parser.add_argument("--attention", type=attention_shape, action="append", default=[],
                        metavar="PASS,TOKENS,HEAD,CAUSAL", help="and this attention; repeatable")
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured")
    asked = parser.parse_args()
    if asked.dry_run:
        return dry_run(asked)
    if torch is None:
        sys.exit("this needs PyTorch")
    if not torch.cuda.is_available():
        sys.exit("no GPU that this PyTorch can use")
    torch.cuda.set_device(asked.device)
    gpu = torch.cuda.get_device_properties(asked.device)
    peak, peak_fp8, bandwidth = (given or listed for given, listed in zip(
        (asked.peak, asked.peak_fp8, asked.bandwidth), known(gpu.name)))
    if not peak or not bandwidth:
        sys.exit(f"the data sheet of '{gpu.name}' is not known here; give --peak and --bandwidth")
    wide = torch.cuda.get_device_capability()[0] >= 8 or torch.version.hip
    dtype, precision = (torch.bfloat16, "bf16") if wide else (torch.float16, "fp16")
    lines = [f"# device: {gpu.name}", f"# date: {datetime.date.today().isoformat()}",
             f"# driver: {driver()}", f"# torch: {torch.__version__}",
             f"# memory: {gpu.total_memory} B", f"# sms: {gpu.multi_processor_count}",
             f"# memory_bandwidth: {bandwidth:g} GB/s", f"# peak.{precision}: {peak:g} TFLOP/s"]
    if peak_fp8:
        lines.append(f"# peak.fp8: {peak_fp8:g} TFLOP/s")
    lines.append(f"# host_launch: {host_launch() * 1e6:.2f} us")
    lines.append("kind,pass,batch,m,n,k,causal,implementation,efficiency,precision")
    peaks = peak * 1e12, (peak_fp8 or 0) * 1e12
    given = asked.product or asked.attention
    measured = (asked_rows(asked, dtype, precision, *peaks) if given else
                rows(dtype, precision, *peaks, bandwidth * 1e9, asked.fast))
    for line in measured:
        print(line, flush=True)
        lines.append(line)
    if asked.output:
        with open(asked.output, "w") as file:
            file.write("\n".join(lines) + "\n")
    if asked.training:
        with open(asked.training, "w") as file:
            print(*(line for line in lines if line.startswith("#")),
                  "kind,pass,groups,m,n,k,implementation,microseconds,efficiency",
                  sep="\n", file=file)
            for line in training_rows(peaks[0], bandwidth * 1e9, asked.fast):
                print(line, flush=True)
                print(line, file=file, flush=True)


if __name__ == "__main__":
    main()
