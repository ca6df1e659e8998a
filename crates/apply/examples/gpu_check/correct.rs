//! Every kernel against the scalar twin, on batches with maps, gaps, unaligned rows and messages,
//! once by a launch and once by the replay of a captured graph.

use crate::data::Numbers;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use formwork_apply::{
    Base, Logit, MessageBatch, RowStore, SampleKey, StoredRow, bf16,
    cuda::{
        Chosen, Cuda, CudaError, DeviceBuffer, DeviceMessages, DeviceRows, LogitKind, Stream, Work,
    },
    f16,
    kernels::{Batch, Masks, Meeting},
    scalar,
};
use formwork_mask::{Row, RowMut, words_for};

type Failure = Box<dyn std::error::Error>;

/// What the comparison found.
pub(crate) struct Correct {
    pub(crate) compared: usize,
    pub(crate) wrong: Vec<String>,
}

const SIZES: [usize; 8] = [128_000, 128_256, 151_665, 151_936, 201_088, 3, 33, 2049];
const ENTRIES: usize = 6;
const ROWS: usize = 8;

/// A type of logits, for both sides.
trait Value: Logit + PartialEq {
    const KIND: LogitKind;
    fn of(value: f32) -> Self;
    fn bits(self) -> u32;
}

impl Value for f32 {
    const KIND: LogitKind = LogitKind::F32;
    fn of(value: f32) -> Self {
        value
    }
    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Value for f16 {
    const KIND: LogitKind = LogitKind::F16;
    fn of(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }
}

impl Value for bf16 {
    const KIND: LogitKind = LogitKind::Bf16;
    fn of(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }
}

/// Checks all sizes and types.
pub(crate) fn check_all(cuda: &Cuda) -> Result<Correct, Failure> {
    let mut correct = Correct { compared: 0, wrong: Vec::new() };
    let mut numbers = Numbers(0xc0ffee);
    for tokens in SIZES {
        for with_messages in [false, true] {
            check::<f32>(cuda, tokens, with_messages, &mut numbers, &mut correct)?;
            check::<f16>(cuda, tokens, with_messages, &mut numbers, &mut correct)?;
            check::<bf16>(cuda, tokens, with_messages, &mut numbers, &mut correct)?;
        }
    }
    Ok(correct)
}

fn mask(tokens: usize, numbers: &mut Numbers) -> Vec<i32> {
    let allowed = [0.0, 0.001, 0.02, 0.5, 0.85, 0.999, 1.0][numbers.next() as usize % 7];
    let stretch = 1 + numbers.next() as usize % 600;
    let mut words = vec![0; words_for(tokens)];
    let mut row = RowMut::new(&mut words, tokens);
    for begin in (0..tokens).step_by(stretch) {
        if numbers.happens(allowed) {
            (begin..tokens.min(begin + stretch)).for_each(|token| row.set(token));
        }
    }
    words
}

/// A batch's masks on the device, and what they mean.
struct Side {
    meaning: Vec<Vec<i32>>,
    masks: Masks,
    // What the addresses in `masks` are of.
    _memory: (Option<DeviceBuffer>, Option<(DeviceRows, DeviceMessages)>, DeviceBuffer),
}

fn packed(cuda: &Cuda, tokens: usize, numbers: &mut Numbers) -> Result<Side, CudaError> {
    let meaning: Vec<_> = (0..3).map(|_| mask(tokens, numbers)).collect();
    let words = meaning.concat();
    let buffer = DeviceBuffer::zeroed(cuda.context(), words.len() * 4)?;
    buffer.write(0, &words, Stream::DEFAULT)?;
    let map = map(cuda)?;
    let masks = Masks {
        words: buffer.address(),
        rows: map.address(),
        messages: 0,
        entries: 0,
        stride: words_for(tokens) as i64,
    };
    Ok(Side { meaning, masks, _memory: (Some(buffer), None, map) })
}

const MAP: [i32; ENTRIES] = [0, 2, 1, -1, 2, 0];

fn map(cuda: &Cuda) -> Result<DeviceBuffer, CudaError> {
    let map = DeviceBuffer::zeroed(cuda.context(), ENTRIES * 4)?;
    map.write(0, &MAP, Stream::DEFAULT)?;
    Ok(map)
}

fn resident(cuda: &Cuda, tokens: usize, numbers: &mut Numbers) -> Result<Side, Failure> {
    let mut store = RowStore::new(tokens, 4, 1);
    let rows = DeviceRows::new(cuda.context(), &store)?;
    let mut batch = MessageBatch::new();
    for _ in 0..3 {
        let slot = match store.insert(Row::new(&mask(tokens, numbers), tokens))? {
            StoredRow::Resident(slot) => slot,
            StoredRow::New(slot) => {
                rows.upload(&store, slot, Stream::DEFAULT)?;
                slot
            }
        };
        let mut list = |most: u32| -> Vec<u32> {
            (0..numbers.next() % most).map(|_| numbers.next() % tokens as u32).collect()
        };
        let (add, remove) = (list(60), list(30));
        let base = [Base::Row(slot), Base::Zeros, Base::Ones, Base::Row(slot)];
        batch.push(base[numbers.next() as usize % 4], &add, &remove);
    }
    let mut messages = DeviceMessages::new(cuda.context(), 4, 512)?;
    messages.write(&batch)?;
    messages.send(Stream::DEFAULT)?;
    let meaning = (0..3).map(|index| {
        let mut words = vec![0; words_for(tokens)];
        batch.write_mask(index, &store, &mut RowMut::new(&mut words, tokens));
        words
    });
    let meaning = meaning.collect();
    let map = map(cuda)?;
    let masks = messages.masks(&rows, map.address());
    Ok(Side { meaning, masks, _memory: (None, Some((rows, messages)), map) })
}

/// One batch on both sides.
struct Trial<T> {
    tokens: usize,
    stride: usize,
    offset: usize,
    before: Vec<T>,
    keys: Vec<SampleKey>,
    side: Side,
    logits: DeviceBuffer,
    rows: DeviceBuffer,
    device_keys: DeviceBuffer,
    chosen: DeviceBuffer,
    meetings: DeviceBuffer,
}

const LOGITS_ROWS: [i32; ENTRIES] = [5, 0, 7, 2, -1, 3];

impl<T: Value> Trial<T> {
    fn new(
        cuda: &Cuda,
        tokens: usize,
        side: Side,
        numbers: &mut Numbers,
    ) -> Result<Self, CudaError> {
        let stride = tokens + [0, 1, 8, 13][numbers.next() as usize % 4];
        let offset = numbers.next() as usize % 9;
        let random = |_| T::of((numbers.next() % 20_000) as f32 / 1000.0 - 10.0);
        let before: Vec<T> = (0..offset + ROWS * stride + 8).map(random).collect();
        let keys: Vec<SampleKey> = (0..ENTRIES as u32)
            .map(|entry| SampleKey::new(9, 1, entry).with_temperature(entry as f32 * 0.4))
            .collect();
        let buffer = |bytes| DeviceBuffer::zeroed(cuda.context(), bytes);
        let trial = Self {
            logits: buffer(size_of_val(&*before))?,
            rows: buffer(ENTRIES * 4)?,
            device_keys: buffer(size_of_val(&*keys))?,
            chosen: buffer(ENTRIES * 4)?,
            meetings: buffer(ENTRIES * size_of::<Meeting>())?,
            tokens,
            stride,
            offset,
            before,
            keys,
            side,
        };
        trial.logits.write(0, &trial.before, Stream::DEFAULT)?;
        trial.rows.write(0, &LOGITS_ROWS, Stream::DEFAULT)?;
        trial.device_keys.write(0, &trial.keys, Stream::DEFAULT)?;
        Ok(trial)
    }

