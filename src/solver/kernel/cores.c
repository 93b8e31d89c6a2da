/* cores.c - rounds on random balanced cores. */
#include "solver/kernel/cores.h"

#include "base/limit.h"
#include "solver/shared/ranking.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_SIDES = 1024, /* q for few rows, a tenth of many, */
    MOST_SIDES = 4096,  /* of so many that this is a tenth or more, */
    MOST_GROWN = 6144,  /* and a quarter of the free rows where there are that many */
    MOST_LOOSE = 12288, /* free rows of a core, where the cache for rows of K has room for it */
    WORST_PART = 10,
    SETTLING = 3, /* rounds before the number of free rows says anything */
    FEW_STEPS = 10,
    MANY_STEPS = 100 /* for each row of the core, where it holds all that violate anything */
};
enum { RISE, FALL, LOOSE };

static const double MEGABYTE = 1e6;
static const double LEAST_BYTES = 512e6; /* of a block, beside the cache for rows of K */
static const double CORE_PART = 0.1;     /* of the violation of all rows is left on the core */

bool mgvi_cores_fit(const mgv_problem *p)
{
    enum { HELD = 16 }; /* numbers a row of the run */
    const mgvi_kernel_op *kernel = mgvi_kernel_of(p->A);
    const double cache = MEGABYTE * p->settings.cache; /* the copy is there instead of rows of K */
    return kernel && (mgvi_kernel_keeps_rows(kernel) ||
                      (mgvi_kernel_fast(kernel) == MGV_F64 && mgvi_kernel_has_rough(kernel) &&
                       mgvi_kernel_rough_bytes(kernel) <= cache + mgvi_problem_spare(p, HELD)));
}

mgv_status mgvi_cores_open(mgvi_cores *k)
{
    const size_t n = (size_t)k->run->problem->A->rows;
    k->room = mgvi_arena_within(&k->run->arena);
    k->next = mgvi_arena_within(&k->run->arena);
    k->held = mgvi_run_array(k->run, n, sizeof *k->held);
    k->rows = mgvi_run_array(k->run, n, sizeof *k->rows);
    k->sides = mgvi_run_array(k->run, n, sizeof *k->sides);
    k->loose = mgvi_run_array(k->run, n, sizeof *k->loose);
    k->near = mgvi_run_array(k->run, n, sizeof *k->near);
    k->key = mgvi_run_array(k->run, n, sizeof *k->key);
    k->step = mgvi_run_array(k->run, n, sizeof *k->step);
    const double cache = MEGABYTE * k->run->problem->settings.cache;
    const double side = sqrt((cache + LEAST_BYTES) / sizeof(double)) - MOST_GROWN;
    k->most_loose = side < MOST_LOOSE ? (int64_t)side : MOST_LOOSE;
    if (!k->room || !k->next || !k->held || !k->near || !k->rows || !k->sides || !k->loose ||
        !k->key || !k->step)
        return MGV_E_MEMORY;
    return mgvi_kernel_keeps_rows(k->kernel) ? MGV_OK : mgvi_kernel_open_rough(k->kernel);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static double upper(const mgvi_cores *k, int64_t i, double y) { return y > 0 ? k->bound[i] : 0; }
static double lower(const mgvi_cores *k, int64_t i, double y) { return y > 0 ? 0 : -k->bound[i]; }

/* sum of the bounds of the rows with z > a */
static double bounds_above(const mgvi_cores *k, double a)
{
    enum { PARTS = 8 };
    const int64_t n = k->run->problem->A->rows;
    double part[PARTS] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int64_t l = 0; l < PARTS; l++)
            part[l] += k->key[i + l] > a ? k->bound[i + l] : 0;
    for (; i < n; i++)
        part[0] += k->key[i] > a ? k->bound[i] : 0;
    for (int64_t l = 0; l < PARTS; l++)
        sum += part[l];
    return sum;
}

/* a of (18): where rows above have as much room to rise as rows below to fall. By sum c = 0 that is
 * where the bounds of the rows above add up to those of the negative rows. */
