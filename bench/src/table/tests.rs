//! What a reader sees, line for line.

use std::time::Duration;

use super::*;
use crate::{BenchError, Contender, Figure, Plan, Prepared, Sample, Target};

fn latency(ms: &[u64]) -> Result<Prepared<'_>, BenchError> {
    let mut turns = ms.iter().cycle();
    Ok(Prepared::new(move || {
        let ms = turns.next().copied().unwrap_or_default();
        Ok(Sample::Took(Duration::from_millis(ms)))
    }))
}

fn missing_bwrap() -> BenchError {
    BenchError::NotInstalled { program: "bwrap".into(), remedy: "apt-get install bubblewrap".into() }
}

fn report(figure: Figure<'_>) -> Report {
    crate::run(Plan::new().with(figure), Machine::unknown(), &mut io::sink()).unwrap()
}

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    report.write_table(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn latency_figure<'a>() -> Figure<'a> {
    let atoll = Contender::subject("atoll", latency(&[12]))
        .target(Target::at_most_times_floor(1.35))
        .target(Target::at_least_times_faster_than(4.0, "crun exec"))
        .target(Target::at_least_times_faster_than(2.0, "bwrap"))
        .target(Target::at_most(Duration::from_millis(10)));
    Figure::new("one command", Unit::Latency)
        .rounds(8)
        .warm_up(0)
        .with(Contender::floor("posix_spawn", latency(&[10])))
        .with(atoll)
        .with(Contender::alternative(
            "crun exec",
            latency(&[50, 50, 50, 50, 80, 80, 80, 80]).map(|crun| crun.note("cgroup manager disabled")),
        ))
        .with(Contender::alternative("bwrap", Err(missing_bwrap())))
}

#[test]
fn a_latency_figure_reads_so() {
    let expected = "\
machine: 0 cores, unknown, linux unknown
load:    unknown before, unknown after

one command
  8 rounds, turn by turn, after 0 to warm up; below 100 rounds the tail column is nearly the worst value
  contender    role             p50      p99      min     mean  spread  p50 × floor  min × floor
  posix_spawn  floor        10.0 ms  10.0 ms  10.0 ms  10.0 ms     0 %         1.00         1.00
  atoll        subject      12.0 ms  12.0 ms  12.0 ms  12.0 ms     0 %         1.20         1.20
  crun exec    alternative  65.0 ms  80.0 ms  50.0 ms  65.0 ms    46 %         6.50         5.00
  note: crun exec: cgroup manager disabled
  bwrap: not measured: bwrap is not installed (apt-get install bubblewrap)
  noise: crun exec: median moved 60 % between the halves of the run (bound 15 %)
  noise: a verdict on these is given only if an error that large cannot change it
  target: atoll: at most 1.35 × floor: met (1.20 ×)
  target: atoll: at least 4 × faster than crun exec: too noisy to judge (5.4 ×): crun exec: median moved 60 % between the halves of the run (bound 15 %)
  target: atoll: at least 2 × faster than bwrap: not measured (bwrap was not measured)
  target: atoll: at most 10.0 ms: missed (12.0 ms)
";
    assert_eq!(text(&report(latency_figure())), expected);
}

#[test]
fn a_throughput_figure_shows_its_own_tail_and_best() {
    let moving = |bytes| {
        Ok(Prepared::new(move || {
            let took = Duration::from_secs(1);
            Ok(Sample::Moved { bytes, took })
        }))
    };
    let figure = Figure::new("output", Unit::Throughput)
        .rounds(2)
        .with(Contender::floor("pipe", moving(2 << 30)))
        .with(Contender::subject("atoll", moving(1 << 30)).target(Target::at_least_share_of_floor(0.6)));
    let text = text(&report(figure));
    assert!(text.contains("p1         max"), "{text}");
    assert!(text.contains("2.00         2.00"), "{text}");
    assert!(text.contains("at least 60 % of floor: missed (50 %)"), "{text}");
    assert!(text.contains("noise: not judged"), "{text}");
}

#[test]
fn json_carries_quantiles_samples_and_verdicts() {
    let mut out = Vec::new();
    report(latency_figure()).write_json(&mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let figure = &json["figures"][0];
    assert_eq!(figure["unit"], "seconds");
    assert_eq!(figure["better"], "lower");
    let crun = &figure["contenders"][2];
    assert_eq!(crun["outcome"]["status"], "measured");
    assert_eq!(crun["outcome"]["samples"].as_array().unwrap().len(), 8);
    assert_eq!(crun["outcome"]["summary"]["p99"], 0.08);
    let judged = &figure["contenders"][1]["judgements"][0];
    assert_eq!(judged["verdict"]["is"], "met");
    assert_eq!(judged["target"]["bound"]["kind"], "times_floor");
    let bwrap = &figure["contenders"][3]["outcome"];
    assert_eq!(bwrap["status"], "not_measured");
}
