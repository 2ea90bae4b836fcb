// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler, and the mistakes of files that are none.
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "scenarios/documents/error.hpp"
#include "scenarios/foreign/profiler_trace.hpp"
#include "tests/catch.hpp"

namespace profiler_trace_spec {

using forecast::GpuWork;

namespace {

namespace fs = std::filesystem;
const fs::path folder = fs::path(STEPCAST_SOURCE_DIR) / "tests/scenarios/profiler";

forecast::Profile read(const std::string& text) {
  std::istringstream in(text);
  return scenarios::read_profiler_trace(*in.rdbuf(), "trace.json");
}

std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::Error& wrong) {
    return wrong.what();
  }
  return "no complaint";
}

std::string with_event(const std::string& event) {
  return R"({"traceEvents": [{"ph": "M"}, )" + event + "]}";
}

void check_two_steps(const forecast::Profile& profile) {
  CHECK(profile.rank == 3);
  CHECK(profile.world_size == 8);
  REQUIRE(profile.steps.size() == 2);  // steps as the GPU marks them
  CHECK(profile.steps[1].name == "ProfilerStep#11");
  CHECK(profile.steps[1].start_ns == 1'100'000);
  CHECK(profile.steps[1].end_ns == 1'220'500);
  REQUIRE(profile.work.size() == 6);
  CHECK(profile.work[0].kind == GpuWork::compute);
  CHECK(profile.work[1].kind == GpuWork::tensor_comm);  // by its group
  CHECK(profile.work[1].stream == 20);
  CHECK(profile.work[3].kind == GpuWork::copy);
  CHECK(profile.work[4].end_ns == 1'150'250);
  CHECK(profile.work[5].kind == GpuWork::all_gather);  // without a group, by its name
}

}  // namespace

TEST_CASE("a profiler's trace tells the GPU's kernels, their step, and their group") {
  check_two_steps(scenarios::load_profiler_trace(folder / "two_steps.json"));
}

TEST_CASE("a trace compressed by gzip reads the same, one that is cut off does not") {
  const auto packed = fs::temp_directory_path() /
                      ("stepcast_trace_" + std::to_string(std::random_device()()) + ".json.gz");
  std::ifstream file(folder / "two_steps.json", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto* out = gzopen(packed.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  check_two_steps(scenarios::load_profiler_trace(packed));
  fs::resize_file(packed, fs::file_size(packed) / 2);
  CHECK_THROWS_WITH(
      scenarios::load_profiler_trace(packed),
      packed.string() + ":13:29: cannot be unpacked; the compressed file is damaged or cut off");
  fs::remove(packed);
}

TEST_CASE("steps that only the host marks are used where the GPU marks none") {
  const auto profile = read(R"({"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "ts": 1, "dur": 5},
    {"ph": "X", "cat": "Kernel", "name": "gemm", "ts": 2, "dur": 3, "args": {"stream": 7}}]})");
  REQUIRE(profile.steps.size() == 1);
  CHECK(profile.steps[0].end_ns == 6000);
  CHECK_FALSE(profile.rank);
}

TEST_CASE("groups of Megatron, torchtitan and ours name their parallelism") {
  const auto kind = [](const std::string& group) {
    const std::string before =
        R"j({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv(x)", "ts": 1, "dur": 1, )j";
    return read(with_event(before + R"j("args": {"Process Group Description": ")j" + group +
                           R"j(", "stream": 3}})j"))
        .work[0]
        .kind;
  };
  CHECK(kind("TENSOR_MODEL_PARALLEL_GROUP") == GpuWork::tensor_comm);
  CHECK(kind("EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP") == GpuWork::expert_comm);
  CHECK(kind("EXPERT_DATA_PARALLEL_GROUP") == GpuWork::data_comm);
  CHECK(kind("PIPELINE_MODEL_PARALLEL_GROUP") == GpuWork::pipeline_comm);
  CHECK(kind("mesh_dp_shard") == GpuWork::data_comm);
  CHECK(kind("mesh_fsdp") == GpuWork::data_comm);
  CHECK(kind("context") == GpuWork::context_comm);
  CHECK(kind("default_pg") == GpuWork::send_receive);
}

forecast::ProfiledWork work_named(const std::string& kernel) {
  return read(with_event(R"j({"ph": "X", "cat": "kernel", "name": ")j" + kernel +
                         R"j(", "ts": 1, "dur": 1, "args": {"stream": 7}})j"))
      .work[0];
}

TEST_CASE("names of kernels tell products from those of experts, whose groups are no warp groups") {
  const auto sort = [](const std::string& kernel) { return work_named(kernel).sort; };
  using forecast::KernelClass;
  for (const char* name :
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "ampere_bf16_s16816gemm_bf16_128x256_ldg8_tn",
        "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x32_cublas",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, "
        "int, int>, cutlass::gemm::collective::MainloopSm90TmaGmmaWarpSpecialized>>",
        "warpgroup_gemm_kernel", "triton_tem_fused_mm_3",
        "void deep_gemm::fp8_gemm_kernel<4096u, (deep_gemm::GemmType)0>"}) {
    INFO(name);
    CHECK(sort(name) == KernelClass::products);
  }
  for (const char* name :
       {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
        "cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int>>>>",
        "void cutlass::Kernel<cutlass::gemm::kernel::GemmGrouped<>>", "cutlass_grouped_gemm_bf16",
        "_grouped_gemm", "_kernel_cg_persistent_forward_group_gemm", "sm90_m_grouped_bf16_gemm",
        "fp8_m_grouped_gemm_nt_contiguous", "_sdd_kernel", "_dsd_kernel", "fused_moe_kernel",
        "void tensorrt_llm::MoeFCGemm<>",
        "void deep_gemm::fp8_gemm_kernel<4096u, (deep_gemm::GemmType)1>"}) {
    INFO(name);
    CHECK(sort(name) == KernelClass::experts);
  }
  for (const char* name :
       {"void transformer_engine::multi_cast_transpose_kernel<>", "moe_align_block_size_kernel",
        "_per_token_group_quant_fp8", "triton_per_fused_native_group_norm_0"}) {
    INFO(name);
    CHECK(sort(name) == KernelClass::others);
  }
}