static double balance(const mgvi_cores *k, double low, double high)
{
    enum { MOST_HALVINGS = 60 };
    const mgv_problem *p = k->run->problem;
    double negative = 0;
    for (int64_t i = 0; i < p->A->rows; i++)
        negative += mgvi_problem_free_entry(p, i) > 0 ? 0 : k->bound[i];
    for (int h = 0; h < MOST_HALVINGS; h++) {
        const double middle = 0.5 * (low + high);
        if (!(low < middle && middle < high))
            break;
        *(bounds_above(k, middle) > negative ? &low : &high) = middle;
    }
    return high;
}

void mgvi_cores_survey(mgvi_cores *k)
{
    const mgv_problem *p = k->run->problem;
    const bool origin = p->free_cols == 0; /* its point, z = 0, may rise and fall */
    double most = origin ? 0 : -INFINITY, least = origin ? 0 : INFINITY;
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double y = mgvi_problem_free_entry(p, i), z = y - k->f[i];
        k->key[i] = z;
        low = z < low ? z : low;
        high = z > high ? z : high;
        most = k->c[i] < upper(k, i, y) && z > most ? z : most;
        least = k->c[i] > lower(k, i, y) && z < least ? z : least;
    }
    k->most = most;
    k->least = least;
    k->centre = origin ? 0 : balance(k, low, high);
}

/* (18): the worst rows are in, whatever a is. */
static void list_sides(mgvi_cores *k)
{
    const mgv_problem *p = k->run->problem;
    const double edge = fmin(CORE_PART * (k->most - k->least), 0.2 * k->run->settings->tol);
    k->above = fmin(k->centre + edge, k->most - edge);
    k->below = fmax(k->centre - edge, k->least + edge);
    int64_t *count = k->count, end = p->A->rows;
    count[RISE] = count[FALL] = count[LOOSE] = 0;
    for (int64_t i = 0; i < p->A->rows; i++) {
        const double y = mgvi_problem_free_entry(p, i), z = y - k->f[i];
        const bool rises = k->c[i]<upper(k, i, y), falls = k->c[i]> lower(k, i, y);
        k->key[i] = -fabs(z - k->centre);
        if (rises && falls)
            k->loose[count[LOOSE]++] = i;
        else if (rises && z > k->above)
            k->sides[count[RISE]++] = i;
        else if (falls && z < k->below)
            k->sides[end - ++count[FALL]] = i;
    }
}

/* Rows outside of (18), which lists the others, that violate what the free rows agree on, their mean z: few positive rows
 * leave room for as few of thousands of negative ones to move, of which each takes a little. */
static void list_near(mgvi_cores *k)
{
    const mgv_problem *p = k->run->problem;
    int64_t *count = k->near_count;
    const int64_t end = p->A->rows;
    double mean = 0;
    for (int64_t t = 0; t < k->count[LOOSE]; t++) {
        const int64_t i = k->loose[t];
        mean += (mgvi_problem_free_entry(p, i) - k->f[i]) / (double)k->count[LOOSE];
    }
    count[RISE] = count[FALL] = 0;
    for (int64_t i = 0; k->count[LOOSE] > 0 && i < end; i++) {
        const double y = mgvi_problem_free_entry(p, i), z = y - k->f[i];
        const bool rises = k->c[i]<upper(k, i, y), falls = k->c[i]> lower(k, i, y);
        if (rises && !falls && z > mean && z <= fmin(k->centre, k->above))
            k->near[count[RISE]++] = i;
        else if (falls && !rises && z < mean && z >= fmax(k->centre, k->below))
            k->near[end - ++count[FALL]] = i;
    }
}

/* `want` of the listed rows join the core: a tenth the worst, the others at random. */
static int64_t take(mgvi_cores *k, int64_t *list, int64_t count, int64_t want, int64_t size)
{
    const int64_t worst = want < count ? (want + WORST_PART - 1) / WORST_PART : count;
    want = want < count ? want : count;
    if (worst < count)
        mgvi_select_smallest(k->key, list, count, worst);
    for (int64_t t = worst; t < want; t++) {
        const int64_t r = t + mgvi_rng_below(&k->run->rng, (uint32_t)(count - t));
        const int64_t other = list[r];
        list[r] = list[t];
        list[t] = other;
    }
    memcpy(k->rows + size, list, (size_t)want * sizeof *list);
    return size + want;
}