    fn work(&self, stream: Stream) -> Work {
        Work {
            stream,
            kind: T::KIND,
            batch: Batch {
                logits: self.logits.address() + (self.offset * size_of::<T>()) as u64,
                stride: self.stride as i64,
                logits_rows: self.rows.address(),
                live_rows: 0,
                rows: ENTRIES as u32,
                tokens: self.tokens as u32,
            },
            masks: self.side.masks,
        }
    }

    /// Where an entry's logits begin, and its mask.
    fn entry(&self, entry: usize) -> Option<(usize, Option<Row<'_>>)> {
        let row = usize::try_from(LOGITS_ROWS[entry]).ok()?;
        let mask = usize::try_from(MAP[entry]).ok();
        let mask = mask.map(|mask| Row::new(&self.side.meaning[mask], self.tokens));
        Some((self.offset + row * self.stride, mask))
    }

    fn expected_choice(&self, entry: usize, draws: bool) -> i32 {
        let token = self.entry(entry).and_then(|(at, mask)| {
            let row = &self.before[at..][..self.tokens];
            match draws {
                true => scalar::sample(row, mask, &self.keys[entry]),
                false => scalar::argmax(row, mask),
            }
        });
        token.map_or(-1, u32::cast_signed)
    }

    fn check_choice(&self, cuda: &Cuda, draws: bool, correct: &mut Correct) -> Result<(), Failure> {
        let stream = cuda.context().new_stream()?;
        let work = self.work(Stream(stream.cu_stream().cast()));
        let chosen = Chosen { tokens: self.chosen.address(), meetings: self.meetings.address() };
        // SAFETY: every address is that of a buffer of this trial, of the shapes that are said.
        let queue = || unsafe {
            match draws {
                true => cuda.sample(&work, self.device_keys.address(), chosen),
                false => cuda.argmax(&work, chosen),
            }
        };
        let expected: Vec<i32> =
            (0..ENTRIES).map(|entry| self.expected_choice(entry, draws)).collect();
        for replayed in [false, true] {
            self.chosen.write(0, &[-9_i32; ENTRIES], Stream::DEFAULT)?;
            cuda.context().synchronize()?;
            if replayed {
                replay(&stream, queue)?;
            } else {
                queue()?;
            }
            let mut found = [0_i32; ENTRIES];
            self.chosen.read(&mut found)?;
            correct.compared += ENTRIES;
            if *expected != found {
                let (kind, tokens) = (T::KIND, self.tokens);
                let what = format!("{kind:?} {tokens} draws {draws} replayed {replayed}");
                correct.wrong.push(format!("{what}: {found:?}, not {expected:?}"));
            }
        }
        Ok(())
    }

