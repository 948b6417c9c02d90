// SGD and ASGD, centred or not: a question a line in, an answer a line out. Rust, no crates.
//
//     rustc -O -o asgd_rs asgd.rs
//     python -m proofs.conformance --command ./asgd_rs
//
// Replace `train` by a call of your own code. The reader takes the lines of the kit, not JSON at large.

use std::io::{self, BufRead, Write};

struct Question {
    id: String,
    loss: String,
    average: bool,
    centred: bool,
    n: usize,
    rows: Vec<Vec<(usize, f64)>>,
    y: Vec<f64>,
    lam: f64,
    indices: Vec<usize>,
}

// the text after "key": of a line
fn after<'a>(line: &'a str, key: &str) -> &'a str {
    let start = format!("\"{key}\": ");
    &line[line.find(&start).unwrap_or_else(|| panic!("a question lacks a key")) + start.len()..]
}

fn word(s: &str) -> String {
    s[1..].split('"').next().unwrap().to_string()
}

fn number(s: &str) -> f64 {
    s[..s.find([',', '}', ']']).unwrap_or(s.len())].trim().parse().unwrap()
}

// the numbers of the first [1, 2, …] of s
fn numbers(s: &str) -> Vec<f64> {
    let inside = &s[1..s.find(']').unwrap()];
    inside.split(',').filter(|each| !each.trim().is_empty()).map(|each| each.trim().parse().unwrap()).collect()
}

fn read(line: &str) -> Question {
    let (mut rows, mut depth) = (Vec::new(), 0);
    for (place, letter) in after(line, "rows").char_indices() {
        if letter == '[' {
            depth += 1;
            if depth == 2 {
                rows.push(Vec::new());
            } else if depth == 3 {
                let pair = numbers(&after(line, "rows")[place..]);
                rows.last_mut().unwrap().push((pair[0] as usize, pair[1]));
            }
        } else if letter == ']' {
            depth -= 1;
            if depth == 0 {
                break;
            }
        }
    }
    Question {
        id: word(after(line, "id")),
        loss: word(after(line, "loss")),
        average: after(line, "average").starts_with('t'),
        centred: after(line, "centred").starts_with('t'),
        n: number(after(line, "n")) as usize,
        rows,
        y: numbers(after(line, "y")),
        lam: number(after(line, "lam")),
        indices: numbers(after(line, "indices")).iter().map(|&each| each as usize).collect(),
    }
}

fn derivative(loss: &str, p: f64, y: f64) -> f64 {
    match loss {
        "absolute" => if p <= y { -1.0 } else { 1.0 },
        "squared" => p - y,
        "hinge" => if p * y <= 1.0 { -y } else { 0.0 },
        _ => -y / (1.0 + (p * y).exp()),
    }
}

fn train(q: &Question) -> (Vec<f64>, f64) {
    let (mut mean, mut w, mut sum) = (vec![0.0; q.n], vec![0.0; q.n], vec![0.0; q.n]);
    let (mut b, mut biases) = (0.0, 0.0);
    if q.centred {
        for &(j, value) in q.rows.iter().flatten() {
            mean[j] += value / q.rows.len() as f64;
        }
    }
    for (step, &i) in q.indices.iter().enumerate() {
        let t = (step + 1) as f64;
        let mut x: Vec<f64> = mean.iter().map(|each| -each).collect();
        for &(j, value) in &q.rows[i] {
            x[j] += value; // what is stored twice adds up
        }
        let p = b + w.iter().zip(&x).map(|(one, other)| one * other).sum::<f64>();
        let g = derivative(&q.loss, p, q.y[i]);
        for j in 0..q.n {
            w[j] = (1.0 - 1.0 / t) * w[j] - g / (q.lam * t) * x[j];
            sum[j] += w[j];
        }
        b = (1.0 - 1.0 / t) * b - g / (q.lam * t);
        biases += b;
    }
    if q.average {
        let steps = q.indices.len() as f64;
        w = sum.iter().map(|each| each / steps).collect();
        b = biases / steps;
    }
    b -= w.iter().zip(&mean).map(|(one, other)| one * other).sum::<f64>();
    (w, b)
}

fn main() {
    let mut out = io::BufWriter::new(io::stdout());
    for line in io::stdin().lock().lines() {
        let q = read(&line.unwrap());
        let (w, b) = train(&q);
        writeln!(out, "{{\"id\": \"{}\", \"w\": {:?}, \"b\": {:?}}}", q.id, w, b).unwrap(); // {:?} writes all digits
    }
}
