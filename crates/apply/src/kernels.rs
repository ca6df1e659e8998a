//! The CUDA kernels as data: their machine-independent code, their names, and the arguments that
//! they take.
//!
//! The sources are in `kernels/` at the top of the project; `cargo xtask kernels` compiles them to
//! the PTX that stands beside them, for compute capability 8.0 and every later one, and
//! `cargo xtask kernels --check` holds the PTX against the sources. PTX of this version needs a
//! driver of CUDA 13.0 or later.
//!
//! The structs here have the layouts of those in the sources. They hold device addresses as plain
//! numbers: filling one in is safe, launching a kernel with it is not.

/// PTX of the kernels that write minus infinity.
pub const APPLY_PTX: &str = include_str!("../../../kernels/apply.ptx");
/// PTX of the kernels that find the greatest logit.
pub const ARGMAX_PTX: &str = include_str!("../../../kernels/argmax.ptx");
/// PTX of the kernels that draw tokens.
pub const SAMPLE_PTX: &str = include_str!("../../../kernels/sample.ptx");

/// Tokens that a warp looks at together: 32 words of mask.
pub const TILE_TOKENS: u32 = 1024;
/// Threads of a warp.
pub const WARP: u32 = 32;
/// Most warps of a block that the choosing kernels can have.
pub const MOST_WARPS: u32 = 32;

/// A batch of logits on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Batch {
    /// Address of row 0.
    pub logits: u64,
    /// Elements from one row to the next.
    pub stride: i64,
    /// Address of `i32` per entry: which row of logits it is; negative for none. 0: entry `i` is
    /// row `i`.
    pub logits_rows: u64,
    /// Address of a `u32`: how many entries there are now, at most `rows`. 0: `rows`.
    pub live_rows: u64,
    /// Entries of the batch.
    pub rows: u32,
    /// Tokens per row.
    pub tokens: u32,
}

/// Masks on a device: packed rows, or messages about resident rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Masks {
    /// Address of the packed or resident rows.
    pub words: u64,
    /// Address of `i32` per entry: which mask it has; negative for none. 0: entry `i` has mask `i`.
    pub rows: u64,
    /// Address of [`Message`](crate::Message)s, one per mask. 0: masks are rows of `words`.
    pub messages: u64,
    /// Address of the messages' entries.
    pub entries: u64,
    /// Words from one row to the next.
    pub stride: i64,
}

/// What `formwork_apply_*` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ApplyArguments {
    /// The logits.
    pub batch: Batch,
    /// Their masks.
    pub masks: Masks,
    /// Tiles that a warp takes at a time: 1 or 4.
    pub group: u32,
}

/// What `formwork_argmax_*` and `formwork_sample_*` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ChooseArguments {
    /// The logits.
    pub batch: Batch,
    /// Their masks.
    pub masks: Masks,
    /// Address of `i32` per entry: the chosen token, or -1.
    pub chosen: u64,
    /// Address of [`Meeting`]s, one per entry, all zero; zero again afterwards.
    pub meetings: u64,
    /// Address of [`SampleKey`](crate::SampleKey)s, one per entry. 0: the greatest logit.
    pub keys: u64,
    /// Blocks per entry.
    pub splits: u32,
}

/// Where the blocks of an entry meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Meeting {
    best: u64,
    arrived: u32,
    unused: u32,
}

impl ApplyArguments {
    /// Arguments and grid for a device with room for `warps` warps in blocks of `block_warps`.
    #[must_use]
    pub fn plan(batch: Batch, masks: Masks, warps: u32, block_warps: u32) -> (Self, u32) {
        let tiles = u64::from(batch.rows) * u64::from(batch.tokens.div_ceil(TILE_TOKENS));
        // Several tiles at a time only where every warp has work all the same.
        let group = if tiles >= 4 * u64::from(warps) { 4 } else { 1 };
        let groups =
            u64::from(batch.rows) * u64::from(batch.tokens.div_ceil(TILE_TOKENS).div_ceil(group));
        let blocks = groups.min(u64::from(warps)).div_ceil(u64::from(block_warps)).max(1);
        (Self { batch, masks, group }, blocks as u32)
    }

    /// Whether the kernel's 32-bit count of tiles suffices.
    #[must_use]
    pub fn is_countable(batch: &Batch) -> bool {
        // Headroom for the stride of the grid over the last one.
        u64::from(batch.rows) * u64::from(batch.tokens.div_ceil(TILE_TOKENS)) < 1 << 31
    }
}

impl ChooseArguments {
    /// How many blocks of `block_warps` warps share an entry, on a device with room for `warps`.
    #[must_use]
    pub fn splits(batch: &Batch, warps: u32, block_warps: u32) -> u32 {
        let most = batch.tokens.div_ceil(TILE_TOKENS).div_ceil(block_warps).max(1);
        let room = (warps / block_warps).div_ceil(batch.rows.max(1));
        room.clamp(1, most)
    }
}
