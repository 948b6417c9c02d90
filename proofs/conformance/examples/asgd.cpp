// SGD and ASGD, centred or not: a question a line in, an answer a line out. C++17, no libraries.
//
//     c++ -std=c++17 -O2 -o asgd_cpp asgd.cpp
//     python -m proofs.conformance --command ./asgd_cpp
//
// Replace `train` by a call of your own code. The reader takes the lines of the kit, not JSON at large.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using Row = std::vector<std::pair<std::size_t, double>>;

struct Question {
    std::string id, loss;
    bool average, centred;
    std::size_t n;
    std::vector<Row> rows;
    std::vector<double> y, indices;
    double lam;
};

// the text after "key": of a line
static const char *after(const std::string &line, const std::string &key) {
    auto place = line.find("\"" + key + "\": ");
    if (place == std::string::npos) std::exit((std::cerr << "no " << key << " in a question\n", 1));
    return line.c_str() + place + key.size() + 4;
}

static std::string word(const char *s) { return std::string(s + 1, std::string(s + 1).find('"')); }

static std::vector<double> numbers(const char *&s) { // [1, 2, …]
    std::vector<double> found;
    for (++s; *s != ']';) {
        char *end;
        found.push_back(std::strtod(s, &end));
        for (s = end; *s == ',' || *s == ' ';) ++s;
    }
    return ++s, found;
}

static Question read(const std::string &line) {
    Question q{word(after(line, "id")), word(after(line, "loss")), *after(line, "average") == 't', *after(line, "centred") == 't', 0, {}, {}, {}, 0};
    q.n = std::strtoul(after(line, "n"), nullptr, 10);
    q.lam = std::strtod(after(line, "lam"), nullptr);
    const char *s = after(line, "y");
    q.y = numbers(s);
    q.indices = numbers(s = after(line, "indices"));
    for (s = after(line, "rows") + 1; *s != ']';) { // [[[column, value], …], …]
        Row row;
        for (++s; *s != ']';) {
            if (*s != '[') { ++s; continue; }
            auto pair = numbers(s);
            row.emplace_back(static_cast<std::size_t>(pair[0]), pair[1]);
        }
        q.rows.push_back(row);
        for (++s; *s == ',' || *s == ' ';) ++s;
    }
    return q;
}

static double derivative(const std::string &loss, double p, double y) {
    if (loss == "absolute") return p <= y ? -1 : 1;
    if (loss == "squared") return p - y;
    if (loss == "hinge") return p * y <= 1 ? -y : 0;
    return -y / (1 + std::exp(p * y));
}

static std::pair<std::vector<double>, double> train(const Question &q) {
    std::vector<double> mean(q.n), w(q.n), sum(q.n);
    double b = 0, biases = 0;
    if (q.centred)
        for (auto &row : q.rows)
            for (auto [j, value] : row) mean[j] += value / static_cast<double>(q.rows.size());
    for (std::size_t t = 1; t <= q.indices.size(); ++t) {
        auto i = static_cast<std::size_t>(q.indices[t - 1]);
        std::vector<double> x(q.n);
        for (std::size_t j = 0; j < q.n; ++j) x[j] = -mean[j];
        for (auto [j, value] : q.rows[i]) x[j] += value; // what is stored twice adds up
        double p = b, T = static_cast<double>(t);
        for (std::size_t j = 0; j < q.n; ++j) p += w[j] * x[j];
        double g = derivative(q.loss, p, q.y[i]);
        for (std::size_t j = 0; j < q.n; ++j) sum[j] += w[j] = (1 - 1 / T) * w[j] - g / (q.lam * T) * x[j];
        biases += b = (1 - 1 / T) * b - g / (q.lam * T);
    }
    if (q.average) {
        for (std::size_t j = 0; j < q.n; ++j) w[j] = sum[j] / static_cast<double>(q.indices.size());
        b = biases / static_cast<double>(q.indices.size());
    }
    for (std::size_t j = 0; j < q.n; ++j) b -= w[j] * mean[j];
    return {w, b};
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        Question q = read(line);
        auto [w, b] = train(q);
        std::printf("{\"id\": \"%s\", \"w\": [", q.id.c_str());
        for (std::size_t j = 0; j < q.n; ++j) std::printf(j ? ", %.17g" : "%.17g", w[j]);
        std::printf("], \"b\": %.17g}\n", b);
    }
}
