/* predict.h - what `margrave predict` has computed, and its report. */
#ifndef MGV_CLI_PREDICT_H
#define MGV_CLI_PREDICT_H

#include "cli.h"

typedef struct cli_prediction {
    cli *c;
    const char *output;
    bool scores, distance, probability, confusion, clip;
    mgv_completion *completion; /* the model is one; then there are pairs in place of data */
    mgv_triples *pairs;
    int64_t unknown;
    double mean_error; /* of a completion: the mean absolute error */
    mgv_model *model;
    mgv_data *data;
    mgv_model_info about;
    mgv_data_info shape;
    double *score;
    double *chance;  /* rows x classes, where asked for */
    int64_t *counts; /* classes x classes, where asked for */
    mgv_metrics metrics;
    bool measured; /* at least one row: its label is one that the model knows */
    double seconds;
} cli_prediction;

/* The JSON object on stdout. */
void cli_prediction_print_json(const cli_prediction *p);
/* Lines for people: the metrics, or why there are none. Beside predictions on stdout they go to
 * stderr. */
void cli_prediction_print(const cli_prediction *p);
#endif
