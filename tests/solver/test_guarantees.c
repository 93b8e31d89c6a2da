/* test_guarantees.c - the bounds of certify/guarantees.h hold for the methods they are of: runs with
 * many seeds stand for expected values. */
#include "certify/guarantees.h"
#include "solver/driver.h"
#include "solver/shared/mirror_map.h"
#include "vectors.h"

#include "margin_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20, PASSES = 40 };

/* A stored set with its solution. */
typedef struct known {
    margin_set set;
    double p, q, n, radius, best, norm;
    double *beta, *w;
    mgvi_start_distance at;
} known;

static double lp(const double *x, int64_t d, double p)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += pow(fabs(x[j]), p);
    return pow(sum, 1 / p);
}

static known load(const char *name)
{
    json_t *v = mgv_vector_load(name);
    known k = {.set = margin_set_load(name), .p = mgv_vector_number(json_object_get(v, "p"))};
    k.beta = mgv_vector_array(v, "beta_star", NULL);
    k.w = mgv_vector_array(v, "w_star", NULL);
    k.best = mgv_vector_number(json_object_get(v, "dual_value"));
    k.q = k.p / (k.p - 1);
    k.n = (double)k.set.n;
    k.norm = lp(k.w, k.set.d, k.p);
    k.at.gap = k.best;
    for (int64_t i = 0; i < k.set.n; i++) {
        const double size = lp(k.set.X + i * k.set.d, k.set.d, k.q);
        k.radius = fmax(k.radius, size);
        k.at.square += (k.q - 1) * size * size * k.beta[i] * k.beta[i];
    }
    json_decref(v);
    return k;
}

static void release(known *k)
{
    margin_set_free(&k->set);
    free(k->beta);
    free(k->w);
}

/* Mean gaps and distances to w*, and rows with a margin of 0 or less, after every pass. */
typedef struct course {
    double gap[PASSES], distance[PASSES];
    int mistakes[PASSES];
} course;

static void follow(const known *k, const char *settings, course *c)
{
    memset(c, 0, sizeof *c);
    for (int seed = 0; seed < SEEDS; seed++) {
        mgv_fit fit;
        char options[200];
        snprintf(options, sizeof options, "%s p=%g seed=%d", settings, k->p, seed);
        margin_open(&fit, &k->set, options);
        for (int t = 0; t < PASSES; t++) {
            double sum, off[64];
            margin_step(&fit);
            const mgvi_iterate it = fit.solver->run.ops->expose(&fit.solver->run);
            const double norm = lp(it.w->x, k->set.d, k->p); /* = |A'b|_q of the map */
            mgvi_vec_sum(fit.ctx, it.u, &sum);
            const double b = -sum * pow(norm, (k->q - 2) / (k->q - 1));
            c->gap[t] += (k->best - (b - norm * norm / 2)) / SEEDS;
            for (int64_t j = 0; j < k->set.d; j++)
                off[j] = it.w->x[j] - k->w[j];
            c->distance[t] += lp(off, k->set.d, k->p) / SEEDS;
            mgvi_vec z = fit.solver->run.lent[0];
            mgvi_op_mul(fit.problem->A, 1, it.w, 0, &z);
            for (int64_t i = 0; i < z.n; i++)
                c->mistakes[t] += z.x[i] <= 0;
        }
        mgv_fit_free(&fit);
    }
}

static const char *const names[] = {"margin_linear_p2", "margin_linear_p1_5"};

TEST(coordinate_ascent_is_as_fast_as_proven)
{
    static course c;
    for (int s = 0; s < 2; s++) {
        known k = load(names[s]);
        follow(&k, "preset=raj-bach-alg1", &c);
        for (int t = 0; t < PASSES; t++) {
            const double bound = mgvi_gap_after(k.n, k.n * (t + 1), &k.at);
            CHECK_LE(c.gap[t], bound, "%s: pass %d", names[s], t);
            CHECK_LE(c.distance[t], mgvi_distance_of_gap(bound, k.p - 1), "%s: pass %d", names[s],
                     t);
            CHECK_LE(c.distance[t], mgvi_distance_of_gap(c.gap[t], k.p - 1) * (1 + 1e-6),
                     "%s: the distance of the gap, pass %d", names[s], t);
        }
        release(&k);
    }
}

TEST(accelerated_ascent_is_as_fast_as_proven)
{
    static course c;
    for (int s = 0; s < 2; s++) {
        known k = load(names[s]);
        follow(&k, "preset=raj-bach-alg2", &c);
        const double enough = mgvi_steps_without_mistakes(k.n, k.radius, k.p - 1, &k.at);
        const double last = mgvi_gap_after_accelerated(k.n, enough, &k.at);
        CHECK_LE(k.radius * mgvi_distance_of_gap(last, k.p - 1), 1 + 1e-12, "%s", names[s]);
        if (enough > 2) {
            const double before = mgvi_gap_after_accelerated(k.n, enough - 2, &k.at);
            CHECK_LE(1, k.radius * mgvi_distance_of_gap(before, k.p - 1), "%s: no earlier",
                     names[s]);
        }
        for (int t = 0; t < PASSES; t++) {
            const double steps = k.n * (t + 1);
            CHECK_LE(c.gap[t], mgvi_gap_after_accelerated(k.n, steps, &k.at), "%s: pass %d",
                     names[s], t);
            CHECK_THAT(steps < enough || c.mistakes[t] == 0, "%s: %d mistakes in pass %d", names[s],
                       c.mistakes[t], t);
        }
        release(&k);
    }
}

TEST(means_make_as_few_mistakes_as_proven)
{
    static course c;
    for (int s = 0; s < 2; s++) {
        known k = load(names[s]);
        follow(&k, "preset=raj-bach-mirror-sgd-average", &c);
        for (int t = 0; t < PASSES; t++) {
            const double steps = k.n * (t + 1), share = c.mistakes[t] / (k.n * SEEDS);
            const double bound = mgvi_share_of_mistakes(k.norm, k.radius, k.p - 1, steps);
            CHECK_LE(share, bound, "%s: pass %d", names[s], t);
            CHECK_NEAR(mgvi_steps_of_share(k.norm, k.radius, k.p - 1, bound), steps, 1e-9 * steps,
                       "%s: there and back", names[s]);
        }
        release(&k);
    }
}

int main(void)
{
    return RUN(coordinate_ascent_is_as_fast_as_proven, accelerated_ascent_is_as_fast_as_proven,
               means_make_as_few_mistakes_as_proven);
}
