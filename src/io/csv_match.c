/* csv_match.c - which column of delimited text is which feature of a model.
 *   with a header, where the model knows names: by name, in any order. All of the model's must be
 *     there; one that is called as the label was is the label, others are left out with a warning
 *   else by number: d columns are the features, d + 1 have the label where training had it */
#include "base/event.h"
#include "base/words.h"
#include "io/csv_layout.h"

#include <stdio.h>
#include <string.h>

enum { TAKEN = -2 };

/* The model's names, to be looked up: names that are given more than once are handed out in their
 * order. */
typedef struct lookup {
    mgvi_words *words;
    int64_t *head; /* per word: the first feature of this name that is still free, -1: none */
    int64_t *next; /* per feature: the next one of the same name, -1: none; TAKEN */
} lookup;

static void close_lookup(mgv_ctx *ctx, lookup *x)
{
    mgvi_words_free(x->words);
    mgvi_release(ctx, x->head);
    mgvi_release(ctx, x->next);
}

static mgv_status open_lookup(mgv_ctx *ctx, const mgvi_column_names *known, lookup *x)
{
    int64_t word;
    *x = (lookup){0};
    MGVI_TRY(mgvi_words_new(ctx, &x->words));
    x->head = mgvi_alloc(ctx, (size_t)known->count, sizeof *x->head);
    x->next = mgvi_alloc(ctx, (size_t)known->count, sizeof *x->next);
    if (!x->head || !x->next)
        return MGV_E_MEMORY;
    for (int64_t j = 0; j < known->count; j++)
        x->head[j] = -1;
    for (int64_t j = known->count - 1; j >= 0; j--) {
        MGVI_TRY(mgvi_words_add(x->words, known->names[j], strlen(known->names[j]), &word));
        x->next[j] = x->head[word];
        x->head[word] = j;
    }
    return MGV_OK;
}

/* The feature that the cell names, which is then taken; MGVI_NOT_USED: none. */
static int64_t take_feature(lookup *x, const char *name)
{
    const int64_t word = mgvi_words_find(x->words, name, strlen(name));
    const int64_t feature = word < 0 ? -1 : x->head[word];
    if (feature < 0)
        return MGVI_NOT_USED;
    x->head[word] = x->next[feature];
    x->next[feature] = TAKEN;
    return feature;
}

/* " 'a', 'b', 'c', ...": the first few of many names. */
typedef struct few {
    char text[160];
    int count;
} few;

static void add_name(few *f, const char *name)
{
    enum { SHOWN = 3 };
    const size_t used = strlen(f->text);
    if (f->count++ < SHOWN)
        snprintf(f->text + used, sizeof f->text - used, "%s'%.40s'", used ? ", " : "", name);
    else if (f->count == SHOWN + 1)
        snprintf(f->text + used, sizeof f->text - used, ", ...");
}

/* Every cell of the header beside the label's finds its feature. */
static mgv_status place_cells(mgvi_text *text, lookup *x, const char *line, mgvi_csv_layout *l,
                              int64_t *found)
{
    mgvi_cell cell;
    int64_t k = 0;
    char *name =
        mgvi_alloc(text->ctx, (size_t)(mgvi_text_next_line(line, text->end) - line) + 1, 1);
    if (!name)
        return MGV_E_MEMORY;
    *found = 0;
    for (const char *p = line; p && mgvi_csv_cell(text, l->separator, p, text->end, &cell); k++) {
        mgvi_csv_copy(&cell, name);
        l->place[k] = k == l->label ? MGVI_NOT_USED : take_feature(x, name);
        *found += l->place[k] >= 0;
        p = mgvi_csv_step(l->separator, cell.next, text->end);
    }
    mgvi_release(text->ctx, name);
    return MGV_OK;
}

static mgv_status place_line(mgvi_text *text, const mgvi_column_names *known, const char *line,
                             mgvi_csv_layout *l, few *missing, int64_t *found)
{
    lookup x;
    l->place = mgvi_alloc(text->ctx, (size_t)l->columns, sizeof *l->place);
    mgv_status st = l->place ? open_lookup(text->ctx, known, &x) : MGV_E_MEMORY;
    if (!l->place)
        return st;
    if (st == MGV_OK)
        st = place_cells(text, &x, line, l, found);
    for (int64_t j = 0; st == MGV_OK && missing && j < known->count; j++)
        if (x.next[j] != TAKEN)
            add_name(missing, known->names[j]);
    close_lookup(text->ctx, &x);
    return st;
}

static void drop_place(mgvi_text *text, mgvi_csv_layout *l)
{
    mgvi_release(text->ctx, l->place);
    l->place = NULL;
}

