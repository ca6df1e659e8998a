//! What can go wrong with a device.

use cudarc::driver::DriverError;

/// An operation on a device that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    /// The NVIDIA driver's library, libcuda, is not on this machine.
    #[error("no CUDA here: the NVIDIA driver's library was not found")]
    NoDriver,
    /// The driver cannot load the kernels. Versions are as the driver writes them: 13000 is 13.0.
    #[error("the NVIDIA driver speaks CUDA {version}, the kernels need {needed}")]
    OldDriver {
        /// The driver's.
        version: i32,
        /// What is needed.
        needed: i32,
    },
    /// The driver refused.
    #[error("cannot {act}: {source}")]
    Driver {
        /// What was tried.
        act: &'static str,
        /// What the driver said.
        source: DriverError,
    },
    /// More tiles than a kernel counts.
    #[error("a batch of {rows} rows of {tokens} tokens is too large for one launch")]
    TooLarge {
        /// Rows of the batch.
        rows: u32,
        /// Tokens per row.
        tokens: u32,
    },
    /// What is to be stored is larger than the memory that was set aside for it.
    #[error("{needed} bytes do not fit the {room} set aside")]
    NoRoom {
        /// Bytes to be stored.
        needed: usize,
        /// Bytes there are.
        room: usize,
    },
}

impl CudaError {
    /// Turns what the driver says into the failure of an act.
    pub(crate) fn at(act: &'static str) -> impl Fn(DriverError) -> Self {
        move |source| Self::Driver { act, source }
    }
}
