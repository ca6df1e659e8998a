//! Masks onto logits on an NVIDIA device, by the kernels of [`kernels`](crate::kernels).
//!
//! # Idea
//! The driver's library is looked for at run time, so that one program runs where there is none:
//! [`Cuda::open`] says so with an error. The device's primary context is used, which is the one that
//! PyTorch and candle use, so that their addresses and streams are ours too: logits, masks and
//! results are addresses, and work goes to the caller's stream, in its order. Nothing here waits for
//! the device, but for opening and for freeing memory.
//!
//! # CUDA graphs
//! Launches can be captured: nothing is allocated and no event recorded by them. Numbers and
//! addresses are frozen in a graph; what may change between replays are the contents: of the
//! masks, the maps, the keys, the messages, and `live_rows`, which says how many entries count.
//!
//! # Invariants
//! 1. No call into the driver's library before it is known to be there, because such a call panics.
//! 2. A kernel is launched only with numbers that it can count with.
//!
//! # Reading order
//! [`Cuda`], [`Work`]; [`DeviceBuffer`], [`DeviceMessages`], [`DeviceRows`]; [`CudaError`].

#![expect(unsafe_code, reason = "a device works on addresses that the caller vouches for")]

mod error;
mod memory;
mod rows;

pub use error::CudaError;
pub use memory::{DeviceBuffer, PinnedBuffer};
pub use rows::{DeviceMessages, DeviceRows};

use crate::kernels::{
    APPLY_PTX, ARGMAX_PTX, ApplyArguments, Batch, ChooseArguments, Masks, SAMPLE_PTX, WARP,
};
use cudarc::{
    driver::{CudaContext, CudaFunction, LaunchConfig, PushKernelArg, result, sys},
    nvrtc::Ptx,
};
use std::{ffi::c_void, sync::Arc};

/// Type of the logits on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogitKind {
    /// 32-bit floating point.
    F32,
    /// 16-bit, IEEE 754.
    F16,
    /// 16-bit, the upper half of 32-bit.
    Bf16,
}

impl LogitKind {
    const ALL: [Self; 3] = [Self::F32, Self::F16, Self::Bf16];

    /// Bytes of one logit.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    const fn suffix(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }
}

/// A stream of the device's primary context, as the driver knows it: PyTorch's
/// `torch.cuda.current_stream().cuda_stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(pub *mut c_void);

impl Stream {
    /// The context's default stream.
    pub const DEFAULT: Self = Self(std::ptr::null_mut());

    fn raw(self) -> sys::CUstream {
        self.0.cast()
    }
}

/// What a kernel works on, and in which order with other work.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Where the kernel is queued.
    pub stream: Stream,
    /// Type of the logits.
    pub kind: LogitKind,
    /// The logits.
    pub batch: Batch,
    /// Their masks.
    pub masks: Masks,
}

/// Where chosen tokens go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Address of `i32` per entry: the token, or -1 where none is allowed.
    pub tokens: u64,
    /// Address of [`Meeting`](crate::kernels::Meeting)s, one per entry, all zero, as
    /// [`DeviceBuffer::zeroed`] makes them. They are zero again afterwards. Not to be shared between
    /// launches that may run at the same time.
    pub meetings: u64,
}

/// One device with the kernels loaded. Cheap to share, safe to use from several threads.
#[derive(Debug)]
pub struct Cuda {
    context: Arc<CudaContext>,
    apply: Kernels,
    argmax: Kernels,
    sample: Kernels,
}

/// One kernel for the three types of logits.
#[derive(Debug)]
struct Kernels {
    functions: [CudaFunction; 3],
    /// Warps that run on the device at the same time, at the type that needs most.
    warps: u32,
}

const BLOCK_WARPS: u32 = 8;
/// What the committed PTX needs.
const DRIVER_VERSION: i32 = 13_000;

