/* data.c - a table's memory, and its labels turned into classes. */
#include "data/data.h"

#include "base/hash.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

mgv_status mgvi_data_new(mgv_ctx *ctx, mgv_data **out)
{
    *out = mgvi_new(ctx, sizeof **out);
    if (!*out)
        return MGV_E_MEMORY;
    (*out)->format = "memory";
    (*out)->first_index = -1;
    (*out)->label_at = -1;
    return MGV_OK;
}

mgvi_column_names mgvi_data_columns(const mgv_data *data)
{
    return (mgvi_column_names){.count = data->X.cols,
                               .names = data->names,
                               .label = data->label_name,
                               .label_at = data->label_at,
                               .first_index = data->first_index};
}

static void release(mgv_ctx *ctx, void *memory, size_t mapped)
{
    if (mapped)
        munmap(memory, mapped);
    else
        mgvi_release(ctx, memory);
}

void mgvi_data_free(mgv_ctx *ctx, mgv_data *data)
{
    if (!data)
        return;
    while (data->owned) {
        mgvi_owned *next = data->owned->next;
        release(ctx, data->owned->memory, data->owned->mapped);
        mgvi_release(ctx, data->owned);
        data->owned = next;
    }
    mgvi_release(ctx, data);
}

mgv_status mgvi_data_own(mgv_ctx *ctx, mgv_data *data, void *memory, size_t mapped)
{
    mgvi_owned *o = mgvi_new(ctx, sizeof *o);
    if (!o) {
        release(ctx, memory, mapped);
        return MGV_E_MEMORY;
    }
    *o = (mgvi_owned){.memory = memory, .mapped = mapped, .next = data->owned};
    data->owned = o;
    return MGV_OK;
}

void mgvi_data_disown(mgv_ctx *ctx, mgv_data *data, const void *memory)
{
    for (mgvi_owned **at = &data->owned; memory && *at; at = &(*at)->next) {
        mgvi_owned *o = *at;
        if (o->memory == memory && !o->mapped) {
            *at = o->next;
            mgvi_release(ctx, o->memory);
            mgvi_release(ctx, o);
            return;
        }
    }
}

void *mgvi_data_array(mgv_ctx *ctx, mgv_data *data, size_t count, size_t size)
{
    void *p = mgvi_zeros(ctx, count, size);
    return p && mgvi_data_own(ctx, data, p, 0) == MGV_OK ? p : NULL;
}

mgv_status mgvi_data_check_once(mgv_ctx *ctx, mgv_data *data)
{
    if (data->checked) /* not written again: threads may share data that has passed */
        return MGV_OK;
    double *size = NULL;
    if (data->X.layout != MGV_CSR && data->X.cols > 0 && data->X.cols <= data->X.nnz &&
        !(size = mgvi_data_array(ctx, data, (size_t)data->X.cols, sizeof *size)))
        return MGV_E_MEMORY;
    const mgv_status st = mgvi_data_verify(ctx, data, &data->X.most, size);
    data->X.size = st == MGV_OK ? size : NULL;
    if (st == MGV_E_INPUT && data->file)
        return mgvi_fail_in(ctx, st, data->file);
    if (st == MGV_OK)
        data->checked = true;
    return st;
}

/* ---- labels -------------------------------------------------------------------------------- */
/* Distinct labels in a hash table with open addressing, at most half full. */
enum { SLOTS = 4 * MGVI_CLASSES_MAX };
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "the hash is cut to a power of two");

typedef struct class
{
    double value;     /* numbers */
    const char *word; /* words; NULL for numbers */
    int64_t row;      /* of the first occurrence */
    int64_t order;    /* of the first occurrence among the classes */
} class;

typedef struct class_set {
    int64_t count;       /* MGVI_CLASSES_MAX + 1: too many */
    int32_t slot[SLOTS]; /* class number + 1, 0: free */
    class classes[MGVI_CLASSES_MAX];
} class_set;

