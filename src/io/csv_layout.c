/* csv_layout.c - cells, and the decisions taken from the first line of delimited text.
 *   separator  auto: the first of tab, semicolon, comma that occurs in the line, else blanks
 *   label      auto: the column named label, target, class or y, else the last one
 *   header     auto: yes when every cell beside the label's is a word, or the label's name was
 *              recognised; no when they are numbers or empty; a mixture is refused
 * Rows for a model are laid out by csv_match.c instead, where the settings do not say. */
#include "io/csv_layout.h"

#include <stdio.h>
#include <string.h>

/* ---- cells --------------------------------------------------------------------------------- */
static const char *skip_blanks(char separator, const char *p, const char *end)
{
    while (p < end && mgvi_is_blank(*p) && (*p != separator || separator == ' '))
        p++;
    return p;
}

static bool at_separator(char separator, const char *p)
{
    return *p == separator || (separator == ' ' && *p == '\t');
}

static bool quoted_cell(mgvi_text *text, char separator, const char *p, const char *end,
                        mgvi_cell *cell)
{
    const char *open = p++;
    *cell = (mgvi_cell){.begin = p, .quoted = true};
    for (; p < end && *p != '\n'; p++) {
        if (*p != '"')
            continue;
        if (p + 1 < end && p[1] == '"') {
            p++;
            continue;
        }
        cell->end = p++;
        cell->next = separator == ' ' ? p : skip_blanks(separator, p, end);
        if (mgvi_text_at_line_end(cell->next, end) || at_separator(separator, cell->next))
            return true;
        mgvi_text_fault(text, cell->next, "'%s' behind the closing quote",
                        mgvi_text_quote(cell->next, end).text);
        return false;
    }
    mgvi_text_fault(text, open, "a quote is opened here and not closed on this line");
    return false;
}

bool mgvi_csv_cell(mgvi_text *text, char separator, const char *p, const char *end, mgvi_cell *cell)
{
    p = skip_blanks(separator, p, end);
    if (p < end && *p == '"')
        return quoted_cell(text, separator, p, end, cell);
    *cell = (mgvi_cell){.begin = p};
    while (!(p == end || *p == '\n' || at_separator(separator, p)))
        p++;
    cell->next = p;
    if (p > cell->begin && p[-1] == '\r' && (p == end || *p == '\n'))
        cell->next = --p;
    while (p > cell->begin && mgvi_is_blank(p[-1]))
        p--;
    cell->end = p;
    return true;
}

const char *mgvi_csv_step(char separator, const char *p, const char *end)
{
    if (separator == ' ')
        p = skip_blanks(separator, p, end);
    if (mgvi_text_at_line_end(p, end))
        return NULL;
    return separator == ' ' ? p : p + 1;
}

int64_t mgvi_csv_count(mgvi_text *text, char separator, const char *p, const char *end)
{
    mgvi_cell cell;
    int64_t count = 0;
    for (; p && mgvi_csv_cell(text, separator, p, end, &cell); count++)
        p = mgvi_csv_step(separator, cell.next, end);
    return count;
}

bool mgvi_csv_has_data(const char *line, const char *end)
{
    while (line < end && mgvi_is_blank(*line))
        line++;
    return !mgvi_text_at_line_end(line, end) && *line != '#';
}

mgvi_number_status mgvi_csv_number(const mgvi_cell *cell, double *value)
{
    const char *next = cell->begin;
    const mgvi_number_status st = mgvi_number_parse(cell->begin, cell->end, value, &next);
    return st == MGVI_NUMBER_OK && next != cell->end ? MGVI_NUMBER_NONE : st;
}

bool mgvi_csv_is_pair(const mgvi_cell *cell)
{
    double value;
    mgvi_cell rest = {.begin = cell->begin, .end = cell->end};
    while (rest.begin < rest.end && *rest.begin >= '0' && *rest.begin <= '9')
        rest.begin++;
    if (rest.begin == cell->begin || rest.begin == rest.end || *rest.begin++ != ':')
        return false;
    return mgvi_csv_number(&rest, &value) == MGVI_NUMBER_OK;
}

void mgvi_csv_fault_of_pair(mgvi_text *text, char separator, const mgvi_cell *cell)
{
    mgvi_text_fault(text, cell->begin,
                    "'%s' looks like INDEX:VALUE of libsvm text, where blanks separate the pairs, "
                    "not '%c'",
                    mgvi_text_quote(cell->begin, cell->end).text, separator);
}

size_t mgvi_csv_copy(const mgvi_cell *cell, char *to)
{
    size_t n = 0;
    for (const char *p = cell->begin; p < cell->end; p++) {
        p += cell->quoted && *p == '"'; /* the second of two */
        to[n++] = *p;
    }
    to[n] = 0;
    return n;
}

