/* tall_place.c - the rule (9). */
#include "solver/newton/tall_place.h"

#include "base/memory.h"

#include <math.h>

/* Leverage over its mean: never fixed, as long as they are FEW of the rows. */
static const double STANDING_OUT = 6, FEW = 0.05;
/* A column whose mean square over the kept rows is below this part of that over all rows. */
static const double STARVED = 0.02;
enum { FED = 8 }; /* rows that such a column gets */

/* STANDING_OUT, doubled until they are few: the few with the largest can decide everything. */
static double outstanding(const mgvi_tall_place *p)
{
    const int64_t n = mgvi_row_set_count(p->all);
    for (double least = STANDING_OUT;; least *= 2) {
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++)
            count += p->leverage[i] > least * p->mean_leverage;
        if ((double)count <= FEW * (double)n)
            return least;
    }
}

/* The rule (9) without calls: it is applied to every row. */
static int64_t place_by_slack(const mgvi_tall_place *p, uint8_t *place)
{
    const int64_t n = mgvi_row_set_count(p->all);
    const double most = outstanding(p), inverse_mean = 1 / p->mean_leverage;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const double u = p->u[i], u0 = p->u0[i], q = p->leverage[i] * inverse_mean;
        const double a = fabs(u), a0 = fabs(u0), root = q > 1 ? sqrt(q) : 1;
        const bool near = (a < a0 ? a : a0) <= p->far * root + fabs(u - u0) / 2 || u * u0 < 0;
        const bool keep = near || q > most;
        place[i] = keep ? MGVI_ROW_KEPT : u > 0 ? MGVI_ROW_ONE : MGVI_ROW_ZERO;
        kept += keep;
    }
    return kept;
}

/* a_ij without its sign */
static double entry(const mgvi_row_set *s, int64_t i, int64_t j)
{
    const mgvi_matrix *m = &s->m;
    double x = 0;
    if (m->layout == MGV_DENSE) {
        x = mgvi_matrix_value(m, i * m->row_stride + j);
    } else {
        int64_t low = m->ptr[i], high = m->ptr[i + 1];
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (m->idx[middle] < j)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < m->ptr[i + 1] && m->idx[low] == j)
            x = mgvi_matrix_value(m, low);
    }
    return mgvi_view_entry(&s->view, i, j, x);
}

/* The rows nearest to the hinge among those in which column j is large are kept. */
static void feed(const mgvi_tall_place *p, int64_t j, uint8_t *place)
{
    int64_t row[FED], count = 0;
    for (int64_t i = 0; i < mgvi_row_set_count(p->all); i++) {
        const double u = fabs(p->u[i]);
        if (place[i] == MGVI_ROW_KEPT || (count == FED && u >= fabs(p->u[row[FED - 1]])))
            continue;
        const double x = entry(p->all, i, j);
        if (x * x < p->energy[j])
            continue;
        int64_t at = count < FED ? count++ : FED - 1;
        for (; at > 0 && fabs(p->u[row[at - 1]]) > u; at--)
            row[at] = row[at - 1];
        row[at] = i;
    }
    for (int64_t t = 0; t < count; t++)
        place[row[t]] = MGVI_ROW_KEPT;
}

/* A group of rows that all are fixed leaves its column to run away, because the fixed rows are
 * linear: every column needs some rows. */
static mgv_status feed_columns(const mgvi_tall_place *p, int64_t kept, uint8_t *place)
{
    const int64_t d = p->all->m.cols;
    double *sum = mgvi_alloc(p->all->ctx, (size_t)d, sizeof *sum);
    if (!sum)
        return MGV_E_MEMORY;
    mgvi_row_set_squares(p->all, place, MGVI_ROW_KEPT, sum);
    for (int64_t j = 0; j < d; j++)
        if (sum[j] < STARVED * p->energy[j] * (double)kept)
            feed(p, j, place);
    mgvi_release(p->all->ctx, sum);
    return MGV_OK;
}

int64_t mgvi_tall_place_count(const uint8_t *place, const mgvi_coef_array *s, int64_t rows)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < rows; i++)
        kept += place[i] == MGVI_ROW_KEPT && mgvi_coef_pick(s, i, 0) > 0;
    return kept;
}

void mgvi_tall_place_fixed(const uint8_t *place, const mgvi_coef_array *s, mgvi_vec *fixed)
{
    for (int64_t i = 0; i < fixed->n; i++)
        fixed->x[i] = place[i] == MGVI_ROW_ONE ? mgvi_coef_pick(s, i, 0) : 0;
}

mgv_status mgvi_tall_place_rows(const mgvi_tall_place *p, uint8_t *place, int64_t *kept)
{
    *kept = place_by_slack(p, place);
    return feed_columns(p, *kept, place);
}

int64_t mgvi_tall_place_join(uint8_t *place, const double *z, int64_t rows, double near)
{
    int64_t joined = 0;
    for (int64_t i = 0; i < rows; i++)
        if ((place[i] == MGVI_ROW_ONE && z[i] > 1 - near) ||
            (place[i] == MGVI_ROW_ZERO && z[i] < 1 + near)) {
            place[i] = MGVI_ROW_KEPT;
            joined++;
        }
    return joined;
}

/* ---- a pair near the solution ---------------------------------------------------------------- */

double mgvi_tall_near_tau(const mgvi_coef_array *s, const double *u, double *a, int64_t rows,
                          double *loss)
{
    double sum = 0;
    *loss = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double most = mgvi_coef_pick(s, i, 0);
        a[i] = fmin(fmax(a[i], 0), most);
        *loss += most * fmax(u[i], 0);
        sum += u[i] > 0 ? (most - a[i]) * u[i] : -a[i] * u[i];
    }
    return rows > 0 ? sum / (2 * (double)rows) : 0;
}

bool mgvi_tall_near_inside(const mgvi_coef_array *s, const double *u, int64_t rows)
{
    static const double ODD = 0.01;
    int64_t outside = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double most = mgvi_coef_pick(s, i, 0);
        outside += most > 0 && !(u[i] < 0 && u[i] > -most);
    }
    return (double)outside <= ODD * (double)rows;
}

double mgvi_tall_near_reach(const double *u, int64_t rows, int64_t wanted, double least)
{
    enum { HALVINGS = 40 };
    double low = least, high = least;
    for (int64_t i = 0; i < rows; i++)
        high = fmax(high, fabs(u[i]));
    for (int t = 0; t < HALVINGS && high > low * (1 + 1e-3); t++) {
        const double middle = low > 0 ? sqrt(low * high) : high / 2;
        int64_t count = 0;
        for (int64_t i = 0; i < rows; i++)
            count += fabs(u[i]) <= middle;
        if (count < wanted)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void mgvi_tall_near_keep(const mgvi_coef_array *s, const double *u, const double *a, int64_t rows,
                         uint8_t *place)
{
    for (int64_t i = 0; i < rows; i++)
        if ((u[i] > 0) != (a[i] > mgvi_coef_pick(s, i, 0) / 2))
            place[i] = MGVI_ROW_KEPT;
}
