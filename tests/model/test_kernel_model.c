/* test_kernel_model.c - models with support vectors: scores, files, damaged files. */
#include "vectors.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 80, D = 5 };

static const char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "test_kernel_model.%d.mgm", (int)getpid());
    return name;
}

static void make_set(double *X, double *y)
{
    double *x, *labels;
    mgv_random_set(11, N, D, 0.4, &x, &labels);
    for (int i = 0; i < N * D; i++)
        X[i] = i % 3 ? x[i] * (1 + i % D) : 0;
    memcpy(y, labels, N * sizeof *y);
    free(x);
    free(labels);
}

/* Replaces the fit's data by the same numbers in CSR. */
static void make_sparse(mgv_fit *fit, const double *X, const double *y)
{
    static double val[N * D];
    static int64_t ptr[N + 1];
    static int32_t idx[N * D];
    int64_t at = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < D; j++)
            if (X[i * D + j] != 0) {
                val[at] = X[i * D + j];
                idx[at++] = j;
            }
        ptr[i + 1] = at;
    }
    mgv_data_free(fit->ctx, fit->data);
    CHECK_OK(fit->ctx,
             mgv_data_from_sparse(fit->ctx, MGV_CSR, MGV_F64, val, ptr, idx, N, D, &fit->data));
    CHECK_OK(fit->ctx, mgv_data_set_labels(fit->ctx, fit->data, y));
}

/* Saved and loaded, the model scores as the problem does, on the layout of the fit and the other.
 */
TEST(a_saved_model_is_the_model)
{
    static const char *const options[] = {"kernel=rbf",
                                          "kernel=rbf scale=std",
                                          "kernel=rbf scale=maxabs",
                                          "kernel=laplace",
                                          "kernel=rbf scale=rownorm",
                                          "kernel=poly",
                                          "kernel=poly scale=maxabs",
                                          "kernel=poly scale=std degree=2",
                                          "kernel=laplace scale=std"};
    double X[N * D], y[N], scores[N], again[N], z[N];
    make_set(X, y);
    for (int k = 0; k < 18; k++) {
        const bool sparse = k >= 9;
        const char *option = options[k % 9];
        if (sparse && strstr(option, "poly scale=std"))
            continue;
        mgv_fit fit;
        mgv_fit_start(&fit, X, y, N, D, "C=1 tol=1e-6");
        mgv_fit_set(&fit, option);
        mgv_data *dense = NULL;
        CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, X, N, D, D, 1, &dense));
        if (sparse)
            make_sparse(&fit, X, y);
        mgv_fit_solve(&fit);
        mgv_model *a, *b;
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
        mgv_model_info ia = {.size = sizeof ia}, ib = {.size = sizeof ib};
        mgv_model_describe(a, &ia);
        mgv_model_describe(b, &ib);
        CHECK(ia.support > 0 && ia.support == ib.support && ib.nonzeros == ib.support);
        CHECK(ib.features == D && ib.classes == 2 && ib.coef == NULL);
        CHECK(ia.norm == ib.norm && ia.intercept == ib.intercept && ia.norm > 0);
        assert_string_equal(ia.kernel, ib.kernel);
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, scores));
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, dense, again));
        mgvi_vec vz = mgvi_vec_wrap(z, N, MGVI_ROWS);
        mgvi_op_mul(fit.problem->A, 1, &fit.solver->answer.w, 0, &vz);
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(scores[i] * fit.problem->view.sign[i], z[i], 1e-7, "%s row %d", option, i);
            CHECK_NEAR(scores[i], again[i], 1e-7, "%s row %d", option, i);
        }
        mgv_model_free(fit.ctx, a);
        mgv_model_free(fit.ctx, b);
        mgv_data_free(fit.ctx, dense);
        mgv_fit_free(&fit);
    }
    remove(file_name());
}

/* Fewer columns than the model: the last features are 0 where the file leaves zeros out; of another
 * table something is missing. */
TEST(narrow_data_has_zeros)
{
    double X[N * D], y[N], narrow[N * (D - 1)], full[N], cut[N];
    make_set(X, y);
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, N, D, "kernel=rbf scale=std");
    mgv_fit_solve(&fit);
    for (int i = 0; i < N; i++) {
        X[i * D + D - 1] = 0;
        memcpy(narrow + i * (D - 1), X + i * D, (D - 1) * sizeof *X);
    }
    mgv_model *m;
    mgv_data *a, *b, *wide;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, X, N, D, D, 1, &a));
    CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, narrow, N, D - 1, D - 1, 1, &b));
    CHECK_OK(fit.ctx, mgv_data_from_dense(fit.ctx, MGV_F64, X, N / 2, 2 * D, 2 * D, 1, &wide));
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, a, full));
    CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, b, cut), MGV_E_INPUT,
                "4 features, the model knows 5");
    b->was_sparse = true;
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, m, b, cut));
    for (int i = 0; i < N; i++)
        CHECK_NEAR(full[i], cut[i], 1e-10, "row %d", i);
    CHECK_FAILS(fit.ctx, mgv_model_scores(fit.ctx, m, wide, full), MGV_E_INPUT, "features");
    mgv_data_free(fit.ctx, wide);
    mgv_data_free(fit.ctx, b);
    mgv_data_free(fit.ctx, a);
    mgv_model_free(fit.ctx, m);
    mgv_fit_free(&fit);
}

