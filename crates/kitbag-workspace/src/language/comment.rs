//! How a file writes a comment on one line, also where its structure cannot be read.

use super::Language;

/// What stands before and after the text of a comment on one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comment {
    /// What opens it, with the blank before the text.
    pub before: &'static str,
    /// What closes it; mostly nothing.
    pub after: &'static str,
}

impl Comment {
    /// The comments of a file by its path and its first line; none if neither tells, or if such
    /// files have no comments.
    ///
    /// ```
    /// use kitbag_workspace::language::Comment;
    ///
    /// assert_eq!(Comment::of("schema.sql", "").map(|comment| comment.before), Some("-- "));
    /// assert_eq!(Comment::of("package.json", ""), None);
    /// ```
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<Self> {
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let lower = file.to_ascii_lowercase();
        let extension = lower
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension);
        Language::of(path, first_line)
            .map(Language::comment)
            .or_else(|| of_name(file))
            .or_else(|| of_extension(extension))
            .or_else(|| first_line.starts_with("#!").then_some(Self::HASH))
    }

    pub(super) const HASH: Self = Self::line("# ");
    pub(super) const SLASHES: Self = Self::line("// ");
    pub(super) const DASHES: Self = Self::line("-- ");
    pub(super) const MARKUP: Self = Self::block("<!-- ", " -->");

    const fn line(before: &'static str) -> Self {
        Self::block(before, "")
    }

    const fn block(before: &'static str, after: &'static str) -> Self {
        Self { before, after }
    }
}

fn of_name(file: &str) -> Option<Comment> {
    let stem = file.split('.').next().unwrap_or(file);
    match file {
        "CMakeLists.txt" | "Kconfig" | "Kbuild" | "Justfile" | "justfile" | "Procfile"
        | "CODEOWNERS" | ".gitignore" | ".gitattributes" | ".dockerignore" | ".env"
        | ".editorconfig" | ".npmrc" | "meson.build" | "requirements.txt" | "go.work" => {
            Some(Comment::HASH)
        }
        "Jenkinsfile" | "go.mod" => Some(Comment::SLASHES),
        ".vimrc" => Some(Comment::line("\" ")),
        _ if matches!(stem, "Makefile" | "makefile" | "GNUmakefile" | "Dockerfile") => {
            Some(Comment::HASH)
        }
        _ => None,
    }
}

fn of_extension(extension: &str) -> Option<Comment> {
    Some(match extension {
        "yaml" | "yml" | "toml" | "mk" | "mak" | "dockerfile" | "cmake" | "pl" | "pm" | "t"
        | "r" | "rmd" | "ex" | "exs" | "nix" | "jl" | "nim" | "cr" | "tcl" | "awk" | "sed"
        | "fish" | "ps1" | "psm1" | "graphql" | "gql" | "tf" | "tfvars" | "hcl" | "conf"
        | "cfg" | "properties" | "coffee" | "gd" | "po" | "pyx" | "pxd" | "star" | "bazel"
        | "bb" | "feature" | "raku" | "nu" | "env" | "pp" | "ninja" | "gn" | "gni" | "meson"
        | "spec" | "service" => Comment::HASH,
        "dart" | "zig" | "groovy" | "gradle" | "proto" | "m" | "mm" | "d" | "v" | "sv" | "svh"
        | "fs" | "fsx" | "fsi" | "scss" | "sass" | "less" | "styl" | "glsl" | "vert" | "frag"
        | "hlsl" | "wgsl" | "metal" | "cl" | "sol" | "thrift" | "jsonc" | "json5" | "dts"
        | "dtsi" | "qml" | "rl" | "y" | "yy" | "l" | "hx" | "pde" | "cue" | "prisma" | "odin"
        | "bicep" | "move" | "cairo" | "typ" | "re" | "res" | "avdl" => Comment::SLASHES,
        "css" => Comment::block("/* ", " */"),
        "sql" | "psql" | "ddl" | "hs" | "lhs" | "elm" | "adb" | "ads" | "ada" | "vhd" | "vhdl"
        | "purs" | "idr" | "agda" | "dhall" => Comment::DASHES,
        "lisp" | "el" | "clj" | "cljs" | "cljc" | "edn" | "scm" | "ss" | "rkt" | "fnl" | "ini"
        | "asm" | "nasm" | "s" | "ll" | "reg" => Comment::line("; "),
        "html" | "htm" | "xhtml" | "xml" | "xsd" | "xsl" | "xslt" | "svg" | "vue" | "svelte"
        | "astro" | "csproj" | "fsproj" | "vbproj" | "props" | "targets" | "xaml" | "plist"
        | "pom" | "resx" | "rss" | "wsdl" | "jsp" | "aspx" | "erb" | "ejs" | "cshtml" => {
            Comment::MARKUP
        }
        "ml" | "mli" | "pas" | "mll" | "mly" => Comment::block("(* ", " *)"),
        "tex" | "sty" | "cls" | "bib" | "erl" | "hrl" | "pro" => Comment::line("% "),
        "vim" => Comment::line("\" "),
        "vb" | "bas" | "vbs" => Comment::line("' "),
        "f" | "f90" | "f95" | "f03" | "f08" => Comment::line("! "),
        "bat" | "cmd" => Comment::line("rem "),
        "j2" | "jinja" | "jinja2" | "njk" | "twig" => Comment::block("{# ", " #}"),
        "hbs" | "handlebars" | "mustache" => Comment::block("{{! ", " }}"),
        "rst" => Comment::line(".. "),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Comment;

    #[test]
    fn names_extensions_and_shebangs_tell() {
        let shown = |path: &str| {
            let comment = Comment::of(path, "").unwrap_or_default();
            format!("{}...{}", comment.before, comment.after)
        };
        assert_eq!(shown("a/b.YAML"), "# ...");
        assert_eq!(shown("Makefile"), "# ...");
        assert_eq!(shown("deploy/Dockerfile.dev"), "# ...");
        assert_eq!(shown("CMakeLists.txt"), "# ...");
        assert_eq!(shown("app/main.dart"), "// ...");
        assert_eq!(shown("site.css"), "/* ... */");
        assert_eq!(shown("Main.hs"), "-- ...");
        assert_eq!(shown("core.clj"), "; ...");
        assert_eq!(shown("App.vue"), "<!-- ... -->");
        assert_eq!(shown("a.rs"), "// ...");
        assert_eq!(shown("notes.txt"), "...");
        assert_eq!(shown("data.json"), "...");
        assert_eq!(Comment::of("run", "#!/usr/bin/perl"), Some(Comment::HASH));
        assert_eq!(Comment::of("run", ""), None);
    }
}