impl Cuda {
    /// Opens a device and loads the kernels, which the driver compiles on first use of a machine:
    /// about a second, then cached by it.
    ///
    /// # Errors
    /// When there is no driver or no such device, or the driver is too old for the kernels.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        check_driver()?;
        let context = CudaContext::new(ordinal).map_err(CudaError::at("open the device"))?;
        Ok(Self {
            apply: Kernels::load(&context, "apply", APPLY_PTX)?,
            argmax: Kernels::load(&context, "argmax", ARGMAX_PTX)?,
            sample: Kernels::load(&context, "sample", SAMPLE_PTX)?,
            context,
        })
    }

    /// The device's name.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn name(&self) -> Result<String, CudaError> {
        self.context.name().map_err(CudaError::at("read the device's name"))
    }

    /// The device's primary context.
    #[must_use]
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Queues: minus infinity where a token is refused.
    ///
    /// # Errors
    /// When the batch is beyond what the kernel counts, or the driver fails.
    ///
    /// # Safety
    /// Until the stream has passed this work, every address in `work` must be that of memory of the
    /// device, or of mapped memory of the host, as large as the shapes say, with rows, maps and
    /// messages within them; the logits must be aligned to their type, their rows distinct, and
    /// nothing else may write them.
    pub unsafe fn apply(&self, work: &Work) -> Result<(), CudaError> {
        check_counts(&work.batch)?;
        if is_empty(&work.batch) {
            return Ok(());
        }
        let (arguments, blocks) =
            ApplyArguments::plan(work.batch, work.masks, self.apply.warps, BLOCK_WARPS);
        // SAFETY: the arguments are the kernel's; the rest is promised by the caller.
        unsafe { self.launch(&self.apply, work, &Argument(arguments), blocks) }
    }

    /// Queues: per entry the allowed token with the greatest logit.
    ///
    /// # Errors
    /// As [`Self::apply`].
    ///
    /// # Safety
    /// As [`Self::apply`], for `chosen` too; the logits may be shared.
    pub unsafe fn argmax(&self, work: &Work, chosen: Chosen) -> Result<(), CudaError> {
        // SAFETY: promised by the caller.
        unsafe { self.choose(&self.argmax, work, chosen, 0) }
    }

    /// Queues: per entry a token drawn with the probabilities of the softmax over its allowed
    /// logits. `keys` is the address of a [`SampleKey`](crate::SampleKey) per entry.
    ///
    /// # Errors
    /// As [`Self::apply`].
    ///
    /// # Safety
    /// As [`Self::apply`], for `chosen` and `keys` too; the logits may be shared.
    pub unsafe fn sample(&self, work: &Work, keys: u64, chosen: Chosen) -> Result<(), CudaError> {
        // SAFETY: promised by the caller.
        unsafe { self.choose(&self.sample, work, chosen, keys) }
    }

    unsafe fn choose(
        &self,
        kernels: &Kernels,
        work: &Work,
        chosen: Chosen,
        keys: u64,
    ) -> Result<(), CudaError> {
        check_counts(&work.batch)?;
        if work.batch.rows == 0 {
            return Ok(());
        }
        let splits = ChooseArguments::splits(&work.batch, kernels.warps, BLOCK_WARPS);
        let arguments = ChooseArguments {
            batch: work.batch,
            masks: work.masks,
            chosen: chosen.tokens,
            meetings: chosen.meetings,
            keys,
            splits,
        };
        // SAFETY: the arguments are the kernel's; the rest is promised by the caller.
        unsafe { self.launch(kernels, work, &Argument(arguments), work.batch.rows * splits) }
    }

    unsafe fn launch<A: Copy>(
        &self,
        kernels: &Kernels,
        work: &Work,
        arguments: &Argument<A>,
        blocks: u32,
    ) -> Result<(), CudaError> {
        let config = LaunchConfig {
            grid_dim: (blocks, 1, 1),
            block_dim: (BLOCK_WARPS * WARP, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the stream lives, says the caller, and is not kept beyond this call; the
        // arguments have the kernel's layout, and the addresses in them are the caller's promise.
        let launched = unsafe {
            let stream = self.context.wrap_borrowed_stream(work.stream.raw());
            let function = &kernels.functions[work.kind as usize];
            stream.launch_builder(function).arg(arguments).launch(config)
        };
        launched.map(drop).map_err(CudaError::at("launch a kernel"))
    }
}

/// Arguments as the driver takes them: the bytes of a struct.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Argument<A>(A);

// SAFETY: only made of the argument structs of `kernels`, plain numbers in the kernels' layout.
unsafe impl<A: Copy> cudarc::driver::DeviceRepr for Argument<A> {}

impl Kernels {
    fn load(context: &Arc<CudaContext>, name: &str, ptx: &str) -> Result<Self, CudaError> {
        let act = CudaError::at("load the kernels");
        let module = context.load_module(Ptx::from_src(ptx)).map_err(&act)?;
        let function = |kind: LogitKind| {
            module.load_function(&format!("formwork_{name}_{}", kind.suffix())).map_err(&act)
        };
        let [f32, f16, bf16] = LogitKind::ALL.map(function);
        let functions = [f32?, f16?, bf16?];
        let sms = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let sms = context.attribute(sms).map_err(&act)?.cast_unsigned();
        let mut blocks = u32::MAX;
        for function in &functions {
            let fit = function
                .occupancy_max_active_blocks_per_multiprocessor(BLOCK_WARPS * WARP, 0, None)
                .map_err(&act)?;
            blocks = blocks.min(fit);
        }
        Ok(Self { functions, warps: (sms * blocks * BLOCK_WARPS).max(BLOCK_WARPS) })
    }
}

/// Whether there is a driver, and one that can load the kernels.
fn check_driver() -> Result<(), CudaError> {
    // SAFETY: only looks for the library; its initialisers are NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    let mut version = 0;
    // SAFETY: the library is there, every version has the function, and it writes one number.
    let read = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    read.result().map_err(CudaError::at("read the driver's version"))?;
    if version < DRIVER_VERSION {
        return Err(CudaError::OldDriver { version, needed: DRIVER_VERSION });
    }
    result::init().map_err(CudaError::at("start the driver"))
}

fn is_empty(batch: &Batch) -> bool {
    batch.rows == 0 || batch.tokens == 0
}

fn check_counts(batch: &Batch) -> Result<(), CudaError> {
    match ApplyArguments::is_countable(batch) {
        true => Ok(()),
        false => Err(CudaError::TooLarge { rows: batch.rows, tokens: batch.tokens }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_opening_is_an_error_not_a_panic() {
        // SAFETY: only looks for the library.
        if unsafe { sys::is_culib_present() } {
            return;
        }
        assert_eq!(Cuda::open(0).err(), Some(CudaError::NoDriver));
        assert_eq!(Cuda::open(7).err(), Some(CudaError::NoDriver));
    }
}
