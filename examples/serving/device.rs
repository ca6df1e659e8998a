//! A forward pass: a time span on another thread.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// What the other thread does meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    /// Nothing: the pass is on a device.
    Asleep,
    /// It keeps its core busy: the pass is on this processor.
    Busy,
}

/// The other thread.
pub(crate) struct Device {
    begin: Sender<()>,
    done: Receiver<()>,
}

impl Device {
    pub(crate) fn start(pass: Pass, span: Duration) -> Self {
        let (begin, begun) = channel();
        let (finish, done) = channel();
        thread::spawn(move || {
            for () in begun {
                match pass {
                    Pass::Asleep => thread::sleep(span),
                    Pass::Busy => {
                        let end = Instant::now() + span;
                        while Instant::now() < end {
                            std::hint::spin_loop();
                        }
                    }
                }
                if finish.send(()).is_err() {
                    break;
                }
            }
        });
        Self { begin, done }
    }

    pub(crate) fn launch(&self) {
        self.begin.send(()).ok();
    }

    pub(crate) fn wait(&self) {
        self.done.recv().ok();
    }
}
