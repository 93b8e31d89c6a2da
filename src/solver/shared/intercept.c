/* intercept.c - minimises the loss along the intercept. */
#include "solver/shared/intercept.h"

#include "base/limit.h"

#include "base/threads.h"

#include <math.h>

typedef struct slope_job {
    const mgv_problem *problem;
    const double *z;
    double t;
    int32_t lane;
    int64_t blocks;
    double *partial;
} slope_job;

enum { GRAIN = 4096, BLOCKS = 64 };

static void slope_block(void *arg, int64_t block)
{
    const slope_job *job = arg;
    const mgv_problem *p = job->problem;
    const int64_t n = p->A->rows;
    double sum = 0;
    MGVI_FOR_BLOCK (i, n, job->blocks, block) {
        const double entry = mgvi_problem_free_entry_of(p, i, job->lane);
        const double z = job->z[i * p->lanes + job->lane] + entry * job->t;
        sum += entry * p->loss->grad(mgvi_coefs_at(&p->row, i, job->lane), z);
    }
    job->partial[block] = sum;
}

/* d/dt sum_i s_i G_i(z_i + a_i0 t): increasing in t. */
static double slope(const mgv_problem *p, const mgvi_vec *z, int32_t lane, double t)
{
    double partial[BLOCKS], sum = 0;
    slope_job job = {.problem = p, .z = z->x, .t = t, .lane = lane, .partial = partial};
    job.blocks = mgvi_block_count(z->n, GRAIN, BLOCKS);
    mgvi_ctx_run(p->ctx, job.blocks, slope_block, &job);
    for (int64_t b = 0; b < job.blocks; b++)
        sum += partial[b];
    return sum;
}

/* How far the intercept of a lane is to move: the loss there is within `enough` of the least. */
static double best_move(const mgv_problem *p, const mgvi_vec *z, int32_t lane, double enough)
{
    double near = 0, far = 1e-3, steepness = slope(p, z, lane, 0);
    if (steepness == 0)
        return 0;
    /* Grow a bracket [near, far] on the side where the loss falls, then halve it. The loss at
     * `near` is within steepness * (far - near) of the minimum. */
    const double side = steepness > 0 ? -1 : 1;
    for (bool bracketed = false; far < 1e6 && fabs(steepness) * (far - near) > enough;) {
        const double t = bracketed ? 0.5 * (near + far) : far;
        const double at = slope(p, z, lane, side * t);
        if (t == near || (bracketed && t == far))
            break;
        if (side * at < 0) {
            near = t;
            steepness = at;
            far = bracketed ? far : 4 * far;
        } else {
            far = t;
            bracketed = true;
        }
    }
    return side * near;
}

void mgvi_intercept_improve(const mgv_problem *p, double accuracy, mgvi_vec *w, mgvi_vec *z)
{
    if (!p->free_cols || (p->loss->can & (MGVI_HARD | MGVI_JOINT)) || !(p->loss->can & MGVI_GRAD))
        return;
    mgvi_op_mul(p->A, 1, w, 0, z);
    for (int32_t c = 0; c < p->lanes; c++) {
        double loss = 0;
        for (int64_t i = 0; i < z->n; i++)
            loss += p->loss->value(mgvi_coefs_at(&p->row, i, c), z->x[i * p->lanes + c]);
        w->x[(w->n - 1) * p->lanes + c] += best_move(p, z, c, accuracy * loss);
    }
}
