/* test_laws.c - what is the same problem has the same certificate: other units, orders of rows and
 * columns, names of the classes, a row written twice, rows of no weight, a shift beside an
 * intercept. The weights and multipliers are made up; no solver is asked. */
#include "judging.h"

#include <math.h>
#include <string.h>

enum { N = 12, D = 3, ROOM = 2 * N };

static const struct form {
    const char *loss;
    double lambda, mu; /* 0: none */
    bool intercept, classes;
} forms[] = {
    {"hinge", 0.05, 0, true, true},
    {"squared_hinge", 0.05, 0, false, true},
    {"logistic", 0.03, 0.02, true, true},
    {"smooth_hinge", 0, 0.02, true, true},
    {"hinge", 0, 0.02, false, true},
    {"margin", 0, 0, true, true},
    {"margin p=1.5", 0, 0, false, true},
    {"squared", 0.05, 0, true, false},
    {"squared", 0, 0.02, false, false},
    {"huber", 0.03, 0.02, true, false},
    {"absolute", 0.05, 0, true, false},
    {"epsilon_insensitive epsilon=0.25", 0.03, 0.02, true, false},
};
#define COUNT(list) (sizeof(list) / sizeof *(list))
enum { PROBLEMS = COUNT(forms) };

/* A problem with a pair (w, u); the last weight is the intercept's, where there is one. */
typedef struct given {
    double X[ROOM * D], y[ROOM], weight[ROOM], w[D + 1], u[ROOM];
    int n;
    const struct form *form;
    char options[200];
} given;

/* The strengths of columns that are `unit` as large. */
static void spell(const struct form *f, double unit, char options[200])
{
    char lambda[40] = "", mu[40] = "";
    if (f->lambda > 0)
        snprintf(lambda, sizeof lambda, " lambda=%.17g", unit * unit * f->lambda);
    if (f->mu > 0)
        snprintf(mu, sizeof mu, " mu=%.17g", unit * f->mu);
    snprintf(options, 200, "task=%s loss=%s%s%s intercept=%s", f->classes ? "classify" : "regress",
             f->loss, lambda, mu, f->intercept ? "yes" : "no");
}

static void make(int k, given *g)
{
    mgvi_rng rng = mgvi_rng_seed((uint64_t)k);
    g->form = &forms[k];
    g->n = N;
    spell(g->form, 1, g->options);
    for (int i = 0; i < N; i++) {
        const bool classes = g->form->classes;
        g->y[i] = classes ? (i % 2 ? 1 : -1) : mgvi_rng_normal(&rng);
        g->weight[i] = 1;
        for (int j = 0; j < D; j++)
            g->X[i * D + j] = mgvi_rng_normal(&rng) + (j == 0 ? 2 * g->y[i] : 0);
        g->u[i] = (classes ? -fabs(mgvi_rng_normal(&rng)) : mgvi_rng_normal(&rng)) * 0.1 / N;
    }
    for (int j = 0; j <= D; j++)
        g->w[j] = 0.3 * mgvi_rng_normal(&rng) + (j == 0);
}

static bool is_margin(const given *g) { return strncmp(g->form->loss, "margin", 6) == 0; }

static mgv_certificate judged(const given *g, mgvi_care care)
{
    return mgv_judge_once(g->X, g->y, g->weight, g->n, D, g->options, g->w, g->u, care);
}

/* Equal, but for rounding of `part`: the bounds are sums of numbers of the objective's size. */
static void check_same(const given *g, const mgv_certificate *a, const mgv_certificate *b,
                       double part, const char *law)
{
    if (is_margin(g)) {
        CHECK_NEAR(a->margin, b->margin, part, "%s: %s, margin", law, g->options);
        CHECK_NEAR(a->margin_upper, b->margin_upper, part, "%s: %s, its bound", law, g->options);
        return;
    }
    CHECK_NEAR(a->primal, b->primal, part * fabs(a->primal), "%s: %s, primal", law, g->options);
    CHECK_NEAR(a->dual, b->dual, part * fabs(a->primal), "%s: %s, dual", law, g->options);
    CHECK_THAT(a->verified && b->verified && a->gap > 0, "%s: %s", law, g->options);
}

/* Powers of two are exact: the certificate has the same bits. */
TEST(units_change_no_bit)
{
    for (int k = 0; k < PROBLEMS; k++)
        for (int e = -60; e <= 60; e += 40) {
            given g, other;
            make(k, &g);
            other = g;
            spell(g.form, ldexp(1, e), other.options);
            for (int i = 0; i < N * D; i++)
                other.X[i] = ldexp(g.X[i], e);
            for (int j = 0; j < D; j++)
                other.w[j] = ldexp(g.w[j], -e);
            const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN),
                                  b = judged(&other, MGVI_CARE_PLAIN);
            if (is_margin(&g)) {
                CHECK_THAT(ldexp(a.margin, e) == b.margin &&
                               ldexp(a.margin_upper, e) == b.margin_upper,
                           "%s at 2^%d: [%.17g, %.17g], [%.17g, %.17g]", g.options, e, a.margin,
                           a.margin_upper, b.margin, b.margin_upper);
                continue;
            }
            CHECK_THAT(a.primal == b.primal && a.dual == b.dual,
                       "%s at 2^%d: [%.17g, %.17g], [%.17g, %.17g]", g.options, e, a.dual, a.primal,
                       b.dual, b.primal);
        }
}

