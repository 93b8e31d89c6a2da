/* test_mtx.c - Matrix Market: every kind of matrix, faults, chunks. */
#include "text_reading.h"

#define BANNER "%%MatrixMarket matrix "

TEST(every_kind_means_what_it_says)
{
    static const struct {
        const char *text;
        mgv_layout layout;
        double expect[3][3];
    } cases[] = {
        {BANNER "coordinate real general\n% note\n3 3 3\n\n3 1 2.5\n1 2 -1\n1 1 4\n",
         MGV_CSR,
         {{4, -1, 0}, {0, 0, 0}, {2.5, 0, 0}}},
        /* given twice: added up; zeros: left out */
        {BANNER "coordinate real general\n3 3 4\n1 2 1\n3 3 0\n1 2 2\n2 2 5\n",
         MGV_CSR,
         {{0, 3, 0}, {0, 5, 0}, {0, 0, 0}}},
        {BANNER "coordinate integer symmetric\n3 3 2\n2 1 7\n3 3 1\n",
         MGV_CSR,
         {{0, 7, 0}, {7, 0, 0}, {0, 0, 1}}},
        {BANNER "coordinate real skew-symmetric\n3 3 1\n2 1 7\n",
         MGV_CSR,
         {{0, -7, 0}, {7, 0, 0}, {0, 0, 0}}},
        {"%%matrixmarket MATRIX Coordinate Pattern General\r\n3 3 2\r\n1 3\r\n2 2\r\n",
         MGV_CSR,
         {{0, 0, 1}, {0, 1, 0}, {0, 0, 0}}},
        {BANNER "array real general\n3 3\n1\n2\n3\n4\n5\n6\n7\n8\n9",
         MGV_DENSE,
         {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}},
        {BANNER "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
         MGV_DENSE,
         {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}},
        {BANNER "array real skew-symmetric\n3 3\n1\n2\n3\n",
         MGV_DENSE,
         {{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}},
        {BANNER "coordinate real general\n3 3 5\n1 1 1\n1 2 1\n1 3 1\n2 1 1\n2 2 1\n",
         MGV_DENSE,
         {{1, 1, 1}, {1, 1, 0}, {0, 0, 0}}},
    };
    mgv_ctx *ctx = mgv_check_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mgv_data *d;
        CHECK_OK(ctx, read_as(ctx, mgvi_mtx_read, cases[i].text, "", &d));
        CHECK_OK(ctx, mgvi_matrix_check(ctx, &d->X, NULL, NULL));
        CHECK(d->X.layout == cases[i].layout && d->X.rows == 3 && d->X.cols == 3 && !d->labels);
        CHECK(d->X.dtype == MGV_F32 && d->checked);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                CHECK_THAT(value_at(d, r, c) == cases[i].expect[r][c], "%s: %d %d", cases[i].text,
                           r, c);
        mgvi_data_free(ctx, d);
        check_chunks(mgvi_mtx_read, cases[i].text, strlen(cases[i].text), "");
        check_chunks(mgvi_mtx_read, cases[i].text, strlen(cases[i].text), "precision=f64");
        check_hostile(mgvi_mtx_read, cases[i].text, "");
        check_failing_allocations(mgvi_mtx_read, cases[i].text, "");
    }
    mgv_ctx_free(ctx);
}

TEST(faults_name_line_column_and_value)
{
#define REAL BANNER "coordinate real general\n"
    static const text_fault faults[] = {
        {"", "", "f: the file is empty"},
        {"1 1 1\n", "", "f:1:1: the first line does not start with %%MatrixMarket"},
        {BANNER "coordinate complex general\n1 1 0\n", "",
         "f:1:34: 'complex' in the first line; margrave reads real|integer|double|pattern"},
        {BANNER "coordinate real hermitian\n1 1 0\n", "",
         "f:1:39: 'hermitian' in the first line; margrave reads general|symmetric|skew-symmetric"},
        {"%%MatrixMarket vector array real general\n", "",
         "f:1:16: 'vector' in the first line; margrave reads matrix"},
        {BANNER "array pattern general\n1 1\n", "", "f:1:1: an array cannot be a pattern"},
        {REAL "% end\n", "", "f:2:7: the file ends before its size line"},
        {REAL "0 1 0\n", "", "f:2:1: the number of rows is 0; it can be from 1 to 2147483647"},
        {REAL "3 x 0\n", "", "f:2:3: 'x' where the number of columns should be"},
        {BANNER "array real symmetric\n3 2\n", "",
         "f:2:1: a symmetric matrix is square, this is 3 x 2"},
        {REAL "2000000000 1 0\n", "",
         "f:2:1: 2000000000 rows and 0 values are promised, but only 15 bytes follow: the file may "
         "be truncated"},
        {REAL "3 3 2\n1 1 1\n", "",
         "f:3:7: 2 values were promised and 1 are there: the file may be truncated"},
        {REAL "3 3 1\n1 1 1\n1 2 1\n", "", "f:4:7: 1 values were promised and 2 are there"},
        {REAL "3 3 1\n4 1 1\n", "", "f:3:1: the row is 4; it can be from 1 to 3"},
        {REAL "3 3 1\n1 0 1\n", "", "f:3:3: the column is 0; it can be from 1 to 3"},
        {REAL "3 3 1\n1 1.5 1\n", "", "f:3:3: '1.5' where the column should be"},
        {REAL "3 3 1\n1 1 nan\n", "", "f:3:5: the value 'nan' is not a finite number"},
        {REAL "3 3 1\n1 1\n", "", "f:3:4: the value is missing"},
        {REAL "3 3 1\n1 1 2 3\n", "", "f:3:7: '3' behind the entry"},
        {BANNER "coordinate real skew-symmetric\n3 3 1\n2 2 1\n", "",
         "f:3:4: a diagonal entry in a skew-symmetric matrix"},
    };
    check_faults(mgvi_mtx_read, faults, sizeof faults / sizeof *faults);
}

int main(void) { return RUN(every_kind_means_what_it_says, faults_name_line_column_and_value); }
