//! The device's side of the row store: resident rows, and the place where messages arrive.

use super::{CudaError, DeviceBuffer, PinnedBuffer, Stream};
use crate::{Message, MessageBatch, RowStore, Slot, kernels::Masks};
use cudarc::driver::CudaContext;
use formwork_mask::words_for;
use std::sync::Arc;

/// The rows of a [`RowStore`] on a device.
#[derive(Debug)]
pub struct DeviceRows {
    buffer: DeviceBuffer,
    /// Words of a row: whole lines of the device's cache.
    stride: usize,
}

/// Words of 128 bytes.
const LINE_WORDS: usize = 32;

impl DeviceRows {
    /// Room for as many rows as the store has.
    ///
    /// # Errors
    /// When the device has too little memory, or the driver fails.
    pub fn new(context: &Arc<CudaContext>, store: &RowStore) -> Result<Self, CudaError> {
        let stride = words_for(store.tokens()).next_multiple_of(LINE_WORDS);
        let bytes = stride * store.capacity() as usize * size_of::<i32>();
        Ok(Self { buffer: DeviceBuffer::zeroed(context, bytes)?, stride })
    }

    /// Queues a copy of a slot's row: once, when [`RowStore::insert`] says that it is new, before
    /// the first message that names it and on a stream that comes before that message's.
    ///
    /// # Errors
    /// When the row has been given up since (`NoRoom` of 0 bytes), or the driver fails.
    pub fn upload(&self, store: &RowStore, slot: Slot, stream: Stream) -> Result<(), CudaError> {
        let row = store.row(slot).ok_or(CudaError::NoRoom { needed: 0, room: 0 })?;
        let offset = slot.index() as usize * self.stride * size_of::<i32>();
        self.buffer.write(offset, row.words(), stream)
    }
}

/// Where a step's messages arrive: as many as a batch has rows, in one copy out of pinned memory.
///
/// The addresses never change, so that a captured graph can hold them.
#[derive(Debug)]
pub struct DeviceMessages {
    pinned: PinnedBuffer,
    buffer: DeviceBuffer,
    rows: usize,
    used: usize,
}

const MESSAGE_WORDS: usize = size_of::<Message>() / size_of::<u32>();

impl DeviceMessages {
    /// Room for `rows` messages with `entries` entries in all.
    ///
    /// # Errors
    /// When there is too little memory, or the driver fails.
    pub fn new(context: &Arc<CudaContext>, rows: usize, entries: usize) -> Result<Self, CudaError> {
        let words = rows * MESSAGE_WORDS + entries;
        Ok(Self {
            pinned: PinnedBuffer::zeroed(context, words)?,
            buffer: DeviceBuffer::zeroed(context, words * size_of::<u32>())?,
            rows,
            used: 0,
        })
    }

    /// Writes a batch to pinned memory. Not before the copies that [`Self::send`] has queued are
    /// done: a copy that is under way would take a mixture.
    ///
    /// # Errors
    /// When there are more messages or entries than there is room for; nothing is written then.
    pub fn write(&mut self, batch: &MessageBatch) -> Result<(), CudaError> {
        let words = self.pinned.words_mut();
        let first_entry = self.rows * MESSAGE_WORDS;
        let needed = (batch.len().max(self.rows) * MESSAGE_WORDS + batch.entries().len()) * 4;
        if batch.len() > self.rows || needed > size_of_val(words) {
            return Err(CudaError::NoRoom { needed, room: size_of_val(words) });
        }
        let (messages, entries) = words.split_at_mut(first_entry);
        for (words, message) in messages.chunks_exact_mut(MESSAGE_WORDS).zip(batch.messages()) {
            words.copy_from_slice(&message.words());
        }
        entries[..batch.entries().len()].copy_from_slice(batch.entries());
        self.used = first_entry + batch.entries().len();
        Ok(())
    }

    /// Queues the copy to the device. What is copied is what pinned memory holds when the device
    /// comes to it; a captured copy has the length of the batch last written, so that a graph is
    /// captured with [`Self::send_all`].
    ///
    /// # Errors
    /// When the driver fails.
    pub fn send(&self, stream: Stream) -> Result<(), CudaError> {
        self.buffer.write(0, &self.pinned.words()[..self.used], stream)
    }

    /// Queues the copy of all there is room for, whatever has been written.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn send_all(&self, stream: Stream) -> Result<(), CudaError> {
        self.buffer.write(0, self.pinned.words(), stream)
    }

    /// The masks that the messages stand for, for a kernel's arguments. `rows` is the address of the
    /// map from entries to messages, 0 for none.
    #[must_use]
    pub fn masks(&self, resident: &DeviceRows, rows: u64) -> Masks {
        let messages = self.buffer.address();
        Masks {
            words: resident.buffer.address(),
            rows,
            messages,
            entries: messages + (self.rows * size_of::<Message>()) as u64,
            stride: resident.stride as i64,
        }
    }
}
