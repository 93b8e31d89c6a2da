/* test_matrix.c - what the check of a stored matrix lets through, and what it says of the rest. */
#include "samples.h"

TEST(good_matrices_pass)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {20, 9}, {3000, 50}};
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++)
            for (int at = 0; at < 6; at++) {
                sample s = sample_new(shapes[at][0], shapes[at][1], at % 2 ? 0.5 : 1, form, dtype);
                CHECK_OK(ctx, mgvi_matrix_check(ctx, &s.m, NULL, NULL));
                sample_free(&s);
            }
    sample none = sample_new(10, 10, 0, CSR, MGV_F32); /* rows but no entries */
    none.m.val = none.m.idx = NULL;
    CHECK_OK(ctx, mgvi_matrix_check(ctx, &none.m, NULL, NULL));
    sample_free(&none);
    mgv_ctx_free(ctx);
}

/* Largest entries, of all and of every column; no less where a column is not at hand. */
TEST(sizes_are_those_of_the_columns)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int form = 0; form < FORMS; form++)
        for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++) {
            enum { ROWS = 3000, COLS = 50 };
            double most = 0, size[COLS], all = 0;
            sample s = sample_new(ROWS, COLS, 0.5, form, dtype);
            CHECK_OK(ctx, mgvi_matrix_check(ctx, &s.m, &most, size));
            for (int64_t j = 0; j < COLS; j++) {
                double want = 0;
                for (int64_t i = 0; i < ROWS; i++)
                    want = fmax(want, fabs(s.ref[i * COLS + j]));
                all = fmax(all, want);
                CHECK_LE(want, size[j], "column %d", (int)j);
                if (s.m.layout == MGV_CSC || (s.m.layout == MGV_DENSE && s.m.col_stride == 1))
                    CHECK_NEAR(size[j], want, 0, "column %d", (int)j);
            }
            CHECK_NEAR(most, all, 0, "form %d", form);
            sample_free(&s);
        }
    mgv_ctx_free(ctx);
}

/* Two faults far apart, in different blocks: the first is named, with any number of threads. */
TEST(values_must_be_finite)
{
    mgv_ctx *ctx = mgv_check_ctx();
    for (int threads = 1; threads <= 4; threads *= 2)
        for (int form = 0; form < FORMS; form++)
            for (int dtype = MGV_F32; dtype <= MGV_F64; dtype++) {
                CHECK_OK(ctx, mgv_ctx_set_threads(ctx, threads));
                sample s = sample_new(4000, 40, 1, form, dtype);
                const int64_t start = (const char *)s.m.val - (const char *)s.val;
                const int64_t first = start / (int64_t)mgvi_dtype_size(dtype);
                const bool by_columns = form == CSC;
                for (int fault = 0; fault < 2; fault++) {
                    const int64_t i = fault ? 3900 : 1700, j = fault ? 30 : 22;
                    const int64_t at = form == CSR   ? i * 40 + j
                                       : form == CSC ? j * 4000 + i
                                                     : i * s.m.row_stride + j * s.m.col_stride;
                    sample_store(&s, first + at, fault ? NAN : -INFINITY);
                }
                CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &s.m, NULL, NULL), MGV_E_INPUT,
                            by_columns ? "column 23, row 1701: the value is -inf"
                                       : "row 1701, column 23: the value is -inf");
                sample_free(&s);
            }
    mgv_ctx_free(ctx);
}

TEST(indices_must_increase_within_the_shape)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double val[6] = {1, 2, 3, 4, 5, 6};
    int64_t ptr[] = {0, 2, 2, 6};
    int32_t idx[] = {0, 4, 1, 2, 3, 4};
    mgvi_matrix m = {.layout = MGV_CSR,
                     .dtype = MGV_F64,
                     .rows = 3,
                     .cols = 5,
                     .nnz = 6,
                     .val = val,
                     .ptr = ptr,
                     .idx = idx};
    CHECK_OK(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL));
    idx[4] = 2;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "row 3: column index 2 follows 2; indices must increase");
    idx[4] = 3, idx[5] = 5;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "row 3: column index 5 is not in 0 to 4");
    idx[0] = -1, idx[5] = 4;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "row 1: column index -1 is not in 0 to 4");
    m.layout = MGV_CSC, m.rows = 5, m.cols = 3;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "column 1: row index -1 is not in 0 to 4");
    idx[0] = 0, ptr[1] = 3, ptr[2] = 1;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "column 2 starts at entry 3 and ends at 1");
    ptr[1] = ptr[2] = 2, ptr[3] = 5;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "the last column pointer is 5, but there are 6 entries");
    ptr[0] = 1;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT,
                "the first column pointer is 1");
    mgv_ctx_free(ctx);
}

TEST(impossible_shapes_are_refused)
{
    mgv_ctx *ctx = mgv_check_ctx();
    const double one = 1;
    mgvi_matrix m = {.layout = MGV_DENSE, .dtype = MGV_F64, .rows = -1, .cols = 2, .val = &one};
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "-1 x 2");
    m.rows = INT64_MAX;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "too many to count");
    m.rows = 3, m.nnz = 6, m.row_stride = INT64_MAX / 2, m.col_stride = 1;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "does not fit in memory");
    m.row_stride = INT64_MIN;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "does not fit in memory");
    m.row_stride = 2, m.nnz = 5;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "3 x 2 has 5 entries");
    m.nnz = 6, m.val = NULL;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_ARG, "no array of values");
    m = (mgvi_matrix){.layout = MGV_CSR, .dtype = MGV_F32, .rows = INT64_MAX, .cols = 1};
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_INPUT, "does not fit in memory");
    m.rows = 1;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_ARG, "no row pointers");
    const int64_t ptr[] = {0, 1};
    m.ptr = ptr, m.nnz = 1, m.val = &one;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_ARG, "no array of indices");
    m.layout = (mgv_layout)7;
    CHECK_FAILS(ctx, mgvi_matrix_check(ctx, &m, NULL, NULL), MGV_E_ARG, "no layout 7");
    mgv_ctx_free(ctx);
}

int main(void)
{
    return RUN(good_matrices_pass, sizes_are_those_of_the_columns, values_must_be_finite,
               indices_must_increase_within_the_shape, impossible_shapes_are_refused);
}
