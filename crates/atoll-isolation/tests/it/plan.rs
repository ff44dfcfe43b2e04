//! Plans are data: what will be done can be read, and any change of it is seen here.

use atoll_isolation::{Disk, IdMap, Plan, Quotas, Spec};

fn spec(privileged: bool) -> Spec {
    Spec {
        ids: if privileged {
            IdMap::Range { base: 1_000_000, count: 65_536 }
        } else {
            IdMap::Own { uid: 1000, gid: 1000 }
        },
        base: "/cache/base".into(),
        system: vec!["usr".to_owned(), "lib64".to_owned()],
        added_to: vec!["usr".to_owned()],
        disk: Disk { path: "/state/box/disk".into() },
        privileged,
        idmapped: privileged,
        quotas: if privileged {
            Quotas::default()
        } else {
            Quotas {
                limits: vec![(11, 12_000, 12_000), (12, 102_400, 102_400)],
                settings: vec![("max_inotify_instances".to_owned(), 16)],
                open_files: Some((1024, 10_000)),
            }
        },
    }
}

fn render(plan: &Plan) -> String {
    let mut text = format!("namespaces: {:#x}\nids: {:?}\n", plan.namespaces, plan.ids);
    for (name, mode) in &plan.storage {
        text.push_str(&format!("storage: {name} {mode:o}\n"));
    }
    for source in &plan.sources {
        text.push_str(&format!("pass: {source:?}\n"));
    }
    for step in plan.steps.iter().chain(&plan.closing("box")) {
        text.push_str(&format!("{step}\n"));
    }
    text
}

#[test]
fn a_privileged_plan_passes_idmapped_mounts() {
    insta::assert_snapshot!(render(&Plan::isolated(&spec(true))));
}

#[test]
fn an_unprivileged_plan_clones_them_itself() {
    insta::assert_snapshot!(render(&Plan::isolated(&spec(false))));
}

#[test]
fn an_unisolated_plan_does_nothing_but_reap() {
    insta::assert_snapshot!(render(&Plan::unisolated()));
}

#[test]
fn confinement_comes_last_and_whole() {
    for privileged in [true, false] {
        let plan = Plan::isolated(&spec(privileged));
        let names: Vec<String> = plan.closing("box").iter().rev().take(5).map(|step| step.to_string()).collect();
        assert!(names[0].starts_with("install a filter"), "{names:?}");
        assert!(names[1].starts_with("keep init's capabilities"), "{names:?}");
        assert_eq!(names[2], "set no_new_privs");
        assert!(names[3].starts_with("limit capabilities"), "{names:?}");
        assert_eq!(names[4], "make /tmp/root the root");
    }
}