    fn check_apply(&self, cuda: &Cuda, correct: &mut Correct) -> Result<(), Failure> {
        let stream = cuda.context().new_stream()?;
        let work = self.work(Stream(stream.cu_stream().cast()));
        let mut expected = self.before.clone();
        for (at, mask) in (0..ENTRIES).filter_map(|entry| self.entry(entry)) {
            if let Some(mask) = mask {
                scalar::apply(&mut expected[at..][..self.tokens], mask);
            }
        }
        cuda.context().synchronize()?;
        // SAFETY: every address is that of a buffer of this trial, of the shapes that are said.
        replay(&stream, || unsafe { cuda.apply(&work) })?;
        let mut found = self.before.clone();
        self.logits.read(&mut found)?;
        correct.compared += found.len();
        let wrong = found.iter().zip(&expected).filter(|(a, b)| a.bits() != b.bits()).count();
        if wrong > 0 {
            correct.wrong.push(format!("{:?} {}: {wrong} logits", T::KIND, self.tokens));
        }
        Ok(())
    }
}

fn check<T: Value>(
    cuda: &Cuda,
    tokens: usize,
    with_messages: bool,
    numbers: &mut Numbers,
    correct: &mut Correct,
) -> Result<(), Failure> {
    let side = match with_messages {
        false => packed(cuda, tokens, numbers)?,
        true => resident(cuda, tokens, numbers)?,
    };
    let trial = Trial::<T>::new(cuda, tokens, side, numbers)?;
    for draws in [false, true] {
        trial.check_choice(cuda, draws, correct)?;
    }
    trial.check_apply(cuda, correct)
}

/// Captures work into a graph and runs that.
fn replay(
    stream: &std::sync::Arc<cudarc::driver::CudaStream>,
    queue: impl Fn() -> Result<(), CudaError>,
) -> Result<(), Failure> {
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    queue()?;
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags)?.ok_or("nothing was captured")?;
    graph.launch()?;
    stream.synchronize()?;
    Ok(())
}
