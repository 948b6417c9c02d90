// The trainers of Microsoft's ELL: SGDTrainer for sgd and asgd, SparseDataCenteredSGDTrainer for csgd and casgd.
// Their single steps are protected; `Open` calls them, so that the draws are given.

#include <cmath>
#include <trainers/include/SGDTrainer.h>

#include <functions/include/HingeLoss.h>
#include <functions/include/LogLoss.h>
#include <functions/include/SquaredLoss.h>

using namespace ell;

template <class Trainer>
struct Open : Trainer {
    using Trainer::DoFirstStep;
    using Trainer::DoNextStep;
    using Trainer::Trainer;
};

struct Question {
    int m, n;
    const int *start, *column;
    const double *value, *y;
    double lam;
    int T;
    const int *indices;
    bool average, centred;

    data::AutoDataVector row(int i) const {
        std::vector<double> dense(n);
        for (int e = start[i]; e < start[i + 1]; ++e) dense[column[e]] = value[e];
        return data::AutoDataVector(data::DoubleDataVector(std::move(dense)));
    }
};

template <class Trainer>
void run(Trainer &&trainer, const Question &q, double *w) {
    for (int t = 0; t < q.T; ++t) {
        int i = q.indices[t];
        if (t == 0) trainer.DoFirstStep(q.row(i), q.y[i], 1.0);
        else trainer.DoNextStep(q.row(i), q.y[i], 1.0);
    }
    const auto &found = q.average ? trainer.GetAveragedPredictor() : trainer.GetLastPredictor();
    for (int j = 0; j < q.n && j < (int)found.Size(); ++j) w[j] = found.GetWeights()[j];
    w[q.n] = found.GetBias();
}

template <class Loss>
int take(const Question &q, double *w) {
    trainers::SGDTrainerParameters parameters{q.lam, "seed"};
    math::RowVector<double> centre(q.n);
    for (int e = 0; e < q.start[q.m]; ++e) centre[q.column[e]] += q.value[e] / q.m;
    try {
        if (q.centred) run(Open<trainers::SparseDataCenteredSGDTrainer<Loss>>(Loss(), centre, parameters), q, w);
        else run(Open<trainers::SparseDataSGDTrainer<Loss>>(Loss(), parameters), q, w);
    } catch (...) {
        w[q.n] = NAN;
    }
    return 1;
}

extern "C" int train(int m, int n, const int *start, const int *column, const double *value, const double *y, double lam, int T,
                     const int *indices, int loss, int average, int centred, double *w) {
    Question q{m, n, start, column, value, y, lam, T, indices, average != 0, centred != 0};
    if (loss == 1) return take<functions::SquaredLoss>(q, w);
    if (loss == 2) return take<functions::HingeLoss>(q, w);
    if (loss == 3) return take<functions::LogLoss>(q, w);
    return 0;
}
