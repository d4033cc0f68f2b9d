//! Processes that are killed while many writers work: what was acknowledged stays, and nothing is
//! there by half. 20 rounds; as many as `KITBAG_CRASH_ROUNDS` says where that is set.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use kitbag_store::{Location, Store, StoreError, Tenant};
use serde::{Deserialize, Serialize};

use crate::judge::judge;
use crate::place::{self, run, second};
use crate::random::Random;
use crate::work::{Acknowledged, Writer};

/// How many writers a process has.
const WRITERS: u32 = 16;
/// So many rounds go on with one store; then another is begun, since everything is read each time.
const ROUNDS_OF_A_STORE: u32 = 4;
/// The job of a process that was started to be killed.
const JOB: &str = "KITBAG_TEST_JOB";

#[test]
fn a_killed_process_loses_nothing_on_sqlite() {
    on_files(1);
}

#[test]
fn two_killed_processes_on_one_file_lose_nothing() {
    on_files(2);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_killed_process_loses_nothing_on_postgres() {
    let mut random = Random::new();
    for first in (0..rounds()).step_by(ROUNDS_OF_A_STORE as usize) {
        let tenant = place::new_tenant();
        let application = format!("kitbag-{tenant}");
        let url = place::with_application(&place::postgres_url(), &application);
        let mut seen = Vec::new();
        for round in first..rounds().min(first + ROUNDS_OF_A_STORE) {
            let job = Job {
                location: url.clone(),
                tenant: tenant.to_string(),
                name: format!("r{round}"),
                second: i64::from(round) * 10_000,
                steps: u64::MAX,
            };
            kill_at_random(&mut random, vec![job], &mut seen);
            run(async {
                place::until_gone(&application).await;
                let store = Store::open(&place::postgres()).await.unwrap();
                let now = second(i64::from(round) * 10_000 + 9_000);
                judge(&store.for_tenant(tenant.clone()), &seen, now).await;
            });
        }
    }
}

/// What the processes run. Without a job, the writers work undisturbed for a while.
#[test]
fn writers() {
    let Ok(job) = env::var(JOB) else {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let seen = work_in_processes(&file, 1, 20);
        return run(async {
            let store = Store::open(&Location::Sqlite(file)).await.unwrap();
            judge(&store, &seen, second(9_000)).await;
        });
    };
    let job: Job = serde_json::from_str(&job).unwrap();
    run(async {
        match job.open().await {
            Ok(store) => job.work(&store).await,
            Err(error) => stopped(&error),
        }
    });
}

/// Lets the writers of several processes make so many steps each on one file, and tells what was
/// acknowledged.
pub(crate) fn work_in_processes(file: &Path, processes: u32, steps: u64) -> Vec<Acknowledged> {
    let start = |process| {
        let job = Job::on_file(file, &format!("p{process}"), 0);
        Process::start(&job.steps(steps))
    };
    let processes: Vec<Process> = (0..processes).map(start).collect();
    processes.into_iter().flat_map(Process::until_end).collect()
}

/// The same in one process that is started in a way of its own: `program` runs it, and ends with
/// arguments before those that are added here.
pub(crate) fn work_in_process(program: Command, file: &Path, round: i64) -> Vec<Acknowledged> {
    let job = Job::on_file(file, &format!("r{round}"), round * 10_000);
    Process::start_as(program, &job).until_end()
}

fn on_files(processes: u32) {
    let mut random = Random::new();
    for first in (0..rounds()).step_by(ROUNDS_OF_A_STORE as usize) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let mut seen = Vec::new();
        for round in first..rounds().min(first + ROUNDS_OF_A_STORE) {
            let job = |process: u32| {
                let name = format!("r{round}-p{process}");
                Job::on_file(&file, &name, i64::from(round) * 10_000)
            };
            kill_at_random(&mut random, (0..processes).map(job).collect(), &mut seen);
            run(async {
                let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
                let now = second(i64::from(round) * 10_000 + 9_000);
                judge(&store, &seen, now).await;
            });
        }
    }
}