/* The Gram matrix as data gives what its kernel gives. */
TEST(precomputed_is_the_kernel)
{
    double X[N * D], y[N], K[N * N], scores[2][N];
    make_set(X, y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double square = 0;
            for (int l = 0; l < D; l++)
                square += pow(X[i * D + l] - X[j * D + l], 2);
            K[i * N + j] = exp(-square / 6);
        }
    for (int form = 0; form < 2; form++) {
        mgv_fit fit;
        if (form)
            mgv_fit_start(&fit, K, y, N, N, "kernel=precomputed C=3 tol=1e-9");
        else
            mgv_fit_start(&fit, X, y, N, D, "kernel=rbf sigma2=3 C=3 tol=1e-9");
        mgv_fit_solve(&fit);
        mgv_model *a, *b;
        CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
        CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
        CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
        CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, scores[form]));
        mgv_model_info info = {.size = sizeof info};
        mgv_model_describe(b, &info);
        CHECK_NEAR(info.norm, fit.run.norm, 1e-9, "norm");
        mgv_model_free(fit.ctx, a);
        mgv_model_free(fit.ctx, b);
        mgv_fit_free(&fit);
    }
    for (int i = 0; i < N; i++)
        CHECK_NEAR(scores[0][i], scores[1][i], 1e-6, "row %d", i);
    remove(file_name());
}

/* Three classes, each against the rest. */
TEST(many_classes_share_support_vectors)
{
    double X[N * D], y[N], scores[3 * N];
    make_set(X, y);
    for (int i = 0; i < N; i++)
        y[i] = X[i * D + 1] > 1 ? 2 : y[i] > 0;
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, N, D, "kernel=rbf C=10 tol=1e-4");
    mgv_fit_solve(&fit);
    mgv_model *a, *b;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &a));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, a, file_name()));
    CHECK_OK(fit.ctx, mgv_model_load(fit.ctx, file_name(), &b));
    mgv_model_info info = {.size = sizeof info};
    mgv_model_describe(b, &info);
    CHECK(info.outputs == 3 && info.support > 0 && info.norms[2] > 0);
    CHECK_OK(fit.ctx, mgv_model_scores(fit.ctx, b, fit.data, scores));
    mgv_metrics m = {.size = sizeof m};
    CHECK_OK(fit.ctx, mgv_model_evaluate(fit.ctx, b, fit.data, scores, &m));
    CHECK_LE(0.9, m.accuracy, "accuracy");
    mgv_model_free(fit.ctx, a);
    mgv_model_free(fit.ctx, b);
    mgv_fit_free(&fit);
    remove(file_name());
}

/* Every byte of a file changed once: a sentence or a model, never a crash. */
TEST(damaged_files_are_refused)
{
    double X[N * D], y[N], scores[N];
    make_set(X, y);
    mgv_fit fit;
    mgv_fit_start(&fit, X, y, 12, D, "kernel=poly scale=std tol=1e-2");
    mgv_fit_solve(&fit);
    mgv_model *m;
    CHECK_OK(fit.ctx, mgv_model_new(fit.ctx, fit.solver, &m));
    CHECK_OK(fit.ctx, mgv_model_save(fit.ctx, m, file_name()));
    mgv_model_free(fit.ctx, m);
    FILE *in = fopen(file_name(), "rb");
    char bytes[16384], broken[16384];
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    remove(file_name());
    int refused = 0;
    for (size_t k = 0; k < size; k++) {
        memcpy(broken, bytes, size);
        broken[k] ^= 0x15;
        const mgv_status st = mgvi_model_parse(fit.ctx, "broken", broken, size, &m);
        CHECK(st == MGV_OK || (st == MGV_E_INPUT && m == NULL) || st == MGV_E_MEMORY);
        refused += st != MGV_OK;
        if (st == MGV_OK)
            mgvi_model_scores(fit.ctx, m, fit.data, scores);
        mgvi_model_free(m);
    }
    CHECK(refused > 100);
    CHECK(mgvi_model_parse(fit.ctx, "cut", bytes, size - 8, &m) != MGV_OK);
    mgv_fit_free(&fit);
}

int main(void)
{
    return RUN(a_saved_model_is_the_model, narrow_data_has_zeros, precomputed_is_the_kernel,
               many_classes_share_support_vectors, damaged_files_are_refused);
}
