/* test_early_path.c - the block iterate of early stopping: its lanes are primal_dual on their own
 * rows; debiased points and stable columns are least squares on them. */
#include "choosing.h"

#include <string.h>

enum { N = 70, D = 130, TRUE = 8, FOLDS = 4 };

/* Eight columns matter. */
static double planted(int64_t j) { return j % 16 != 5 ? 0 : j % 32 == 5 ? 2 : -2; }

static void make(mgv_fit *fit, uint64_t seed, const char *options)
{
    mgv_planted_set(fit, seed, N, D, .5, planted, options);
}

/* The squared error of coef, b on the rows that lane l does not train on. */
static double held_out(const mgv_fit *fit, const mgv_selection *s, int l, const double *coef,
                       double b)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < N; i++) {
        double z = b;
        for (int j = 0; j < D; j++)
            z += fit->X[i * D + j] * coef[j];
        if (mgvi_split_trains(&s->split, i, l))
            continue;
        sum += pow(z - fit->data->labels[i], 2);
        count++;
    }
    return sum / count;
}

/* primal_dual, float64, on the rows lane l trains on, `steps` of it. */
static void separate(const mgv_fit *fit, const mgv_selection *s, int l, int steps, double *coef,
                     double *b)
{
    double *X = malloc(sizeof(double[N][D])), y[N];
    int rows = 0;
    for (int i = 0; i < N; i++)
        if (mgvi_split_trains(&s->split, i, l)) {
            memcpy(X + rows * D, fit->X + i * D, D * sizeof *X);
            y[rows++] = fit->data->labels[i];
        }
    char options[200];
    snprintf(options, sizeof options,
             "task=regress loss=equal penalty=l1 solver=primal_dual lazy=1 select=last max_iter=%d "
             "lipschitz=%.17g",
             steps, mgvi_selection_path(s)->square);
    mgv_fit own;
    mgv_fit_start(&own, X, y, rows, D, options);
    mgv_fit_solve(&own);
    mgvi_problem_user_weights(own.problem, mgv_fit_weights(&own), coef, b);
    mgv_fit_free(&own);
    free(X);
}

