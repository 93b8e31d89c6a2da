/* test_low_rank.c - the parts of a completion, each beside a slow and simple one: the iteration,
 * the singular value decomposition of low rank plus sparse, balancing, alternating least squares.
 */
#include "complete/alternate.h"
#include "complete/low_rank.h"
#include "samples.h"
#include "vectors.h"

typedef struct subject {
    mgv_ctx *ctx;
    sample s;
    mgv_triples *triples;
    mgvi_arena arena;
    mgvi_known e;
} subject;

static subject subject_new(sample s)
{
    subject x = {.ctx = mgv_check_ctx(), .s = s};
    x.triples = sample_triples(x.ctx, &s);
    mgvi_arena_init(&x.arena, x.ctx);
    CHECK_OK(x.ctx, mgvi_triples_sort(x.triples));
    return x;
}

/* The entries point into the subject: it must not move any more. */
static void subject_open(subject *x)
{
    CHECK_OK(x->ctx, mgvi_known_init(x->ctx, x->triples, &x->arena, &x->e));
    x->e.held = mgvi_arena_array(&x->arena, (size_t)x->e.count, 1);
}

static void subject_free(subject *x)
{
    mgvi_arena_free(&x->arena);
    mgvi_triples_free(x->triples);
    sample_free(&x->s);
    mgv_ctx_free(x->ctx);
}

/* ---- a dense reference ----------------------------------------------------------------------- */

/* Shrinks the singular values of V (m x n) by tau: one-sided Jacobi on its columns. */
static void shrink_dense(double *V, int64_t m, int64_t n, double tau)
{
    double *W = calloc((size_t)(n * n), sizeof *W);
    for (int64_t p = 0; p < n; p++)
        W[p * n + p] = 1;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double a = 0, b = 0, c = 0;
                for (int64_t i = 0; i < m; i++) {
                    a += V[i * n + p] * V[i * n + p];
                    b += V[i * n + q] * V[i * n + q];
                    c += V[i * n + p] * V[i * n + q];
                }
                if (c == 0)
                    continue;
                const double angle = 0.5 * atan2(2 * c, b - a), co = cos(angle), si = sin(angle);
                for (int64_t i = 0; i < m; i++) {
                    const double x = V[i * n + p], y = V[i * n + q];
                    V[i * n + p] = co * x - si * y;
                    V[i * n + q] = si * x + co * y;
                }
                for (int64_t i = 0; i < n; i++) {
                    const double x = W[i * n + p], y = W[i * n + q];
                    W[i * n + p] = co * x - si * y;
                    W[i * n + q] = si * x + co * y;
                }
            }
    double *out = calloc((size_t)(m * n), sizeof *out);
    for (int64_t p = 0; p < n; p++) {
        double s = 0;
        for (int64_t i = 0; i < m; i++)
            s += V[i * n + p] * V[i * n + p];
        s = sqrt(s);
        for (int64_t i = 0; i < m && s > tau; i++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] += (1 - tau / s) * V[i * n + p] * W[j * n + p];
    }
    memcpy(V, out, (size_t)(m * n) * sizeof *out);
    free(out);
    free(W);
}

static double at(const mgvi_factors *f, int64_t i, int64_t j)
{
    double x = 0;
    for (int64_t k = 0; k < f->rank; k++)
        x += f->left[i * f->width + k] * f->right[j * f->width + k];
    return x;
}

TEST(iterates_are_those_of_the_dense_iteration)
{
    const int64_t m = 11, n = 8;
    subject x = subject_new(sample_new(5, m, n, 2, 0.7, 0.1));
    subject_open(&x);
    for (int64_t t = 0; t < x.e.count; t += 9, x.e.held_count++)
        x.e.held[t] = 1;
    mgvi_low_rank run;
    CHECK_OK(x.ctx, mgvi_low_rank_start(&run, &x.e, 0.25, NAN, 100, 0));
    double *X = calloc((size_t)(m * n), sizeof *X), *y = calloc((size_t)x.e.count, sizeof *y),
           *old = calloc((size_t)x.e.count, sizeof *old);
    for (int64_t k = 0; k <= 40; k++) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t t = x.e.row_ptr[i]; t < x.e.row_ptr[i + 1]; t++)
                X[i * n + x.e.col[t]] -= x.e.held[t] ? 0 : run.tau * (2 * y[t] - old[t]);
        shrink_dense(X, m, n, run.tau);
        for (int64_t i = 0; i < m; i++)
            for (int64_t t = x.e.row_ptr[i]; t < x.e.row_ptr[i + 1]; t++) {
                old[t] = y[t];
                y[t] += run.sigma * (X[i * n + x.e.col[t]] - x.e.value[t]);
            }
        if (k + 1 < run.iteration)
            continue; /* X is 0 so far, and the run starts behind it */
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                CHECK_NEAR(at(&run.X, i, j), X[i * n + j], 1e-9, "iteration %d", (int)k + 1);
        mgvi_low_rank_restore(&run); /* what others may do in between changes nothing */
        CHECK_OK(x.ctx, mgvi_low_rank_step(&run));
    }
    CHECK(run.X.rank >= 2);
    free(X);
    free(y);
    free(old);
    mgvi_low_rank_free(&run);
    subject_free(&x);
}

