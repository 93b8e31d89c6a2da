/* test_terms.c - the loops of backend/terms.h against the scalar formulas: every term, constant,
 * shared and per-lane coefficients, many lanes, several blocks, any number of threads. */
#include "check.h"

#include "backend/terms.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct shape {
    int64_t n;
    int32_t k;
} shape;
static const shape shapes[] = {{0, 1},   {1, 1},   {255, 1},   {257, 1},  {40001, 1}, {0, 3},
                               {5, 300}, {700, 7}, {4000, 10}, {2, 5000}, {40, 1100}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 130000 };

/* How a coefficient array is stored. */
enum { CONSTANT, SHARED, PER_LANE, KINDS };

typedef struct bench {
    mgv_ctx *ctx;
    mgvi_rng rng;
    double *x, *y, *scale, *a, *b; /* MOST each */
    double *out, *want;
} bench;

static void bench_init(bench *t)
{
    t->ctx = mgv_check_ctx();
    t->rng = mgvi_rng_seed(4);
    double **const all[] = {&t->x, &t->y, &t->scale, &t->a, &t->b, &t->out, &t->want};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = mgvi_zeros(t->ctx, MOST, sizeof(double));
        CHECK(*all[i]);
    }
}

static void bench_free(bench *t)
{
    double *const all[] = {t->x, t->y, t->scale, t->a, t->b, t->out, t->want};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mgvi_release(t->ctx, all[i]);
    mgv_ctx_free(t->ctx);
}

/* Coefficients of any kind, legal in every combination of their entries. */
static mgvi_coefs random_coefs(bench *t, mgvi_coef (*sample)(mgvi_rng *), shape s, int kind)
{
    const mgvi_coef one = sample(&t->rng);
    mgvi_coefs c = {
        .scale = {.constant = one.scale}, .a = {.constant = one.a}, .b = {.constant = one.b}};
    if (kind == CONSTANT)
        return c;
    const int32_t lanes = kind == SHARED ? 1 : s.k;
    for (int64_t i = 0; i < s.n * lanes; i++) {
        const mgvi_coef at = sample(&t->rng);
        t->scale[i] = i % 5 ? at.scale : 0;
        t->a[i] = at.a;
        t->b[i] = at.b;
    }
    c.scale = (mgvi_coef_array){.values = t->scale, .lanes = lanes};
    c.a = (mgvi_coef_array){.values = t->a, .lanes = lanes};
    c.b = (mgvi_coef_array){.values = t->b, .lanes = lanes};
    return c;
}

static mgvi_vec vec_of(double *x, shape s) { return (mgvi_vec){.x = x, .n = s.n, .k = s.k}; }

typedef real (*formula)(mgvi_coef c, real x);
typedef real (*stepped)(mgvi_coef c, real x, real step);

static void check_map(const bench *t, const char *name, const mgvi_coefs *c, shape s, formula f,
                      stepped g, double step)
{
    for (int64_t i = 0; i < s.n; i++)
        for (int32_t lane = 0; lane < s.k; lane++) {
            const int64_t at = i * s.k + lane;
            const mgvi_coef coef = mgvi_coefs_at(c, i, lane);
            const double want = f ? f(coef, t->x[at]) : g(coef, t->x[at], step);
            /* log and exp may be rounded differently when inlined: not the same bits */
            const bool same = t->y[at] == want || (isnan(want) && isnan(t->y[at])) ||
                              fabs(t->y[at] - want) <= 1e-14 * fabs(want);
            CHECK_THAT(same, "%s, n = %d, k = %d, at %d: %.17g, expected %.17g", name, (int)s.n,
                       (int)s.k, (int)at, t->y[at], want);
        }
}

static void check_sum(const bench *t, const char *name, const mgvi_coefs *c, shape s, formula f)
{
    for (int32_t lane = 0; lane < s.k; lane++) {
        long double sum = 0, size = 0;
        for (int64_t i = 0; i < s.n; i++) {
            const double term = f(mgvi_coefs_at(c, i, lane), t->x[i * s.k + lane]);
            sum += term;
            size += fabs(term);
        }
        const double want = (double)sum;
        const bool same = t->out[lane] == want || fabs(t->out[lane] - want) <= 1e-14 * (double)size;
        CHECK_THAT(same, "%s, n = %d, k = %d, lane %d: %.17g, expected %.17g", name, (int)s.n,
                   (int)s.k, (int)lane, t->out[lane], want);
    }
}

