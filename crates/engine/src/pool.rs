//! The threads that compile.
//!
//! A worker takes the next job from a queue and does it; a timekeeper settles jobs whose deadline
//! has passed, so that nobody waits longer, whatever the worker is doing. Work is told to stop
//! through its cancellation token. What asks the token rarely or never (front ends, the first
//! lowering, minimisation) keeps its worker until it is done, though nobody waits for it.
//!
//! What backends do in parallel they do on the cores of their worker. On one pool for all, a small
//! compile that waits for a part of itself would take up a part of a large one, and wait for that.

use crate::{EngineError, PoolConfig, flight::Job};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::Instant,
};

/// Threads that compile. Dropping it ends them once they are done with what they are at; nobody
/// waits for them.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    limit: usize,
}

struct Shared {
    state: Mutex<State>,
    /// There is a job, or the end has come.
    queued: Condvar,
    /// A job has started, or the end has come.
    started: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Weak<dyn Job>>,
    /// Those that are being done, and until when.
    running: Vec<(Instant, Weak<dyn Job>)>,
    ended: bool,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`EngineError::Threads`].
    pub(crate) fn new(config: &PoolConfig) -> Result<Self, EngineError> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            queued: Condvar::new(),
            started: Condvar::new(),
        });
        let pool = Self { shared, limit: config.queue };
        let cores = config.cores_per_compile.max(1);
        for number in 0..config.thread_count() {
            let shared = pool.shared.clone();
            start(format!("formwork-compile-{number}"), move || {
                with_cores(cores, || work(&shared))
            })?;
        }
        let shared = pool.shared.clone();
        start("formwork-deadline".to_owned(), move || keep_time(&shared))?;
        Ok(pool)
    }

    /// Queues a job. Those who wait for it keep it alive; one that nobody waits for is passed over.
    pub(crate) fn submit<J: Job + 'static>(&self, job: &Arc<J>) {
        let mut state = self.shared.lock();
        if state.queue.len() >= self.limit {
            // Those that were given up make room.
            state.queue.retain(|job| job.strong_count() > 0);
        }
        if state.queue.len() >= self.limit {
            drop(state);
            job.fail(EngineError::Overloaded { limit: self.limit });
            return;
        }
        let weak: Weak<J> = Arc::downgrade(job);
        state.queue.push_back(weak);
        drop(state);
        self.shared.queued.notify_one();
    }

    /// Does a job on this thread; its deadline is the token's alone.
    pub(crate) fn run_here(job: &dyn Job) {
        job.run();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(name: String, life: impl FnOnce() + Send + 'static) -> Result<(), EngineError> {
    let thread = thread::Builder::new().name(name).spawn(life);
    thread.map(drop).map_err(|_| EngineError::Threads)
}

/// Makes this thread the first of so many for all that it does in parallel.
fn with_cores(cores: usize, life: impl FnOnce()) {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(cores).use_current_thread().build();
    if threads.is_err() {
        tracing::error!("no threads of its own: a worker uses those of the process");
    }
    life();
    drop(threads);
}

/// A worker's life.
fn work(shared: &Shared) {
    let mut state = shared.lock();
    while !state.ended {
        let Some(job) = state.queue.pop_front() else {
            state = shared.queued.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let Some(job) = job.upgrade() else { continue };
        let weak = Arc::downgrade(&job);
        if let Some(deadline) = Instant::now().checked_add(job.time()) {
            state.running.push((deadline, weak.clone()));
            shared.started.notify_one();
        }
        drop(state);
        job.run();
        drop(job);
        state = shared.lock();
        state.running.retain(|(_, running)| !running.ptr_eq(&weak));
    }
}

/// The timekeeper's life.
fn keep_time(shared: &Shared) {
    let mut state = shared.lock();
    while !state.ended {
        let now = Instant::now();
        let mut late = Vec::new();
        state.running.retain(|(deadline, job)| {
            let is_late = *deadline <= now;
            if is_late {
                late.extend(job.upgrade());
            }
            !is_late
        });
        if !late.is_empty() {
            drop(state);
            late.iter().for_each(|job| job.expire());
            state = shared.lock();
            continue;
        }
        let next = state.running.iter().map(|(deadline, _)| *deadline).min();
        state = match next {
            Some(next) => {
                let waited =
                    shared.started.wait_timeout(state, next.saturating_duration_since(now));
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.started.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.ended = true;
        let queue = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.queued.notify_all();
        self.shared.started.notify_all();
        let stopped = || EngineError::stopped(formwork::Exhausted::Cancelled);
        queue.iter().filter_map(Weak::upgrade).for_each(|job| job.fail(stopped()));
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