TEST(the_vector_holds_by_factors)
{
    json_t *root = mgv_vector_load("sparse_matrix_completion");
    double *B = mgv_vector_array(root, "B", NULL), *M = mgv_vector_array(root, "M", NULL);
    double *X = mgv_vector_array(root, "X", NULL), *Y = mgv_vector_array(root, "Y", NULL);
    const double value = mgv_vector_number(json_object_get(root, "value"));
    sample s = sample_new(1, 6, 5, 1, 0, 0);
    for (int64_t k = 0; k < 30; k++)
        if (M[k] != 0) {
            s.row[s.count] = k / 5;
            s.col[s.count] = k % 5;
            s.value[s.count++] = B[k];
        }
    mgv_ctx *ctx = mgv_check_ctx();
    mgv_completion_info c;
    mgv_completion *done = sample_complete(ctx, &s, "select=last max_iter=6000 sigma_factor=1", &c);
    CHECK(c.rank == 4 && c.stop == MGV_STOP_MAX_ITER && !c.finished && c.held_out == 0);
    for (int64_t k = 0; k < 30; k++)
        CHECK_NEAR(completed(&c, k / 5, k % 5), X[k], 1e-8, "entry %d", (int)k);
    CHECK_NEAR(c.primal, value, 1e-8, "nuclear norm");
    CHECK_NEAR(c.dual, value, 1e-6, "bound");
    CHECK(Y[0] == Y[0]);
    mgv_completion_free(ctx, done);
    mgv_ctx_free(ctx);
    sample_free(&s);
    free(B);
    free(M);
    free(X);
    free(Y);
    json_decref(root);
}

TEST(balancing_keeps_the_product)
{
    mgv_ctx *ctx = mgv_check_ctx();
    mgvi_rng rng = mgvi_rng_seed(4);
    for (int64_t rank = 1; rank <= 19; rank += 3) {
        mgvi_factors f, old;
        double s[32];
        mgvi_factors_init(&f, ctx, 40, 23);
        mgvi_factors_init(&old, ctx, 40, 23);
        CHECK_OK(ctx, mgvi_factors_reset(&f, rank));
        for (int64_t k = 0; k < rank; k++) { /* the last column repeats the first */
            const bool again = rank > 3 && k == rank - 1;
            for (int64_t i = 0; i < 40; i++)
                f.left[i * f.width + k] = again ? f.left[i * f.width] : mgvi_rng_normal(&rng);
            for (int64_t j = 0; j < 23; j++)
                f.right[j * f.width + k] = 1e-2 * mgvi_rng_normal(&rng);
        }
        CHECK_OK(ctx, mgvi_factors_copy(&old, &f, rank, 0));
        CHECK_OK(ctx, mgvi_factors_balance(&f, s));
        CHECK(f.rank == rank - (rank > 3));
        for (int64_t i = 0; i < 40; i++)
            for (int64_t j = 0; j < 23; j++)
                CHECK_NEAR(at(&f, i, j), at(&old, i, j), 1e-12, "rank %d", (int)rank);
        for (int64_t p = 0; p < f.rank; p++)
            for (int64_t q = 0; q < f.rank; q++) {
                double left = 0, right = 0;
                for (int64_t i = 0; i < 40; i++)
                    left += f.left[i * f.width + p] * f.left[i * f.width + q];
                for (int64_t j = 0; j < 23; j++)
                    right += f.right[j * f.width + p] * f.right[j * f.width + q];
                CHECK_NEAR(left, p == q ? s[p] : 0, 1e-9 * s[0], "left %d %d", (int)p, (int)q);
                CHECK_NEAR(right, p == q ? s[p] : 0, 1e-9 * s[0], "right %d %d", (int)p, (int)q);
            }
        mgvi_factors_free(&f);
        mgvi_factors_free(&old);
    }
    mgv_ctx_free(ctx);
}

/* 1/2 sum (x - b)^2 + ridge/2 (|L|^2 + |R|^2) */
static double objective(const mgvi_known *e, const mgvi_factors *f, double ridge)
{
    double sum = 0;
    for (int64_t i = 0; i < e->rows; i++)
        for (int64_t t = e->row_ptr[i]; t < e->row_ptr[i + 1]; t++)
            sum += e->held[t] ? 0 : pow(at(f, i, e->col[t]) - e->value[t], 2);
    for (int64_t k = 0; k < f->rows * f->width; k++)
        sum += ridge * f->left[k] * f->left[k];
    for (int64_t k = 0; k < f->cols * f->width; k++)
        sum += ridge * f->right[k] * f->right[k];
    return sum / 2;
}

