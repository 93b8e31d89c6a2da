/* test_family_products.c - classes against the rest with a kernel and a smooth loss: their products
 * are made together, and every class is the two-class problem all the same. */
#include "vectors.h"

#include "solver/classes/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 3, K = 4, MANY = 4100 };

static void start(mgv_fit *fit, const double *X, const double *y, int64_t n, const char *options,
                  int threads)
{
    mgv_fit_start(fit, X, y, n, D, options);
    CHECK_OK(fit->ctx, mgv_ctx_set_threads(fit->ctx, threads));
    mgv_fit_solve(fit);
    CHECK_THAT(fit->run.stop == MGV_STOP_CERTIFIED && fit->certificate.verified, "%s: %s %g",
               options, mgv_stop_name(fit->run.stop), fit->certificate.relative_gap);
}

/* Bounds of the first members and of the same problems alone overlap; *passes: of those alone. */
static void check_members(const mgv_fit *all, const double *X, const double *y, int64_t n,
                          const char *options, int count, double *passes)
{
    const mgvi_family *f = all->solver->family;
    double *sign = malloc((size_t)n * sizeof *sign);
    *passes = 0;
    CHECK(f->members == K);
    for (int c = 0; c < count; c++) {
        mgv_fit one;
        for (int64_t i = 0; i < n; i++)
            sign[i] = y[i] == c ? 1 : -1;
        start(&one, X, sign, n, options, 1);
        const mgv_certificate *ours = &f->member[c].certificate;
        CHECK_LE(ours->dual, one.certificate.primal * (1 + 1e-12), "%s: class %d", options, c);
        CHECK_LE(one.certificate.dual, ours->primal * (1 + 1e-12), "%s: class %d", options, c);
        *passes += one.run.passes;
        mgv_fit_free(&one);
    }
    free(sign);
}

/* Every loss and kernel, weak and strong, and loose and tight; the same bits for one thread and
 * three. */
TEST(every_class_is_the_two_class_problem)
{
    static const char *const options[] = {
        "loss=logistic kernel=rbf sigma2=2 C=1",
        "loss=logistic kernel=rbf sigma2=2 C=100 tol=1e-7",
        "loss=squared kernel=laplace sigma2=2 C=10 task=classify",
        "loss=squared kernel=poly sigma2=2 degree=2 C=1 tol=1e-8 task=classify",
        "loss=huber kernel=rbf sigma2=2 C=1 task=classify",
        "loss=smooth_hinge kernel=rbf sigma2=2 C=1",
        "loss=sqrt_hinge kernel=rbf sigma2=2 C=1",
        "loss=squared_hinge kernel=rbf sigma2=2 C=3 solver=kernel_subspace",
        "loss=logistic kernel=rbf sigma2=2 C=1e-3",
        "loss=logistic kernel=rbf scale=std C=1e4 tol=1e-3"};
    double X[N * D], y[N], passes;
    mgv_clouds(X, y, N, D, K);
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        mgv_fit fit[2];
        start(&fit[0], X, y, N, options[o], 1);
        start(&fit[1], X, y, N, options[o], 3);
        const mgvi_family *f = fit[0].solver->family, *g = fit[1].solver->family;
        CHECK_THAT(memcmp(f->coef, g->coef, K * N * sizeof *f->coef) == 0, "%s", options[o]);
        CHECK(memcmp(f->intercept, g->intercept, K * sizeof *f->intercept) == 0);
        check_members(&fit[0], X, y, N, options[o], K, &passes);
        mgv_fit_free(&fit[0]);
        mgv_fit_free(&fit[1]);
    }
}

/* Values of K serve all classes: with those of float32 too, where some rows are alike, the whole
 * reads less than half of what the classes read alone. */
TEST(products_are_made_once_for_all)
{
    static const char *const options = "loss=logistic kernel=rbf sigma2=2 C=0.1";
    double *X = malloc(MANY * D * sizeof *X), y[MANY], alone;
    mgv_clouds(X, y, MANY, D, K);
    memcpy(X, X + 7 * D, D * sizeof *X);
    mgv_fit fit;
    start(&fit, X, y, MANY, options, 2);
    check_members(&fit, X, y, MANY, options, 1, &alone);
    CHECK_LE(fit.run.passes, 0.5 * K * alone, "%s", options);
    mgv_fit_free(&fit);
    free(X);
}

/* Budgets end them; what is left is weights. */
TEST(budgets_are_kept)
{
    static const char *const options[] = {"max_iter=2", "max_passes=4"};
    double X[N * D], y[N];
    mgv_clouds(X, y, N, D, K);
    for (int o = 0; o < 2; o++) {
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "loss=logistic kernel=rbf sigma2=2 C=100 tol=1e-12");
        mgv_fit_set(&fit, options[o]);
        mgv_fit_solve(&fit);
        CHECK_THAT(fit.run.stop == (o == 0 ? MGV_STOP_MAX_ITER : MGV_STOP_MAX_PASSES), "%s: %s",
                   options[o], mgv_stop_name(fit.run.stop));
        for (int t = 0; t < K * N; t++)
            CHECK(isfinite(fit.solver->family->coef[t]));
        mgv_fit_free(&fit);
    }
}

int main(void)
{
    return RUN(every_class_is_the_two_class_problem, products_are_made_once_for_all,
               budgets_are_kept);
}
