/* items_margin_rows.c - rows and random numbers of the items about margins on digits. */
#include "items_margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(study *s)
{
    if (s->code == CLI_GO_ON)
        s->code = cli_complain(s->c, CLI_FAILURE, "no memory for the rows of %s", s->item->name);
    return false;
}

bool margin_new_rows(study *s, margin_rows *rows, int64_t count, int64_t cols)
{
    *rows = (margin_rows){.count = count, .cols = cols};
    rows->x = calloc((size_t)(count * cols) + 1, sizeof *rows->x);
    rows->y = calloc((size_t)count + 1, sizeof *rows->y);
    if (rows->x && rows->y)
        return true;
    margin_free_rows(s, rows);
    return no_memory(s);
}

bool margin_bind(study *s, margin_rows *rows)
{
    return study_ok(s, mgv_data_from_dense(s->c->ctx, MGV_F64, rows->x, rows->count, rows->cols,
                                           rows->cols, 1, &rows->data)) &&
           study_ok(s, mgv_data_set_labels(s->c->ctx, rows->data, rows->y));
}

void margin_free_rows(study *s, margin_rows *rows)
{
    mgv_data_free(s->c->ctx, rows->data);
    free(rows->x);
    free(rows->y);
    *rows = (margin_rows){0};
}

bool margin_copy_rows(study *s, const mgv_data *from, const int64_t *order, int64_t most,
                      margin_rows *out)
{
    mgv_data_info info = {.size = sizeof info};
    mgv_data_describe(from, &info);
    const int64_t count = most < info.rows ? most : info.rows;
    if (!margin_new_rows(s, out, count, info.cols))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!study_ok(s, mgv_data_row(s->c->ctx, from, order ? order[i] : i, out->x + i * info.cols,
                                      &out->y[i])))
            break;
    if (!study_goes_on(s))
        margin_free_rows(s, out);
    return study_goes_on(s);
}

bool margin_read_rows(study *s, const char *file, const char *options, int64_t most,
                      margin_rows *out)
{
    study_set set;
    *out = (margin_rows){0};
    if (!study_read(s, &set, file, options))
        return false;
    const bool done = margin_copy_rows(s, set.data, NULL, most, out);
    study_free_set(s, &set);
    return done;
}

uint64_t margin_draw(margin_draws *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

double margin_draw_uniform(margin_draws *d) { return (double)(margin_draw(d) >> 11) * 0x1p-53; }

double margin_draw_normal(margin_draws *d)
{
    double sum = -6;
    for (int k = 0; k < 12; k++)
        sum += margin_draw_uniform(d);
    return sum;
}

int64_t *margin_draw_order(study *s, margin_draws *d, int64_t count)
{
    int64_t *order = calloc((size_t)count + 1, sizeof *order);
    if (!order)
        no_memory(s);
    for (int64_t i = 0; order && i < count; i++) {
        const int64_t j = (int64_t)(margin_draw_uniform(d) * (double)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static double distance(const double *a, const double *b, int64_t count)
{
    double sum[8] = {0}, all = 0;
    int64_t j = 0;
    for (; j + 8 <= count; j += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
    for (; j < count; j++)
        all += (a[j] - b[j]) * (a[j] - b[j]);
    for (int k = 0; k < 8; k++)
        all += sum[k];
    return all;
}

bool margin_new_kernel(study *s, const margin_rows *train, const margin_rows *test, double sigma2,
                       margin_kernel *out)
{
    double largest = -INFINITY;
    *out = (margin_kernel){.tests = test->count, .rows = train->count};
    out->k = malloc(((size_t)test->count * (size_t)train->count + 1) * sizeof *out->k);
    out->sign = malloc(((size_t)test->count + 1) * sizeof *out->sign);
    if (!out->k || !out->sign) {
        margin_free_kernel(out);
        return no_memory(s);
    }
    for (int64_t i = 0; i < train->count; i++)
        largest = fmax(largest, train->y[i]);
    for (int64_t i = 0; i < test->count && study_goes_on(s); i++) {
        out->sign[i] = test->y[i] == largest ? 1 : -1;
        for (int64_t j = 0; j < train->count; j++)
            out->k[i * train->count + j] = (float)exp(
                -distance(test->x + i * test->cols, train->x + j * train->cols, train->cols) /
                (2 * sigma2));
    }
    if (!study_goes_on(s))
        margin_free_kernel(out);
    return study_goes_on(s);
}

void margin_free_kernel(margin_kernel *kernel)
{
    free(kernel->k);
    free(kernel->sign);
    *kernel = (margin_kernel){0};
}

double margin_kernel_error(const margin_kernel *kernel, const double *weights)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < kernel->tests; i++) {
        const float *k = kernel->k + i * kernel->rows;
        double sum[8] = {0}, score = 0;
        int64_t j = 0;
        for (; j + 8 <= kernel->rows; j += 8)
            for (int l = 0; l < 8; l++)
                sum[l] += (double)k[j + l] * weights[j + l];
        for (; j < kernel->rows; j++)
            score += (double)k[j] * weights[j];
        for (int l = 0; l < 8; l++)
            score += sum[l];
        wrong += !(score * kernel->sign[i] > 0);
    }
    return (double)wrong / (double)kernel->tests;
}

void margin_measure(study *s, void *user, const mgv_iterate *at)
{
    const margin_curves *m = user;
    const double t = (double)at->iteration;
    mgv_certificate c = {.size = sizeof c};
    if (m->margin && study_ok(s, mgv_iterate_certify(s->c->ctx, at, &c, NULL)))
        study_add(s, m->margin, t, m->gamma > 0 ? m->gamma - c.margin : c.margin);
    if (m->error)
        study_add(s, m->error, t,
                  m->kernel ? margin_kernel_error(m->kernel, at->weights)
                            : study_iterate_error(s, at, m->test));
}
