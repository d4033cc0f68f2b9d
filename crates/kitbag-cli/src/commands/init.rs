//! `kitbag init`: writes a commented configuration that works.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use kitbag::project::CONFIG_NAMES;

use crate::failure::Failure;
use crate::output;

const CONFIG: &str = include_str!("init/kitbag.yaml");

/// Writes a commented kitbag.yaml that works
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to write to
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Replaces a kitbag.yaml that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let file = args.folder.join("kitbag.yaml");
    let shown = file.display();
    let mut names = CONFIG_NAMES.iter().filter(|_| !args.force);
    if let Some(name) = names.find(|name| args.folder.join(name).exists()) {
        let folder = args.folder.display();
        let failure = Failure::new(format_args!("{folder} has a {name} already"));
        return Err(failure.hint("`--force` replaces kitbag.yaml"));
    }
    let written = fs::create_dir_all(&args.folder).and_then(|()| {
        let mut options = OpenOptions::new();
        options.write(true);
        // Without --force, a file that has come meanwhile is not lost either.
        match args.force {
            true => options.create(true).truncate(true),
            false => options.create_new(true),
        };
        options.open(&file)?.write_all(CONFIG.as_bytes())
    });
    written.map_err(|error| Failure::new(format_args!("cannot write {shown}: {error}")))?;
    output::say(format_args!(
        "wrote {shown}; try: kitbag layout render --agent reviewer \"What does this project do?\""
    ));
    Ok(())
}
