/* bounds.c - what is proven of a run at its present iteration. */
#include "solver/driver.h"

#include <math.h>

/* Of the answer, or in the middle of a run of the best pair so far. */
static mgvi_optimum known_of(const mgv_solver *solver)
{
    const bool ended = solver->stop != MGV_STOP_NONE;
    const mgvi_pair *pair = ended ? &solver->answer : &solver->best;
    return (mgvi_optimum){&pair->verdict->certificate, &pair->u};
}

static int by_gap(const mgv_solver *solver, const mgv_certificate *c, mgv_bound *out)
{
    const double far = mgvi_verdict_distance(solver->run.problem, c);
    if (isnan(far))
        return 0;
    *out = (mgv_bound){.item = "Raj, Bach: proposition 1",
                       .quantity = "|w - w*| of the best weights",
                       .low = NAN,
                       .high = far,
                       .found = NAN};
    return 1;
}

int mgvi_driver_bounds(mgv_solver *solver, mgv_bound out[MGVI_BOUNDS + 1])
{
    if (solver->family || solver->run.ops->primal_only)
        return 0;
    const mgvi_run *run = &solver->run;
    const mgvi_optimum known = known_of(solver);
    if (!known.certificate->verified)
        return 0;
    int count = by_gap(solver, known.certificate, out);
    if (run->ops->theorems && run->state && run->iteration > 0 && !solver->cut) {
        const mgvi_aside aside = mgvi_driver_step_aside(solver);
        count += run->ops->theorems(run, &known, out + count);
        mgvi_driver_step_back(solver, aside);
    }
    return count;
}
