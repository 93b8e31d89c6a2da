/* solver/keeper.h - the checkpoints of a loop: which states go to the disk, and when. The clock
 * decides, which changes no number of the run. */
#ifndef MGVI_SOLVER_KEEPER_H
#define MGVI_SOLVER_KEEPER_H

#include "base/settings.h"
#include "solver/checkpoint_file.h"

typedef struct mgvi_keeper {
    mgv_ctx *ctx;
    const char *path; /* "": nothing is kept */
    double every;     /* s */
    void *owner;
    mgv_status (*put)(void *owner, mgvi_checkpoint_goal *to); /* the state between two steps */
    double next_file, next_state;                             /* of the clock */
    mgvi_checkpoint_goal whole; /* before the step under way, which may be cut; bytes NULL: none */
    bool ended;                 /* the state at the end is on the disk: nothing after it is */
    bool unsaved;               /* the last one could not be written */
    /* Who is told in place of the file, for a run that is a part of another; NULL: nobody. */
    mgv_status (*tell)(void *whom, const void *owner);
    void *whom;
} mgvi_keeper;

/* The settings `checkpoint` and `every`; MGV_E_IO where the file could not be written. What was kept
 * of an earlier sitting stays, and who is told. */
mgv_status mgvi_keeper_begin(mgvi_keeper *k, mgv_ctx *ctx, const mgv_settings *settings,
                             void *owner, mgv_status (*put)(void *owner, mgvi_checkpoint_goal *to));
/* Before a step that may be cut, now and then or in any case; and after one that was not. */
void mgvi_keeper_before(mgvi_keeper *k);
void mgvi_keeper_keep(mgvi_keeper *k);
mgv_status mgvi_keeper_after(mgvi_keeper *k);
/* The run ends, or a budget has struck; `cut`: within a step, whose state is worth nothing. What
 * follows, until it begins again, only makes an answer of what there is. */
mgv_status mgvi_keeper_end(mgvi_keeper *k, bool cut);
void mgvi_keeper_free(mgvi_keeper *k);
#endif
