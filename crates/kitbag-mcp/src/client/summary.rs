//! Servers as far as they can be judged without starting one.

use std::env;
use std::path::Path;

use kitbag::core::context::McpServer;

use super::config::{self, Entry, Launch, McpConfigError, Route};
use super::skills;

/// A server that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSummary {
    /// Its name in the file.
    pub name: String,
    /// The program, or the host that is asked; nothing where the file cannot be followed.
    pub place: String,
    /// The reason why it cannot be used.
    pub problem: Option<String>,
}

/// The servers of a file such as `.mcp.json`. Nothing is started, and nobody is asked.
///
/// # Errors
/// When the file cannot be read.
pub fn servers_of(
    file: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ServerSummary>, McpConfigError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let entries = config::read(file, variable)?.into_iter();
    let summary = |Entry { server, route }| match route {
        Ok(Route::Program(launch)) => of_program(server, launch, folder),
        Ok(Route::Http(endpoint)) => ServerSummary {
            name: server,
            place: endpoint.address.host().unwrap_or_default().to_owned(),
            problem: None,
        },
        Err(problem) => unusable(server, problem),
    };
    Ok(entries.map(summary).collect())
}

/// A server of a skill, which is started in the folder that the process is in.
#[must_use]
pub fn server_of_skill(server: &McpServer) -> ServerSummary {
    match skills::launch(server) {
        Ok(launch) => of_program(server.name.clone(), launch, Path::new(".")),
        Err(problem) => unusable(server.name.clone(), problem),
    }
}

fn unusable(name: String, problem: String) -> ServerSummary {
    ServerSummary {
        name,
        place: String::new(),
        problem: Some(problem),
    }
}

fn of_program(name: String, launch: Launch, folder: &Path) -> ServerSummary {
    // The most common fault, and one that a start would report only after its time limit.
    let problem = (!is_there(&launch, folder)).then(|| match launch.command.contains('/') {
        true => "there is no such program".to_owned(),
        false => "there is no such program in any folder of PATH".to_owned(),
    });
    ServerSummary {
        name,
        place: launch.command,
        problem,
    }
}

/// Looks where the system does: in the folders of `PATH`, unless the command is a path itself.
fn is_there(launch: &Launch, folder: &Path) -> bool {
    let command = format!(
        "{}{}",
        // On Windows both `node` and `node.exe` name the same program.
        launch.command.trim_end_matches(env::consts::EXE_SUFFIX),
        env::consts::EXE_SUFFIX
    );
    // A path is not looked up in PATH; it counts from the folder of the file.
    if Path::new(&command).components().count() > 1 {
        return folder.join(command).is_file();
    }
    // The entry's own PATH is the one the program is started with.
    let path = launch.env.get("PATH").map(Into::into);
    let path = path.or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(&command).is_file())
}
