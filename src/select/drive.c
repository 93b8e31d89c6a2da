/* drive.c - the lanes of a path through the driver are bound and freed. */
#include "select/drive.h"

#include "base/limit.h"
#include "problem/member.h"

/* Whether examples are points between which a kernel is computed. A precomputed kernel has its rows
 * of values in the file. */
static bool has_points(const mgv_problem *p)
{
    return p->kernel.kind != MGVI_KERNEL_LINEAR && p->kernel.kind != MGVI_KERNEL_PRECOMPUTED;
}

/* The rows of val:FILE, scaled as the examples are. */
static mgv_status open_points(mgvi_drive *d)
{
    const mgv_selection *s = d->s;
    const mgv_problem *p = d->lanes[s->split.lanes - 1].problem;
    const int64_t n = s->data->X.rows, rows = s->validation->X.rows;
    mgvi_point_scaling scaling = {.view.centre = p->view.centre,
                                  .view.scale = p->view.scale,
                                  .origin = p->kernel.origin == MGVI_ORIGIN_CENTRE};
    d->example = mgvi_arena_array(&d->arena, (size_t)n, sizeof *d->example);
    d->weight = mgvi_arena_array(&d->arena, (size_t)n, sizeof *d->weight);
    double *length = mgvi_arena_array(&d->arena, (size_t)rows, sizeof *length);
    if (!d->example || !d->weight || !length)
        return MGV_E_MEMORY;
    if (p->view.row_scale) {
        for (int64_t i = 0; i < rows; i++)
            length[i] = s->e[n + i] > 0 ? s->factor[n + i] / s->e[n + i] : 1;
        scaling.view.row_scale = length;
    }
    return mgvi_points_new(s->ctx, &s->validation->X, &scaling, MGV_F64,
                           mgvi_kernel_moves(&p->kernel), &d->points);
}

/* The rows that lane l does not train on: of the data, or of the validation file. */
static mgv_status open_ballot(mgvi_drive *d, int32_t l)
{
    mgv_selection *s = d->s;
    mgvi_drive_lane *own = &d->lanes[l];
    const int64_t first = s->validation ? s->data->X.rows : 0, all = s->split.rows;
    int64_t count = 0, *row = mgvi_arena_array(&d->arena, (size_t)all, sizeof *row);
    double *scale = mgvi_arena_array(&d->arena, (size_t)all, sizeof *scale);
    own->held = mgvi_arena_array(&d->arena, (size_t)all, sizeof *own->held);
    if (!row || !scale || !own->held)
        return MGV_E_MEMORY;
    for (int64_t i = first; i < all; i++) {
        if (mgvi_split_trains(&s->split, i, l))
            continue;
        own->held[count] = i;
        row[count] = i - first;
        scale[count++] = s->e[i] > 0 ? s->factor[i] / s->e[i] : 1;
    }
    if (s->validation && has_points(own->problem) && !d->points)
        MGVI_TRY(open_points(d));
    const mgvi_electorate rows = {.others = s->validation != NULL,
                                  .points = d->points,
                                  .X = s->validation ? &s->validation->X : &s->data->X,
                                  .row = row,
                                  .count = count,
                                  .row_scale = s->probe->view.row_scale ? scale : NULL};
    return mgvi_ballot_new(&d->arena, own->problem, &rows, &own->ballot);
}

static mgv_status make_lane(mgvi_drive *d, int32_t l)
{
    mgv_selection *s = d->s;
    mgvi_drive_lane *own = &d->lanes[l];
    const int64_t n = s->data->X.rows;
    double *weights = mgvi_arena_array(&d->arena, (size_t)n, sizeof *weights);
    if (!weights)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const double given = s->data->weights ? s->data->weights[i] : 1;
        weights[i] = mgvi_split_trains(&s->split, i, l) ? given : 0;
    }
    own->data = *s->data;
    own->data.weights = weights;
    MGVI_TRY(mgvi_problem_new_in_time(s->ctx, &own->data, &d->settings, &own->problem));
    const mgv_problem *p = own->problem;
    if (mgvi_problem_has_margin(p) && p->free_cols && !p->many) {
        MGVI_TRY(mgvi_vec_new(&d->arena, MGVI_COLS, p->A->cols, 1, &own->shown));
        MGVI_TRY(mgvi_vec_new(&d->arena, MGVI_ROWS, p->A->rows, 1, &own->Aw));
    }
    return d->many ? open_ballot(d, l) : MGV_OK;
}

mgv_status mgvi_drive_open(mgvi_drive *d)
{
    mgv_selection *s = d->s;
    mgvi_arena_init(&d->arena, s->ctx);
    const int64_t weights = mgvi_problem_coefs(s->probe);
    const size_t outputs = (size_t)mgvi_model_outputs(s->probe);
    d->many = mgvi_selection_numbers(s);
    d->coef = mgvi_arena_array(&d->arena, (size_t)weights, outputs * sizeof *d->coef);
    d->intercept = mgvi_arena_array(&d->arena, outputs, sizeof *d->intercept);
    if (!d->coef || !d->intercept)
        return MGV_E_MEMORY;
    if (!d->many)
        MGVI_TRY(mgvi_vec_new(&d->arena, MGVI_ROWS,
                              s->validation ? s->validation->X.rows : s->data->X.rows, 1, &d->z));
    const int32_t full = s->split.lanes - 1; /* first: it is what is left where the limit strikes */
    MGVI_TRY(make_lane(d, full));
    for (int32_t l = 0; l < full && !d->path->cut; l++) {
        const mgv_status st = make_lane(d, l);
        d->path->cut = mgvi_ctx_late(s->ctx) != MGV_STOP_NONE;
        if (st == MGV_E_LIMIT)
            break; /* without the fold: the limit has struck */
        MGVI_TRY(st);
    }
    if (!s->validation || d->many)
        return MGV_OK;
    return has_points(s->probe) ? open_points(d)
                                : mgvi_op_from_matrix(s->ctx, &s->validation->X, 1, &d->validation);
}

void mgvi_drive_close(mgvi_drive *d)
{
    for (int32_t l = 0; l < d->s->split.lanes; l++) {
        mgvi_driver_free(d->lanes[l].solver);
        mgvi_ballot_free(&d->lanes[l].ballot);
        mgvi_problem_free(d->lanes[l].problem);
    }
    mgvi_points_free(d->points);
    mgvi_op_free(d->validation);
    mgvi_arena_free(&d->arena);
}
