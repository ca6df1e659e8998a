//! The CUDA kernels, run on the processor: their own text, compiled by the system's C++ compiler
//! with a small emulation of warps and blocks, against the scalar twin.
//!
//! Beside the results the emulation checks that no read leaves the caller's arrays, that no thread
//! waits for ever, and which sectors of the logits are read. What is written outside a row shows as
//! a difference. Without a C++ compiler the tests say so and check nothing; `CXX` names one.

#![expect(unsafe_code, reason = "calls into a library that is loaded at run time")]
#![cfg(not(miri))]

mod support;

use formwork_apply::{
    Base, Message, MessageBatch, RowStore, SampleKey, StoredRow, bf16, f16,
    kernels::{ApplyArguments, Batch, ChooseArguments, Masks, Meeting},
    scalar,
};
use formwork_mask::{Row, RowMut, words_for};
use libloading::Library;
use std::{env, ffi::c_void, path::Path, process::Command, sync::Mutex};
use support::{Bits, Numbers};

const SIZES: [usize; 9] = [128_000, 128_256, 151_665, 151_936, 201_088, 3, 33, 1, 2049];

/// The emulated kernels. The emulation has one state, so that tests take turns.
struct Emulation(Library);

static TURN: Mutex<()> = Mutex::new(());

type Launch = unsafe extern "C" fn(*const c_void, u32, u32, u32);

