/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of stepcast: commands as calls, JSON in and out, and fast costs of kernels and
 * collectives. Link with -lstepcast. docs/c-interface.md shows it at work.
 *
 * Threads: every function may be called from any number of threads at once, and one handle may be
 * read by all of them; only the thread that frees a handle must be its last user.
 * Texts are UTF-8 and end in a zero. Those that belong to a handle live as long as it does; those
 * given out through `error` are freed with stepcast_text_free. Every handle and such a text is
 * freed once, by its own function, and not used afterwards; to free null does nothing. No function
 * prints, ends the process or touches signals, and none lets a C++ exception through. */
#ifndef STEPCAST_H
#define STEPCAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STEPCAST_EXPORT
#define STEPCAST_EXPORT __attribute__((visibility("default")))
#endif

/* Grows only when something that is here changes its meaning or goes; then the library has another
 * name (libstepcast.so.1). New functions may come without. */
#define STEPCAST_ABI_VERSION 1
STEPCAST_EXPORT int stepcast_abi_version(void);
/* "0.1.0 (commit 4e5ac4e)" */
STEPCAST_EXPORT const char* stepcast_version(void);

/* ---- commands ---- */

typedef struct stepcast_answer stepcast_answer;
typedef struct stepcast_stop stepcast_stop;

/* A handle by which another thread ends a call: it returns soon, with what it has, and
 * status 130; the document of a search, sweep or purchase then says "interrupted": true. A simulation
 * with "plan": "auto" that had found a plan answers with that, and status 0.
 * It may serve many calls; once requested it ends each of them. */
STEPCAST_EXPORT stepcast_stop* stepcast_stop_new(void);
STEPCAST_EXPORT void stepcast_stop_request(stepcast_stop* stop);
STEPCAST_EXPORT void stepcast_stop_free(stepcast_stop* stop);

/* Receives {"text": ..., figures ...} some ten times a second, on any thread, one call after the
 * other: of searches, simulations with "plan": "auto", sweeps and purchases. */
typedef void (*stepcast_progress)(const char* json, void* user);

/* Runs a command of the command line, and returns when it is done:
 *   {"command": "simulate", "inputs": [FILE or document], "options": {NAME: VALUE}}
 * NAME is an option without its dashes: {"set": {"plan.tensor": 8}, "full": true}. `stop` and
 * `progress` may be null. Never null, except where there is no memory even for that. */
STEPCAST_EXPORT stepcast_answer* stepcast_call(const char* request, stepcast_stop* stop,
                                               stepcast_progress progress, void* user);
/* As the program's exit status: 0 answered, 1 no answer (no plan found), 2 wrong input, 3 a fault
 * of stepcast, 130 stopped. */
STEPCAST_EXPORT int stepcast_answer_status(const stepcast_answer* answer);
/* What --json prints; without an answer {"stepcast", "status", "error", "complaints": [{"place",
 * "file", "line", "column", "text", "unsupported"}]}. */
STEPCAST_EXPORT const char* stepcast_answer_json(const stepcast_answer* answer);
/* What the command line warns of on standard error, as a list of texts: ["...", ...]. */
STEPCAST_EXPORT const char* stepcast_answer_warnings(const stepcast_answer* answer);
/* The page of --report, and the timeline as a Chrome trace, made when they are first asked for;
 * null where the command has none. */
STEPCAST_EXPORT const char* stepcast_answer_page(stepcast_answer* answer);
STEPCAST_EXPORT const char* stepcast_answer_trace(stepcast_answer* answer);
STEPCAST_EXPORT void stepcast_answer_free(stepcast_answer* answer);

/* ---- costs ---- */

typedef struct stepcast_cluster stepcast_cluster;
typedef struct stepcast_group stepcast_group;
typedef struct stepcast_device stepcast_device;

STEPCAST_EXPORT void stepcast_text_free(char* text);

/* A cluster as a scenario writes it, in JSON or YAML: {"node": "dgx-h100", "nodes": 16}. Null, and
 * all complaints in *error, where it is wrong; `error` may be null, here and below. */
STEPCAST_EXPORT stepcast_cluster* stepcast_cluster_new(const char* text, char** error);
STEPCAST_EXPORT void stepcast_cluster_free(stepcast_cluster* cluster);

/* GPUs of a cluster that communicate, counted from 0, in ring order; of a node those that follow
 * each other. `sharing` such groups use each node's NICs at the same time, 1 if this is alone. The
 * group outlives the cluster's handle. */
STEPCAST_EXPORT stepcast_group* stepcast_group_new(const stepcast_cluster* cluster,
                                                   const int64_t* gpus, size_t ranks, int sharing,
                                                   char** error);
STEPCAST_EXPORT void stepcast_group_free(stepcast_group* group);

/* "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast" or "reduce" as a number
 * for the functions below; -1 for any other text. */
STEPCAST_EXPORT int stepcast_collective(const char* name);
/* Seconds of one collective on an idle network; NaN for arguments that cannot be. `bytes` is the
 * whole buffer: the message per rank of an all-reduce, broadcast or reduce; ranks x the shard of
 * the others. */
STEPCAST_EXPORT double stepcast_collective_time(const stepcast_group* group, int collective,
                                                double bytes);
/* The seconds of `count` sizes. Without `bytes` all are NaN; without `seconds` nothing is done. */
STEPCAST_EXPORT void stepcast_collective_times(const stepcast_group* group, int collective,
                                               const double* bytes, double* seconds, size_t count);

/* A device by its name in the catalog, or {"base": "h100-sxm", ...}. */
STEPCAST_EXPORT stepcast_device* stepcast_device_new(const char* text, char** error);
STEPCAST_EXPORT void stepcast_device_free(stepcast_device* device);

/* "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8" or "nvfp4" as a number; -1 for any other text. */
STEPCAST_EXPORT int stepcast_precision(const char* name);

enum stepcast_kernel_kind {
  STEPCAST_PRODUCT = 0, /* batch products (m x k)(k x n) */
  STEPCAST_ATTENTION =
      1,               /* m query and n key tokens, head dimension k, batch = sequences x heads */
  STEPCAST_STREAM = 2, /* element-wise work: traffic alone counts */
  STEPCAST_RANDOM = 3  /* gathers and scatters by index */
};
enum stepcast_kernel_pass {
  STEPCAST_FORWARD = 0,
  STEPCAST_INPUT_GRADIENT = 1, /* of attention: the whole backward pass */
  STEPCAST_WEIGHT_GRADIENT = 2
};
typedef struct stepcast_kernel {
  size_t size;   /* sizeof(stepcast_kernel) */
  int kind;      /* enum stepcast_kernel_kind */
  int precision; /* of stepcast_precision */
  int pass;      /* enum stepcast_kernel_pass */
  int causal;    /* attention */
  int64_t batch, m, n, k;
  /* Both zero: of a product, and of attention with n = m and as many key heads, they follow from
   * its shape. */
  double flops, traffic;
} stepcast_kernel;

/* Seconds of one kernel alone, without what the host takes to launch it; NaN for one that cannot be
 * or that the device has no rate for. */
STEPCAST_EXPORT double stepcast_kernel_time(const stepcast_device* device,
                                            const stepcast_kernel* kernel);

#ifdef __cplusplus
}
#endif
#endif