static void draw(bench *t, shape s, const mgvi_coefs *c, formula clip)
{
    for (int64_t i = 0; i < s.n * s.k; i++) {
        t->x[i] = 2 * mgvi_rng_normal(&t->rng);
        if (clip) /* a feasible dual point, so that sums are finite */
            t->x[i] = clip(mgvi_coefs_at(c, i / s.k, (int32_t)(i % s.k)), t->x[i]);
    }
}

static void check_loss(bench *t, const mgvi_loss_ops *loss, shape s, int kind)
{
    const mgvi_coefs c = random_coefs(t, loss->sample_coef, s, kind);
    mgvi_vec x = vec_of(t->x, s), y = vec_of(t->y, s);
    draw(t, s, &c, NULL);
    mgvi_loss_value(t->ctx, loss, &c, &x, t->out);
    check_sum(t, loss->name, &c, s, loss->value);
    if (loss->grad) {
        mgvi_loss_grad(t->ctx, loss, &c, &x, &y);
        check_map(t, loss->name, &c, s, loss->grad, NULL, 0);
        mgvi_loss_curv(t->ctx, loss, &c, &x, &y);
        check_map(t, loss->name, &c, s, loss->curv, NULL, 0);
    }
    mgvi_loss_prox(t->ctx, loss, &c, &x, 0.7, &y);
    check_map(t, loss->name, &c, s, NULL, loss->prox, 0.7);
    memcpy(t->y, t->x, (size_t)(s.n * s.k) * sizeof(double));
    mgvi_loss_dual_clip(t->ctx, loss, &c, &y);
    check_map(t, loss->name, &c, s, loss->dual_clip, NULL, 0);
    draw(t, s, &c, loss->dual_clip);
    mgvi_loss_conj(t->ctx, loss, &c, &x, t->out);
    check_sum(t, loss->name, &c, s, loss->conj);
}

/* t v is feasible, and it is the largest such t: a little more leaves the domain, or t = 1. */
static void check_dual_scale(const bench *t, const mgvi_penalty_ops *pen, const mgvi_coefs *c,
                             shape s)
{
    for (int32_t lane = 0; lane < s.k; lane++) {
        const double scale = t->out[lane];
        bool inside = true, beyond = scale == 1;
        for (int64_t i = 0; i < s.n; i++) {
            const mgvi_coef at = mgvi_coefs_at(c, i, lane);
            const double v = t->x[i * s.k + lane];
            inside = inside && isfinite(pen->conj(at, scale * v * (1 - 1e-15)));
            beyond = beyond || pen->conj(at, (scale + 1e-9) * v) == INFINITY;
        }
        CHECK_THAT(scale >= 0 && scale <= 1 && inside && beyond, "%s: %g", pen->name, scale);
    }
}

static void check_penalty(bench *t, const mgvi_penalty_ops *pen, shape s, int kind)
{
    const mgvi_coefs c = random_coefs(t, pen->sample_coef, s, kind);
    mgvi_vec x = vec_of(t->x, s), y = vec_of(t->y, s);
    mgvi_arena arena;
    mgvi_penalty r;
    mgvi_arena_init(&arena, t->ctx);
    CHECK_OK(t->ctx, mgvi_penalty_open(&arena, pen, &c, NULL, s.n, s.k, &r));
    draw(t, s, &c, NULL);
    mgvi_penalty_value(&r, &x, t->out);
    check_sum(t, pen->name, &c, s, pen->value);
    mgvi_penalty_prox(&r, &x, 0.7, &y);
    check_map(t, pen->name, &c, s, NULL, pen->prox, 0.7);
    mgvi_penalty_dual_scale(&r, &x, t->out);
    check_dual_scale(t, pen, &c, s);
    draw(t, s, &c, pen->dual_clip);
    if (pen->mirror) {
        mgvi_penalty_mirror(&r, &x, &y);
        check_map(t, pen->name, &c, s, pen->mirror, NULL, 0);
    }
    mgvi_penalty_conj(&r, &x, t->out);
    check_sum(t, pen->name, &c, s, pen->conj);
    mgvi_arena_free(&arena);
}