/// Compiles the kernels; `None`, with a message, without a compiler.
fn emulation(name: &str) -> Option<Emulation> {
    let named = env::var("CXX").ok();
    let candidates = named.as_deref().map_or(vec!["c++", "g++", "clang++"], |named| vec![named]);
    let works = |compiler: &&&str| {
        Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let Some(compiler) = candidates.iter().find(works) else {
        #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
        {
            eprintln!("SKIPPED: the kernels are not checked, there is no C++ compiler; set CXX");
        }
        return None;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libsimt-{name}.so"));
    // No contraction: numbers must be those of the device and of Rust.
    let options = ["-std=c++17", "-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-fPIC"];
    let output = Command::new(compiler)
        .args(options)
        .args(["-U_FORTIFY_SOURCE", "-Wno-unknown-pragmas", "-shared", "-I"])
        .arg(here.join("../../kernels"))
        .arg(here.join("tests/simt/kernels.cpp"))
        .arg("-o")
        .arg(&library)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: the library is ours and its initialisers only make empty containers.
    let library = unsafe { Library::new(&library) }.expect("the library loads");
    let emulation = Emulation(library);
    emulation.check_layout();
    Some(emulation)
}

impl Emulation {
    fn check_layout(&self) {
        let mut sizes = [0_u32; 5];
        // SAFETY: the function has this type and writes five numbers.
        unsafe {
            let layout = self.0.get::<unsafe extern "C" fn(*mut u32)>(b"simt_layout\0");
            layout.expect("it is there")(sizes.as_mut_ptr());
        }
        let ours = [
            size_of::<ApplyArguments>(),
            size_of::<ChooseArguments>(),
            size_of::<Message>(),
            size_of::<Meeting>(),
            size_of::<SampleKey>(),
        ];
        assert_eq!(sizes.map(|size| size as usize), ours);
    }

    /// Names what the next launch may read.
    fn allow<T>(&self, slice: &[T], counted: bool) {
        // SAFETY: the function has this type and keeps only the addresses.
        unsafe {
            let allow =
                self.0.get::<unsafe extern "C" fn(*const c_void, usize, i32)>(b"simt_allow\0");
            let allow = allow.expect("it is there");
            allow(slice.as_ptr().cast(), size_of_val(slice), i32::from(counted));
        }
    }

    fn forget(&self) {
        // SAFETY: the function has this type.
        unsafe { self.0.get::<unsafe extern "C" fn()>(b"simt_forget\0").expect("it is there")() }
    }

    /// 32-byte sectors of counted memory that were read since the last `forget`.
    fn sectors(&self) -> usize {
        // SAFETY: the function has this type.
        unsafe {
            self.0.get::<unsafe extern "C" fn() -> usize>(b"simt_sectors\0").expect("it is there")()
        }
    }

    /// Runs a kernel on `grid`: blocks, threads, and the stride in which blocks are visited.
    ///
    /// # Safety
    /// `arguments` are the kernel's, and its addresses those of live arrays of the right lengths;
    /// the logits and what is chosen are writable.
    unsafe fn launch<A>(&self, kernel: &str, arguments: &A, grid: [u32; 3]) {
        let symbol = format!("simt_{kernel}\0");
        // SAFETY: every kernel has this type; the rest is promised by the caller.
        unsafe {
            let launch = self.0.get::<Launch>(symbol.as_bytes()).expect("it is there");
            launch((&raw const *arguments).cast(), grid[0], grid[1], grid[2]);
        }
    }
}

/// A batch of every kind: maps, gaps, unaligned rows, packed masks or messages.
struct Case<T> {
    tokens: usize,
    stride: usize,
    offset: usize,
    data: Vec<T>,
    /// Which row of logits an entry is.
    logits_rows: Vec<i32>,
    /// Which mask an entry has.
    mask_rows: Vec<i32>,
    live: [u32; 1],
    words: Vec<i32>,
    mask_stride: usize,
    messages: Option<MessageBatch>,
    /// The masks, as rows.
    masks: Vec<Vec<i32>>,
}

const ENTRIES: usize = 4;
const MASKS: usize = 3;

impl<T: Bits> Case<T> {
    fn new(tokens: usize, numbers: &mut Numbers, with_messages: bool) -> Self {
        let stride = tokens + [0, 1, 5, 8][numbers.next() as usize % 4];
        let offset = numbers.next() as usize % 9;
        let data = (0..offset + (ENTRIES + 1) * stride + 9).map(|_| numbers.logit()).collect();
        let mask_stride = words_for(tokens) + numbers.next() as usize % 3;
        let mut masks: Vec<_> = (0..MASKS).map(|_| numbers.words(tokens)).collect();
        if with_messages {
            // Resident rows are told apart by content: the first word says which one it is.
            masks.iter_mut().zip(0..).for_each(|(mask, index)| mask[0] = mask[0] & !3 | index);
        }
        let mut words = vec![0x5a5a_5a5a; MASKS * mask_stride];
        for (mask, words) in masks.iter().zip(words.chunks_mut(mask_stride.max(1))) {
            words[..mask.len()].copy_from_slice(mask);
        }
        let messages = with_messages.then(|| messages(tokens, numbers, &mut masks));
        Self {
            tokens,
            stride,
            offset,
            data,
            // Any order, one row twice removed, one entry without a row, one without a mask.
            logits_rows: vec![4, 0, -1, 2],
            mask_rows: match numbers.next() % 2 {
                0 => vec![2, 0, 1, 2],
                _ => vec![0, -1, 0, 1],
            },
            live: [if numbers.next().is_multiple_of(3) { 2 } else { 9 }],
            words,
            mask_stride,
            messages,
            masks,
        }
    }

    fn arguments(&mut self, emulation: &Emulation) -> (Batch, Masks) {
        emulation.forget();
        let row_end = self.offset + 4 * self.stride + self.tokens;
        emulation.allow(&self.data[self.offset..row_end], true);
        emulation.allow(&self.logits_rows, false);
        emulation.allow(&self.mask_rows, false);
        emulation.allow(&self.live, false);
        emulation.allow(&self.words, false);
        let (mut messages, mut entries) = (0, 0);
        if let Some(batch) = &self.messages {
            emulation.allow(batch.messages(), false);
            emulation.allow(batch.entries(), false);
            messages = batch.messages().as_ptr() as u64;
            entries = batch.entries().as_ptr() as u64;
        }
        let batch = Batch {
            logits: self.data[self.offset..].as_mut_ptr() as u64,
            stride: self.stride as i64,
            logits_rows: self.logits_rows.as_ptr() as u64,
            live_rows: self.live.as_ptr() as u64,
            rows: ENTRIES as u32,
            tokens: self.tokens as u32,
        };
        let masks = Masks {
            words: self.words.as_ptr() as u64,
            rows: self.mask_rows.as_ptr() as u64,
            messages,
            entries,
            stride: self.mask_stride as i64,
        };
        (batch, masks)
    }

    /// The entries that the kernels may look at: their number, where their logits begin, their mask.
    fn live_entries(&self) -> impl Iterator<Item = (usize, usize, Option<Row<'_>>)> {
        (0..ENTRIES.min(self.live[0] as usize)).filter_map(|entry| {
            let row = usize::try_from(self.logits_rows[entry]).ok()?;
            let mask = usize::try_from(self.mask_rows[entry]).ok();
            let mask = mask.map(|mask| Row::new(&self.masks[mask], self.tokens));
            Some((entry, self.offset + row * self.stride, mask))
        })
    }

    fn applied(&self) -> Vec<T> {
        let mut expected = self.data.clone();
        for (_, at, mask) in self.live_entries() {
            if let Some(mask) = mask {
                scalar::apply(&mut expected[at..][..self.tokens], mask);
            }
        }
        expected
    }

    /// Sectors that hold an allowed logit of a live entry.
    fn allowed_sectors(&self) -> usize {
        let mut sectors = Vec::new();
        for (_, at, mask) in self.live_entries() {
            for token in (0..self.tokens).filter(|&t| mask.is_none_or(|mask| mask.contains(t))) {
                sectors.push((&raw const self.data[at + token]) as usize / 32);
            }
        }
        // Entries may share a row, and rows a sector.
        sectors.sort_unstable();
        sectors.dedup();
        sectors.len()
    }
}

/// Messages over the given masks as resident rows, which become what the messages mean.
fn messages(tokens: usize, numbers: &mut Numbers, masks: &mut [Vec<i32>]) -> MessageBatch {
    let mut store = RowStore::new(tokens, MASKS as u32, 0);
    let mut batch = MessageBatch::new();
    for (index, mask) in masks.iter_mut().enumerate() {
        let Ok(StoredRow::New(slot)) = store.insert(Row::new(mask, tokens)) else {
            panic!("each row is another");
        };
        assert_eq!(slot.index() as usize, index);
        let base = match (index, numbers.next() % 3) {
            (1, 0) => Base::Zeros,
            (1, 1) => Base::Ones,
            _ => Base::Row(slot),
        };
        // Ids at and past the end are among them.
        let mut list = |most: u32| -> Vec<u32> {
            let count = numbers.next() % most;
            (0..count).map(|_| numbers.next() % (tokens as u32 + 2)).collect()
        };
        let (add, remove) = (list(80), list(40));
        batch.push(base, &add, &remove);
    }
    for (index, mask) in masks.iter_mut().enumerate() {
        let mut words = mask.clone();
        batch.write_mask(index, &store, &mut RowMut::new(&mut words, tokens));
        *mask = words;
    }
    batch
}

/// How many masks of a resident-row case must be distinguishable by their first two bits.
const _: () = assert!(MASKS <= 4);

fn first_difference<T: Bits>(left: &[T], right: &[T]) -> Option<usize> {
    left.iter().zip(right).position(|(a, b)| a.bits() != b.bits())
}

fn check_apply<T: Bits>(emulation: &Emulation, name: &str) {
    let mut numbers = Numbers(0x5eed);
    for tokens in SIZES {
        for with_messages in [false, true] {
            if with_messages && tokens < 2 {
                continue;
            }
            let mut case = Case::<T>::new(tokens, &mut numbers, with_messages);
            let expected = case.applied();
            let (batch, masks) = case.arguments(emulation);
            let group = [1, 4][numbers.next() as usize % 2];
            let arguments = ApplyArguments { batch, masks, group };
            let blocks = 1 + numbers.next() % 5;
            // SAFETY: the case's arrays live and have the lengths that the arguments say.
            unsafe { emulation.launch(name, &arguments, [blocks, 64, 1]) };
            assert_eq!(first_difference(&case.data, &expected), None, "{name}, {tokens} tokens");
            assert_eq!(emulation.sectors(), 0, "logits are not read");
        }
    }
}

fn check_choose<T: Bits>(emulation: &Emulation, name: &str, draws: bool) {
    let mut numbers = Numbers(0xd1ce);
    for tokens in SIZES {
        for with_messages in [false, true] {
            if with_messages && tokens < 2 {
                continue;
            }
            let mut case = Case::<T>::new(tokens, &mut numbers, with_messages);
            let keys = [0.7, 0.0, 1.3, 30.0].map(|temperature| {
                SampleKey::new(numbers.0, 1 << 40, 7).with_temperature(temperature)
            });
            let mut expected = [-7; ENTRIES];
            expected[..ENTRIES.min(case.live[0] as usize)].fill(-1);
            for (entry, at, mask) in case.live_entries() {
                let row = &case.data[at..][..tokens];
                let token = match draws {
                    true => scalar::sample(row, mask, &keys[entry]),
                    false => scalar::argmax(row, mask),
                };
                expected[entry] = token.map_or(-1, u32::cast_signed);
            }
            let sectors = case.allowed_sectors();
            let (batch, masks) = case.arguments(emulation);
            emulation.allow(&keys, false);
            let mut chosen = [-7; ENTRIES];
            let mut meetings = [Meeting::default(); ENTRIES];
            let splits = 1 + numbers.next() % 3;
            let arguments = ChooseArguments {
                batch,
                masks,
                chosen: chosen.as_mut_ptr() as u64,
                meetings: meetings.as_mut_ptr() as u64,
                keys: if draws { keys.as_ptr() as u64 } else { 0 },
                splits,
            };
            // 13 and 4, 8 or 12 blocks have no common divisor.
            let grid = [splits * ENTRIES as u32, 96, 13];
            // SAFETY: the case's arrays live and have the lengths that the arguments say.
            unsafe { emulation.launch(name, &arguments, grid) };
            assert_eq!(chosen, expected, "{name}, {tokens} tokens");
            assert_eq!(meetings, [Meeting::default(); ENTRIES], "left as found");
            assert_eq!(emulation.sectors(), sectors, "only sectors with an allowed token are read");
        }
    }
}

#[test]
fn kernels_that_apply_are_the_twin() {
    let _turn = TURN.lock();
    let Some(emulation) = emulation("apply") else { return };
    check_apply::<f32>(&emulation, "apply_f32");
    check_apply::<f16>(&emulation, "apply_f16");
    check_apply::<bf16>(&emulation, "apply_bf16");
}

#[test]
fn kernels_that_choose_are_the_twin() {
    let _turn = TURN.lock();
    let Some(emulation) = emulation("choose") else { return };
    check_choose::<f32>(&emulation, "argmax_f32", false);
    check_choose::<f16>(&emulation, "argmax_f16", false);
    check_choose::<bf16>(&emulation, "argmax_bf16", false);
    check_choose::<f32>(&emulation, "sample_f32", true);
    check_choose::<f16>(&emulation, "sample_f16", true);
    check_choose::<bf16>(&emulation, "sample_bf16", true);
}
