/* test_whole.c - laws that every registered penalty of a whole vector obeys, through the calls of
 * backend/terms.h: interleaved lanes, each with its own strength. */
#include "check.h"

#include "backend/terms.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TRIALS = 300, MOST = 60, LANES = 3 };

/* One random penalty with vectors of n x k beside it. */
typedef struct sample {
    mgv_ctx *ctx;
    mgvi_arena arena;
    mgvi_rng rng;
    const mgvi_penalty_ops *ops;
    const void *data;
    double scale[MOST * LANES], a[MOST * LANES], b[MOST * LANES];
    mgvi_coefs coefs;
    mgvi_penalty r;
    mgvi_vec w, v, p, g, h;
} sample;

static void sample_open(sample *t, const mgvi_penalty_ops *ops, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    t->ctx = mgv_check_ctx();
    t->ops = ops;
    t->rng = mgvi_rng_seed(seed);
    mgvi_arena_init(&t->arena, t->ctx);
    const int64_t n = 1 + mgvi_rng_below(&t->rng, MOST);
    const int32_t k = seed % 2 ? 1 : LANES;
    for (int i = 0; i < MOST * LANES; i++) {
        const mgvi_coef c = ops->sample_coef(&t->rng);
        t->scale[i] = c.scale;
        t->a[i] = c.a;
        t->b[i] = c.b;
    }
    t->coefs = (mgvi_coefs){.scale = {.values = t->scale, .lanes = k},
                            .a = {.values = t->a, .lanes = k},
                            .b = {.values = t->b, .lanes = k}};
    if (ops->whole->sample_data)
        CHECK_OK(t->ctx, ops->whole->sample_data(&t->arena, &t->rng, n, &t->data));
    CHECK_OK(t->ctx, mgvi_penalty_open(&t->arena, ops, &t->coefs, t->data, n, k, &t->r));
    mgvi_vec *const all[] = {&t->w, &t->v, &t->p, &t->g, &t->h};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK_OK(t->ctx, mgvi_vec_new(&t->arena, MGVI_COLS, n, k, all[i]));
}

static void sample_close(sample *t)
{
    mgvi_arena_free(&t->arena);
    mgv_ctx_free(t->ctx);
}

/* tv2d has no conjugate: it has laws of its own in test_prox.c. */
static bool in_turn(const mgvi_penalty_ops *ops) { return ops->whole && (ops->can & MGVI_CONJ); }

