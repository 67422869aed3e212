//! Threads that work through jobs: in any order, all cores, stopped within a moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Does one job. It reports the share that is done to the function it is given, which answers whether to go on.
pub type Work<J, R> = dyn Fn(J, &mut dyn FnMut(f64) -> bool) -> R + Send + Sync;

/// A fixed number of threads. Call `submit` for each job and `collect` for each result;
/// results come as they are ready. `stop` (or dropping the pool) ends the running jobs at
/// their next question and forgets the waiting ones.
pub struct Pool<J, R> {
    jobs: Option<Sender<(u64, J)>>,
    done: Receiver<(u64, R)>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    stop: AtomicBool,
    /// Parts per million that each thread has done of its job.
    progress: Vec<AtomicU64>,
}

/// How long what is stopped may end by itself; then its thread is left alone.
pub const PATIENCE: Duration = Duration::from_millis(150);
const LOOK: Duration = Duration::from_millis(2);

const MILLION: f64 = 1e6;

impl<J: Send + 'static, R: Send + 'static> Pool<J, R> {
    /// Starts `workers` threads (at least one), each of which does `work` again and again.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new(workers: usize, work: Arc<Work<J, R>>) -> std::io::Result<Pool<J, R>> {
        let workers = workers.max(1);
        let (jobs, queue) = channel::<(u64, J)>();
        let queue = Arc::new(Mutex::new(queue));
        let (results, done) = channel();
        let progress = (0..workers).map(|_| AtomicU64::new(0)).collect();
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), progress });
        let mut pool = Pool { jobs: Some(jobs), done, shared, threads: Vec::new() };
        for index in 0..workers {
            let (from, with) = (Arc::clone(&queue), Arc::clone(&pool.shared));
            let (to, job) = (results.clone(), Arc::clone(&work));
            let thread = Builder::new()
                .name(format!("tidegate-{index}"))
                .spawn(move || serve(index, &from, &with, &to, &*job))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// Puts a job in the queue; its result comes back with `number`.
    pub fn submit(&self, number: u64, job: J) {
        if let Some(jobs) = &self.jobs {
            // The threads outlive the sender; a stopped pool takes jobs and forgets them.
            let _ = jobs.send((number, job));
        }
    }

    /// The next result, in the order of finishing; none after `patience` without one.
    pub fn collect(&self, patience: Duration) -> Option<(u64, R)> {
        self.done.recv_timeout(patience).ok()
    }

    /// How many jobs' worth of work the running ones have done.
    pub fn running(&self) -> f64 {
        self.shared.progress.iter().map(|part| part.load(Ordering::Relaxed) as f64 / MILLION).sum()
    }
}

impl<J, R> Pool<J, R> {
    /// Ends every thread; running jobs end at their next question. A job that asks none for [`PATIENCE`]
    /// is left alone: its thread ends with the job, and the result is lost.
    #[expect(
        clippy::disallowed_methods,
        reason = "a thread that may never end cannot be waited for otherwise"
    )]
    pub fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        let mut waited = Duration::ZERO;
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && waited < PATIENCE {
                std::thread::sleep(LOOK);
                waited += LOOK;
            }
            if !thread.is_finished() {
                continue;
            }
            // A job that panicked has ended its thread, and its panic was reported already.
            let _ = thread.join();
        }
    }
}

impl<J, R> Drop for Pool<J, R> {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve<J, R>(
    index: usize,
    queue: &Mutex<Receiver<(u64, J)>>,
    shared: &Shared,
    results: &Sender<(u64, R)>,
    work: &Work<J, R>,
) {
    let progress = &shared.progress[index];
    while let Some((number, job)) = next(queue) {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let mut tell = |share: f64| {
            progress.store((share.clamp(0.0, 1.0) * MILLION) as u64, Ordering::Relaxed);
            !shared.stop.load(Ordering::Relaxed)
        };
        let result = work(job, &mut tell);
        progress.store(0, Ordering::Relaxed);
        if results.send((number, result)).is_err() {
            return;
        }
    }
}

fn next<J>(queue: &Mutex<Receiver<(u64, J)>>) -> Option<(u64, J)> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::Pool;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn every_job_comes_back_once_whatever_the_number_of_threads() {
        for workers in [1, 2, 7] {
            let pool = Pool::new(workers, Arc::new(|job: u64, _: &mut dyn FnMut(f64) -> bool| job * job))
                .unwrap_or_else(|error| panic!("{error}"));
            (0..100).for_each(|number| pool.submit(number, number + 1));
            let mut all: Vec<_> = (0..100).filter_map(|_| pool.collect(LONG)).collect();
            all.sort_unstable();
            assert!(all.iter().copied().eq((0..100).map(|number| (number, (number + 1) * (number + 1)))));
            assert_eq!(pool.collect(Duration::ZERO), None);
        }
    }

    #[test]
    fn stop_ends_running_jobs_and_forgets_waiting_ones() {
        let endless = |_: u64, tell: &mut dyn FnMut(f64) -> bool| {
            while tell(0.5) {
                std::thread::yield_now();
            }
        };
        let mut pool = Pool::new(2, Arc::new(endless)).unwrap_or_else(|error| panic!("{error}"));
        (0..10).for_each(|number| pool.submit(number, number));
        while pool.running() < 0.9 {
            std::thread::yield_now();
        }
        pool.stop();
        let ended = std::iter::from_fn(|| pool.collect(Duration::ZERO)).count();
        assert_eq!(ended, 2, "the two that ran");
    }
}
