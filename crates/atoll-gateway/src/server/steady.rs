//! A task that goes on by itself where it would be woken by itself.
//!
//! One task serves a connection: hyper's server, the route, and hyper's client on the line to the agent. They hand each
//! other pieces by way of channels, and so wake the task that is just running. To the scheduler that is work which
//! somebody else could take over: it wakes another thread for it, which comes too late, twice for each request.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How often in a row it goes on by itself, before others get their turn.
const IN_A_ROW: usize = 4;

/// Nobody has called since it was last looked after.
const AT_REST: u8 = 0;
/// It is being looked after: whoever calls is heard without being passed on.
const AT_WORK: u8 = 1;
/// Somebody has called.
const CALLED: u8 = 2;

/// See the module.
#[derive(Debug)]
pub(super) struct Steady<F> {
    work: F,
    bell: Arc<Bell>,
    waker: Waker,
}

/// What the work calls by.
#[derive(Debug)]
struct Bell {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl<F: Future + Unpin> Steady<F> {
    pub(super) fn new(work: F) -> Self {
        let bell = Arc::new(Bell { state: AtomicU8::new(AT_REST), task: Mutex::new(Waker::noop().clone()) });
        Self { work, waker: Arc::clone(&bell).into(), bell }
    }
}

impl Bell {
    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(CALLED, Ordering::AcqRel) == AT_REST {
            self.task().wake_by_ref();
        }
    }
}

impl<F: Future + Unpin> Future for Steady<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { work, bell, waker } = &mut *self;
        bell.task().clone_from(context.waker());
        for _ in 0..IN_A_ROW {
            bell.state.swap(AT_WORK, Ordering::AcqRel);
            if let Poll::Ready(output) = Pin::new(&mut *work).poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            let rests = bell.state.compare_exchange(AT_WORK, AT_REST, Ordering::AcqRel, Ordering::Acquire);
            if rests.is_ok() {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how often the task itself is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes itself so often, and keeps what wakes it.
    struct Restless {
        left: usize,
        polled: usize,
        waker: Option<Waker>,
    }

    impl Future for &mut Restless {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            self.polled += 1;
            self.waker = Some(context.waker().clone());
            if self.left > 0 {
                self.left -= 1;
                context.waker().wake_by_ref();
            }
            Poll::Pending
        }
    }

    /// How often the work is looked after, and the task woken, until it rests.
    fn looked_after(left: usize) -> (usize, usize, Waker) {
        let woken = Arc::new(Woken::default());
        let mut work = Restless { left, polled: 0, waker: None };
        let waker = Waker::from(Arc::clone(&woken));
        assert!(Pin::new(&mut Steady::new(&mut work)).poll(&mut Context::from_waker(&waker)).is_pending());
        (work.polled, woken.0.load(Ordering::Relaxed), work.waker.unwrap())
    }

    #[test]
    fn a_call_by_itself_wakes_nobody() {
        for left in 0..IN_A_ROW {
            let (polled, woken, _) = looked_after(left);
            assert_eq!((polled, woken), (left + 1, 0));
        }
    }

    #[test]
    fn others_get_their_turn() {
        let (polled, woken, _) = looked_after(100);
        assert_eq!((polled, woken), (IN_A_ROW, 1));
    }

    #[test]
    fn a_call_from_elsewhere_wakes_the_task_once() {
        let woken = Arc::new(Woken::default());
        let mut work = Restless { left: 0, polled: 0, waker: None };
        let waker = Waker::from(Arc::clone(&woken));
        let mut steady = Steady::new(&mut work);
        for round in 1..=3 {
            assert!(Pin::new(&mut steady).poll(&mut Context::from_waker(&waker)).is_pending());
            let call = steady.work.waker.clone().unwrap();
            call.wake_by_ref();
            call.wake();
            assert_eq!((steady.work.polled, woken.0.load(Ordering::Relaxed)), (round, round));
        }
    }
}