TEST(loops_apply_the_formulas)
{
    bench t;
    bench_init(&t);
    for (int i = 0; i < SHAPES; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            for (int j = 0; !mgvi_loss_at(j)->joint; j++) /* these stand first */
                check_loss(&t, mgvi_loss_at(j), shapes[i], kind);
            for (int j = 0; !mgvi_penalty_at(j)->whole; j++)
                check_penalty(&t, mgvi_penalty_at(j), shapes[i], kind);
        }
    bench_free(&t);
}

/* Sums are the only place where threads could matter; more blocks than threads, and fewer. */
TEST(sums_have_the_same_bits_for_any_number_of_threads)
{
    static const shape cases[] = {{MOST, 1}, {13000, 10}, {120, 1000}, {20000, 1}};
    bench t;
    bench_init(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int j = 0; !mgvi_loss_at(j)->joint; j++) {
            const mgvi_loss_ops *loss = mgvi_loss_at(j);
            const mgvi_coefs c = random_coefs(&t, loss->sample_coef, cases[i], SHARED);
            const size_t bytes = (size_t)cases[i].k * sizeof(double);
            mgvi_vec x = vec_of(t.x, cases[i]);
            draw(&t, cases[i], &c, loss->dual_clip);
            for (int threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
                CHECK_OK(t.ctx, mgv_ctx_set_threads(t.ctx, threads));
                mgvi_loss_conj(t.ctx, loss, &c, &x, t.out);
                if (threads == 1)
                    memcpy(t.want, t.out, bytes);
                CHECK(memcmp(t.want, t.out, bytes) == 0);
                CHECK(isfinite(t.out[0]));
            }
        }
    bench_free(&t);
}

/* Losses of many classes: the sums of the rows, whatever the threads. */
TEST(joint_losses_are_summed_by_rows)
{
    enum { N = 4000, K = 5 };
    bench t;
    bench_init(&t);
    for (int j = 0; j < mgvi_loss_count(); j++) {
        const mgvi_loss_ops *loss = mgvi_loss_at(j);
        double number[N], want = 0, first = 0;
        mgvi_vec x = vec_of(t.x, (shape){N, K});
        if (!loss->joint)
            continue;
        for (int i = 0; i < N; i++) {
            number[i] = i % K;
            for (int c = 0; c < K; c++)
                t.x[i * K + c] = sin(i + 3 * c);
            want += loss->joint->value(0.5, t.x + i * K, K, i % K);
        }
        const mgvi_coefs c = {.scale = {.constant = 0.5}, .a = {.values = number, .lanes = 1}};
        for (int threads = 1; threads <= 5; threads += 2) {
            CHECK_OK(t.ctx, mgv_ctx_set_threads(t.ctx, threads));
            mgvi_loss_value(t.ctx, loss, &c, &x, t.out);
            first = threads == 1 ? t.out[0] : first;
            CHECK(t.out[0] == first && t.out[1] == 0);
            CHECK_NEAR(t.out[0], want, 1e-9, "%s", loss->name);
        }
    }
    bench_free(&t);
}

/* One bad entry shows in its lane's sum and in no other. */
TEST(infinity_and_nan_reach_the_sum)
{
    bench t;
    bench_init(&t);
    const shape s = {5000, 4};
    const mgvi_coefs c = {.scale = {.constant = 1}};
    const mgvi_loss_ops *hinge = mgvi_loss_find("hinge");
    mgvi_vec x = vec_of(t.x, s);
    draw(&t, s, &c, hinge->dual_clip);
    t.x[4 * 3217 + 2] = 1e-300; /* just outside [-1, 0] */
    t.x[4 * 4999 + 1] = NAN;
    mgvi_loss_conj(t.ctx, hinge, &c, &x, t.out);
    CHECK(isfinite(t.out[0]) && !isfinite(t.out[1]) && t.out[2] == INFINITY && isfinite(t.out[3]));
    mgvi_loss_value(t.ctx, hinge, &c, &x, t.out);
    CHECK(isfinite(t.out[0]) && isnan(t.out[1]) && isfinite(t.out[2]) && isfinite(t.out[3]));
    bench_free(&t);
}

int main(void)
{
    return RUN(loops_apply_the_formulas, sums_have_the_same_bits_for_any_number_of_threads,
               joint_losses_are_summed_by_rows, infinity_and_nan_reach_the_sum);
}
