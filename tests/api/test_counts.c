/* test_counts.c - the arrays that a solver lends: as long as the header promises, readable to the
 * last number, and the weights and dual variables of the certificate. */
#include "vectors.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 30, D = 5, K = 3 };

/* A form of a problem of many classes, and how many numbers it has. */
typedef struct form {
    const char *options;
    int64_t weights, dual;
    bool user_units; /* weights of every run one after the other; else by column and class */
} form;

static const form forms[] = {
    {"loss=hinge multiclass=ovr", K *D, 0, true},
    {"loss=hinge multiclass=ovo", K *(K - 1) / 2 * D, 0, true},
    {"loss=logistic multiclass=ovr intercept=no", K *D, 0, true},
    {"loss=squared_hinge multiclass=ovr scale=std", K *D, 0, true},
    {"loss=hinge multiclass=ovr kernel=rbf", K *N, 0, true},
    {"loss=hinge multiclass=ovo kernel=rbf", K *(K - 1) / 2 * N, 0, true},
    {"loss=softmax", (D + 1) * K, N *K, false},
    {"loss=softmax intercept=no", D *K, N *K, false},
    {"loss=crammer_singer", (D + 1) * K, N *K, false},
    {"loss=crammer_singer kernel=rbf", (N + 1) * K, N *K, false},
    {"loss=margin multiclass=joint", (D + 1) * K, N *K, false},
    {"loss=margin multiclass=joint intercept=no", D *K, N *K, false},
};

/* Classes far apart. */
static void rows(double *X, double *y)
{
    mgv_clouds(X, y, N, D, K);
    for (int i = 0; i < N; i++)
        X[i * D + i % K] += 8;
}

/* Weights as lent against those of the model, which are in the user's units. */
static void check_weights(mgv_fit *fit, const form *f)
{
    const mgv_problem *p = fit->problem;
    const int64_t each = mgvi_problem_coefs(p);
    const double *w;
    int64_t count;
    mgv_model *m;
    CHECK_OK(fit->ctx, mgv_solver_weights(fit->solver, &w, &count));
    CHECK_THAT(count == f->weights, "%s: %d weights", f->options, (int)count);
    CHECK_OK(fit->ctx, mgv_model_new(fit->ctx, fit->solver, &m));
    double *copy = malloc((size_t)count * sizeof *copy); /* reads them all */
    memcpy(copy, w, (size_t)count * sizeof *copy);
    for (int64_t c = 0; c < m->outputs && m->support < 0; c++) {
        double *coef = malloc((size_t)each * sizeof *coef), shift;
        if (f->user_units)
            memcpy(coef, copy + c * each, (size_t)each * sizeof *coef);
        else
            mgvi_problem_user_lane(p, copy, c, coef, &shift);
        assert_memory_equal(coef, m->coef + c * each, (size_t)each * sizeof *coef);
        free(coef);
    }
    for (int64_t t = 0; t < count; t++)
        CHECK(isfinite(copy[t]));
    free(copy);
    mgv_model_free(fit->ctx, m);
}

/* What dual variables of all classes at once have in common: they are no zeros, and without a
 * kernel the linear map A'u of one l2 problem is -lambda w. */
static void check_dual(mgv_fit *fit, const form *f)
{
    const double *u;
    int64_t count;
    double sum = 0;
    CHECK_OK(fit->ctx, mgv_solver_dual(fit->solver, &u, &count));
    CHECK_THAT(count == f->dual, "%s: %d dual variables", f->options, (int)count);
    for (int64_t t = 0; t < count; t++)
        sum += fabs(u[t]);
    CHECK_THAT(count == 0 || (isfinite(sum) && sum > 0), "%s", f->options);
    if (count == 0 || f->weights == 0 || fit->problem->p != 2 ||
        fit->problem->kernel.kind != MGVI_KERNEL_LINEAR)
        return;
    const mgv_problem *p = fit->problem;
    const mgvi_vec dual = {
        .x = (double *)(uintptr_t)u, .n = count / p->lanes, .k = p->lanes, .space = MGVI_ROWS};
    mgvi_vec g = {.x = calloc((size_t)f->weights, sizeof(double)),
                  .n = p->A->cols,
                  .k = p->lanes,
                  .space = MGVI_COLS};
    mgvi_op_mul_t(p->A, -1, &dual, 0, &g);
    double along = 0, length[2] = {0, 0};
    const double *w = mgv_fit_weights(fit);
    for (int64_t j = 0; j < mgvi_problem_penalised(p) * p->lanes; j++) {
        along += g.x[j] * w[j];
        length[0] += g.x[j] * g.x[j];
        length[1] += w[j] * w[j];
    }
    CHECK_NEAR(along / sqrt(length[0] * length[1]), 1, 1e-3, "%s", f->options);
    free(g.x);
}

TEST(counts_of_many_classes)
{
    double X[N * D], y[N];
    rows(X, y);
    for (size_t t = 0; t < sizeof forms / sizeof *forms; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, forms[t].options);
        mgv_fit_set(&fit, "tol=1e-8");
        mgv_fit_solve(&fit);
        check_weights(&fit, &forms[t]);
        check_dual(&fit, &forms[t]);
        mgv_fit_free(&fit);
    }
}

TEST(counts_of_two_classes_and_of_quantities)
{
    static const form few[] = {{"loss=hinge", D + 1, N, false},
                               {"loss=hinge kernel=rbf", N + 1, N, false},
                               {"loss=margin", D + 1, N, false},
                               {"loss=squared task=regress intercept=no", D, N, false},
                               {"loss=logistic penalty=l1 mu=0.01", D + 1, N, false}};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, 2);
    for (int i = 0; i < N; i++)
        X[i * D + i % 2] += 8;
    for (size_t t = 0; t < sizeof few / sizeof *few; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, few[t].options);
        mgv_fit_set(&fit, "tol=1e-8");
        mgv_fit_solve(&fit);
        check_weights(&fit, &few[t]);
        check_dual(&fit, &few[t]);
        mgv_fit_free(&fit);
    }
}

/* Inseparable classes: the proof has a number for every row, whatever the form. */
TEST(counts_of_proofs)
{
    static const form impossible[] = {{"loss=margin multiclass=ovr", 0, N, true},
                                      {"loss=margin multiclass=ovo", 0, N, true},
                                      {"loss=margin multiclass=joint", 0, N * K, false}};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    memcpy(X + D, X, D * sizeof *X); /* the same example in two classes */
    for (size_t t = 0; t < sizeof impossible / sizeof *impossible; t++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, impossible[t].options);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == MGV_STOP_INFEASIBLE, "%s", impossible[t].options);
        check_dual(&fit, &impossible[t]);
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(counts_of_many_classes, counts_of_two_classes_and_of_quantities, counts_of_proofs);
}
