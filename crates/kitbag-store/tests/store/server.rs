//! A PostgreSQL server of one test alone, which may do with it what it likes.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::place::{self, run, superuser};

/// Runs until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    watch: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts a server with the programs of the one that all tests share, as the same user.
    pub(crate) fn start() -> Self {
        Self::start_with(5432, &[])
    }

    /// Starts a server whose folder holds these files, which nobody else may read. It includes
    /// `extra.conf` in its configuration, and runs in the folder above its data.
    pub(crate) fn start_with(port: u16, files: &[(&str, String)]) -> Self {
        let shared = place::postgres_url();
        let programs: String = run(async {
            let server = superuser(&shared).await;
            let sql = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";
            server.query_one(sql, &[]).await.unwrap().get(0)
        });
        let folder = tempfile::tempdir().unwrap();
        let owner = fs::metadata(socket_folder(&shared)).unwrap();
        let give = |path: &Path| chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        give(folder.path());
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            give(&path);
        }
        let mut watch = Command::new("sh");
        watch
            .args(["-c", WATCH, "watch"])
            .args([folder.path(), Path::new(&programs)])
            .arg(port.to_string())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if fs::metadata("/proc/self").map_or(0, |process| process.uid()) == 0 {
            watch.uid(owner.uid()).gid(owner.gid());
        }
        let mut watch = watch.spawn().unwrap();
        let mut server = Self {
            url: format!(
                "postgresql:host={} port={port} user=postgres",
                folder.path().display()
            ),
            orders: watch.stdin.take(),
            answers: BufReader::new(watch.stdout.take().unwrap()),
            watch,
            folder,
        };
        server.wait_until_ready();
        server
    }

    /// Stops the server with a signal, and starts it again.
    pub(crate) fn restart_with(&mut self, signal: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{signal}").unwrap();
        self.wait_until_ready();
    }

    fn wait_until_ready(&mut self) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        if line != "ready\n" {
            let log = fs::read_to_string(self.folder.path().join("log"));
            panic!("the server did not start: {log:?}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The script waits for the end of its standard input.
        drop(self.orders.take());
        drop(self.watch.wait());
    }
}

/// Starts a server, again after each signal that it is told to send, and ends it with the test.
const WATCH: &str = r#"
folder=$1 programs=$2 port=$3 data=$1/data
start() {
    "$programs/postgres" -D "$data" &
    server=$!
    until "$programs/pg_isready" --quiet --host="$folder" --port="$port" --username=postgres; do
        kill -0 "$server" || exit 1
        sleep 0.05
    done
}
{
    "$programs/initdb" --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 \
        --locale=C --no-sync &&
    cat >>"$data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$folder'
port = $port
fsync = off
include_if_exists '../extra.conf'
END
    start
} >"$folder/log" 2>&1
echo ready
while read -r signal; do
    { kill -"$signal" "$server"; wait "$server"; start; } >>"$folder/log" 2>&1
    echo ready
done
kill -QUIT "$server"
wait
"#;

/// Where the socket of a server is, from its address.
pub(crate) fn socket_folder(url: &str) -> String {
    let host = url.split_once('@').unwrap().1.split('/').next().unwrap();
    host.replace("%2F", "/")
}
