// SGD and ASGD, centred or not: a question a line in, an answer a line out. Node, no packages.
//
//     python -m proofs.conformance --command 'node asgd.js'
//
// Replace `train` by a call of your own code.

const derivative = {
  absolute: (p, y) => (p <= y ? -1 : 1),
  squared: (p, y) => p - y,
  hinge: (p, y) => (p * y <= 1 ? -y : 0),
  log: (p, y) => -y / (1 + Math.exp(p * y)),
};

function train({ rows, n, y, loss, lam, indices, average, centred }) {
  const mean = new Float64Array(n);
  if (centred) for (const row of rows) for (const [j, value] of row) mean[j] += value / rows.length;
  let w = new Float64Array(n), b = 0;
  const sum = new Float64Array(n);
  let biases = 0;
  indices.forEach((i, step) => {
    const t = step + 1, x = centred ? mean.map((each) => -each) : new Float64Array(n);
    for (const [j, value] of rows[i]) x[j] += value; // what is stored twice adds up
    const p = x.reduce((total, value, j) => total + value * w[j], b);
    const g = derivative[loss](p, y[i]);
    for (let j = 0; j < n; j++) sum[j] += w[j] = (1 - 1 / t) * w[j] - (g / (lam * t)) * x[j];
    biases += b = (1 - 1 / t) * b - g / (lam * t);
  });
  if (average) [w, b] = [sum.map((each) => each / indices.length), biases / indices.length];
  return { w: [...w], b: b - mean.reduce((total, each, j) => total + each * w[j], 0) };
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  console.log(JSON.stringify({ id: question.id, ...train(question) }));
});