#define FOR_EACH_SAMPLE(t, trials)                                                                 \
    for (int t##_i = 0; t##_i < mgvi_penalty_count(); t##_i++)                                     \
        for (uint64_t t##_seed = 1; in_turn(mgvi_penalty_at(t##_i)) && t##_seed <= (trials);       \
             t##_seed++)

static void draw(sample *t, mgvi_vec *x)
{
    for (int64_t i = 0; i < x->n; i++) {
        const double size = pow(10, 3 * mgvi_rng_uniform(&t->rng) - 2);
        for (int32_t c = 0; c < x->k; c++)
            x->x[i * x->k + c] = mgvi_rng_below(&t->rng, 8) ? size * mgvi_rng_normal(&t->rng) : 0;
    }
}

/* A dual point of the size of the strength, in the domain of the conjugate. */
static void draw_dual(sample *t, mgvi_vec *v)
{
    double scale[LANES];
    draw(t, v);
    for (int64_t i = 0; i < v->n; i++)
        for (int32_t c = 0; c < v->k; c++)
            v->x[i * v->k + c] *= mgvi_coefs_at(&t->coefs, 0, c).scale;
    mgvi_penalty_dual_scale(&t->r, v, scale);
    for (int64_t i = 0; i < v->n; i++)
        for (int32_t c = 0; c < v->k; c++)
            v->x[i * v->k + c] *= scale[c] * (scale[c] < 1 ? 1 - 1e-14 : 1);
}

/* R(w) + R*(v) - <w, v> of each lane, and the size of the numbers in it. */
static void young_gap(sample *t, const mgvi_vec *w, const mgvi_vec *v, double *gap, double *unit)
{
    double value[LANES], conj[LANES], product[LANES], size[LANES] = {0};
    mgvi_penalty_value(&t->r, w, value);
    mgvi_penalty_conj(&t->r, v, conj);
    mgvi_vec_dot(t->ctx, w, v, product);
    for (int64_t i = 0; i < w->n * w->k; i++)
        size[i % w->k] += fabs(w->x[i] * v->x[i]);
    for (int32_t c = 0; c < w->k; c++) {
        gap[c] = value[c] + conj[c] - product[c];
        unit[c] = fabs(value[c]) + fabs(conj[c]) + size[c];
    }
}

TEST(the_registry_lists_them_after_the_separable_ones)
{
    int seen = 0;
    for (int i = 0; i < mgvi_penalty_count(); i++) {
        const mgvi_penalty_ops *ops = mgvi_penalty_at(i);
        CHECK(mgvi_penalty_find(ops->name) == ops && *ops->summary && ops->sample_coef);
        CHECK(!!(ops->can & MGVI_SEPARABLE) == !ops->whole && (seen == 0 || ops->whole));
        seen += ops->whole != NULL;
        if (!ops->whole)
            continue;
        CHECK(!!(ops->can & MGVI_VALUE) == !!ops->whole->value);
        CHECK(!!(ops->can & MGVI_PROX) == !!ops->whole->prox);
        CHECK(!!(ops->can & MGVI_CONJ) == !!ops->whole->conj);
        CHECK(!!(ops->can & MGVI_MIRROR) == !!ops->whole->mirror);
        CHECK(!!(ops->can & MGVI_DUAL_CLIP) == !!ops->whole->dual_scale);
        CHECK(!ops->value && !ops->prox && !ops->conj && !ops->mirror && !ops->dual_clip);
    }
    CHECK(seen > 0);
}

/* p = prox(w): (w - p)/step is a subgradient at p, so Fenchel-Young holds with equality (Moreau).
 * The subgradient may leave the domain of the conjugate by rounding. */
TEST(prox_and_its_residual_are_a_conjugate_pair)
{
    FOR_EACH_SAMPLE(t, TRIALS)
    {
        sample t;
        double gap[LANES], unit[LANES], inside[LANES];
        sample_open(&t, mgvi_penalty_at(t_i), t_seed);
        const double step = pow(10, 4 * mgvi_rng_uniform(&t.rng) - 2);
        draw(&t, &t.w);
        mgvi_penalty_prox(&t.r, &t.w, step, &t.p);
        mgvi_vec_add(t.ctx, 1 / step, &t.w, -1 / step, &t.p, &t.v);
        mgvi_penalty_dual_scale(&t.r, &t.v, inside);
        for (int64_t i = 0; i < t.v.n * t.v.k; i++)
            t.v.x[i] *= inside[i % t.v.k] * (inside[i % t.v.k] < 1 ? 1 - 1e-14 : 1);
        young_gap(&t, &t.p, &t.v, gap, unit);
        double size[LANES]; /* w - p is rounded like w, however small the strength */
        mgvi_vec_norm2(t.ctx, &t.w, size);
        for (int32_t c = 0; c < t.w.k; c++) {
            const double slip = 1e-14 * size[c] / step / mgvi_coefs_at(&t.coefs, 0, c).scale;
            CHECK_LE(1 - inside[c], 1e-9 + slip, "%s, seed %d", t.ops->name, (int)t_seed);
            CHECK_NEAR(gap[c], 0, 1e-9 * unit[c], "%s, seed %d", t.ops->name, (int)t_seed);
        }
        mgvi_penalty_prox(&t.r, &t.w, step, &t.w); /* in place */
        CHECK(memcmp(t.w.x, t.p.x, (size_t)(t.w.n * t.w.k) * sizeof(double)) == 0);
        sample_close(&t);
    }
}

/* No pair falls below; the mirror map's pair has equality, and its value of R is finite. */
TEST(fenchel_young_holds_with_equality_at_the_mirror)
{
    FOR_EACH_SAMPLE(t, TRIALS)
    {
        sample t;
        double gap[LANES], unit[LANES];
        sample_open(&t, mgvi_penalty_at(t_i), t_seed);
        draw(&t, &t.w);
        mgvi_penalty_prox(&t.r, &t.w, 1, &t.p); /* a point where R is finite */
        draw_dual(&t, &t.v);
        young_gap(&t, &t.p, &t.v, gap, unit);
        for (int32_t c = 0; c < t.w.k; c++)
            CHECK_LE(-gap[c], 1e-12 * unit[c], "%s, seed %d", t.ops->name, (int)t_seed);
        if (t.ops->can & MGVI_MIRROR) {
            mgvi_penalty_mirror(&t.r, &t.v, &t.p);
            young_gap(&t, &t.p, &t.v, gap, unit);
            for (int32_t c = 0; c < t.w.k; c++)
                CHECK_NEAR(gap[c], 0, 1e-11 * unit[c], "%s, seed %d", t.ops->name, (int)t_seed);
        }
        sample_close(&t);
    }
}

/* (R*(v + e g) - R*(v - e g))/(2 e) = <mirror(v), g>. */
TEST(mirror_is_the_gradient_of_the_conjugate)
{
    FOR_EACH_SAMPLE(t, TRIALS)
    {
        sample t;
        if (!(mgvi_penalty_at(t_i)->can & MGVI_MIRROR))
            continue;
        sample_open(&t, mgvi_penalty_at(t_i), t_seed);
        draw_dual(&t, &t.v);
        draw_dual(&t, &t.g);
        mgvi_penalty_mirror(&t.r, &t.v, &t.p);
        double up[LANES], down[LANES], slope[LANES];
        const double e = 1e-6;
        mgvi_vec_add(t.ctx, 1, &t.v, e, &t.g, &t.h);
        mgvi_penalty_conj(&t.r, &t.h, up);
        mgvi_vec_add(t.ctx, 1, &t.v, -e, &t.g, &t.h);
        mgvi_penalty_conj(&t.r, &t.h, down);
        mgvi_vec_dot(t.ctx, &t.p, &t.g, slope);
        for (int32_t c = 0; c < t.w.k; c++) {
            const double size = (fabs(up[c]) + mgvi_coefs_at(&t.coefs, 0, c).scale) * 1e-8;
            CHECK_NEAR((up[c] - down[c]) / (2 * e), slope[c], size + 1e-6 * fabs(slope[c]),
                       "%s, seed %d", t.ops->name, (int)t_seed);
        }
        sample_close(&t);
    }
}

/* Lanes do not see each other: each gives what it gives alone. */
TEST(a_lane_alone_has_the_same_bits)
{
    FOR_EACH_SAMPLE(t, 20)
    {
        sample t;
        sample_open(&t, mgvi_penalty_at(t_i), 2 * t_seed);
        mgvi_penalty alone;
        mgvi_vec x, y;
        CHECK_OK(t.ctx, mgvi_vec_new(&t.arena, MGVI_COLS, t.w.n, 1, &x));
        CHECK_OK(t.ctx, mgvi_vec_new(&t.arena, MGVI_COLS, t.w.n, 1, &y));
        draw(&t, &t.w);
        mgvi_penalty_prox(&t.r, &t.w, 0.7, &t.p);
        for (int32_t c = 0; c < t.w.k; c++) {
            const mgvi_coef at = mgvi_coefs_at(&t.coefs, 0, c);
            const mgvi_coefs coefs = {
                .scale = {.constant = at.scale}, .a = {.constant = at.a}, .b = {.constant = at.b}};
            CHECK_OK(t.ctx, mgvi_penalty_open(&t.arena, t.ops, &coefs, t.data, t.w.n, 1, &alone));
            for (int64_t i = 0; i < t.w.n; i++)
                x.x[i] = t.w.x[i * t.w.k + c];
            mgvi_penalty_prox(&alone, &x, 0.7, &y);
            for (int64_t i = 0; i < t.w.n; i++)
                CHECK(y.x[i] == t.p.x[i * t.w.k + c]);
        }
        sample_close(&t);
    }
}

/* Strength 0 leaves the projection onto the simplex: its residual is constant on the support. */
TEST(entropy_without_strength_projects_onto_the_simplex)
{
    const double x[4] = {0.9, 0.3, -1, 0.5}, want[4] = {2.0 / 3, 1.0 / 15, 0, 4.0 / 15};
    double out[4];
    const mgvi_whole self = {.n = 4};
    mgvi_penalty_find("entropy")->whole->prox(&self, x, 1, out);
    for (int j = 0; j < 4; j++)
        CHECK_NEAR(out[j], want[j], 1e-15, "%d", j);
}

int main(void)
{
    return RUN(the_registry_lists_them_after_the_separable_ones,
               prox_and_its_residual_are_a_conjugate_pair,
               fenchel_young_holds_with_equality_at_the_mirror,
               mirror_is_the_gradient_of_the_conjugate, a_lane_alone_has_the_same_bits,
               entropy_without_strength_projects_onto_the_simplex);
}
