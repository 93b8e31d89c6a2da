/* vec.c - vectors, wherever they lie: their backends do the work. */
#include "backend/backend.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const mgvi_backend *mgvi_backend_find(const char *name)
{
    return strcmp(name, mgvi_backend_cpu.name) == 0 ? &mgvi_backend_cpu : NULL;
}

static inline bool alike(const mgvi_vec *x, const mgvi_vec *y)
{
    return x->n == y->n && x->k == y->k && x->at == y->at;
}

bool mgvi_ctx_in_host(const mgv_ctx *ctx)
{
    return !ctx->backend || ctx->backend == &mgvi_backend_cpu;
}

static mgv_status make(mgvi_arena *arena, const mgvi_backend *at, mgvi_vec *out)
{
    int64_t count;
    if (out->n < 0 || out->k < 1 || __builtin_mul_overflow(out->n, (int64_t)out->k, &count))
        return MGVI_FAIL(arena->ctx, MGV_E_MEMORY,
                         "a vector of %" PRId64 " x %" PRId32 " numbers does not fit in memory",
                         out->n, out->k);
    out->at = at;
    out->x = mgvi_backend_of(out)->alloc(arena, count);
    return out->x ? MGV_OK : MGV_E_MEMORY;
}

mgv_status mgvi_vec_new(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k, mgvi_vec *out)
{
    *out = (mgvi_vec){.n = n, .k = k, .space = space};
    return make(arena, mgvi_ctx_in_host(arena->ctx) ? NULL : arena->ctx->backend, out);
}

mgv_status mgvi_vecs_new(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k,
                         mgvi_vec *const *out)
{
    for (; *out; out++)
        MGVI_TRY(mgvi_vec_new(arena, space, n, k, *out));
    return MGV_OK;
}

mgv_status mgvi_vec_new_host(mgvi_arena *arena, mgvi_space space, int64_t n, int32_t k,
                             mgvi_vec *out)
{
    *out = (mgvi_vec){.n = n, .k = k, .space = space};
    return make(arena, NULL, out);
}

mgvi_vec mgvi_vec_wrap(double *x, int64_t n, mgvi_space space)
{
    return (mgvi_vec){.x = x, .n = n, .k = 1, .space = space};
}

mgvi_vec mgvi_vec_flat(const mgvi_vec *x)
{
    mgvi_vec out = *x;
    out.n = x->n * x->k;
    out.k = 1;
    return out;
}

mgvi_vec mgvi_vec_part(const mgvi_vec *x, int64_t begin, int64_t n)
{
    assert(begin >= 0 && n >= 0 && begin + n <= x->n);
    mgvi_vec out = *x;
    out.x += begin * x->k;
    out.n = n;
    return out;
}

void mgvi_vec_swap(mgvi_vec *x, mgvi_vec *y)
{
    assert(alike(x, y));
    double *const t = x->x;
    x->x = y->x;
    y->x = t;
}

/* ---- host memory ---------------------------------------------------------------------------- */
const double *mgvi_vec_host(const mgvi_vec *x) { return mgvi_backend_of(x)->host(x); }

mgvi_vec mgvi_vec_hosted(const mgvi_vec *x)
{
    mgvi_vec out = *x;
    out.x = (double *)(uintptr_t)mgvi_vec_host(x);
    out.at = NULL;
    return out;
}

double *mgvi_vec_open(mgvi_vec *x) { return mgvi_backend_of(x)->open(x); }

mgvi_vec mgvi_vec_opened(mgvi_vec *x)
{
    mgvi_vec out = *x;
    out.x = mgvi_vec_open(x);
    out.at = NULL;
    return out;
}

void mgvi_vec_close(mgvi_vec *x) { mgvi_backend_of(x)->close(x); }

void mgvi_vec_upload(mgv_ctx *ctx, const double *from, mgvi_vec *x)
{
    mgvi_backend_of(x)->upload(ctx, from, x);
}

void mgvi_vec_download(mgv_ctx *ctx, const mgvi_vec *x, double *to)
{
    mgvi_backend_of(x)->download(ctx, x, to);
}

/* A number among all lanes, as a vector. */
static mgvi_vec one_of(const mgvi_vec *x, int64_t at)
{
    const mgvi_vec flat = mgvi_vec_flat(x);
    return mgvi_vec_part(&flat, at, 1);
}

double mgvi_vec_at(const mgvi_vec *x, int64_t at)
{
    const mgvi_vec one = one_of(x, at);
    return *mgvi_vec_host(&one);
}

void mgvi_vec_set(mgvi_vec *x, int64_t at, double value)
{
    mgvi_vec one = one_of(x, at);
    *mgvi_vec_open(&one) = value;
    mgvi_vec_close(&one);
}

/* ---- element by element --------------------------------------------------------------------- */
void mgvi_vec_fill(mgv_ctx *ctx, mgvi_vec *y, double value)
{
    mgvi_backend_of(y)->fill(ctx, y, value);
}

void mgvi_vec_copy(mgv_ctx *ctx, const mgvi_vec *x, mgvi_vec *y)
{
    assert(x->n == y->n && x->k == y->k);
    if (x->at == y->at && x->x == y->x)
        return;
    if (x->at == y->at)
        mgvi_backend_of(x)->copy(ctx, x, y);
    else if (y->at)
        mgvi_vec_upload(ctx, mgvi_vec_host(x), y);
    else
        mgvi_vec_download(ctx, x, y->x);
}

void mgvi_vec_scale(mgv_ctx *ctx, double a, mgvi_vec *y) { mgvi_backend_of(y)->scale(ctx, a, y); }

void mgvi_vec_axpby(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, mgvi_vec *y)
{
    assert(alike(x, y));
    mgvi_backend_of(y)->axpby(ctx, a, x, b, y);
}

