// SGD_SVM and LOGREG of sofia-ml, step by step; its bias is its feature 0.

#include <iomanip>
#include <sstream>

#include "sf-weight-vector.h"
#include "sofia-ml-methods.h"

extern "C" int train(int m, int n, const int *start, const int *column, const double *value, const double *y, double lam, int T,
                     const int *indices, int loss, int average, int centred, double *w) {
    if (average || centred || loss < 2) return 0;
    SfWeightVector weights(n + 2);
    for (int t = 1; t <= T; ++t) {
        int i = indices[t - 1];
        std::ostringstream line;
        line << std::setprecision(17) << y[i] << " ";
        for (int e = start[i]; e < start[i + 1]; ++e) line << column[e] + 1 << ":" << value[e] << " ";
        std::string text = line.str();
        SfSparseVector row(text.c_str(), true);
        sofia_ml::OneLearnerStep(loss == 2 ? sofia_ml::SGD_SVM : sofia_ml::LOGREG, row, 1 / ((float)lam * t), 1, lam, &weights);
    }
    for (int j = 0; j < n; ++j) w[j] = weights.ValueOf(j + 1);
    w[n] = weights.ValueOf(0);
    return 1;
}
