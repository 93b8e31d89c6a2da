/* backend/vec.h - blocks of k >= 1 columns of float64, interleaved: element (i, c) is x[i*k + c].
 * Lanes are folds, classes or path points that run in lock-step; results of reductions are one
 * number per lane. Sums are taken over fixed blocks in fixed order (same bits for any threads). */
#ifndef MGVI_BACKEND_VEC_H
#define MGVI_BACKEND_VEC_H

#include "base/context.h"
#include "base/memory.h"

#include <math.h>

typedef enum mgvi_space { MGVI_ROWS = 0, MGVI_COLS = 1 } mgvi_space;

typedef struct mgvi_vec {
    double *x; /* of an address that means something to its backend alone, but for the cpu's */
    int64_t n;
    int32_t k;
    mgvi_space space;
    const struct mgvi_backend *at; /* backend.h; NULL: host memory, the cpu's */
} mgvi_vec;

/* Where the arena's context has its vectors, cleared; goes with the arena. MGV_E_MEMORY with a
 * sentence. */
mgv_status mgvi_vec_new(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k, mgvi_vec *out);
/* The same of a list, NULL at its end. */
mgv_status mgvi_vecs_new(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k,
                         mgvi_vec *const *out);
#define MGVI_VECS(arena, space, n, k, ...)                                                         \
    mgvi_vecs_new(arena, space, n, k, (mgvi_vec *const[]){__VA_ARGS__, NULL})
/* The same in host memory. */
mgv_status mgvi_vec_new_host(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k,
                             mgvi_vec *out);
/* Whether a context has its vectors there. */
bool mgvi_ctx_in_host(const mgv_ctx *ctx);
static inline int64_t mgvi_count_nonzeros(const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}
/* A view of k = 1 over the caller's memory. */
mgvi_vec mgvi_vec_wrap(double *x, int64_t n, mgvi_space space);
/* Views: all lanes as one long vector; rows begin to begin + n. */
mgvi_vec mgvi_vec_flat(const mgvi_vec *x);
mgvi_vec mgvi_vec_part(const mgvi_vec *x, int64_t begin, int64_t n);

/* The doors to host memory; solver/sweep/ does without. The numbers of x, good until x changes. */
const double *mgvi_vec_host(const mgvi_vec *x);
mgvi_vec mgvi_vec_hosted(const mgvi_vec *x); /* as a vector of the cpu's; not to be changed */
/* The same to be changed: x has the changes after mgvi_vec_close(), and is let alone until then. */
double *mgvi_vec_open(mgvi_vec *x);
mgvi_vec mgvi_vec_opened(mgvi_vec *x); /* likewise */
void mgvi_vec_close(mgvi_vec *x);
/* All of x from host memory, and into it; one number, by its place among all lanes. */
void mgvi_vec_upload(mgv_ctx *ctx, const double *from, mgvi_vec *x);
void mgvi_vec_download(mgv_ctx *ctx, const mgvi_vec *x, double *to);
double mgvi_vec_at(const mgvi_vec *x, int64_t at);
void mgvi_vec_set(mgvi_vec *x, int64_t at, double value);

void mgvi_vec_fill(mgv_ctx *ctx, mgvi_vec *y, double value);
void mgvi_vec_copy(mgv_ctx *ctx, const mgvi_vec *x, mgvi_vec *y);
void mgvi_vec_scale(mgv_ctx *ctx, double a, mgvi_vec *y);
/* y = a x + b y */
void mgvi_vec_axpby(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, mgvi_vec *y);
/* out = a x + b y; out may be x or y */
void mgvi_vec_add(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, const mgvi_vec *y,
                  mgvi_vec *out);
/* out_i = x_i y_i; out may be x or y */
void mgvi_vec_multiply(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, mgvi_vec *out);
/* out_i = low where x_i < bound, high elsewhere; out may be x */
void mgvi_vec_split(mgv_ctx *ctx, const mgvi_vec *x, double bound, double low, double high,
                    mgvi_vec *out);
/* y_i to the nearest number in [low, high]; either may be infinite. NaN stays. */
void mgvi_vec_clip(mgv_ctx *ctx, double low, double high, mgvi_vec *y);
void mgvi_vec_swap(mgvi_vec *x, mgvi_vec *y);
/* out[c], c < k. Of an empty vector: 0, the minimum +infinity. A NaN entry makes its lane NaN. */
void mgvi_vec_dot(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, double *out);
/* The same over all lanes. */
double mgvi_vec_inner(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y);
void mgvi_vec_sum(mgv_ctx *ctx, const mgvi_vec *x, double *out);
void mgvi_vec_min(mgv_ctx *ctx, const mgvi_vec *x, double *out);
void mgvi_vec_norm2(mgv_ctx *ctx, const mgvi_vec *x, double *out); /* no overflow, no underflow */
void mgvi_vec_abs_max(mgv_ctx *ctx, const mgvi_vec *x, double *out);
void mgvi_vec_abs_sum(mgv_ctx *ctx, const mgvi_vec *x, double *out);

/* Places, among all lanes. Those of numbers other than 0, in order; their count. `list` has room
 * for all, or is NULL. */
int64_t mgvi_vec_nonzeros(const mgvi_vec *x, int64_t *list);
/* The first of the least numbers. */
int64_t mgvi_vec_first_least(const mgvi_vec *x, double *least);
/* x >= 0: the first place up to which, itself included, the sum exceeds `mark`, or else the last
 * one that is not 0; -1: all are 0. */
int64_t mgvi_vec_draw(const mgvi_vec *x, double mark);

/* Groups of `size` numbers one after the other: v+ is the projection of v + step onto balls of the
 * radius > 0, group by group, and step becomes v+ - v. */
void mgvi_vec_project(mgv_ctx *ctx, int64_t size, double radius, mgvi_vec *v, mgvi_vec *step);

/* (sum_i |x_i|^p)^(1/p), 1 <= p <= infinity; no overflow, no underflow. */
double mgvi_lp_norm(const double *x, int64_t n, double p);
/* q with 1/p + 1/q = 1; infinite for p = 1. */
static inline double mgvi_dual_exponent(double p) { return isinf(p) ? 1 : p / (p - 1); }
#endif
