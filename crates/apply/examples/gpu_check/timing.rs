//! How long the kernels take, by events, beside what the memory's bandwidth allows.

use crate::data::{self, REAL_TOKENS, STRETCH};
use cudarc::driver::sys::CUevent_flags;
use formwork_apply::{
    SampleKey,
    cuda::{
        Chosen, Cuda, CudaError, DeviceBuffer, DeviceMessages, DeviceRows, LogitKind, Stream, Work,
    },
    kernels::{Batch, Masks, Meeting},
};
use formwork_mask::words_for;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// One measured shape; times in microseconds.
pub(crate) struct Timed {
    rows: usize,
    tokens: usize,
    kind: LogitKind,
    masks: String,
    /// What a step sends to the device, per row.
    sent_bytes: f64,
    /// What apply must move: the masks, and the sectors with a refused logit.
    apply_bytes: usize,
    /// What a choice must move: the masks, and the sectors with an allowed logit.
    choose_bytes: usize,
    apply: f64,
    argmax: f64,
    sample: f64,
}

pub(crate) const HEADING: &str = "  rows  tokens  type  masks               sent/row   apply us  floor us  argmax us  floor us  sample us";

impl Timed {
    pub(crate) fn to_line(&self, bandwidth: f64) -> String {
        let floor = |bytes: usize| bytes as f64 / bandwidth * 1e6;
        format!(
            "{:6} {:7} {:>5}  {:18} {:9.0} {:10.1} {:9.1} {:10.1} {:9.1} {:10.1}",
            self.rows,
            self.tokens,
            format!("{:?}", self.kind),
            self.masks,
            self.sent_bytes,
            self.apply,
            floor(self.apply_bytes),
            self.argmax,
            floor(self.choose_bytes),
            self.sample,
        )
    }

    pub(crate) fn to_json(&self, bandwidth: f64) -> Value {
        json!({
            "rows": self.rows,
            "tokens": self.tokens,
            "kind": format!("{:?}", self.kind),
            "masks": self.masks,
            "apply_us": self.apply,
            "apply_floor_us": self.apply_bytes as f64 / bandwidth * 1e6,
            "argmax_us": self.argmax,
            "sample_us": self.sample,
            "choose_floor_us": self.choose_bytes as f64 / bandwidth * 1e6,
            "sent_bytes_per_row": self.sent_bytes,
        })
    }
}

/// Median time of one of `times` queued pieces of work, in microseconds.
fn time(
    cuda: &Cuda,
    times: u32,
    queue: impl Fn(Stream) -> Result<(), CudaError>,
) -> Result<f64, Failure> {
    let context = cuda.context();
    let stream = context.new_stream()?;
    let raw = Stream(stream.cu_stream().cast());
    let flags = Some(CUevent_flags::CU_EVENT_DEFAULT);
    let mut medians = Vec::new();
    for round in 0..6 {
        let begin = stream.record_event(flags)?;
        for _ in 0..times {
            queue(raw)?;
        }
        let end = stream.record_event(flags)?;
        end.synchronize()?;
        // The first warms up.
        if round > 0 {
            medians.push(f64::from(begin.elapsed_ms(&end)?) * 1e3 / f64::from(times));
        }
    }
    medians.sort_by(f64::total_cmp);
    Ok(medians[medians.len() / 2])
}

/// Bytes per second of a copy within the device, read and written ones together.
pub(crate) fn copy_bandwidth(cuda: &Cuda) -> Result<f64, Failure> {
    const BYTES: usize = 1 << 30;
    let from = DeviceBuffer::zeroed(cuda.context(), BYTES)?;
    let to = DeviceBuffer::zeroed(cuda.context(), BYTES)?;
    let copy = |stream: Stream| {
        let (to, from) = (to.address(), from.address());
        // SAFETY: both buffers are as long and live until the events have passed.
        unsafe { cudarc::driver::result::memcpy_dtod_async(to, from, BYTES, stream.0.cast()) }
            .map_err(|source| CudaError::Driver { act: "copy within the device", source })
    };
    Ok(2.0 * BYTES as f64 / (time(cuda, 10, copy)? * 1e-6))
}

