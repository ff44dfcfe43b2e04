//! Floors: the least that the work can cost, by the system alone.
//!
//! Each floor does the work a subject does, through the plainest call there is,
//! and nothing else: no isolation, no limits, no record. A floor must check that
//! the work was done, or it would measure its absence.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::plan::Prepared;
use crate::sample::Sample;
use crate::scratch::Scratch;
use crate::spawn::{self, Argv};

/// When a series of spawns ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After this number in all.
    Count(u64),
    /// When this much time has passed; those under way are finished.
    Elapsed(Duration),
}

/// The latency of `posix_spawn` with fresh pipes for output and error, both
/// read to the end, and the wait for its end.
pub fn spawn_with_pipes(argv: Argv) -> Result<Prepared<'static>, BenchError> {
    let argv = argv.resolved()?;
    Ok(Prepared::new(move || spawn::output(&argv).map(|(_, took)| Sample::Took(took))))
}

/// The latency of `posix_spawn` onto `/dev/null` and the wait for its end.
pub fn spawn_without_pipes(argv: Argv) -> Result<Prepared<'static>, BenchError> {
    let argv = argv.resolved()?;
    Ok(Prepared::new(move || spawn::status(&argv).map(Sample::Took)))
}

/// How many commands per second `threads` threads get through, each with pipes.
pub fn spawn_rate(argv: Argv, threads: usize, until: Until) -> Result<Prepared<'static>, BenchError> {
    let argv = argv.resolved()?;
    Ok(Prepared::new(move || count_spawns(&argv, threads, until)))
}

fn count_spawns(argv: &Argv, threads: usize, until: Until) -> Result<Sample, BenchError> {
    let taken = AtomicU64::new(0);
    let start = Instant::now();
    let done: Result<Vec<u64>, BenchError> = thread::scope(|scope| {
        let work = || spawn_while(argv, || goes_on(&taken, start, until));
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|result| result.unwrap_or_else(|_| Err(panicked()))).collect()
    });
    let took = start.elapsed();
    Ok(Sample::Counted { count: done?.iter().sum(), took })
}

fn panicked() -> BenchError {
    BenchError::Unfit("a spawning thread panicked".into())
}

/// Takes one spawn from what is left, if anything is.
fn goes_on(taken: &AtomicU64, start: Instant, until: Until) -> bool {
    match until {
        Until::Count(total) => taken.fetch_add(1, Ordering::Relaxed) < total,
        Until::Elapsed(time) => start.elapsed() < time,
    }
}

fn spawn_while(argv: &Argv, mut more: impl FnMut() -> bool) -> Result<u64, BenchError> {
    let mut count = 0;
    while more() {
        spawn::output(argv)?;
        count += 1;
    }
    Ok(count)
}

/// The throughput from a child's pipe into a file in `under`: `head` writes
/// `bytes` zeros, we read `block` bytes at a time and write them on.
pub fn pipe_to_file(bytes: u64, block: usize, under: &Path) -> Result<Prepared<'static>, BenchError> {
    let argv = Argv::new(["head", "-c"]).arg(bytes.to_string());
    let argv = argv.arg("/dev/zero").resolved()?;
    let scratch = Scratch::new_in(under)?;
    let mut buffer = vec![0; block.max(1)];
    Ok(Prepared::new(move || {
        let file = scratch.path().join("output");
        let sample = copy_output(&argv, &file, &mut buffer, bytes);
        // A fresh file each turn: rewriting old pages would be cheaper.
        let removed = fs::remove_file(&file);
        let sample = sample?;
        removed.map_err(BenchError::io(format!("remove {}", file.display())))?;
        Ok(sample)
    }))
}

/// The latency from `posix_spawn` to the first byte that the program prints. Its end is waited for, untimed.
pub fn spawn_until_output(argv: Argv) -> Result<Prepared<'static>, BenchError> {
    let argv = argv.resolved()?;
    Ok(Prepared::new(move || {
        let start = Instant::now();
        let mut child = spawn::piped(&argv)?;
        let mut byte = [0];
        let read = child.stdout.as_mut().map_or(Ok(0), |pipe| pipe.read(&mut byte));
        let took = start.elapsed();
        let status = child.wait().map_err(spawn::wait_error(&argv))?;
        spawn::check(&argv, status, &[])?;
        match read.map_err(BenchError::io("read output"))? {
            0 => Err(BenchError::Unfit("nothing was printed".into())),
            _ => Ok(Sample::Took(took)),
        }
    }))
}