/* ---- the first line ------------------------------------------------------------------------ */
mgv_status mgvi_csv_separator(mgvi_text *text, const char *setting, const char *line,
                              char *separator)
{
    static const struct {
        const char *name;
        char byte;
    } known[] = {{"tab", '\t'}, {"semicolon", ';'}, {"comma", ','}, {"space", ' '}};
    for (int i = 0; i < 4; i++) {
        const bool literal = setting[0] == known[i].byte && !setting[1];
        if (strcmp(setting, known[i].name) == 0 || literal) {
            *separator = known[i].byte;
            return MGV_OK;
        }
    }
    if (strcmp(setting, "auto") != 0)
        return MGVI_FAIL(text->ctx, MGV_E_ARG,
                         "separator is '%.40s'; allowed: auto, comma, tab, semicolon, space",
                         setting);
    const char *end = mgvi_text_next_line(line, text->end);
    for (int i = 0; i < 3; i++) {
        bool quoted = false;
        for (const char *p = line; p < end; p++) {
            quoted ^= *p == '"';
            if (!quoted && *p == known[i].byte) {
                *separator = known[i].byte;
                return MGV_OK;
            }
        }
    }
    *separator = ' ';
    return MGV_OK;
}

static bool cell_is(const mgvi_cell *cell, const char *name)
{
    const size_t n = strlen(name);
    return (size_t)(cell->end - cell->begin) == n && strncmp(cell->begin, name, n) == 0;
}

int64_t mgvi_csv_find(mgvi_text *text, char separator, const char *line, const char *wanted)
{
    mgvi_cell cell;
    int64_t k = 0;
    for (const char *p = line; p && mgvi_csv_cell(text, separator, p, text->end, &cell); k++) {
        if (cell_is(&cell, wanted))
            return k;
        p = mgvi_csv_step(separator, cell.next, text->end);
    }
    return MGVI_NO_LABEL;
}

int64_t mgvi_csv_find_label(mgvi_text *text, char separator, const char *line)
{
    static const char *const names[] = {"label", "Label", "target", "Target",
                                        "class", "Class", "y",      "Y"};
    int64_t found = MGVI_NO_LABEL;
    for (size_t i = 0; i < sizeof names / sizeof *names && found == MGVI_NO_LABEL; i++)
        found = mgvi_csv_find(text, separator, line, names[i]);
    return found;
}

/* Sets the label's column; *named says that the first line names it, so it is a header. */
static mgv_status choose_label(mgvi_text *text, const mgv_settings *s,
                               const mgvi_column_names *known, const char *line, mgvi_csv_layout *l,
                               bool *named)
{
    const char *setting = s->label_column;
    int64_t number = 0;
    const bool numeric = mgvi_parse_int(setting, &number);
    const bool automatic = strcmp(setting, "auto") == 0;
    int64_t found = MGVI_NO_LABEL;
    *named = false;
    l->label = l->columns - 1;
    if (known && automatic)
        return mgvi_csv_expect(text, known, s->header == MGVI_WISH_NO ? NULL : line, l, named);
    if (strcmp(setting, "none") == 0)
        l->label = MGVI_NO_LABEL;
    else if (strcmp(setting, "first") == 0)
        l->label = 0;
    if (strcmp(setting, "none") == 0 || strcmp(setting, "first") == 0 ||
        strcmp(setting, "last") == 0)
        return MGV_OK;
    /* a number is a name only below a line that was said to be a header */
    if (s->header == MGVI_WISH_YES || (s->header != MGVI_WISH_NO && !numeric))
        found = automatic ? mgvi_csv_find_label(text, l->separator, line)
                          : mgvi_csv_find(text, l->separator, line, setting);
    *named = found != MGVI_NO_LABEL;
    if (*named)
        l->label = found;
    else if (numeric && number >= 1 && number <= l->columns)
        l->label = number - 1;
    else if (!automatic)
        return MGVI_FAIL(text->ctx, MGV_E_ARG,
                         "%s: label_column is '%.80s', which is neither a column's name nor a "
                         "number from 1 to %" PRId64,
                         text->path, setting, l->columns);
    return MGV_OK;
}

/* Words and numbers in the first line beside the label's column; empty cells and missing values
 * are neither. A word may be a pair of libsvm text. */
static void count_kinds(mgvi_text *text, const mgvi_csv_layout *l, const char *line, int64_t *words,
                        int64_t *numbers, mgvi_cell *pair)
{
    static const char *const missing[] = {"", "?", "NA", "N/A", "null", "None"};
    mgvi_cell cell;
    int64_t k = 0;
    *words = *numbers = 0;
    for (const char *p = line; p && mgvi_csv_cell(text, l->separator, p, text->end, &cell); k++) {
        double value;
        const mgvi_number_status st = mgvi_csv_number(&cell, &value);
        bool word = st == MGVI_NUMBER_NONE;
        for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
            word &= !cell_is(&cell, missing[i]);
        if (k != l->label && word && !pair->begin && mgvi_csv_is_pair(&cell))
            *pair = cell;
        if (k != l->label) {
            *words += word;
            *numbers += st == MGVI_NUMBER_OK;
        }
        p = mgvi_csv_step(l->separator, cell.next, text->end);
    }
}