TEST(the_order_of_rows_and_columns_does_not_matter)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g, other;
        make(k, &g);
        other = g;
        for (int i = 0; i < N; i++) {
            const int from = (5 * i + 3) % N;
            other.y[i] = g.y[from];
            other.u[i] = g.u[from];
            for (int j = 0; j < D; j++)
                other.X[i * D + j] = g.X[from * D + (j + 1) % D];
        }
        for (int j = 0; j < D; j++)
            other.w[j] = g.w[(j + 1) % D];
        const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN), b = judged(&other, MGVI_CARE_PLAIN);
        check_same(&g, &a, &b, 1e-13, "order");
    }
}

/* The other class is the second: w and b change their signs, what a row pays does not. */
TEST(the_names_of_the_classes_do_not_matter)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g, other;
        make(k, &g);
        if (!g.form->classes)
            continue;
        other = g;
        for (int i = 0; i < N; i++)
            other.y[i] = -g.y[i];
        for (int j = 0; j <= D; j++)
            other.w[j] = -g.w[j];
        const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN), b = judged(&other, MGVI_CARE_PLAIN);
        check_same(&g, &a, &b, 1e-14, "names");
    }
}

/* And for a quantity: less of everything is more of its opposite. */
TEST(a_target_and_its_negative_are_alike)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g, other;
        make(k, &g);
        if (g.form->classes)
            continue;
        other = g;
        for (int i = 0; i < N; i++) {
            other.y[i] = -g.y[i];
            other.u[i] = -g.u[i];
        }
        for (int j = 0; j <= D; j++)
            other.w[j] = -g.w[j];
        const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN), b = judged(&other, MGVI_CARE_PLAIN);
        check_same(&g, &a, &b, 1e-14, "sign");
    }
}

TEST(a_row_of_weight_two_is_two_rows)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g, other;
        make(k, &g);
        g.weight[4] = g.weight[7] = 2;
        other = g;
        for (int t = 0; t < 2; t++) {
            const int from = t ? 7 : 4, to = other.n++;
            memcpy(other.X + to * D, g.X + from * D, D * sizeof *g.X);
            other.y[to] = g.y[from];
            other.u[from] = other.u[to] = g.u[from] / 2;
            other.weight[from] = other.weight[to] = 1;
        }
        const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN), b = judged(&other, MGVI_CARE_PLAIN);
        check_same(&g, &a, &b, 1e-13, "weight");
    }
}

/* However far on the wrong side they lie. */
TEST(rows_of_no_weight_are_not_there)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g, other;
        make(k, &g);
        other = g;
        for (int t = 0; t < 3; t++) {
            const int to = other.n++;
            for (int j = 0; j < D; j++)
                other.X[to * D + j] = -5 * g.X[(3 * t) * D + j];
            other.y[to] = g.y[3 * t];
            other.u[to] = -0.3;
            other.weight[to] = 0;
        }
        const mgv_certificate a = judged(&g, MGVI_CARE_PLAIN), b = judged(&other, MGVI_CARE_PLAIN);
        check_same(&g, &a, &b, 1e-12, "no weight");
    }
}

/* An intercept takes up a shift of the columns, at any care. */
TEST(a_shift_beside_an_intercept_is_none)
{
    for (int k = 0; k < PROBLEMS; k++)
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++) {
            given g, other;
            make(k, &g);
            if (!g.form->intercept)
                continue;
            other = g;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < D; j++)
                    other.X[i * D + j] += j + 1;
            for (int j = 0; j < D; j++)
                other.w[D] -= (j + 1) * g.w[j];
            const mgv_certificate a = judged(&g, (mgvi_care)care),
                                  b = judged(&other, (mgvi_care)care);
            check_same(&g, &a, &b, 1e-11, "shift");
        }
}

/* Far from 0 a closer look knows more, and never other things. */
TEST(more_care_narrows_the_interval)
{
    for (int k = 0; k < PROBLEMS; k++) {
        given g;
        mgv_certificate c[MGVI_CARES];
        make(k, &g);
        for (int i = 0; i < N * D; i++)
            g.X[i] += g.form->intercept ? 0x1p20 : 0;
        for (int j = 0; j < D && g.form->intercept; j++)
            g.w[D] -= 0x1p20 * g.w[j];
        for (int care = MGVI_CARE_PLAIN; care < MGVI_CARES; care++)
            c[care] = judged(&g, (mgvi_care)care);
        for (int care = MGVI_CARE_COLUMNS; care < MGVI_CARES; care++) {
            const double room = 1e-13 * fabs(c[0].primal);
            if (is_margin(&g)) {
                CHECK_LE(c[care].margin_upper, c[0].margin_upper * (1 + 1e-13), "%s", g.options);
                continue; /* the intercept may be moved by a plain look alone */
            }
            CHECK_LE(c[care].primal, c[care - 1].primal + room, "%s, care %d", g.options, care);
            CHECK_LE(c[care - 1].dual, c[care].dual + room, "%s, care %d", g.options, care);
        }
    }
}

int main(void)
{
    return RUN(units_change_no_bit, the_order_of_rows_and_columns_does_not_matter,
               the_names_of_the_classes_do_not_matter, a_target_and_its_negative_are_alike,
               a_row_of_weight_two_is_two_rows, rows_of_no_weight_are_not_there,
               a_shift_beside_an_intercept_is_none, more_care_narrows_the_interval);
}