/// The throughput of a child's pipe: `head` writes `bytes` zeros, we read `block` bytes at a time and drop them.
pub fn pipe_read(bytes: u64, block: usize) -> Result<Prepared<'static>, BenchError> {
    let argv = Argv::new(["head", "-c"]).arg(bytes.to_string()).arg("/dev/zero").resolved()?;
    let mut buffer = vec![0; block.max(1)];
    Ok(Prepared::new(move || {
        let start = Instant::now();
        let mut child = spawn::piped(&argv)?;
        let read = match child.stdout.take() {
            Some(mut pipe) => copy_blocks(&mut pipe, &mut io::sink(), &mut buffer),
            None => Ok(0),
        };
        let status = child.wait().map_err(spawn::wait_error(&argv))?;
        let took = start.elapsed();
        spawn::check(&argv, status, &[])?;
        match read.map_err(BenchError::io("read output"))? {
            read if read == bytes => Ok(Sample::Moved { bytes, took }),
            read => Err(BenchError::Unfit(format!("{read} bytes arrived instead of {bytes}"))),
        }
    }))
}

fn copy_output(argv: &Argv, path: &Path, buffer: &mut [u8], wanted: u64) -> Result<Sample, BenchError> {
    let doing = || BenchError::io(format!("copy output to {}", path.display()));
    let start = Instant::now();
    let mut file = File::create(path).map_err(doing())?;
    let mut child = spawn::piped(argv)?;
    let copied = match child.stdout.take() {
        Some(mut pipe) => copy_blocks(&mut pipe, &mut file, buffer),
        None => Ok(0),
    };
    let status = child.wait().map_err(spawn::wait_error(argv))?;
    let took = start.elapsed();
    spawn::check(argv, status, &[])?;
    match copied.map_err(doing())? {
        bytes if bytes == wanted => Ok(Sample::Moved { bytes, took }),
        bytes => Err(BenchError::Unfit(format!("{bytes} bytes arrived instead of {wanted}"))),
    }
}

/// Not `io::copy`: it would splice in the kernel, which no reader of output can.
fn copy_blocks(from: &mut impl Read, to: &mut impl Write, buffer: &mut [u8]) -> io::Result<u64> {
    let mut total = 0;
    loop {
        let read = from.read(buffer)?;
        let Some(block) = buffer.get(..read).filter(|block| !block.is_empty()) else {
            return Ok(total);
        };
        to.write_all(block)?;
        total += block.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(prepared: Result<Prepared<'_>, BenchError>) -> Sample {
        (prepared.unwrap().measure)().unwrap()
    }

    #[test]
    fn spawns_take_time() {
        let argv = Argv::new(["true"]);
        for floor in [spawn_with_pipes(argv.clone()), spawn_without_pipes(argv)] {
            let Sample::Took(took) = once(floor) else {
                panic!("a latency");
            };
            assert!(took > Duration::ZERO);
        }
    }

    #[test]
    fn a_failing_command_is_no_sample() {
        let mut floor = spawn_with_pipes(Argv::new(["false"])).unwrap();
        assert!((floor.measure)().is_err());
    }

    #[test]
    fn threads_share_a_total() {
        let rate = spawn_rate(Argv::new(["true"]), 3, Until::Count(7));
        assert!(matches!(once(rate), Sample::Counted { count: 7, .. }));
    }

    #[test]
    fn a_time_limit_ends_the_row() {
        let until = Until::Elapsed(Duration::from_millis(20));
        let Sample::Counted { count, took } = once(spawn_rate(Argv::new(["true"]), 2, until)) else {
            panic!("a count");
        };
        assert!(count > 0 && took >= Duration::from_millis(20));
    }

    #[test]
    fn the_first_byte_is_waited_for() {
        assert!(matches!(once(spawn_until_output(Argv::new(["echo"]))), Sample::Took(_)));
        let mut silent = spawn_until_output(Argv::new(["true"])).unwrap();
        assert!((silent.measure)().is_err());
    }

    #[test]
    fn all_bytes_are_read() {
        assert!(matches!(once(pipe_read(1_000_003, 64 << 10)), Sample::Moved { bytes: 1_000_003, .. }));
    }

    #[test]
    fn all_bytes_reach_the_file_and_it_is_removed() {
        let under = Scratch::new_in(&std::env::temp_dir()).unwrap();
        let sample = once(pipe_to_file(1_000_003, 64 << 10, under.path()));
        assert!(matches!(sample, Sample::Moved { bytes: 1_000_003, .. }));
        assert_eq!(fs::read_dir(under.path()).unwrap().count(), 0);
    }
}