mgv_status mgvi_csv_look(mgvi_text *text, const mgv_settings *settings,
                         const mgvi_column_names *known, mgvi_csv_layout *layout)
{
    const char *line = text->begin;
    bool named;
    int64_t words, numbers;
    mgvi_cell pair = {0};
    while (line < text->end && !mgvi_csv_has_data(line, text->end))
        line = mgvi_text_next_line(line, text->end);
    if (line == text->end)
        return MGVI_FAIL(text->ctx, MGV_E_INPUT, "%s: there is no row in this file", text->path);
    *layout = (mgvi_csv_layout){.data_begin = line};
    MGVI_TRY(mgvi_csv_separator(text, settings->separator, line, &layout->separator));
    layout->columns = mgvi_csv_count(text, layout->separator, line, text->end);
    MGVI_TRY(mgvi_text_status(text)); /* an open quote */
    MGVI_TRY(choose_label(text, settings, known, line, layout, &named));
    count_kinds(text, layout, line, &words, &numbers, &pair);
    const bool automatic = settings->header == MGVI_WISH_AUTO;
    if (automatic && !named && pair.begin) {
        mgvi_csv_fault_of_pair(text, layout->separator, &pair);
        return mgvi_text_status(text);
    }
    if (known && automatic && !named && words && numbers && layout->columns != known->count &&
        layout->columns != known->count + 1) /* no header of the model's */
        return mgvi_csv_match(text, known, strcmp(settings->label_column, "auto") == 0, layout);
    if (automatic && !named && words && numbers)
        return MGVI_TEXT_FAIL(text, line,
                              "the first line has %" PRId64 " words and %" PRId64
                              " numbers beside the label: say whether it is a header (header yes "
                              "or no)",
                              words, numbers);
    if (settings->header == MGVI_WISH_YES || (automatic && (named || words))) {
        layout->header = line;
        layout->data_begin = mgvi_text_next_line(line, text->end);
    }
    return known ? mgvi_csv_match(text, known, strcmp(settings->label_column, "auto") == 0, layout)
                 : MGV_OK;
}

/* The name of column `column`; false without a header. */
static bool find_cell(mgvi_text *text, const mgvi_csv_layout *l, int64_t column, mgvi_cell *cell)
{
    int64_t k = 0;
    for (const char *p = l->header; p && mgvi_csv_cell(text, l->separator, p, text->end, cell);
         k++) {
        if (k == column)
            return true;
        p = mgvi_csv_step(l->separator, cell->next, text->end);
    }
    return false;
}

mgvi_quote mgvi_csv_column(mgvi_text *text, const mgvi_csv_layout *layout, int64_t column)
{
    mgvi_quote q;
    mgvi_cell cell;
    if (find_cell(text, layout, column, &cell))
        snprintf(q.text, sizeof q.text, "column %" PRId64 " ('%.*s')", column + 1,
                 (int)(cell.end - cell.begin < 24 ? cell.end - cell.begin : 24), cell.begin);
    else
        snprintf(q.text, sizeof q.text, "column %" PRId64, column + 1);
    return q;
}

/* Pointers and texts in one block. */
mgv_status mgvi_csv_names(mgvi_text *text, const mgvi_csv_layout *layout, mgv_data *data)
{
    data->label_at = layout->label;
    if (!layout->header)
        return MGV_OK;
    const size_t count = (size_t)data->X.cols;
    const size_t bytes = (size_t)(layout->data_begin - layout->header) + count + 2;
    char **names = mgvi_data_array(text->ctx, data, count * sizeof *names + bytes, 1);
    if (!names)
        return MGV_E_MEMORY;
    char *to = (char *)(names + count);
    mgvi_cell cell;
    int64_t k = 0, next = 0;
    for (const char *p = layout->header;
         p && mgvi_csv_cell(text, layout->separator, p, text->end, &cell); k++) {
        const bool label = k == layout->label;
        const int64_t at = layout->place ? layout->place[k] : label ? MGVI_NOT_USED : next++;
        if (memchr(cell.begin, 0, (size_t)(cell.end - cell.begin)))
            return MGVI_TEXT_FAIL(text, cell.begin, "a zero byte in a name: this is not text");
        if (at >= 0)
            names[at] = to;
        if (label)
            data->label_name = to;
        if (at >= 0 || label)
            to += mgvi_csv_copy(&cell, to) + 1;
        p = mgvi_csv_step(layout->separator, cell.next, text->end);
    }
    data->names = names;
    return MGV_OK;
}
