/* op/class_graph.h - what free intercepts ask of contrasts (op/contrast.h): classes are the nodes
 * of a graph, and all examples of class c against class j are the edge (c, j). Intercepts b add
 * b_c - b_j to every contrast of that edge, so that
 *   - the best b for given contrasts has  min over (c, j) of e_cj + b_c - b_j  as large as can be,
 *     e_cj the least contrast of the edge, and that is the least mean of e along a cycle;      (1)
 *   - dual weights q >= 0 must be a circulation: f_cj, the sum of q over the edge, leaves every
 *     class as often as it enters it.                                                          (2)
 * docs/algorithms/multiclass.md. */
#ifndef MGVI_OP_CLASS_GRAPH_H
#define MGVI_OP_CLASS_GRAPH_H

#include "base/memory.h"

typedef struct mgvi_class_graph {
    int32_t k;
    double *edge;   /* k x k, by c; those (c, c) are no edges */
    double *least;  /* k x k: room for who measures the edges */
    double *b;      /* k: potentials, (1), (3) */
    double *excess; /* k: work space */
    int32_t *from;  /* k: work space */
    int32_t *cycle; /* the classes along the cycle of least mean, `length` of them */
    int32_t length;
} mgvi_class_graph;

mgv_status mgvi_class_graph_new(mgvi_arena *arena, int32_t k, mgvi_class_graph *out);
/* (1): the least mean of `edge` (+infinity: no such edge) along a cycle, which is left in `cycle`,
 * and potentials b; what these attain, which is less by rounding alone. +infinity when there is no
 * cycle. */
double mgvi_class_graph_least_mean(mgvi_class_graph *g);
/* (3): potentials b for which the edges exp(edge_cj - b_c + b_j) are a circulation, which are those
 * with the least sum; -infinity: no such edge. Osborne's scaling of one class after the other. */
void mgvi_class_graph_balance(mgvi_class_graph *g);
/* (2): takes as little as it can find from `edge` >= 0 to make it a circulation to rounding: what
 * goes from classes with too much to those with too little, along the shortest ways. */
void mgvi_class_graph_circulate(mgvi_class_graph *g);
#endif
