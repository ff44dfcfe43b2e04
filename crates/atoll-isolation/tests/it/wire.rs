//! The protocol: what is written is read back, and nothing that arrives can hurt the reader.

use std::net::SocketAddr;

use atoll_isolation::sys::process::Usage;
use atoll_isolation::wire::{
    Address, Event, KeeperRequest, Kept, Members, Request, Session, Setup, Spawn, SpawnStage, VERSION, Wire,
};
use atoll_isolation::{Channel, Step, sys};
use proptest::prelude::*;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..40)
}

prop_compose! {
    fn spawn()(
        command in any::<u64>(),
        candidates in proptest::collection::vec(bytes(), 0..4),
        argv in proptest::collection::vec(bytes(), 0..6),
        env in proptest::collection::vec(bytes(), 0..6),
        cwd in bytes(),
        user in any::<(u32, u32)>(),
        groups in proptest::option::of(proptest::collection::vec(any::<u32>(), 0..5)),
        limits in proptest::collection::vec(any::<(u32, u64, u64)>(), 0..4),
        umask in any::<u32>(),
        terminal in any::<bool>(),
        flags in any::<(bool, bool, bool, bool, bool, bool)>(),
        extras in any::<u32>(),
    ) -> Spawn {
        let (in_cgroup, in_memory_cgroup, warden, unstoppable, pidfd, beside) = flags;
        let session = if terminal { Session::Terminal } else { Session::Own };
        Spawn {
            command, candidates, argv, env, cwd, user, groups, limits, umask, session, in_cgroup, in_memory_cgroup,
            warden, extras, unstoppable, pidfd, beside,
        }
    }
}

fn pids() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 0..5)
}

fn members() -> impl Strategy<Value = Members> {
    prop_oneof![
        any::<u64>().prop_map(|command| Members::Command { command }),
        (any::<u32>(), pids()).prop_map(|(top, spared)| Members::Below { top, spared }),
        (any::<u32>(), pids()).prop_map(|(top, spared)| Members::Jobs { top, spared }),
        pids().prop_map(|roots| Members::Of { roots }),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let steps = proptest::collection::vec(
        prop_oneof![
            Just(Step::Loopback),
            any::<u64>().prop_map(|keep| Step::Capabilities { keep }),
            bytes().prop_map(|program| Step::Filter { program }),
            "[a-z/]{0,20}".prop_map(|path| Step::Mask { path }),
        ],
        0..5,
    );
    prop_oneof![
        steps.prop_map(|steps| Request::Setup { setup: Setup { version: VERSION, steps } }),
        (any::<u32>(), spawn()).prop_map(|(tag, spawn)| Request::Spawn { tag, spawn }),
        (any::<u32>(), members(), any::<i32>()).prop_map(|(tag, members, signal)| Request::Sweep {
            tag,
            members,
            signal
        }),
        (any::<u32>(), members()).prop_map(|(tag, members)| Request::List { tag, members }),
        any::<(u32, u64, i32)>().prop_map(|(tag, command, signal)| Request::Signal { tag, command, signal }),
        (any::<u32>(), pids()).prop_map(|(tag, pids)| Request::Pidfds { tag, pids }),
        (any::<u32>(), bytes()).prop_map(|(tag, name)| Request::Listen { tag, name }),
        any::<u32>().prop_map(|tag| Request::Diagnose { tag }),
        (any::<u32>(), bytes()).prop_map(|(tag, path)| Request::Read { tag, path }),
        any::<u32>().prop_map(|tag| Request::Terminal { tag }),
        (any::<u32>(), any::<u32>(), any::<u16>())
            .prop_map(|(tag, ip, port)| Request::Connect { tag, address: Address::V4 { ip, port } }),
        any::<u32>().prop_map(|tag| Request::Ping { tag }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        any::<u16>().prop_map(|version| Event::Ready { version }),
        any::<(u32, i32)>().prop_map(|(step, errno)| Event::SetupFailed { step, errno }),
        any::<(u32, u32)>().prop_map(|(tag, pid)| Event::Spawned { tag, pid }),
        any::<(u32, i32)>().prop_map(|(tag, errno)| Event::SpawnFailed { tag, stage: SpawnStage::Cwd, errno }),
        (any::<u32>(), proptest::collection::vec(any::<u32>(), 0..9))
            .prop_map(|(tag, pids)| Event::Listed { tag, pids }),
        any::<(u64, i32, u64, u64, u64, bool)>().prop_map(
            |(command, status, user_us, system_us, max_rss_bytes, alone)| {
                Event::Exited { command, status, usage: Usage { user_us, system_us, max_rss_bytes }, alone }
            }
        ),
        Just(Event::OrphanReaped),
    ]
}

proptest! {
    #[test]
    fn requests_survive_the_wire(request in request()) {
        prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
    }

    #[test]
    fn events_survive_the_wire(event in event()) {
        prop_assert_eq!(Event::decode(&event.encode()), Ok(event));
    }

    /// Random bytes: an error or a value, never a panic, never a large allocation.
    #[test]
    fn noise_is_harmless(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(Request::decode(&noise));
        drop(Event::decode(&noise));
        drop(KeeperRequest::decode(&noise));
    }

    /// A real message, damaged: cut short, made longer, or with a flipped byte.
    #[test]
    fn damage_is_noticed_or_harmless(request in request(), at in any::<prop::sample::Index>(), with in any::<u8>()) {
        let good = request.encode();
        prop_assert!(Request::decode(&good[..at.index(good.len())]).is_err());
        let mut longer = good.clone();
        longer.push(with);
        prop_assert!(Request::decode(&longer).is_err());
        let mut flipped = good.clone();
        flipped[at.index(good.len())] = with;
        drop(Request::decode(&flipped));
    }
}

#[test]
fn a_forged_length_allocates_nothing() {
    let mut forged = vec![4];
    forged.extend_from_slice(&[0xff; 16]);
    assert!(Request::decode(&forged).is_err());
    // `Members` with four billion entries in eleven bytes.
    assert!(Event::decode(&[6, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 2]).is_err());
}

#[test]
fn addresses_are_the_same_on_both_sides() {
    for text in ["127.0.0.1:80", "[::1]:65535", "[2001:db8::1:2]:1"] {
        let address: SocketAddr = text.parse().unwrap();
        assert_eq!(SocketAddr::from(Address::from(address)), address);
    }
}

#[test]
fn large_messages_travel_in_a_file_with_their_descriptors() {
    use std::os::fd::AsFd;
    let (ours, theirs) = sys::socket::pair().unwrap();
    let (ours, theirs) = (Channel::new(ours), Channel::new(theirs));
    let spawn = Spawn { argv: vec![vec![b'x'; 3_000_000]], ..Spawn::default() };
    let null = std::fs::File::open("/dev/null").unwrap();
    ours.send(&Request::Spawn { tag: 1, spawn: spawn.clone() }, &[null.as_fd(), null.as_fd()]).unwrap();
    ours.send(&KeeperRequest::Keep { kind: Kept::Directory, path: b"/x".to_vec() }, &[]).unwrap();
    let (request, fds) = theirs.receive::<Request>().unwrap().unwrap();
    assert_eq!((request, fds.len()), (Request::Spawn { tag: 1, spawn }, 2));
    let (second, fds) = theirs.receive::<KeeperRequest>().unwrap().unwrap();
    assert_eq!((second, fds.len()), (KeeperRequest::Keep { kind: Kept::Directory, path: b"/x".to_vec() }, 0));
    drop(ours);
    assert!(theirs.receive::<Request>().unwrap().is_none());
}