void mgvi_vec_add(mgv_ctx *ctx, double a, const mgvi_vec *x, double b, const mgvi_vec *y,
                  mgvi_vec *out)
{
    assert(alike(x, y) && alike(x, out));
    mgvi_backend_of(out)->add(ctx, a, x, b, y, out);
}

void mgvi_vec_multiply(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, mgvi_vec *out)
{
    assert(alike(x, y) && alike(x, out));
    mgvi_backend_of(out)->multiply(ctx, x, y, out);
}

void mgvi_vec_split(mgv_ctx *ctx, const mgvi_vec *x, double bound, double low, double high,
                    mgvi_vec *out)
{
    assert(alike(x, out));
    mgvi_backend_of(out)->split(ctx, x, bound, low, high, out);
}

void mgvi_vec_clip(mgv_ctx *ctx, double low, double high, mgvi_vec *y)
{
    mgvi_backend_of(y)->clip(ctx, low, high, y);
}

void mgvi_vec_project(mgv_ctx *ctx, int64_t size, double radius, mgvi_vec *v, mgvi_vec *step)
{
    assert(alike(v, step) && v->k == 1 && v->n % size == 0);
    mgvi_backend_of(v)->project(ctx, size, radius, v, step);
}

/* ---- reductions ----------------------------------------------------------------------------- */
static void reduce(mgv_ctx *ctx, mgvi_reduction what, const mgvi_vec *x, const mgvi_vec *y,
                   double *out)
{
    mgvi_backend_of(x)->reduce(ctx, what, x, y, out);
    mgvi_backend_join(ctx, what, x, out);
}

void mgvi_vec_dot(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y, double *out)
{
    assert(alike(x, y));
    reduce(ctx, MGVI_REDUCE_DOT, x, y, out);
}

double mgvi_vec_inner(mgv_ctx *ctx, const mgvi_vec *x, const mgvi_vec *y)
{
    const mgvi_vec a = mgvi_vec_flat(x), b = mgvi_vec_flat(y);
    double sum;
    mgvi_vec_dot(ctx, &a, &b, &sum);
    return sum;
}

void mgvi_vec_sum(mgv_ctx *ctx, const mgvi_vec *x, double *out)
{
    reduce(ctx, MGVI_REDUCE_SUM, x, NULL, out);
}

void mgvi_vec_min(mgv_ctx *ctx, const mgvi_vec *x, double *out)
{
    reduce(ctx, MGVI_REDUCE_MIN, x, NULL, out);
}

void mgvi_vec_abs_max(mgv_ctx *ctx, const mgvi_vec *x, double *out)
{
    reduce(ctx, MGVI_REDUCE_ABS_MAX, x, NULL, out);
}

void mgvi_vec_abs_sum(mgv_ctx *ctx, const mgvi_vec *x, double *out)
{
    reduce(ctx, MGVI_REDUCE_ABS_SUM, x, NULL, out);
}

/* One lane again, divided by its largest entry. */
static double scaled_norm2(const mgvi_vec *x, int32_t lane)
{
    const int64_t count = x->n * x->k;
    const double *at = mgvi_vec_host(x);
    double largest = 0, sum = 0;
    for (int64_t p = lane; p < count; p += x->k)
        largest = fabs(at[p]) > largest || isnan(at[p]) ? fabs(at[p]) : largest;
    if (!(largest > 0) || isinf(largest))
        return largest;
    for (int64_t p = lane; p < count; p += x->k) {
        const double v = at[p] / largest;
        sum += v * v;
    }
    return largest * sqrt(sum);
}

void mgvi_vec_norm2(mgv_ctx *ctx, const mgvi_vec *x, double *out)
{
    /* Below this a square that underflowed may be missing from the sum: n DBL_MIN / 1e-280 is
     * beneath the rounding of the sum for every n that fits in memory. */
    const double smallest = 1e-280;
    reduce(ctx, MGVI_REDUCE_SQUARES, x, NULL, out);
    for (int32_t c = 0; c < x->k; c++)
        out[c] = isfinite(out[c]) && out[c] >= smallest ? sqrt(out[c]) : scaled_norm2(x, c);
}

/* ---- places ---------------------------------------------------------------------------------- */
int64_t mgvi_vec_nonzeros(const mgvi_vec *x, int64_t *list)
{
    int64_t count = 0;
    const double *at = mgvi_vec_host(x);
    if (!list)
        return mgvi_count_nonzeros(at, x->n * x->k);
    for (int64_t i = 0; i < x->n * x->k; i++) {
        list[count] = i;
        count += at[i] != 0;
    }
    return count;
}

int64_t mgvi_vec_first_least(const mgvi_vec *x, double *least)
{
    const double *at = mgvi_vec_host(x);
    int64_t first = 0;
    for (int64_t i = 1; i < x->n * x->k; i++)
        if (at[i] < at[first])
            first = i;
    *least = at[first];
    return first;
}

int64_t mgvi_vec_draw(const mgvi_vec *x, double mark)
{
    const double *at = mgvi_vec_host(x);
    int64_t last = -1;
    double below = 0;
    for (int64_t i = 0; i < x->n * x->k; i++) {
        if (at[i] == 0)
            continue;
        last = i;
        below += at[i];
        if (mark < below)
            break;
    }
    return last;
}

double mgvi_lp_norm(const double *x, int64_t n, double p)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    if (isinf(most) || isinf(p))
        return most;
    const double unit = most > 0 ? most : 1; /* all zeros, or NaN, which the sum shows */
    for (int64_t i = 0; i < n; i++) {
        const double t = fabs(x[i]) / unit;
        sum += p == 2 ? t * t : p == 1 ? t : pow(t, p);
    }
    return unit * (p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, 1 / p));
}
