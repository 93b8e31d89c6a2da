/* complete/job.h - a completion under way: what is held out, the runs that are tried, the refit. */
#ifndef MGVI_COMPLETE_JOB_H
#define MGVI_COMPLETE_JOB_H

#include "complete/attempt.h"
#include "complete/biases.h"
#include "complete/completion.h"
#include "select/split.h"
#include "solver/keeper.h"

/* What comes next. */
typedef enum mgvi_stage {
    MGVI_STAGE_FIRST,  /* a run with or without biases */
    MGVI_STAGE_SECOND, /* the other way, where that may be better */
    MGVI_STAGE_AGAIN,  /* the chosen iterate once more, with every entry trained on */
    MGVI_STAGE_SWEEPS, /* or a few sweeps */
    MGVI_STAGE_DONE
} mgvi_stage;

/* Plain numbers, for checkpoints. */
typedef struct mgvi_job_place {
    int64_t stage;
    int64_t with_biases;
    double passes, seconds; /* so far */
    mgvi_outcome answer;
} mgvi_job_place;

typedef struct mgvi_job {
    mgv_ctx *ctx;
    const mgv_settings *settings;
    mgvi_rule rule;
    mgvi_arena arena;
    mgvi_known e;
    mgvi_biases biases;
    int64_t held_out; /* before the refit trains on them */
    double zero_error, bias_error;
    double started;

    mgvi_job_place at;
    mgvi_factors answer;  /* of the runs that are over */
    mgvi_attempt attempt; /* the one under way; e NULL: none */
    mgvi_keeper keeper;
    mgv_triples *truth; /* NULL: not known */
    uint64_t print;     /* of the entries and of the settings that decide the steps */
    mgv_completion *out;
} mgvi_job;

/* Whether the stage is a run of the path, and the one that it is. */
bool mgvi_job_opens(const mgvi_job *j);
mgv_status mgvi_job_open(mgvi_job *j);
/* The entries that were held out are trained on too, the biases' included. */
mgv_status mgvi_job_train_on_all(mgvi_job *j);
void mgvi_job_use_biases(mgvi_job *j, bool on);

/* state.c: the whole of it for a checkpoint, and back. After a failure the job may only be freed. */
uint64_t mgvi_job_print(const mgvi_job *j);
mgv_status mgvi_job_put(void *job, mgvi_checkpoint_goal *to);
mgv_status mgvi_job_read(mgvi_job *j, const char *path);
#endif