TEST_CASE("names of products tell whether their numbers have 8 bits or more") {
  const auto format = [](const std::string& kernel) { return work_named(kernel).format; };
  using forecast::ProductFormat;
  CHECK(format("nvjet_qqtst_128x256_128x6_1x2_h_bz_coopA_TNT") == ProductFormat::narrow);
  CHECK(format("nvjet_sm100_qqtst_128x256_128x6_TNT") == ProductFormat::narrow);
  CHECK(format("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_cublas") == ProductFormat::narrow);
  CHECK(format("void deep_gemm::fp8_gemm_kernel<4096u>") == ProductFormat::narrow);
  CHECK(format("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN") == ProductFormat::wide);
  CHECK(format("ampere_bf16_s16816gemm_bf16_128x256_ldg8_tn") == ProductFormat::wide);
  CHECK(format("cutlass_grouped_gemm") == ProductFormat::unknown);
  CHECK(format("void transformer_engine::cast_fp8_kernel<>") == ProductFormat::unknown);
}

TEST_CASE("a mistake in a trace is said with its place") {
  CHECK(complaint("{\"traceEvents\": [\n {\"ph\": \"X\",\n}") ==
        "trace.json:3:1: this is no JSON; expected a trace as torch.profiler's "
        "export_chrome_trace writes it, whole");
  CHECK(complaint("") ==
        "trace.json:1:1: this is no JSON; expected a trace as torch.profiler's "
        "export_chrome_trace writes it, whole");
  CHECK(
      complaint("{\"model\": 7}") ==
      "trace.json:1:1: no 'traceEvents'; expected a trace as torch.profiler's export_chrome_trace "
      "writes it");
  CHECK(
      complaint("[1, 2]") ==
      "trace.json:1:1: no 'traceEvents'; expected a trace as torch.profiler's export_chrome_trace "
      "writes it");
  CHECK(complaint(with_event(R"({"ph": "X", "cat": "cpu_op", "ts": 1, "dur": 1})")) ==
        "trace.json:1:17: no work of a GPU among 2 events; profile with ProfilerActivity.CUDA");
  const std::string expected = "; expected microseconds as a number";
  CHECK(complaint(with_event(R"({"ph": "X", "cat": "kernel", "ts": "soon"})")) ==
        "trace.json:1:66: traceEvents[1].ts: a text" + expected);
  CHECK(complaint(with_event(R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": null})")) ==
        "trace.json:1:76: traceEvents[1].dur: null" + expected);
  CHECK(complaint(with_event(R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": -2})")) ==
        "trace.json:1:76: traceEvents[1].dur: negative" + expected);
  CHECK(complaint(with_event(R"({"ph": "X", "cat": "kernel", "ts": 1e300})")) ==
        "trace.json:1:66: traceEvents[1].ts: beyond what a time can be" + expected);
  for (const char* far : {"1e300", "-1e300", "18446744073709551615", "-9223372036854775808"})
    CHECK(
        complaint(with_event(R"({"ph": "X", "cat": "kernel", "dur": )" + std::string(far) + "}")) ==
        "trace.json:1:67: traceEvents[1].dur: beyond what a time can be" + expected);
  CHECK_THROWS_WITH(scenarios::load_profiler_trace("no-such-trace.json"),
                    "no-such-trace.json: no such file");
  CHECK_THROWS_WITH(scenarios::load_profiler_trace(folder),
                    folder.string() + ": is a directory; expected a file");
}

TEST_CASE("all mistakes of a trace are told, in the order of the file, also before it breaks off") {
  CHECK(complaint("{\"traceEvents\": [\n{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1e999},\n"
                  "{\"dur\": NaN, \"ts\": [{}]},\n{\"ph\": \"X\"") ==
        "trace.json:2:36: traceEvents[0].ts: beyond what a time can be; expected microseconds as a "
        "number\n"
        "trace.json:3:9: traceEvents[1].dur: beyond what a time can be; expected microseconds as a "
        "number\n"
        "trace.json:3:20: traceEvents[1].ts: a list; expected microseconds as a number\n"
        "trace.json:4:11: this is no JSON; expected a trace as torch.profiler's "
        "export_chrome_trace writes it, whole");
}

TEST_CASE("numbers that matter to nobody may be anything in a trace") {
  const auto profile = read(
      R"({"schemaVersion": 1e999, "distributedInfo": {"rank": 2, "nccl": [NaN]}, "traceEvents": [
      {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 2, "dur": 3,
       "args": {"stream": 7, "flops": Infinity, "deep": {"er": 1e999}}}], "more": {"a": [{}]}})");
  CHECK(profile.rank == 2);
  REQUIRE(profile.work.size() == 1);
  CHECK(profile.work[0].stream == 7);
}

TEST_CASE("a trace of blanks is refused at once") {
  CHECK(complaint("{" + std::string(std::size_t{2} << 20, ' ') + "}") ==
        "trace.json:1:1048579: more than 1048576 bytes of white space in a row; no such file needs "
        "that");
}

}  // namespace profiler_trace_spec