/* Where training had it among d + 1 columns. */
static int64_t usual_place(const mgvi_column_names *known)
{
    return known->label_at >= 0 && known->label_at <= known->count ? known->label_at : known->count;
}

mgv_status mgvi_csv_expect(mgvi_text *text, const mgvi_column_names *known, const char *line,
                           mgvi_csv_layout *l, bool *named)
{
    int64_t found = 0;
    *named = false;
    l->label = l->columns == known->count + 1 ? usual_place(known) : MGVI_NO_LABEL;
    if (line && known->names && known->count > 0) {
        const int64_t label = l->label;
        l->label = MGVI_NO_LABEL;
        MGVI_TRY(place_line(text, known, line, l, NULL, &found));
        drop_place(text, l);
        l->label = label;
        *named = found == known->count;
    } else if (line && !known->names && l->columns == known->count + 1) {
        const int64_t label = mgvi_csv_find_label(text, l->separator, line);
        *named = label != MGVI_NO_LABEL;
        l->label = *named ? label : l->label;
    }
    return MGV_OK;
}

/* The column that is called as the label was, or as labels are called, and is no feature. */
static int64_t find_label(mgvi_text *text, const mgvi_column_names *known, const mgvi_csv_layout *l)
{
    const int64_t at = known->label ? mgvi_csv_find(text, l->separator, l->header, known->label)
                                    : mgvi_csv_find_label(text, l->separator, l->header);
    return at != MGVI_NO_LABEL && l->place[at] == MGVI_NOT_USED ? at : MGVI_NO_LABEL;
}

/* What is left out, and another order, are said; returns whether there was neither. */
static bool tell(mgvi_text *text, const mgvi_csv_layout *l)
{
    mgvi_cell cell;
    few unused = {.count = 0};
    bool in_order = true;
    int64_t k = 0, last = -1;
    for (const char *p = l->header; p && mgvi_csv_cell(text, l->separator, p, text->end, &cell);
         k++) {
        char name[48];
        snprintf(name, sizeof name, "%.*s",
                 (int)(cell.end - cell.begin < 40 ? cell.end - cell.begin : 40), cell.begin);
        if (l->place[k] >= 0) {
            in_order &= l->place[k] > last;
            last = l->place[k];
        } else if (k != l->label) {
            add_name(&unused, name);
        }
        p = mgvi_csv_step(l->separator, cell.next, text->end);
    }
    if (!in_order)
        mgvi_log(text->ctx, MGV_INFO,
                 "%s: the columns are not in the model's order; they are matched by name",
                 text->path);
    if (unused.count)
        mgvi_log(text->ctx, MGV_WARNING, "%s: %d column%s the model does not know %s ignored (%s)",
                 text->path, unused.count, unused.count == 1 ? "" : "s",
                 unused.count == 1 ? "is" : "are", unused.text);
    return in_order && !unused.count;
}

static mgv_status match_names(mgvi_text *text, const mgvi_column_names *known, bool label_open,
                              mgvi_csv_layout *l)
{
    few missing = {.count = 0};
    int64_t found;
    if (label_open)
        l->label = MGVI_NO_LABEL;
    MGVI_TRY(place_line(text, known, l->header, l, &missing, &found));
    if (label_open)
        l->label = find_label(text, known, l);
    if (found < known->count)
        return MGVI_FAIL(text->ctx, MGV_E_INPUT,
                         "%s: %" PRId64 " of the model's %" PRId64 " columns %s not there (%s)",
                         text->path, known->count - found, known->count,
                         known->count - found == 1 ? "is" : "are", missing.text);
    if (tell(text, l))
        drop_place(text, l); /* as they come */
    return MGV_OK;
}

mgv_status mgvi_csv_match(mgvi_text *text, const mgvi_column_names *known, bool label_open,
                          mgvi_csv_layout *l)
{
    if (l->header && known->names)
        return match_names(text, known, label_open, l);
    const int64_t features = l->columns - (l->label != MGVI_NO_LABEL);
    if (features == known->count)
        return MGV_OK;
    if (label_open)
        return MGVI_FAIL(text->ctx, MGV_E_INPUT,
                         "%s: there are %" PRId64 " columns; the model knows %" PRId64
                         " features: %" PRId64 " columns are expected, or %" PRId64 " with a label",
                         text->path, l->columns, known->count, known->count, known->count + 1);
    return MGVI_FAIL(text->ctx, MGV_E_INPUT,
                     "%s: there are %" PRId64 " columns%s; the model knows %" PRId64 " features",
                     text->path, features, l->label == MGVI_NO_LABEL ? "" : " beside the label",
                     known->count);
}