/// Times every shape.
pub(crate) fn measure(
    cuda: &Cuda,
    real: Option<&[i32]>,
    quick: bool,
) -> Result<Vec<Timed>, Failure> {
    let batches: &[usize] = if quick { &[64, 512] } else { &[1, 64, 512, 4096] };
    let mut timed = Vec::new();
    for tokens in [REAL_TOKENS, 151_936] {
        for &rows in batches {
            let mut cases = Vec::new();
            for percent in [0.01, 15.0, 50.0, 98.0, 99.9] {
                for (name, stretch) in [("single", 1), ("stretches", STRETCH)] {
                    let words = data::masks(rows, tokens, percent / 100.0, stretch);
                    cases.push(Case::packed(cuda, format!("{percent}% {name}"), words, tokens)?);
                }
            }
            if let Some(real) = real.filter(|_| tokens == REAL_TOKENS) {
                let words = data::repeat(real, rows * words_for(tokens));
                cases.push(Case::messages(cuda, words.clone(), tokens)?);
                cases.push(Case::packed(cuda, "real".to_owned(), words, tokens)?);
            }
            for case in &cases {
                for kind in [LogitKind::F32, LogitKind::Bf16] {
                    timed.push(measure_one(cuda, [rows, tokens], kind, case)?);
                }
            }
        }
    }
    Ok(timed)
}

/// The masks of one batch, on the device.
struct Case {
    name: String,
    /// What they mean, packed.
    words: Vec<i32>,
    masks: Masks,
    sent_bytes: f64,
    /// What the addresses in `masks` are of.
    _memory: (Option<DeviceBuffer>, Option<(DeviceRows, DeviceMessages)>),
}

impl Case {
    fn packed(cuda: &Cuda, name: String, words: Vec<i32>, tokens: usize) -> Result<Self, Failure> {
        let buffer = DeviceBuffer::zeroed(cuda.context(), size_of_val(&*words))?;
        buffer.write(0, &words, Stream::DEFAULT)?;
        let stride = words_for(tokens);
        let masks = Masks {
            words: buffer.address(),
            rows: 0,
            messages: 0,
            entries: 0,
            stride: stride as i64,
        };
        let sent_bytes = (stride * 4) as f64;
        Ok(Self { name, words, masks, sent_bytes, _memory: (Some(buffer), None) })
    }

    fn messages(cuda: &Cuda, words: Vec<i32>, tokens: usize) -> Result<Self, Failure> {
        let (store, slots, batch) = data::messages(&words, tokens)?;
        let rows = DeviceRows::new(cuda.context(), &store)?;
        for slot in slots {
            rows.upload(&store, slot, Stream::DEFAULT)?;
        }
        let mut messages = DeviceMessages::new(cuda.context(), batch.len(), batch.entries().len())?;
        messages.write(&batch)?;
        messages.send(Stream::DEFAULT)?;
        Ok(Self {
            name: "real, messages".to_owned(),
            words,
            masks: messages.masks(&rows, 0),
            sent_bytes: batch.bytes() as f64 / batch.len() as f64,
            _memory: (None, Some((rows, messages))),
        })
    }
}

fn measure_one(
    cuda: &Cuda,
    [rows, tokens]: [usize; 2],
    kind: LogitKind,
    case: &Case,
) -> Result<Timed, Failure> {
    let context = cuda.context();
    let logits = DeviceBuffer::zeroed(context, rows * tokens * kind.bytes())?;
    let words = &*case.words;
    let keys: Vec<_> = (0..rows as u32).map(|row| SampleKey::new(1, 2, row)).collect();
    let device_keys = DeviceBuffer::zeroed(context, size_of_val(&*keys))?;
    device_keys.write(0, &keys, Stream::DEFAULT)?;
    let tokens_out = DeviceBuffer::zeroed(context, rows * 4)?;
    let meetings = DeviceBuffer::zeroed(context, rows * size_of::<Meeting>())?;
    context.synchronize()?;
    let chosen = Chosen { tokens: tokens_out.address(), meetings: meetings.address() };
    let work = |stream| Work {
        stream,
        kind,
        batch: Batch {
            logits: logits.address(),
            stride: tokens as i64,
            logits_rows: 0,
            live_rows: 0,
            rows: rows as u32,
            tokens: tokens as u32,
        },
        masks: case.masks,
    };
    let times = if rows <= 512 { 100 } else { 20 };
    let mask_bytes = size_of_val(words);
    // Choices first: applying changes what is allowed to be great.
    // SAFETY: every address is that of a buffer above, of the shapes that are said.
    let argmax = time(cuda, times, |stream| unsafe { cuda.argmax(&work(stream), chosen) })?;
    let sample = time(cuda, times, |stream| {
        // SAFETY: as above.
        unsafe { cuda.sample(&work(stream), device_keys.address(), chosen) }
    })?;
    // SAFETY: as above.
    let apply = time(cuda, times, |stream| unsafe { cuda.apply(&work(stream)) })?;
    Ok(Timed {
        rows,
        tokens,
        kind,
        masks: case.name.clone(),
        sent_bytes: case.sent_bytes,
        apply_bytes: mask_bytes + data::sector_bytes(words, kind.bytes(), false),
        choose_bytes: mask_bytes + data::sector_bytes(words, kind.bytes(), true),
        apply,
        argmax,
        sample,
    })
}
