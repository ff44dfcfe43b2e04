//! Re-polls a future in place when it wakes itself, so that tokio does not wake another worker thread.
//!
//! One task serves a connection: hyper's server, the route, and hyper's client to the agent. They pass chunks through
//! channels and thereby wake the task that is running them. tokio takes this for work that another worker could steal
//! and wakes a thread for it, in vain, twice per request.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Most polls in a row before the task yields to others.
const REPOLLS_MAX: usize = 4;

/// Not woken since the last poll.
const IDLE: u8 = 0;
/// Being polled: a wake-up is recorded and not passed on.
const POLLING: u8 = 1;
/// Woken.
const WOKEN: u8 = 2;

/// A future that is polled again at once if it was woken while being polled.
#[derive(Debug)]
pub(super) struct InlineRepoll<F> {
    future: F,
    signal: Arc<RepollWaker>,
    waker: Waker,
}

/// The waker that the inner future gets.
#[derive(Debug)]
struct RepollWaker {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl<F: Future + Unpin> InlineRepoll<F> {
    pub(super) fn new(future: F) -> Self {
        let signal = Arc::new(RepollWaker { state: AtomicU8::new(IDLE), task: Mutex::new(Waker::noop().clone()) });
        Self { future, waker: Arc::clone(&signal).into(), signal }
    }
}

impl RepollWaker {
    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for RepollWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == IDLE {
            self.task().wake_by_ref();
        }
    }
}

impl<F: Future + Unpin> Future for InlineRepoll<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, signal, waker } = &mut *self;
        signal.task().clone_from(context.waker());
        for _ in 0..REPOLLS_MAX {
            signal.state.swap(POLLING, Ordering::AcqRel);
            if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            let idle = signal.state.compare_exchange(POLLING, IDLE, Ordering::AcqRel, Ordering::Acquire);
            if idle.is_ok() {
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

    /// Counts the wake-ups of the task itself.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes itself `left` times and keeps its waker.
    struct SelfWaking {
        left: usize,
        polled: usize,
        waker: Option<Waker>,
    }

    impl Future for &mut SelfWaking {
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

    /// Polls once. Returns the number of polls of the inner future, the number of task wake-ups, and the inner waker.
    fn poll_once(left: usize) -> (usize, usize, Waker) {
        let woken = Arc::new(Woken::default());
        let mut future = SelfWaking { left, polled: 0, waker: None };
        let waker = Waker::from(Arc::clone(&woken));
        assert!(Pin::new(&mut InlineRepoll::new(&mut future)).poll(&mut Context::from_waker(&waker)).is_pending());
        (future.polled, woken.0.load(Ordering::Relaxed), future.waker.unwrap())
    }

    #[test]
    fn self_wake_does_not_wake_the_task() {
        for left in 0..REPOLLS_MAX {
            let (polled, woken, _) = poll_once(left);
            assert_eq!((polled, woken), (left + 1, 0));
        }
    }

    #[test]
    fn task_yields_after_the_maximum_of_repolls() {
        let (polled, woken, _) = poll_once(100);
        assert_eq!((polled, woken), (REPOLLS_MAX, 1));
    }

    #[test]
    fn outside_wake_wakes_the_task_once() {
        let woken = Arc::new(Woken::default());
        let mut future = SelfWaking { left: 0, polled: 0, waker: None };
        let waker = Waker::from(Arc::clone(&woken));
        let mut repoll = InlineRepoll::new(&mut future);
        for round in 1..=3 {
            assert!(Pin::new(&mut repoll).poll(&mut Context::from_waker(&waker)).is_pending());
            let outside = repoll.future.waker.clone().unwrap();
            outside.wake_by_ref();
            outside.wake();
            assert_eq!((repoll.future.polled, woken.0.load(Ordering::Relaxed)), (round, round));
        }
    }
}