TEST(lanes_are_primal_dual_on_their_rows)
{
    static const int steps[] = {1, 2, 5, 12, 30};
    mgv_fit fit;
    make(&fit, 1, "task=regress loss=equal penalty=l1 select=cv:4 lazy=1");
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    CHECK(path->full == FOLDS && path->count > 30 && strcmp(path->by, "iteration") == 0);
    double norm = 0, x[D], z[N]; /* |A| by power iteration, columns centred */
    for (int j = 0; j < D; j++)
        x[j] = 1 + j % 3;
    for (int k = 0; k < 200; k++) {
        double mean = 0, size = 0;
        for (int i = 0; i < N; i++) {
            z[i] = 0;
            for (int j = 0; j < D; j++)
                z[i] += fit.X[i * D + j] * x[j];
            mean += z[i] / N;
        }
        for (int j = 0; j < D; j++) {
            x[j] = 0;
            for (int i = 0; i < N; i++)
                x[j] += fit.X[i * D + j] * (z[i] - mean);
            size += x[j] * x[j];
        }
        norm = sqrt(size);
        for (int j = 0; j < D; j++)
            x[j] /= norm;
    }
    CHECK_THAT(path->square >= norm && path->square < 1.1 * norm, "|A|^2 = %g, not %g",
               path->square, norm);
    for (size_t q = 0; q < sizeof steps / sizeof *steps; q++)
        for (int l = 0; l <= FOLDS; l++) {
            double coef[D], own[D], b;
            const int64_t k = steps[q] - 1;
            CHECK(path->point[k].iteration == steps[q]);
            separate(&fit, s, l, steps[q], own, &b);
            if (l < FOLDS) {
                const double want = held_out(&fit, s, l, own, b);
                CHECK_NEAR(path->errors[k * MGVI_SPLIT_LANES + l], want, 1e-3 * want,
                           "iteration %d, fold %d", steps[q], l);
                continue;
            }
            CHECK(mgvi_path_weights(path, k, D, coef));
            for (int j = 0; j < D; j++)
                CHECK_NEAR(coef[j], own[j], 1e-3, "iteration %d, weight %d", steps[q], j);
            CHECK_NEAR(path->point[k].intercept, b, 1e-3, "intercept");
        }
    double coef[D]; /* the model is the iterate that was judged, and u goes with it */
    CHECK(mgvi_path_weights(path, path->chosen, D, coef));
    CHECK(s->solver->stop == MGV_STOP_SELECTED);
    CHECK(s->solver->run.iteration == mgvi_selection_point(s)->iteration);
    assert_memory_equal(s->solver->answer.w.x, coef, sizeof coef);
    mgv_certificate c = {.size = sizeof c};
    mgv_solver_describe(s->solver, NULL, &c);
    CHECK(c.verified && c.dual > 0);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

/* Ridge r |A_j|^2 on the columns of lane l, by Gaussian elimination in float64. */
static void least_squares(const mgv_fit *fit, const mgv_selection *s, int l, const int *column,
                          int count, double ridge, double *coef, double *b)
{
    double *G = calloc((size_t)count * (size_t)(count + 1), sizeof *G);
    double *mean = calloc((size_t)count + 1, sizeof *mean); /* the target's last */
    int rows = 0;
#define VALUE(i, c) ((c) < count ? fit->X[(i)*D + column[c]] : fit->data->labels[i])
    for (int i = 0; i < N; i++)
        rows += mgvi_split_trains(&s->split, i, l);
    for (int i = 0; i < N; i++)
        for (int c = 0; c <= count; c++)
            mean[c] += mgvi_split_trains(&s->split, i, l) ? VALUE(i, c) / rows : 0;
    for (int i = 0; i < N; i++)
        for (int c = 0; mgvi_split_trains(&s->split, i, l) && c < count; c++)
            for (int e = 0; e <= count; e++)
                G[c * (count + 1) + e] += (VALUE(i, c) - mean[c]) * (VALUE(i, e) - mean[e]);
    for (int c = 0; c < count; c++)
        G[c * (count + 1) + c] *= 1 + ridge;
    for (int c = 0; c < count; c++)
        for (int r = 0; r < count; r++) {
            const double factor = r == c ? 0 : G[r * (count + 1) + c] / G[c * (count + 1) + c];
            for (int e = c; factor != 0 && e <= count; e++)
                G[r * (count + 1) + e] -= factor * G[c * (count + 1) + e];
        }
    *b = mean[count];
    memset(coef, 0, D * sizeof *coef);
    for (int c = 0; c < count; c++) {
        coef[column[c]] = G[c * (count + 1) + count] / G[c * (count + 1) + c];
        *b -= coef[column[c]] * mean[c];
    }
#undef VALUE
    free(G);
    free(mean);
}

static void check_debiased(const char *options, uint64_t seed)
{
    mgv_fit fit;
    make(&fit, seed, options);
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *last = &path->point[path->count - 1];
    double coef[D], b, mean = 0;
    int column[D];
    CHECK(last->debiased && last->kept > 0);
    for (int l = 0; l < FOLDS; l++) {
        int count = 0;
        for (int64_t t = last->first; t < last->first + last->kept; t++)
            if (path->lanes[t] >> l & 1)
                column[count++] = path->index[t];
        least_squares(&fit, s, l, column, count, 1e-3, coef, &b);
        const double want = held_out(&fit, s, l, coef, b);
        CHECK_NEAR(path->errors[(path->count - 1) * MGVI_SPLIT_LANES + l], want, .02 * want,
                   "fold %d", l);
        mean += want / FOLDS;
    }
    CHECK_NEAR(last->error, mean, .02 * mean, "the mean");
    CHECK((path->chosen == path->count - 1) == (last->error < path->point[path->plain].error));
    CHECK(path->chosen == path->count - 1); /* eight columns of 130 */
    int count = 0;
    for (int64_t t = last->first; t < last->first + last->kept; t++)
        if (path->lanes[t] >> FOLDS & 1)
            column[count++] = path->index[t];
    least_squares(&fit, s, FOLDS, column, count, 1e-6, coef, &b);
    double user[D], own;
    mgvi_problem_user_weights(s->problem, s->solver->answer.w.x, user, &own);
    for (int j = 0; j < D; j++)
        CHECK_NEAR(user[j], coef[j], 1e-8, "weight %d", j);
    CHECK_NEAR(own, b, 1e-8, "intercept");
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(debiased_points_are_least_squares_on_their_columns)
{
    check_debiased("task=regress loss=equal penalty=l1 select=cv:4 debias=yes", 2);
    check_debiased("task=regress penalty=l1 select=cv:4 debias=yes", 2);
    check_debiased("task=regress penalty=l1 select=cv:4 debias=yes one_se=yes", 6);
}

TEST(stable_columns_are_in_enough_folds)
{
    mgv_fit fit;
    make(&fit, 4, "task=regress loss=equal penalty=l1 select=cv:4 stable=.75");
    mgv_selection *s = mgv_choose(&fit);
    const mgvi_path *path = mgvi_selection_path(s);
    const mgvi_path_point *p = mgvi_selection_point(s);
    int64_t wanted = 0;
    for (int64_t t = p->first; t < p->first + p->kept; t++) {
        const bool stable = path->value[t] != 0 && mgvi_path_folds(path, t) >= 3;
        wanted += stable;
        CHECK((s->solver->answer.w.x[path->index[t]] != 0) == stable);
    }
    CHECK(wanted >= TRUE && wanted < p->nonzeros && s->stable == wanted);
    mgv_selection_free(fit.ctx, s);
    mgv_fit_free(&fit);
}

TEST(the_same_bits_for_any_number_of_threads)
{
    mgv_fit fit;
    make(&fit, 5, "task=regress loss=equal penalty=l1 select=cv:4 debias=yes");
    mgv_selection *one = mgv_choose(&fit);
    CHECK_OK(fit.ctx, mgv_ctx_set_threads(fit.ctx, 3));
    mgv_selection *three = mgv_choose(&fit);
    const mgvi_path *a = mgvi_selection_path(one), *b = mgvi_selection_path(three);
    CHECK(a->count == b->count && a->entries == b->entries && a->chosen == b->chosen);
    assert_memory_equal(a->value, b->value, (size_t)a->entries * sizeof *a->value);
    for (int64_t k = 0; k < a->count; k++)
        CHECK(a->point[k].error == b->point[k].error);
    assert_memory_equal(one->solver->answer.w.x, three->solver->answer.w.x, sizeof(double[D]));
    mgv_selection_free(fit.ctx, one);
    mgv_selection_free(fit.ctx, three);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(lanes_are_primal_dual_on_their_rows,
               debiased_points_are_least_squares_on_their_columns,
               stable_columns_are_in_enough_folds, the_same_bits_for_any_number_of_threads);
}
