//! Any history of appends and readers, against a plain vector of bytes.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use atoll_protocol::Stream;
use proptest::prelude::*;

use super::support::{TINY, Truth, drain, runtime};
use crate::log::reader::TryNext;
use crate::log::store::segment_paths;
use crate::log::{Limits, Log, Reader, Store};

#[derive(Debug, Clone)]
enum Step {
    Append(Stream, usize),
    Flush,
    /// A new reader, this far (in 1/256) into the log.
    Attach(u8),
    /// One of the readers goes away, and a new one goes on where it stood.
    Resume(usize),
    /// One of the readers takes up to this many events that are there.
    Read(usize, usize),
}

fn stream() -> impl Strategy<Value = Stream> {
    prop::sample::select(vec![Stream::Stdout, Stream::Stderr])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (stream(), 0_usize..24).prop_map(|(stream, len)| Step::Append(stream, len)),
        2 => (stream(), 24_usize..300).prop_map(|(stream, len)| Step::Append(stream, len)),
        // More than the whole disk may hold.
        1 => (stream(), 300_usize..3000).prop_map(|(stream, len)| Step::Append(stream, len)),
        1 => Just(Step::Flush),
        2 => any::<u8>().prop_map(Step::Attach),
        1 => any::<usize>().prop_map(Step::Resume),
        4 => (any::<usize>(), 1_usize..6).prop_map(|(which, count)| Step::Read(which, count)),
    ]
}

struct World {
    log: Log,
    truth: Truth,
    readers: Vec<Reader>,
}

impl World {
    async fn apply(&mut self, step: Step) {
        match step {
            Step::Append(stream, len) => self.truth.append(&self.log, stream, len),
            Step::Flush => self.log.flush().unwrap(),
            Step::Attach(part) => {
                let since = self.truth.len() * u64::from(part) / 256;
                self.readers.push(self.log.reader(since));
            }
            Step::Resume(which) => {
                if let Some(left) = self.take(which) {
                    self.readers.push(self.log.reader(left.cursor()));
                }
            }
            Step::Read(which, count) => self.read(which, count).await,
        }
    }

    async fn read(&mut self, which: usize, count: usize) {
        let Some(mut reader) = self.take(which) else {
            return;
        };
        for _ in 0..count {
            let before = reader.cursor();
            let event = match reader.try_next() {
                TryNext::Event(event) => event,
                TryNext::Empty | TryNext::Closed => break,
                TryNext::OnDisk => reader.next().await.unwrap(),
            };
            assert_eq!(self.truth.check(before, &event), reader.cursor());
        }
        self.readers.push(reader);
    }

    fn take(&mut self, which: usize) -> Option<Reader> {
        let count = self.readers.len();
        (count > 0).then(|| self.readers.swap_remove(which % count))
    }

    /// All readers end, and a fresh one sees every byte once or in a gap.
    async fn finish(mut self) {
        self.log.close();
        for reader in &mut self.readers {
            drain(&self.truth, reader).await;
            assert_eq!(reader.cursor(), self.truth.len());
        }
        let mut fresh = self.log.reader(0);
        let gaps = drain(&self.truth, &mut fresh).await;
        assert_eq!(fresh.cursor(), self.truth.len());
        let totals = self.log.totals();
        assert_eq!(totals.dropped, gaps);
        assert_eq!(totals.stdout + totals.stderr, self.truth.len());
    }
}

fn play(log: Log, steps: Vec<Step>) {
    runtime().block_on(async {
        let mut world = World { log, truth: Truth::default(), readers: Vec::new() };
        for step in steps {
            world.apply(step).await;
        }
        world.finish().await;
    });
}

fn disk_len(dir: &Path) -> u64 {
    let paths = segment_paths(dir).unwrap_or_default();
    paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_byte_is_told_once_or_in_a_gap(
        steps in prop::collection::vec(step(), 0..120),
        disk_bytes in 0_u64..20_000,
        window_bytes in 64_usize..300,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::Unlinked(dir.path().to_owned());
        play(Log::new(store, Limits { window_bytes, disk_bytes }), steps);
        prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn named_files_stay_within_the_disk_cap(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let limits = Limits { window_bytes: 64, disk_bytes: 8192 };
        play(Log::new(Store::Dir(dir.path().to_owned()), limits), steps);
        prop_assert!(disk_len(dir.path()) <= limits.disk_bytes);
    }

    #[test]
    fn a_torn_end_reopens_as_a_prefix(
        appends in prop::collection::vec((stream(), 1_usize..60), 1..40),
        cut in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let truth = write_log(dir.path(), &appends);
        let last = segment_paths(dir.path()).unwrap().pop().unwrap();
        add(&last, &garbage);
        prop_assert_eq!(Log::open(dir.path(), TINY).unwrap().end(), truth.len());
        tear(&last, &cut);
        let log = Log::open(dir.path(), TINY).unwrap();
        let mut reader = log.reader(0);
        prop_assert_eq!(runtime().block_on(drain(&truth, &mut reader)), 0);
        prop_assert_eq!(reader.cursor(), log.end());
        prop_assert!(log.end() < truth.len() && log.is_closed());
    }

    #[test]
    fn a_torn_middle_reopens_with_a_gap(
        appends in prop::collection::vec((stream(), 1_usize..60), 20..40),
        file in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let truth = write_log(dir.path(), &appends);
        let paths = segment_paths(dir.path()).unwrap();
        prop_assume!(paths.len() > 1);
        tear(&paths[file.index(paths.len() - 1)], &cut);
        let log = Log::open(dir.path(), TINY).unwrap();
        let mut reader = log.reader(0);
        let gaps = runtime().block_on(drain(&truth, &mut reader));
        prop_assert_eq!(reader.cursor(), truth.len());
        prop_assert_eq!(gaps, log.totals().dropped);
    }
}

/// A flushed log in `dir`, nothing of it dropped.
fn write_log(dir: &Path, appends: &[(Stream, usize)]) -> Truth {
    let log = Log::new(Store::Dir(dir.to_owned()), TINY);
    let mut truth = Truth::default();
    for (stream, len) in appends {
        truth.append(&log, *stream, *len);
    }
    log.flush().unwrap();
    assert_eq!(log.totals().dropped, 0);
    truth
}

fn add(path: &Path, garbage: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(garbage).unwrap();
}

fn tear(path: &Path, cut: &prop::sample::Index) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let len = usize::try_from(file.metadata().unwrap().len()).unwrap();
    file.set_len(cut.index(len) as u64).unwrap();
}