static uint64_t hash_number(double value)
{
    uint64_t bits;
    value += 0.0; /* -0 and 0 are one number */
    memcpy(&bits, &value, sizeof bits);
    return bits * 0x9e3779b97f4a7c15u >> 40;
}

static uint64_t hash_word(const char *word)
{
    const uint64_t h = mgvi_hash(MGVI_HASH_BEGIN, word, strlen(word));
    return h ^ h >> 32;
}

static bool same(const class *a, const class *b)
{
    return a->word ? strcmp(a->word, b->word) == 0 : a->value == b->value;
}

/* The number of the class in order of appearance; -1: there are too many. */
static int64_t find_or_add(class_set *set, const class *c)
{
    uint64_t at = (c->word ? hash_word(c->word) : hash_number(c->value)) % SLOTS;
    for (; set->slot[at]; at = (at + 1) % SLOTS)
        if (same(&set->classes[set->slot[at] - 1], c))
            return set->slot[at] - 1;
    if (set->count >= MGVI_CLASSES_MAX) {
        set->count = MGVI_CLASSES_MAX + 1;
        return -1;
    }
    set->classes[set->count] = *c;
    set->classes[set->count].order = set->count;
    set->slot[at] = (int32_t)++set->count;
    return set->count - 1;
}

static int by_label(const void *pa, const void *pb)
{
    const class *a = pa, *b = pb;
    if (a->word)
        return strcmp(a->word, b->word);
    return (a->value > b->value) - (a->value < b->value);
}

/* The labels there are, set aside until the new ones are in their place. */
typedef struct label_set {
    double *labels, *class_value;
    char **class_text;
    int64_t classes;
    bool text_labels;
} label_set;

static label_set set_aside(mgv_data *data)
{
    const label_set old = {data->labels, data->class_value, data->class_text, data->classes,
                           data->text_labels};
    data->labels = data->class_value = NULL;
    data->class_text = NULL;
    data->classes = 0;
    data->text_labels = false;
    return old;
}

/* After a failure the old ones are there again. */
static mgv_status replace(mgv_ctx *ctx, mgv_data *data, label_set old, mgv_status st)
{
    const label_set made = set_aside(data);
    const label_set *stay = st == MGV_OK ? &made : &old, *go = st == MGV_OK ? &old : &made;
    mgvi_data_disown(ctx, data, go->labels);
    mgvi_data_disown(ctx, data, go->class_text);
    mgvi_data_disown(ctx, data, go->class_value);
    data->labels = stay->labels;
    data->class_value = stay->class_value;
    data->class_text = stay->class_text;
    data->classes = stay->classes;
    data->text_labels = stay->text_labels;
    return st;
}

enum { SPELLING_MAX = 64 }; /* longer numbers are spelled shorter */

static void spell(const class *c, mgvi_spelling_fn spelling, const void *user,
                  char buffer[SPELLING_MAX])
{
    buffer[0] = 0;
    if (spelling)
        spelling(user, c->row, buffer, SPELLING_MAX);
    const size_t length = strlen(buffer);
    if (length == 0 || length == SPELLING_MAX - 1)
        mgvi_number_format(c->value, MGV_F64, buffer);
}

/* Pointers and texts in one block. */
static mgv_status set_class_texts(mgv_ctx *ctx, mgv_data *data, const class_set *set,
                                  mgvi_spelling_fn spelling, const void *user)
{
    char buffer[SPELLING_MAX];
    const size_t count = (size_t)set->count;
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += set->classes[k].word ? strlen(set->classes[k].word) + 1 : SPELLING_MAX;
    char **texts = mgvi_data_array(ctx, data, count * sizeof *texts + bytes, 1);
    if (!texts)
        return MGV_E_MEMORY;
    data->class_text = texts;
    char *at = (char *)(texts + count);
    for (size_t k = 0; k < count; k++) {
        const char *text = set->classes[k].word;
        if (!text) {
            spell(&set->classes[k], spelling, user, buffer);
            text = buffer;
        }
        texts[k] = at;
        at += strlen(strcpy(at, text)) + 1;
    }
    return MGV_OK;
}

