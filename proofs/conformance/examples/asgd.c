/* SGD and ASGD, centred or not, on sparse rows: a question a line in, an answer a line out. C99, no libraries.

       cc -std=c99 -O2 -o asgd asgd.c -lm
       python -m proofs.conformance --command ./asgd

   With -DFAULT the mean starts at w_0 = 0, which is wrong, to see the kit name it. */

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers, as many as there are ---- */

typedef struct {
    double *at;
    size_t size, room;
} Numbers;

static void *or_die(void *memory) {
    if (memory == NULL) {
        fputs("asgd: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void push(Numbers *numbers, double x) {
    if (numbers->size == numbers->room)
        numbers->at = or_die(realloc(numbers->at, (numbers->room = 2 * numbers->room + 16) * sizeof(double)));
    numbers->at[numbers->size++] = x;
}

static double *zeros(size_t n) { return or_die(calloc(n + 1, sizeof(double))); }

/* ---- reading a question ---- */

typedef struct {
    char id[256], algorithm[16], loss[16];
    bool average, centred;
    size_t n;
    double lam;
    Numbers start, column, value; /* row i stores the entries start[i] .. start[i + 1] - 1 */
    Numbers y, indices;
} Question;

static const char *s; /* the rest of the line */

static void fail(const char *wanted) {
    fprintf(stderr, "asgd: %s expected at: %.40s\n", wanted, s);
    exit(1);
}

static bool next(char c) {
    while (isspace((unsigned char)*s)) s++;
    return *s == c ? s++, true : false;
}

static void expect(char c) {
    if (!next(c)) fail((char[]){c, 0});
}

static void read_string(char *text, size_t room) { /* ids and names hold no escapes */
    expect('"');
    for (; *s && *s != '"' && room > 1; room--) *text++ = *s++;
    *text = 0;
    expect('"');
}

static double read_number(void) {
    char *end;
    double x = strtod(s, &end);
    if (end == s) fail("a number");
    s = end;
    return x;
}

static bool read_bool(void) {
    if (next('t')) return s += 3, true;
    if (next('f')) return s += 4, false;
    return fail("true or false"), false;
}

static void read_numbers(Numbers *numbers) {
    expect('[');
    if (next(']')) return;
    do push(numbers, read_number());
    while (next(','));
    expect(']');
}

static void read_rows(Question *q) {
    push(&q->start, 0);
    expect('[');
    do {
        expect('[');
        while (next('[')) {
            push(&q->column, read_number()), expect(',');
            push(&q->value, read_number()), expect(']');
            next(',');
        }
        expect(']');
        push(&q->start, (double)q->value.size);
    } while (next(','));
    expect(']');
}

static void read_question(Question *q) {
    q->start.size = q->column.size = q->value.size = q->y.size = q->indices.size = 0;
    expect('{');
    do {
        char key[16];
        read_string(key, sizeof key), expect(':');
        if (!strcmp(key, "id")) read_string(q->id, sizeof q->id);
        else if (!strcmp(key, "algorithm")) read_string(q->algorithm, sizeof q->algorithm);
        else if (!strcmp(key, "loss")) read_string(q->loss, sizeof q->loss);
        else if (!strcmp(key, "average")) q->average = read_bool();
        else if (!strcmp(key, "centred")) q->centred = read_bool();
        else if (!strcmp(key, "n")) q->n = (size_t)read_number();
        else if (!strcmp(key, "lam")) q->lam = read_number();
        else if (!strcmp(key, "y")) read_numbers(&q->y);
        else if (!strcmp(key, "indices")) read_numbers(&q->indices);
        else if (!strcmp(key, "rows")) read_rows(q);
        else fail("a known key");
    } while (next(','));
    expect('}');
}

/* ---- answering it: Algorithm 3; without a centre (xbar = 0, theta = 1) it is Algorithm 2 ---- */

static double derivative(const char *loss, double p, double y) { /* Table 1 */
    switch (loss[0]) {
    case 'a': return p <= y ? -1 : 1;
    case 's': return p - y;
    case 'h': return p * y <= 1 ? -y : 0;
    default: return -y / (1 + exp(p * y)); /* exp may be infinite: the derivative is 0 then */
    }
}

static void answer(const Question *q) {
    size_t n = q->n, m = q->y.size, T = q->indices.size;
    double *xbar = zeros(n), *v = zeros(n), *u = zeros(n);
    double theta = 1, a = 0, c = 0, h = 0, z = 0, r = 0, sum = 0;
    if (q->centred) {
        for (size_t e = 0; e < q->value.size; e++) xbar[(size_t)q->column.at[e]] += q->value.at[e];
        for (size_t j = 0; j < n; j++) xbar[j] /= (double)m, theta += xbar[j] * xbar[j];
    }
    for (size_t t = 1; t <= T; t++) {
        size_t i = (size_t)q->indices.at[t - 1], first = (size_t)q->start.at[i], end = (size_t)q->start.at[i + 1];
        double d = 0, projection = 0;
        for (size_t e = first; e < end; e++) {
            size_t j = (size_t)q->column.at[e];
            d += v[j] * q->value.at[e];
            projection += xbar[j] * q->value.at[e];
        }
        double p = t == 1 ? 0 : -(d + r - a * projection) / (q->lam * (double)(t - 1));
        double g = derivative(q->loss, p, q->y.at[i]);
        for (size_t e = first; e < end; e++) {
            size_t j = (size_t)q->column.at[e];
            v[j] += g * q->value.at[e];
            u[j] += h * g * q->value.at[e];
        }
        a += g;
        c += a / (double)t;
        h += 1 / (double)t;
        z += g * projection;
        r = a * theta - z;
        sum += r / (double)t;
    }
    double scale = -q->lam * (double)T;
#ifdef FAULT
    if (q->average) scale = -q->lam * (double)(T + 1);
#endif
    printf("{\"id\": \"%s\", \"w\": [", q->id);
    for (size_t j = 0; j < n; j++)
        printf(j ? ", %.17g" : "%.17g", (q->average ? h * v[j] - u[j] - c * xbar[j] : v[j] - a * xbar[j]) / scale);
    printf("], \"b\": %.17g}\n", (q->average ? sum : r) / scale);
    free(xbar), free(v), free(u);
}

int main(void) {
    static Question question;
    char *line = NULL;
    size_t size = 0, room = 0;
    for (int c = getchar(); c != EOF; c = getchar()) {
        if (size + 1 >= room) line = or_die(realloc(line, room = 2 * room + 4096));
        if (c != '\n') {
            line[size++] = (char)c;
            continue;
        }
        line[size] = 0, size = 0, s = line;
        read_question(&question);
        answer(&question);
    }
    return free(line), 0;
}