/* (19); returns the core's size. */
static int64_t choose(mgvi_cores *k, int64_t round)
{
    const int64_t n = k->run->problem->A->rows, *count = k->count;
    int64_t q = n / (mgvi_kernel_keeps_rows(k->kernel) ? 4 : 10);
    q = q < LEAST_SIDES ? LEAST_SIDES : q > MOST_SIDES ? MOST_SIDES : q;
    if (round >= SETTLING && count[LOOSE] / 4 > q)
        q = count[LOOSE] / 4 < MOST_GROWN ? count[LOOSE] / 4 : MOST_GROWN;
    int64_t want[2] = {q / 2, q / 2}, more[2] = {0, 0};
    for (int side = RISE; side <= FALL; side++)
        if (count[side] < q / 2) {
            const int64_t lacks = q / 2 - count[side], near = k->near_count[side];
            more[side] = near < lacks ? near : lacks;
            want[!side] += lacks - more[side];
        }
    int64_t size = take(k, k->loose, count[LOOSE], k->most_loose, 0);
    size = take(k, k->sides, count[RISE], want[RISE], size);
    size = take(k, k->sides + n - count[FALL], count[FALL], want[FALL], size);
    size = take(k, k->near, k->near_count[RISE], more[RISE], size);
    return take(k, k->near + n - k->near_count[FALL], k->near_count[FALL], more[FALL], size);
}

/* ---- the core -------------------------------------------------------------------------------- */

/* Rows of the core of the round before stay in their order, and the others follow. Where there is
 * its block, and not after a checkpoint, values move up to their new places; returns how many. */
static int64_t keep_rows(mgvi_cores *k, int64_t size)
{
    enum { NEITHER, WANTED, KEPT };
    const mgvi_pairs *a = &k->pairs;
    int64_t stay = 0, *from = k->sides;
    for (int64_t t = 0; t < k->holding; t++)
        k->key[k->held[t]] = NEITHER;
    for (int64_t t = 0; t < size; t++)
        k->key[k->rows[t]] = WANTED;
    for (int64_t t = 0; t < k->holding; t++)
        if (k->key[k->held[t]] == WANTED) {
            k->key[k->held[t]] = KEPT;
            from[stay] = t + 1;
            k->held[stay++] = k->held[t];
        }
    for (int64_t t = 0, end = stay; t < size; t++)
        if (k->key[k->rows[t]] == WANTED)
            k->held[end++] = k->rows[t];
    memcpy(k->rows, k->held, (size_t)size * sizeof *k->rows);
    k->holding = size;
    stay = a->ctx && a->dtype == MGV_F32 ? stay : 0;
    for (int64_t t = 0; t < stay; t++) {
        const float *row = (const float *)mgvi_pairs_row(a, from[t]);
        float *to = (float *)mgvi_pairs_row(a, t + 1);
        for (int64_t l = 0; l < stay; l++)
            to[l + 1] = row[from[l]];
    }
    return stay;
}

/* Room for the block; rows that stay in it are copied. */
static mgv_status make_room(mgvi_cores *k, int64_t size, int64_t stay, mgv_dtype dtype)
{
    mgvi_pairs *a = &k->pairs;
    if (a->dtype == dtype && a->ctx && size + 1 <= a->capacity)
        return MGV_OK;
    const int64_t most = k->run->problem->A->rows + 1, wanted = size + size / 4 + 8;
    k->inner = (mgvi_pairs_core){.room = 0};
    if (stay == 0) {
        mgvi_arena_free(k->room);
        *a = (mgvi_pairs){.ctx = k->run->ctx, .dtype = dtype, .rough = dtype == MGV_F32};
        return mgvi_pairs_grow(a, k->room, wanted < most ? wanted : most);
    }
    mgvi_arena *old = k->room;
    a->size = stay + 1;
    MGVI_TRY(mgvi_pairs_grow(a, k->next, wanted < most ? wanted : most));
    mgvi_arena_free(old);
    k->room = k->next;
    k->next = old;
    return MGV_OK;
}

