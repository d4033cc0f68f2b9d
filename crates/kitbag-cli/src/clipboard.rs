//! Copies a text to the clipboard, with a program of the desktop or through the terminal.
//!
//! A clipboard belongs to the desktop, so its own program is asked. Without one, as in a session on
//! another machine, the terminal can be asked to take the text.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::output::{self, grouped};

/// The most bytes that most terminals accept.
const MAX_TERMINAL_BYTES: usize = 74_994;

/// Puts `text` on the clipboard.
pub(crate) fn copy(text: &str) -> Result<(), Failure> {
    copy_to(&Desktop::from_environment(), text)
}

/// Facts about the terminal and desktop that the command runs in.
struct Desktop {
    has_wayland: bool,
    has_x11: bool,
    is_macos: bool,
    is_windows: bool,
    has_terminal: bool,
    /// Folders to look for programs in, if not those of PATH.
    path: Option<OsString>,
}

impl Desktop {
    fn from_environment() -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            has_wayland: is_set("WAYLAND_DISPLAY"),
            has_x11: is_set("DISPLAY"),
            is_macos: cfg!(target_os = "macos"),
            is_windows: cfg!(windows) || is_set("WSL_DISTRO_NAME"),
            has_terminal: io::stderr().is_terminal(),
            path: None,
        }
    }

    /// The programs that may have the clipboard, the likeliest first.
    fn programs(&self) -> Vec<Program> {
        let all: [(bool, Program); 5] = [
            // Wayland comes first, since its sessions usually set DISPLAY too.
            (self.has_wayland, ("wl-copy", &[])),
            (self.has_x11, ("xclip", &["-in", "-selection", "clipboard"])),
            (self.has_x11, ("xsel", &["--input", "--clipboard"])),
            (self.is_macos, ("pbcopy", &[])),
            (self.is_windows, ("clip.exe", &[])),
        ];
        let here = all.into_iter().filter(|(is_here, _)| *is_here);
        here.map(|(_, program)| program).collect()
    }

    /// Runs a program with `text` as its input.
    fn run(&self, (name, args): Program, text: &str) -> Result<(), String> {
        let mut command = Command::new(name);
        // Some of these programs stay in the background to serve the text, and would keep our outputs open.
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "not installed".to_owned(),
            _ => error.to_string(),
        })?;
        let written = match child.stdin.take() {
            Some(mut stdin) => stdin.write_all(&encoded(name, text)),
            None => Ok(()),
        };
        // Before the error of writing is reported: a program that failed says why by its status.
        let status = child.wait().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(status.to_string());
        }
        written.map_err(|error| error.to_string())
    }
}

/// A program's name and its arguments.
type Program = (&'static str, &'static [&'static str]);

/// The text as a program reads it.
fn encoded(program: &str, text: &str) -> Vec<u8> {
    match program {
        // It reads other bytes in the code page of the console.
        "clip.exe" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => text.into(),
    }
}

fn copy_to(desktop: &Desktop, text: &str) -> Result<(), Failure> {
    let mut tried = Vec::new();
    for program in desktop.programs() {
        match desktop.run(program, text) {
            Ok(()) => return Ok(()),
            Err(reason) => tried.push(format!("{}: {reason}", program.0)),
        }
    }
    if desktop.has_terminal && text.len() <= MAX_TERMINAL_BYTES {
        // A terminal does not confirm the request, so the note promises nothing.
        output::say("note: asked the terminal to copy the text");
        return io::stderr()
            .write_all(terminal_request(text).as_bytes())
            .map_err(|error| Failure::new(format_args!("cannot ask the terminal: {error}")));
    }
    tried.push(if desktop.has_terminal {
        let size = grouped(text.len() as u64);
        let most = grouped(MAX_TERMINAL_BYTES as u64);
        format!("the terminal: takes {most} bytes, and the text has {size}")
    } else {
        "the terminal: stderr is not one".to_owned()
    });
    let what = format!("cannot copy to the clipboard ({})", tried.join("; "));
    Err(Failure::new(what).hint("install wl-copy, xclip or xsel, or send the output to a file"))
}

/// The control sequence (OSC 52) that asks a terminal to put `text` on the clipboard.
fn terminal_request(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            // Six bits are always below 64, so the fallback is never used.
            let shown = DIGITS.get(value as usize).copied().unwrap_or(b'=');
            text.push(char::from(if digit <= group.len() { shown } else { b'=' }));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Desktop {
        Desktop {
            has_wayland: false,
            has_x11: false,
            is_macos: false,
            is_windows: false,
            has_terminal: false,
            path: Some("/nonexistent".into()),
        }
    }

    #[test]
    fn x01_each_desktop_has_its_programs() {
        let names = |desktop: &Desktop| -> Vec<&str> {
            let programs = desktop.programs();
            programs.iter().map(|(name, _)| *name).collect()
        };
        let mut desktop = nowhere();
        assert!(names(&desktop).is_empty());
        desktop.has_x11 = true;
        assert_eq!(names(&desktop), ["xclip", "xsel"]);
        desktop.has_wayland = true;
        desktop.is_windows = true;
        assert_eq!(names(&desktop), ["wl-copy", "xclip", "xsel", "clip.exe"]);
    }

    #[test]
    fn x01_a_failure_names_what_was_tried() {
        let mut desktop = nowhere();
        desktop.has_x11 = true;
        let failure = format!("{:?}", copy_to(&desktop, "text").unwrap_err());
        for part in [
            "xclip: not installed",
            "xsel: not installed",
            "stderr is not one",
        ] {
            assert!(failure.contains(part), "{failure}");
        }
        desktop.has_terminal = true;
        let large = "x".repeat(MAX_TERMINAL_BYTES + 1);
        let failure = format!("{:?}", copy_to(&desktop, &large).unwrap_err());
        assert!(failure.contains("takes 74,994 bytes"), "{failure}");
    }

    #[test]
    fn x01_a_terminal_gets_the_text_in_base64() {
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("é€\n", "w6nigqwK"),
        ] {
            assert_eq!(
                terminal_request(text),
                format!("\u{1b}]52;c;{encoded}\u{7}")
            );
        }
    }

    #[test]
    fn x01_windows_gets_utf_16() {
        assert_eq!(encoded("clip.exe", "aé"), [0x61, 0, 0xe9, 0]);
    }
}