static mgv_status set_classes(mgv_ctx *ctx, mgv_data *data, class_set *set,
                              mgvi_spelling_fn spelling, const void *user)
{
    qsort(set->classes, (size_t)set->count, sizeof *set->classes, by_label);
    MGVI_TRY(set_class_texts(ctx, data, set, spelling, user));
    data->class_value = mgvi_data_array(ctx, data, (size_t)set->count, sizeof(double));
    if (!data->class_value)
        return MGV_E_MEMORY;
    for (int64_t k = 0; k < set->count; k++)
        data->class_value[k] = set->classes[k].word ? (double)k : set->classes[k].value + 0.0;
    data->classes = set->count;
    return MGV_OK;
}

static mgv_status take_numbers(mgv_ctx *ctx, mgv_data *data, const double *labels, class_set *set)
{
    const int64_t rows = data->X.rows;
    data->labels = mgvi_data_array(ctx, data, (size_t)rows, sizeof(double));
    if (!data->labels)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < rows; i++) {
        data->labels[i] = labels[i];
        if (data->gaps && isnan(labels[i]))
            continue;
        if (!isfinite(labels[i]))
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the label of row %" PRId64
                             " must be finite (got %g); correct it or leave the row out",
                             i + 1, labels[i]);
        const bool repeated = i && labels[i] == labels[i - 1];
        if (!repeated && set->count <= MGVI_CLASSES_MAX)
            find_or_add(set, &(class){.value = labels[i], .row = i});
    }
    return MGV_OK;
}

mgv_status mgvi_data_set_labels(mgv_ctx *ctx, mgv_data *data, const double *labels,
                                mgvi_spelling_fn spelling, const void *user)
{
    class_set *set = mgvi_new(ctx, sizeof *set);
    if (!set)
        return MGV_E_MEMORY;
    const label_set old = set_aside(data);
    mgv_status st = take_numbers(ctx, data, labels, set);
    if (st == MGV_OK && set->count <= MGVI_CLASSES_MAX)
        st = set_classes(ctx, data, set, spelling, user);
    mgvi_release(ctx, set);
    return replace(ctx, data, old, st);
}

/* labels[i] is first the order of appearance, then the rank. */
static mgv_status take_words(mgv_ctx *ctx, mgv_data *data, const char *const *texts, class_set *set)
{
    const int64_t rows = data->X.rows;
    data->labels = mgvi_data_array(ctx, data, (size_t)rows, sizeof(double));
    if (!data->labels)
        return MGV_E_MEMORY;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t k = find_or_add(set, &(class){.word = texts[i], .row = i});
        if (k < 0)
            return MGVI_FAIL(ctx, MGV_E_INPUT,
                             "the labels are words, and more than %d different ones ('%.40s' in "
                             "row %" PRId64 "): is this the label column?",
                             (int)MGVI_CLASSES_MAX, texts[i], i + 1);
        data->labels[i] = (double)k;
    }
    MGVI_TRY(set_classes(ctx, data, set, NULL, NULL));
    int32_t *rank = set->slot; /* no longer a hash table */
    for (int64_t k = 0; k < set->count; k++)
        rank[set->classes[k].order] = (int32_t)k;
    for (int64_t i = 0; i < rows; i++)
        data->labels[i] = rank[(int64_t)data->labels[i]];
    data->text_labels = true;
    return MGV_OK;
}

mgv_status mgvi_data_set_text_labels(mgv_ctx *ctx, mgv_data *data, const char *const *texts)
{
    class_set *set = mgvi_new(ctx, sizeof *set);
    if (!set)
        return MGV_E_MEMORY;
    const label_set old = set_aside(data);
    const mgv_status st = take_words(ctx, data, texts, set);
    mgvi_release(ctx, set);
    return replace(ctx, data, old, st);
}

int64_t mgvi_data_class_of(const mgv_data *data, double label)
{
    int64_t low = 0, high = data->classes; /* class_value increases */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (data->class_value[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low < data->classes && data->class_value[low] == label ? low : -1;
}
