//! Work that never ends, found out in a process that can be ended.
//!
//! Not every engine takes limits, and none can be cancelled in every call. So an engine is given
//! every case in a second process first, which runs this same program and makes one run of it; when
//! that takes more time or memory than allowed, the process is ended, and the case counts as
//! stopped.

use crate::{
    engine::Engine,
    input::Case,
    measure::{self, Protocol},
};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::{
    collections::HashMap,
    env, fs,
    io::{BufRead, BufReader, Write, stdin, stdout},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// How long.
    pub(crate) time: Duration,
    /// Bytes of resident memory of the whole process.
    pub(crate) memory_bytes: u64,
}

/// What a run took too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Excess {
    /// Time.
    Time,
    /// Memory.
    Memory,
    /// It ended the process itself.
    Crash,
}

/// The second process of one engine, started when it is first needed and after it was ended.
#[derive(Debug)]
pub(crate) struct Probe {
    engine: String,
    allowance: Allowance,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<()>,
}

impl Probe {
    /// For an engine by name.
    pub(crate) fn new(engine: &str, allowance: Allowance) -> Self {
        Self { engine: engine.to_owned(), allowance, running: None }
    }

    /// Which engine it is for.
    pub(crate) fn engine(&self) -> &str {
        &self.engine
    }

    /// Whether the engine is through with a case, whatever it made of it, within what is allowed.
    ///
    /// # Errors
    /// When the second process cannot be started.
    pub(crate) fn try_case(&mut self, set: usize, place: usize) -> Result<Option<Excess>> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.engine)?,
        };
        writeln!(running.questions, "{set} {place}").context("a probe went away")?;
        let start = Instant::now();
        loop {
            let excess = match running.answers.recv_timeout(Duration::from_millis(20)) {
                Ok(()) => {
                    self.running = Some(running);
                    return Ok(None);
                }
                Err(RecvTimeoutError::Disconnected) => Excess::Crash,
                Err(RecvTimeoutError::Timeout) if start.elapsed() > self.allowance.time => {
                    Excess::Time
                }
                Err(RecvTimeoutError::Timeout)
                    if resident_bytes(running.child.id()) > self.allowance.memory_bytes =>
                {
                    Excess::Memory
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            running.end();
            return Ok(Some(excess));
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}

impl Running {
    /// Starts this program with the same arguments, which answers for one engine; waits until it
    /// has read the vocabulary and the cases.
    fn start(engine: &str) -> Result<Self> {
        let program: PathBuf = env::current_exe()?;
        let mut child = Command::new(program)
            .args(env::args_os().skip(1))
            .args(["--answer-probes-for", engine])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a probe")?;
        let questions = child.stdin.take().context("a probe has no input")?;
        let output = child.stdout.take().context("a probe has no output")?;
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if line.is_err() || sender.send(()).is_err() {
                    return;
                }
            }
        });
        match answers.recv() {
            Ok(()) => Ok(Self { child, questions, answers }),
            Err(_) => bail!("the probe for {engine} does not start"),
        }
    }

    fn end(mut self) {
        // It may have ended by itself just now, which is as well.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The other end: makes a run of the case of every line `SET PLACE` and answers with an empty line,
/// one more when ready. Returns when there are no more lines.
///
/// # Errors
/// When a line names no case.
pub(crate) fn answer(
    engines: &[Box<dyn Engine>],
    sets: &[(&str, Vec<Case>)],
    protocol: &Protocol,
) -> Result<()> {
    let ready = || -> Result<()> {
        writeln!(stdout())?;
        Ok(stdout().flush()?)
    };
    let protocol = Protocol { runs: 1, ..protocol.clone() };
    ready()?;
    for line in stdin().lines() {
        let line = line?;
        let (set, place) = line.split_once(' ').context("expected a set and a place")?;
        let (set, place) = (set.parse::<usize>()?, place.parse()?);
        let case = sets.get(set).and_then(|(_, cases)| cases.get(place)).context("no such case")?;
        measure::case(engines, (case, place), &HashMap::new(), &protocol);
        ready()?;
    }
    Ok(())
}

/// Resident memory of a process; 0 where the system does not tell.
fn resident_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    1024 * kibibytes.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory() {
        if cfg!(target_os = "linux") {
            assert!(resident_bytes(std::process::id()) > 100_000);
        }
        assert_eq!(resident_bytes(u32::MAX), 0);
    }
}