/// How often what happens at random is tried.
pub(crate) fn rounds() -> u32 {
    rounds_or(20)
}

/// The same for a test that tries it more or less often than others, if nothing is asked for.
pub(crate) fn rounds_or(usual: u32) -> u32 {
    match env::var("KITBAG_CRASH_ROUNDS") {
        Ok(rounds) => rounds.parse().unwrap(),
        Err(_) => usual,
    }
}

/// Starts a process for each job, and kills each once it has acknowledged so much, one of them
/// while the others still work.
fn kill_at_random(random: &mut Random, jobs: Vec<Job>, seen: &mut Vec<Acknowledged>) {
    let processes: Vec<Process> = jobs.iter().map(Process::start).collect();
    for process in processes {
        // Rarely at once: while the tables are made, or while the log of a killed one is read.
        let enough = match random.one_in(6) {
            true => 0,
            false => random.below(60),
        };
        process.kill_after(enough, seen);
    }
}

/// A process of this program that runs [`writers`] with a job.
struct Process {
    child: Child,
    acknowledged: Receiver<Acknowledged>,
}

impl Process {
    fn start(job: &Job) -> Self {
        Self::start_as(Command::new(env::current_exe().unwrap()), job)
    }

    fn start_as(mut program: Command, job: &Job) -> Self {
        let mut child = program
            .args(["--exact", "crash::writers", "--nocapture"])
            .env(JOB, serde_json::to_string(job).unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, acknowledged) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                // The runner of the tests writes there too, and the last line may be cut.
                let json = line.find('{').and_then(|start| line.get(start..));
                if let Ok(one) = serde_json::from_str(json.unwrap_or_default()) {
                    drop(send.send(one));
                }
            }
        });
        Self {
            child,
            acknowledged,
        }
    }

    fn until_end(mut self) -> Vec<Acknowledged> {
        let seen = self.acknowledged.iter().collect();
        assert!(self.child.wait().unwrap().success());
        seen
    }

    fn kill_after(mut self, count: u64, seen: &mut Vec<Acknowledged>) {
        for _ in 0..count {
            let one = self.acknowledged.recv().unwrap();
            assert!(!matches!(one, Acknowledged::Stopped { .. }), "{one:?}");
            seen.push(one);
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        seen.extend(self.acknowledged.iter());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What a process does.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    location: String,
    tenant: String,
    /// Names what this process says, and nothing else.
    name: String,
    second: i64,
    /// How many steps each writer makes.
    steps: u64,
}

impl Job {
    fn on_file(file: &Path, name: &str, second: i64) -> Self {
        Self {
            location: format!("sqlite:{}", file.display()),
            tenant: Tenant::default().to_string(),
            name: name.to_owned(),
            second,
            steps: u64::MAX,
        }
    }

    fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    async fn open(&self) -> Result<Store, StoreError> {
        let store = Store::open(&self.location.parse()?).await?;
        Ok(store.for_tenant(self.tenant.parse()?))
    }

    /// Lets all writers work. What is acknowledged is written to the standard output, where whoever
    /// started this process reads it.
    async fn work(&self, store: &Store) {
        let steps = self.steps;
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..WRITERS {
            let name = format!("{}-w{number}", self.name);
            let mut writer = Writer::new(store.clone(), name, second(self.second), tell);
            writers.spawn(async move {
                for _ in 0..steps {
                    if let Err(error) = writer.step().await {
                        return stopped(&error);
                    }
                }
            });
        }
        writers.join_all().await;
    }
}

fn stopped(error: &StoreError) {
    let problem = error.to_string();
    tell(Acknowledged::Stopped { problem });
}

fn tell(acknowledged: Acknowledged) {
    let mut line = serde_json::to_string(&acknowledged).unwrap();
    line.push('\n');
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