/* The core's block of K: of rows of K that are kept it costs more than to keep it, too. */
static mgv_status make_block(mgvi_cores *k, int64_t size, mgv_dtype dtype)
{
    mgvi_pairs *a = &k->pairs;
    const double *diagonal = mgvi_kernel_diagonal(k->kernel);
    const bool kept = mgvi_kernel_keeps_rows(k->kernel) && dtype == MGV_F32;
    const int64_t stay = kept ? keep_rows(k, size) : 0;
    MGVI_TRY(make_room(k, size, stay, dtype));
    char *first = mgvi_pairs_row(a, stay + 1) + mgvi_dtype_size(dtype);
    MGVI_TRY(dtype == MGV_F32 && !kept
                 ? mgvi_kernel_rough_among(k->kernel, k->rows, size, (float *)first, a->capacity)
                 : mgvi_kernel_among(k->kernel, k->rows + stay, size - stay, k->rows, size, dtype,
                                     first, a->capacity));
    for (int64_t t = stay; kept && t < size; t++) { /* k(x, z), x the later one: the same bits */
        ((float *)mgvi_pairs_row(a, t + 1))[t + 1] = (float)diagonal[k->rows[t]];
        for (int64_t l = stay; l < t; l++)
            ((float *)mgvi_pairs_row(a, l + 1))[t + 1] = ((float *)mgvi_pairs_row(a, t + 1))[l + 1];
    }
    memset(a->K, 0, (size_t)a->capacity * mgvi_dtype_size(dtype));
    mgvi_pairs_mirror(a, stay + 1, size + 1);
    a->size = size + 1;
    return MGV_OK;
}

/* The block, its place at the origin, and what stands at its places. */
static mgv_status fill(mgvi_cores *k, int64_t size, mgv_dtype dtype)
{
    const mgv_problem *p = k->run->problem;
    const double *diagonal = mgvi_kernel_diagonal(k->kernel);
    mgvi_pairs *a = &k->pairs;
    MGVI_TRY(make_block(k, size, dtype));
    a->c[0] = a->v[0] = a->diagonal[0] = 0;
    a->lo[0] = p->free_cols == 0 ? -INFINITY : 0;
    a->hi[0] = p->free_cols == 0 ? INFINITY : 0;
    for (int64_t t = 0; t < size; t++) {
        const int64_t i = k->rows[t];
        const double y = mgvi_problem_free_entry(p, i);
        a->c[t + 1] = k->c[i];
        a->v[t + 1] = y - k->f[i];
        a->lo[t + 1] = lower(k, i, y);
        a->hi[t + 1] = upper(k, i, y);
        a->diagonal[t + 1] = diagonal[i];
    }
    for (int64_t t = size + 1; t < a->capacity; t++) {
        a->up[t] = -INFINITY;
        a->down[t] = INFINITY;
    }
    mgvi_pairs_mark(a);
    return MGV_OK;
}

/* (20) */
static mgv_status spread(mgvi_cores *k, int64_t size, mgvi_cores_care care)
{
    int64_t moved = 0;
    for (int64_t t = 0; t < size; t++) {
        const int64_t i = k->rows[t];
        const double step = k->pairs.c[t + 1] - k->c[i];
        if (step == 0)
            continue;
        k->c[i] = k->pairs.c[t + 1];
        k->rows[moved] = i;
        k->step[moved++] = step;
    }
    k->moved = moved;
    return (care == MGVI_CORES_ROUGH ? mgvi_kernel_rough_add : mgvi_kernel_exact_add)(
        k->kernel, k->rows, moved, k->step, k->f);
}

mgv_status mgvi_cores_round(mgvi_cores *k, int64_t round, mgvi_cores_care care)
{
    const double violation = k->most - k->least;
    k->moved = 0;
    if (!(violation > 0))
        return MGV_OK;
    list_sides(k);
    if (mgvi_kernel_keeps_rows(k->kernel))
        list_near(k);
    const int64_t size = choose(k, round), sides = k->count[RISE] + k->count[FALL];
    MGVI_TRY(fill(k, size, care == MGVI_CORES_EXACT ? MGV_F64 : MGV_F32));
    const double steps = sides + k->count[LOOSE] > size ? FEW_STEPS : MANY_STEPS;
    double work;
    MGVI_TRY(mgvi_pairs_core_run(&k->inner, &k->pairs, k->room, CORE_PART * violation,
                                 3 * steps * (double)size * (double)size, &work));
    k->run->touched += work;
    MGVI_TRY(spread(k, size, care));
    mgvi_cores_survey(k);
    return MGV_OK;
}
