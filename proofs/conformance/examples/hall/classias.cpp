// The binary Pegasos of classias, with a feature that is always 1 for the bias. c = λ/2 and n = 1 make its λ the paper's.

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <classias/types.h>

#include <classias/instance.h>
#include <classias/parameters.h>

#include <classias/classify/linear/binary.h>
#include <classias/train/pegasos.h>

using namespace classias;

typedef binary_instance_base<sparse_vector_base<int, double>, weight_base, group_base> Instance;

template <class Error>
int take(int n, const int *start, const int *column, const double *value, const double *y, double lam, int T,
         const int *indices, double *w) {
    train::pegasos_binary<Error> trainer;
    trainer.params().set("c", lam / 2);
    trainer.params().set("n", 1.0);
    trainer.params().set("eta", 1 / lam);
    trainer.set_num_features(n + 1);
    trainer.start();
    for (int t = 0; t < T; ++t) {
        int i = indices[t];
        Instance x;
        x.set_label(y[i] > 0);
        x.set_weight(1.0);
        for (int e = start[i]; e < start[i + 1]; ++e) x.append(column[e], value[e]);
        x.append(n, 1.0);
        trainer.update(&x);
    }
    trainer.finish();
    for (int j = 0; j <= n; ++j) w[j] = trainer.model()[j];
    return 1;
}

extern "C" int train(int m, int n, const int *start, const int *column, const double *value, const double *y, double lam, int T,
                     const int *indices, int loss, int average, int centred, double *w) {
    if (average || centred || loss < 2) return 0;
    if (loss == 2) return take<classify::linear_binary_hinge<std::vector<double>>>(n, start, column, value, y, lam, T, indices, w);
    return take<classify::linear_binary_logistic<std::vector<double>>>(n, start, column, value, y, lam, T, indices, w);
}
