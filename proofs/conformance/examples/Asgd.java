// SGD and ASGD, centred or not: a question a line in, an answer a line out. Java 11, no libraries.
//
//     javac Asgd.java
//     python -m proofs.conformance --command 'java Asgd'
//
// Replace `train` by a call of your own code. The reader takes the lines of the kit, not JSON at large.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

public class Asgd {
    // the text after "key": of a line
    static String after(String line, String key) {
        int place = line.indexOf("\"" + key + "\": ");
        if (place < 0) throw new IllegalArgumentException("no " + key + " in a question");
        return line.substring(place + key.length() + 4);
    }

    static String word(String s) { return s.substring(1, s.indexOf('"', 1)); }

    static double[] numbers(String s) { // the numbers of the first [1, 2, …] of s
        String inside = s.substring(1, s.indexOf(']')).trim();
        return inside.isEmpty() ? new double[0] : Arrays.stream(inside.split(",")).mapToDouble(Double::parseDouble).toArray();
    }

    static double[][][] rows(String s) { // [[[column, value], …], …]
        List<List<double[]>> rows = new ArrayList<>();
        int depth = 0, place = 0;
        do {
            if (s.charAt(place) == ']') depth--;
            if (s.charAt(place) == '[' && ++depth == 2) rows.add(new ArrayList<>());
            else if (s.charAt(place) == '[' && depth == 3) rows.get(rows.size() - 1).add(numbers(s.substring(place, s.indexOf(']', place) + 1)));
            place++;
        } while (depth > 0);
        return rows.stream().map(row -> row.toArray(new double[0][])).toArray(double[][][]::new);
    }

    static double derivative(String loss, double p, double y) {
        switch (loss) {
            case "absolute": return p <= y ? -1 : 1;
            case "squared": return p - y;
            case "hinge": return p * y <= 1 ? -y : 0;
            default: return -y / (1 + Math.exp(p * y));
        }
    }

    // n weights, and the bias at the end
    static double[] train(double[][][] rows, int n, double[] y, String loss, double lam, double[] indices, boolean average, boolean centred) {
        double[] mean = new double[n], w = new double[n + 1], sum = new double[n + 1];
        if (centred) for (double[][] row : rows) for (double[] entry : row) mean[(int) entry[0]] += entry[1] / rows.length;
        for (int t = 1; t <= indices.length; t++) {
            int i = (int) indices[t - 1];
            double[] x = new double[n + 1];
            for (int j = 0; j < n; j++) x[j] = -mean[j];
            for (double[] entry : rows[i]) x[(int) entry[0]] += entry[1]; // what is stored twice adds up
            x[n] = 1; // the bias is the weight of a feature that is always 1
            double p = 0;
            for (int j = 0; j <= n; j++) p += w[j] * x[j];
            double g = derivative(loss, p, y[i]);
            for (int j = 0; j <= n; j++) sum[j] += w[j] = (1 - 1.0 / t) * w[j] - g / (lam * t) * x[j];
        }
        if (average) for (int j = 0; j <= n; j++) w[j] = sum[j] / indices.length;
        for (int j = 0; j < n; j++) w[n] -= w[j] * mean[j];
        return w;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int n = Integer.parseInt(after(line, "n").split("[,}]")[0].trim());
            double lam = Double.parseDouble(after(line, "lam").split("[,}]")[0].trim());
            boolean average = after(line, "average").startsWith("t"), centred = after(line, "centred").startsWith("t");
            double[] w = train(rows(after(line, "rows")), n, numbers(after(line, "y")), word(after(line, "loss")), lam,
                    numbers(after(line, "indices")), average, centred);
            String weights = Arrays.stream(w, 0, n).mapToObj(Double::toString).collect(Collectors.joining(", "));
            out.append("{\"id\": \"").append(word(after(line, "id"))).append("\", \"w\": [").append(weights).append("], \"b\": ").append(w[n]).append("}\n");
        }
        System.out.print(out);
    }
}
