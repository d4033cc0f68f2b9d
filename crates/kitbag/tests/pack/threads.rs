//! A pack may be made from anywhere, also from the threads that would do its work.

use std::sync::mpsc;
use std::time::Duration;

use kitbag::gather::Files;

use crate::project::{Project, packed, problems};

#[test]
fn p05_a_pack_inside_rayons_only_thread_ends() {
    let project = Project::repository(&[("a.rs", "fn login() {}\n"), ("b.rs", "fn b() {}\n")]);
    let request = project
        .request("fix the login", 2_000)
        .with_gatherer(Files::new(["b.rs"]));
    // Where other tests share the process, the pool may have been made already, with more threads.
    let only = rayon::ThreadPoolBuilder::new().num_threads(1);
    let _ = only.build_global();
    let first = packed(&request).unwrap();
    let (send, receive) = mpsc::channel();
    rayon::spawn(move || send.send(packed(&request).unwrap()).unwrap());
    let inside = receive.recv_timeout(Duration::from_secs(120)).unwrap();
    assert_eq!(inside.prompt(), first.prompt());
    assert_eq!(problems(&inside), [""; 0]);
}
