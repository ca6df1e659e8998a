//! Memory of the device, and memory of the host that the device can read without a detour.

use super::{CudaError, Stream};
use cudarc::driver::{CudaContext, result};
use std::{ffi::c_void, ptr::NonNull, sync::Arc};

/// Memory of the device; freed when dropped, which waits for the device.
#[derive(Debug)]
pub struct DeviceBuffer {
    context: Arc<CudaContext>,
    address: u64,
    bytes: usize,
}

impl DeviceBuffer {
    /// Memory of `bytes` bytes, all zero.
    ///
    /// # Errors
    /// When the device has too little, or the driver fails.
    pub fn zeroed(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, CudaError> {
        let act = CudaError::at("allocate memory of the device");
        context.bind_to_thread().map_err(&act)?;
        // SAFETY: at least one byte, because none is an error. Freed in `drop`, once.
        let address = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(&act)?;
        let buffer = Self { context: Arc::clone(context), address, bytes };
        // SAFETY: the memory is as long; it is used only after the wait.
        unsafe { result::memset_d8_async(address, 0, bytes, Stream::DEFAULT.raw()) }
            .map_err(&act)?;
        context.synchronize().map_err(&act)?;
        Ok(buffer)
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How large it is.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Queues a copy of `data` to `offset` bytes from the beginning. From ordinary memory the driver
    /// takes the data before it returns; pinned memory must stay as it is until the stream has
    /// passed the copy.
    ///
    /// # Errors
    /// When it does not fit, or the driver fails.
    pub fn write<T: Copy>(
        &self,
        offset: usize,
        data: &[T],
        stream: Stream,
    ) -> Result<(), CudaError> {
        let act = CudaError::at("copy to the device");
        let needed = offset.saturating_add(size_of_val(data));
        if needed > self.bytes {
            return Err(CudaError::NoRoom { needed, room: self.bytes });
        }
        if data.is_empty() {
            return Ok(());
        }
        self.context.bind_to_thread().map_err(&act)?;
        // SAFETY: source and destination are as long; a stream that is no stream is an error.
        unsafe { result::memcpy_htod_async(self.address + offset as u64, data, stream.raw()) }
            .map_err(act)
    }

    /// Waits for the device and copies the first bytes back.
    ///
    /// # Errors
    /// When the buffer is shorter, or the driver fails.
    pub fn read<T: Copy>(&self, into: &mut [T]) -> Result<(), CudaError> {
        let act = CudaError::at("copy from the device");
        let needed = size_of_val(into);
        if needed > self.bytes {
            return Err(CudaError::NoRoom { needed, room: self.bytes });
        }
        self.context.synchronize().map_err(&act)?;
        if into.is_empty() {
            return Ok(());
        }
        // SAFETY: both are as long, and every number is made of any bytes that such numbers were.
        unsafe { result::memcpy_dtoh_sync(into, self.address) }.map_err(act)
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `zeroed`, freed here only. A failure leaves nothing to be done.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Words in page-locked memory of the host: copies from it to the device run beside everything else.
#[derive(Debug)]
pub struct PinnedBuffer {
    context: Arc<CudaContext>,
    words: NonNull<u32>,
    len: usize,
}

// SAFETY: the memory is owned, and the driver's calls may come from any thread.
unsafe impl Send for PinnedBuffer {}
// SAFETY: shared references only read.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// `len` words, all zero.
    ///
    /// # Errors
    /// When the host has too little, or the driver fails.
    pub fn zeroed(context: &Arc<CudaContext>, len: usize) -> Result<Self, CudaError> {
        let act = CudaError::at("allocate pinned memory");
        context.bind_to_thread().map_err(&act)?;
        let bytes = len.max(1) * size_of::<u32>();
        // SAFETY: at least a word. Freed in `drop`, once.
        let words: *mut c_void = unsafe { result::malloc_host(bytes, 0) }.map_err(&act)?;
        let words = NonNull::new(words.cast::<u32>())
            .ok_or(CudaError::NoRoom { needed: bytes, room: 0 })?;
        // SAFETY: the memory is ours and as long.
        unsafe { words.as_ptr().write_bytes(0, len.max(1)) };
        Ok(Self { context: Arc::clone(context), words, len })
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        // SAFETY: allocated and zeroed for `len` words, owned by this value.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.len) }
    }

    /// The words, to be written.
    pub fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as in `words`, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_ptr(), self.len) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `zeroed`, freed here only. A failure leaves nothing to be done.
            let _ = unsafe { result::free_host(self.words.as_ptr().cast()) };
        }
    }
}