TEST(sweeps_descend_to_where_the_gradient_is_zero)
{
    subject x = subject_new(sample_new(8, 40, 30, 3, 0.5, 0.1));
    subject_open(&x);
    for (int64_t t = 3; t < x.e.count; t += 7, x.e.held_count++)
        x.e.held[t] = 1;
    for (int64_t rank = 1; rank <= 10; rank += 3) {
        const double ridge = 0.3;
        mgvi_factors f;
        mgvi_rng rng = mgvi_rng_seed(2);
        mgvi_factors_init(&f, x.ctx, x.e.rows, x.e.cols);
        CHECK_OK(x.ctx, mgvi_factors_reset(&f, rank));
        for (int64_t j = 0; j < f.cols; j++)
            for (int64_t k = 0; k < rank; k++)
                f.right[j * f.width + k] = mgvi_rng_normal(&rng);
        double last = INFINITY;
        for (int sweep = 0; sweep < 400; sweep++) {
            CHECK_OK(x.ctx, mgvi_alternate_sweep(&x.e, &f, ridge));
            const double now = objective(&x.e, &f, ridge);
            CHECK_LE(now, last * (1 + 1e-12), "rank %d, sweep %d", (int)rank, sweep);
            last = now;
        }
        for (int64_t j = 0; j < f.cols; j++) /* the right factor is the last one solved for */
            for (int64_t k = 0; k < rank; k++) {
                double g = ridge * f.right[j * f.width + k];
                for (int64_t s = x.e.col_ptr[j]; s < x.e.col_ptr[j + 1]; s++)
                    if (!x.e.held[x.e.place[s]])
                        g += (at(&f, x.e.row[s], j) - x.e.value[x.e.place[s]]) *
                             f.left[x.e.row[s] * f.width + k];
                CHECK_NEAR(g, 0, 1e-10, "gradient, rank %d", (int)rank);
            }
        mgvi_factors_free(&f);
    }
    subject_free(&x);
}

TEST(errors_are_those_of_the_two_kinds_of_entries)
{
    subject x = subject_new(sample_new(9, 30, 20, 2, 0.6, 0.2));
    subject_open(&x);
    for (int64_t t = 1; t < x.e.count; t += 5, x.e.held_count++)
        x.e.held[t] = 1;
    mgvi_factors f;
    mgvi_rng rng = mgvi_rng_seed(1);
    mgvi_factors_init(&f, x.ctx, 30, 20);
    CHECK_OK(x.ctx, mgvi_factors_reset(&f, 9));
    for (int64_t k = 0; k < 9; k++) {
        for (int64_t i = 0; i < 30; i++)
            f.left[i * f.width + k] = mgvi_rng_normal(&rng);
        for (int64_t j = 0; j < 20; j++)
            f.right[j * f.width + k] = mgvi_rng_normal(&rng);
    }
    double sum[2] = {0}, train, held, truncated[9];
    for (int64_t i = 0; i < 30; i++)
        for (int64_t t = x.e.row_ptr[i]; t < x.e.row_ptr[i + 1]; t++)
            sum[x.e.held[t]] += pow(at(&f, i, x.e.col[t]) - x.e.value[t], 2);
    CHECK_OK(x.ctx, mgvi_factors_errors(&x.e, &f, &train, &held));
    CHECK_NEAR(train, sqrt(sum[0] / (double)(x.e.count - x.e.held_count)), 1e-12, "train");
    CHECK_NEAR(held, sqrt(sum[1] / (double)x.e.held_count), 1e-12, "held out");
    double *residual = malloc((size_t)x.e.count * sizeof *residual);
    mgvi_factors_residual(&x.e, &f, residual);
    for (int64_t i = 0; i < 30; i++)
        for (int64_t t = x.e.row_ptr[i]; t < x.e.row_ptr[i + 1]; t++)
            CHECK_NEAR(residual[t], x.e.held[t] ? 0 : x.e.value[t] - at(&f, i, x.e.col[t]), 1e-12,
                       "residual");
    free(residual);
    CHECK_OK(x.ctx, mgvi_factors_truncated_errors(&x.e, &f, truncated));
    CHECK_NEAR(truncated[8], held, 1e-12, "all columns");
    f.rank = 4; /* the other columns must be 0 for the loops */
    for (int64_t i = 0; i < 30; i++)
        memset(f.left + i * f.width + 4, 0, (size_t)(f.width - 4) * sizeof(double));
    CHECK_OK(x.ctx, mgvi_factors_errors(&x.e, &f, NULL, &held));
    CHECK_NEAR(truncated[3], held, 1e-12, "four columns");
    mgvi_factors_free(&f);
    subject_free(&x);
}

int main(void)
{
    return RUN(iterates_are_those_of_the_dense_iteration, the_vector_holds_by_factors,
               balancing_keeps_the_product, sweeps_descend_to_where_the_gradient_is_zero,
               errors_are_those_of_the_two_kinds_of_entries);
}
