//! Reading items in any order.
//!
//! # Keys that must differ
//! The frame of a key holds where it stands among the keys written before, and its text, so it
//! changes with every byte; a key that is none of those any more goes on as long as its language
//! does. A walk over many tokens does not look at the text: it reads on with a key that nobody
//! knows. Where a token then begins one more key, the walk says that it is uncertain
//! ([`Walker::take_uncertain`]), and that token is read by itself.

use crate::{
    fixed::FixedIsland,
    place::{END, FrameRef, FrameShape, ITEMS, Place, SEPARATOR, TAIL, Thread},
    tables::Activation,
    unordered::OFF,
    walker::{Walker, resolve},
};
use formwork_core::StepError;

/// Items, as a frame stands for them.
struct Items {
    register: u32,
    exit: FrameRef,
}

/// A key, as a frame stands for it.
#[derive(Debug)]
pub(crate) struct Key {
    register: u32,
    exit: FrameRef,
    pub(crate) node: u32,
    text: Option<Box<[u8]>>,
}

impl Walker<'_> {
    /// Whether the last byte began a key after one that nobody knows; asked once.
    pub(crate) fn take_uncertain(&mut self) -> bool {
        std::mem::take(&mut self.is_uncertain)
    }

    /// The frame of the same key, where its text is not known.
    pub(crate) fn unknown_key(&mut self, key: &Key) -> FrameRef {
        let Key { register, exit, node, .. } = *key;
        let activation = self.open(Activation::Key { register, exit, node, text: None });
        FrameRef { activation, index: 0 }
    }

    /// What a frame of a closure is for, if it is of items.
    fn opened(&self, frame: FrameRef) -> Option<(&FrameShape, FrameRef)> {
        let Activation::Call { origin, own } = *self.activation(frame) else { return None };
        let shape = &self.tables.program.closure_at(origin)?.frames[frame.index as usize];
        match shape {
            FrameShape::Items { exit, .. } | FrameShape::Key { exit, .. } => {
                Some((shape, resolve(*exit, own, frame.activation)))
            }
            FrameShape::Call { .. } | FrameShape::Loop { .. } => None,
        }
    }

    /// The key that a frame is for.
    pub(crate) fn key_of(&self, frame: FrameRef) -> Option<Key> {
        if let Activation::Key { register, exit, node, ref text } = *self.activation(frame) {
            return Some(Key { register, exit, node, text: text.clone() });
        }
        match self.opened(frame)? {
            (&FrameShape::Key { unordered, .. }, exit) => {
                let program = &self.tables.program;
                let register = program.registers.first(unordered, program.unordered(unordered));
                // No key is there that it could be.
                Some(Key { register, exit, node: OFF, text: Some(Box::default()) })
            }
            _ => None,
        }
    }

    fn items_of(&self, frame: FrameRef) -> Option<Items> {
        if let Activation::Items { register, exit } = *self.activation(frame) {
            return Some(Items { register, exit });
        }
        match self.opened(frame)? {
            (&FrameShape::Items { unordered, .. }, exit) => {
                let program = &self.tables.program;
                let register = program.registers.first(unordered, program.unordered(unordered));
                Some(Items { register, exit })
            }
            _ => None,
        }
    }

    /// A thread after a byte of a key that must differ from others: one for each frame, if it still
    /// can.
    pub(crate) fn key(
        &mut self,
        thread: Thread,
        to: Place,
        (island, byte): (&FixedIsland, u8),
    ) -> Result<(), StepError> {
        let program = &self.tables.program;
        let registers = &program.registers;
        let mut frames = vec![thread.frame];
        while let Some(frame) = frames.pop() {
            self.spend(1)?;
            if let Activation::Union(members) = self.activation(frame) {
                frames.extend_from_slice(members);
                continue;
            }
            let Some(Key { register, exit, node, text }) = self.key_of(frame) else {
                unreachable!("the frame of a key")
            };
            let node = registers.child(node, byte);
            let shape = program.unordered(registers.get(register).unordered);
            let Some(distinct) = &shape.distinct else { unreachable!("keys that differ") };
            if distinct.words[island.state(to.state).index()] <= registers.below(node) {
                continue;
            }
            let text = text.map(|text| {
                self.steps += text.len() as u64 / 16;
                let mut text = text.into_vec();
                text.push(byte);
                text.into()
            });
            let activation = self.open(Activation::Key { register, exit, node, text });
            self.memory
                .pending
                .push(Thread { place: to, frame: FrameRef { activation, index: 0 } });
        }
        Ok(())
    }

    /// A part of an item is read: a member or another item as a whole, by its end; a separator; a
    /// key; or what follows a key.
    pub(crate) fn leave_items(&mut self, frame: FrameRef, end: u32) -> Result<(), StepError> {
        let program = &self.tables.program;
        let registers = &program.registers;
        if let Some(Key { register, exit, node, text }) = self.key_of(frame) {
            if registers.is_key(node) {
                return Ok(());
            }
            let shape = program.unordered(registers.get(register).unordered);
            let Some(distinct) = &shape.distinct else { unreachable!("keys that differ") };
            let register = registers.after_key(register, shape, text.as_deref());
            let activation = self.items(register, exit);
            let frame = FrameRef { activation, index: TAIL };
            self.memory.pending.push(Thread { place: program.start(distinct.tail), frame });
            return Ok(());
        }
        let Some(Items { register, exit }) = self.items_of(frame) else {
            unreachable!("a frame of items")
        };
        let shape = program.unordered(registers.get(register).unordered);
        match frame.index {
            SEPARATOR => return self.begin_item(frame.activation, register, exit),
            TAIL => self.after_item(register, exit),
            _ if end == END => unreachable!("items end by numbered ends"),
            _ => {
                let member = (end < shape.members).then_some(end);
                self.after_item(registers.after(register, shape, member), exit);
            }
        }
        Ok(())
    }

    /// An item is over: the list is, or a separator follows.
    fn after_item(&mut self, register: u32, exit: FrameRef) {
        let program = &self.tables.program;
        let known = program.registers.get(register);
        let shape = program.unordered(known.unordered);
        if shape.is_complete(known) {
            self.memory.leaving.push((exit, END));
        }
        if program.has_next(known) {
            let activation = self.items(register, exit);
            let frame = FrameRef { activation, index: SEPARATOR };
            self.memory.pending.push(Thread { place: program.start(shape.separator), frame });
        }
    }

    /// The next item begins.
    fn begin_item(
        &mut self,
        activation: u32,
        register: u32,
        exit: FrameRef,
    ) -> Result<(), StepError> {
        let program = &self.tables.program;
        let known = program.registers.get(register);
        let shape = program.unordered(known.unordered);
        if let Some(place) = program.first_of_items(register)? {
            self.memory
                .pending
                .push(Thread { place, frame: FrameRef { activation, index: ITEMS } });
        }
        let Some(distinct) = &shape.distinct else { return Ok(()) };
        if known.has_unknown_key {
            self.is_uncertain = true;
        } else if shape.takes_key(known, &program.registers) {
            let (node, text) = (known.keys, Some(Box::default()));
            let activation = self.open(Activation::Key { register, exit, node, text });
            let place = program.start(distinct.key);
            self.memory.pending.push(Thread { place, frame: FrameRef { activation, index: 0 } });
        }
        Ok(())
    }

    /// The activation of items, one for each register and exit of a level.
    fn items(&mut self, register: u32, exit: FrameRef) -> u32 {
        let items = &self.memory.items;
        if let Some(known) = items.iter().find(|items| items.0 == register && items.1 == exit) {
            return known.2;
        }
        let activation = self.open(Activation::Items { register, exit });
        self.memory.items.push((register, exit, activation));
        activation
    }
}
