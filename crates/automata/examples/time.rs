//! Temporary timings.
#![allow(clippy::print_stdout, missing_docs)]
use formwork_automata::*;
use std::time::Instant;
fn best<T>(name: &str, mut f: impl FnMut() -> T) -> T {
    let mut out = None;
    let mut b = f64::MAX;
    let mut all = vec![];
    for _ in 0..15 {
        drop(out.take());
        let t = Instant::now();
        out = Some(f());
        let d = t.elapsed().as_secs_f64() * 1e3;
        b = b.min(d);
        all.push(d);
    }
    all.sort_by(f64::total_cmp);
    println!("{name}: best {b:.3} ms median {:.3} first-ish max {:.3}", all[7], all[14]);
    out.unwrap()
}
fn json(depth: usize, fuel: &mut Fuel) -> Nfa {
    let mut b = NfaBuilder::new(fuel);
    let s = b.state().unwrap();
    let e = b.state().unwrap();
    value(&mut b, s, e, depth);
    b.finish(s, e)
}
fn ws(b: &mut NfaBuilder, s: NfaStateId, e: NfaStateId) {
    let h = b.state().unwrap();
    b.empty(s, h).unwrap();
    b.byte(h, b" \t\n\r".iter().copied().collect(), h).unwrap();
    b.empty(h, e).unwrap();
}
fn string(b: &mut NfaBuilder, s: NfaStateId, e: NfaStateId) {
    let body = b.state().unwrap();
    b.literal(s, b"\"", body).unwrap();
    b.characters(body, &[(' ', '!'), ('#', '['), (']', char::MAX)], body).unwrap();
    let esc = b.state().unwrap();
    b.literal(body, b"\\", esc).unwrap();
    b.byte(esc, b"\"\\/bfnrt".iter().copied().collect(), body).unwrap();
    let mut at = b.state().unwrap();
    b.literal(esc, b"u", at).unwrap();
    let hex: ByteSet = b"0123456789abcdefABCDEF".iter().copied().collect();
    for i in 0..4 {
        let n = if i == 3 { body } else { b.state().unwrap() };
        b.byte(at, hex, n).unwrap();
        at = n;
    }
    b.literal(body, b"\"", e).unwrap();
}
fn value(b: &mut NfaBuilder, s: NfaStateId, e: NfaStateId, depth: usize) {
    for w in ["true", "false", "null"] {
        b.literal(s, w.as_bytes(), e).unwrap();
    }
    string(b, s, e);
    let d = ByteSet::range(b'0'..=b'9');
    let (i, n) = (b.state().unwrap(), b.state().unwrap());
    b.empty(s, i).unwrap();
    b.literal(s, b"-", i).unwrap();
    b.literal(i, b"0", n).unwrap();
    let m = b.state().unwrap();
    b.byte(i, ByteSet::range(b'1'..=b'9'), m).unwrap();
    b.byte(m, d, m).unwrap();
    b.empty(m, n).unwrap();
    b.empty(n, e).unwrap();
    let f = b.state().unwrap();
    let g = b.state().unwrap();
    b.literal(n, b".", f).unwrap();
    b.byte(f, d, g).unwrap();
    b.byte(g, d, g).unwrap();
    b.empty(g, e).unwrap();
    let x = b.state().unwrap();
    let y = b.state().unwrap();
    for p in [n, g] {
        b.byte(p, b"eE".iter().copied().collect(), x).unwrap();
    }
    let z = b.state().unwrap();
    b.empty(x, y).unwrap();
    b.byte(x, b"+-".iter().copied().collect(), y).unwrap();
    b.byte(y, d, z).unwrap();
    b.byte(z, d, z).unwrap();
    b.empty(z, e).unwrap();
    if depth == 0 {
        return;
    }
    for object in [false, true] {
        let (o, c) = if object { (&b"{"[..], &b"}"[..]) } else { (&b"["[..], &b"]"[..]) };
        let a = b.state().unwrap();
        b.literal(s, o, a).unwrap();
        let a1 = b.state().unwrap();
        ws(b, a, a1);
        b.literal(a1, c, e).unwrap();
        let v = b.state().unwrap();
        b.empty(a1, v).unwrap();
        let v1 = if object {
            let k = b.state().unwrap();
            string(b, v, k);
            let k1 = b.state().unwrap();
            ws(b, k, k1);
            let k2 = b.state().unwrap();
            b.literal(k1, b":", k2).unwrap();
            let k3 = b.state().unwrap();
            ws(b, k2, k3);
            k3
        } else {
            v
        };
        let w = b.state().unwrap();
        value(b, v1, w, depth - 1);
        let w1 = b.state().unwrap();
        ws(b, w, w1);
        b.literal(w1, c, e).unwrap();
        let w2 = b.state().unwrap();
        b.literal(w1, b",", w2).unwrap();
        ws(b, w2, v);
    }
}
fn main() {
    let mut x = 0x9E37_79B9_7F4A_7C15_u64;
    let alphabet = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let words: Vec<Vec<u8>> = (0..10_000)
        .map(|_| {
            (0..14)
                .map(|_| {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    alphabet[((x >> 33) % 62) as usize]
                })
                .collect()
        })
        .collect();
    let d = best("from_strings 10k x 14", || {
        Dfa::from_strings(&words, &mut Fuel::unlimited()).unwrap()
    });
    println!("states {} bytes {} columns {}", d.len(), d.memory_bytes(), d.columns());
    let mut sorted = words.clone();
    sorted.sort();
    best("from_strings sorted", || Dfa::from_strings(&sorted, &mut Fuel::unlimited()).unwrap());
    best("  minimized", || d.minimized());
    best("  canonical", || d.canonical());
    best("  trimmed", || d.trimmed());
    let t = Instant::now();
    let mut ok = 0;
    for w in &words {
        ok += usize::from(d.accepts(w));
    }
    println!("lookup {ok}: {:.1} ns/byte", t.elapsed().as_secs_f64() * 1e9 / 140_000.);
    for depth in [0, 1, 2, 3, 4, 5] {
        let n = json(depth, &mut Fuel::unlimited());
        let d = best(&format!("json depth {depth} ({} nfa states) determinize", n.len()), || {
            determinize(&n, &mut Fuel::unlimited()).unwrap()
        });
        let m = best("  minimized", || d.minimized());
        let c = best("  canonical", || d.canonical());
        println!(
            "  {} -> {} states, {} columns -> {}; {} bytes",
            d.len(),
            m.len(),
            d.columns(),
            c.columns(),
            d.memory_bytes()
        );
    }
    if std::env::args().nth(1).is_none() { return; }
    // Large: every state distinct by distance: 200,000 x 60.
    let mut fuel = Fuel::unlimited();
    let mut b = NfaBuilder::new(&mut fuel);
    let k = 200_000;
    let st: Vec<_> = (0..k).map(|_| b.state().unwrap()).collect();
    for i in 0..k {
        for c in 0..60_u64 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            b.byte(st[i], ByteSet::single(40 + c as u8), st[(x >> 33) as usize % k]).unwrap();
        }
    }
    let acc = b.state().unwrap();
    for i in 0..k {
        if i % 3 == 0 {
            b.empty(st[i], acc).unwrap();
        }
    }
    let n = b.finish(st[0], acc);
    let t = Instant::now();
    let d = determinize(&n, &mut Fuel::unlimited()).unwrap();
    println!("random 200k x 60 determinize {:?}, {} states", t.elapsed(), d.len());
    let t = Instant::now();
    let m = d.minimized();
    println!("random 200k x 60 minimized {:?}, {} states", t.elapsed(), m.len());
    let t = Instant::now();
    let m = d.canonical();
    println!("random 200k x 60 canonical {:?}, {} states", t.elapsed(), m.len());
}
