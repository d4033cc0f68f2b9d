//! Why a file is left out, and which names say so.
//!
//! Names that are real source in some projects (`build`, `dist`, `out`, `lib`, `external`, `*.d.ts`)
//! are deliberately absent: an ignore file is the place for those.

use std::fmt;

/// Why a file or a folder was left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// A folder with code of other projects.
    Vendored,
    /// A folder that a tool fills and may delete.
    Cache,
    /// A list of resolved dependencies.
    LockFile,
    /// Text packed for machines, or the map back to its source.
    Minified,
    /// A name that code generators give.
    Generated,
    /// An extension of a format that is no text.
    Binary,
    /// A name that stands for keys or passwords.
    Secrets,
    /// Larger than a context has use for.
    Huge {
        /// Its size in bytes.
        size: u64,
    },
    /// A link to a place inside the root, which is listed there.
    LinkInside {
        /// The path that it leads to, below the root.
        target: String,
    },
    /// A link that leaves the root; it is not followed.
    LinkOutside,
    /// A link that leads nowhere, or in a circle.
    DeadLink,
    /// A pipe, a socket or a device; it is never opened.
    NotAFile,
    /// A name that is no UTF-8.
    Name,
    /// The system would not say more.
    Unreadable {
        /// What the system said.
        message: String,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vendored => f.write_str("code of other projects"),
            Self::Cache => f.write_str("made by a tool"),
            Self::LockFile => f.write_str("lock file"),
            Self::Minified => f.write_str("minified"),
            Self::Generated => f.write_str("generated"),
            Self::Binary => f.write_str("no text"),
            Self::Secrets => f.write_str("may hold secrets"),
            Self::Huge { size } => write!(f, "too large ({size} bytes)"),
            Self::LinkInside { target } if target.is_empty() => f.write_str("link to the root"),
            Self::LinkInside { target } => write!(f, "link to {target}"),
            Self::LinkOutside => f.write_str("link out of the root"),
            Self::DeadLink => f.write_str("link that leads nowhere"),
            Self::NotAFile => f.write_str("neither a file nor a folder"),
            Self::Name => f.write_str("its name is no UTF-8"),
            Self::Unreadable { message } => write!(f, "unreadable: {message}"),
        }
    }
}

/// Folders that no context ever shows, told or not.
pub(super) fn never_shown(name: &str) -> bool {
    matches!(
        name,
        ".git" | ".kitbag" | ".hg" | ".svn" | ".jj" | ".bzr" | ".sl" | "CVS" | "_darcs"
    )
}

/// The reason to skip a folder of this name, below a folder named `parent`.
pub(super) fn folder_by_name(name: &str, parent: &str) -> Option<SkipReason> {
    match name {
        "node_modules" | "bower_components" | "jspm_packages" | "web_modules" | "third_party"
        | "third-party" | "thirdparty" | "3rdparty" | "3rd-party" | "3rd_party" | "Pods"
        | "site-packages" | "dist-packages" | "_vendor" | "_vendored" | ".yarn" | ".bundle"
        | ".cargo-vendor" => Some(SkipReason::Vendored),
        // A front end keeps foreign scripts beside its own.
        "vendor" | "vendors"
            if matches!(
                parent,
                "static" | "assets" | "public" | "js" | "css" | "javascripts" | "stylesheets"
            ) =>
        {
            Some(SkipReason::Vendored)
        }
        "Checkouts" | "Build" if parent == "Carthage" => Some(SkipReason::Vendored),
        "bundle" | "cache" if parent == "vendor" => Some(SkipReason::Vendored),
        "__pycache__" | ".tox" | ".nox" | ".eggs" | ".mypy_cache" | ".pytest_cache"
        | ".ruff_cache" | ".hypothesis" | ".ipynb_checkpoints" | ".gradle" | ".terraform"
        | ".next" | ".nuxt" | ".svelte-kit" | ".parcel-cache" | ".turbo" | ".angular"
        | ".nyc_output" | ".dart_tool" | ".sass-cache" | ".vs" | "DerivedData" | ".ccls-cache"
        | ".clangd" | ".stack-work" | ".direnv" => Some(SkipReason::Cache),
        _ if name.ends_with(".egg-info") || name.ends_with(".dSYM") => Some(SkipReason::Cache),
        _ => None,
    }
}

/// The reason to skip a folder named `name`, below one named `parent`, that holds `child`.
pub(super) fn folder_by_child(name: &str, parent: &str, child: &str) -> Option<SkipReason> {
    let vendored = match child {
        // One crate of a `cargo vendor` folder.
        ".cargo-checksum.json" => true,
        // Go with modules and before them, Composer.
        "modules.txt" | "github.com" | "golang.org" | "autoload.php" => name == "vendor",
        // A project with a licence of its own, where others are kept.
        _ if ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT"]
            .iter()
            .any(|l| child.starts_with(l)) =>
        {
            matches!(
                parent,
                "vendor" | "deps" | "extern" | "external" | "externals"
            )
        }
        _ => false,
    };
    vendored.then_some(SkipReason::Vendored)
}

/// The reason to skip a folder in which a tool left this mark.
pub(super) fn folder_by_mark(child: &str) -> Option<SkipReason> {
    match child {
        "pyvenv.cfg" => Some(SkipReason::Vendored),
        "CACHEDIR.TAG" => Some(SkipReason::Cache),
        _ => None,
    }
}

/// The reason to skip a file of this name.
pub(super) fn file_by_name(name: &str) -> Option<SkipReason> {
    if holds_secrets(name) {
        return Some(SkipReason::Secrets);
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension.is_empty() {
        return None;
    }
    let lower;
    let extension = if extension.bytes().any(|b| b.is_ascii_uppercase()) {
        lower = extension.to_ascii_lowercase();
        lower.as_str()
    } else {
        extension
    };
    if is_binary(extension) || name == ".DS_Store" {
        Some(SkipReason::Binary)
    } else if is_lock_file(name, extension) {
        Some(SkipReason::LockFile)
    } else if is_minified(name, extension) {
        Some(SkipReason::Minified)
    } else if is_generated(name, extension) {
        Some(SkipReason::Generated)
    } else {
        None
    }
}

fn holds_secrets(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix(".env") {
        let shown = [
            "example", "sample", "template", "dist", "defaults", "schema",
        ];
        return match rest.chars().next() {
            None => true,
            Some('.' | '-' | '_') => !rest
                .split(['.', '-', '_'])
                .any(|part| shown.contains(&part)),
            Some(_) => rest == "rc",
        };
    }
    matches!(
        name,
        ".netrc"
            | "_netrc"
            | ".pypirc"
            | ".pgpass"
            | ".htpasswd"
            | ".git-credentials"
            | "id_rsa"
            | "id_dsa"
            | "id_ecdsa"
            | "id_ed25519"
    ) || [".pem", ".key", ".ppk", ".kdbx"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_lock_file(name: &str, extension: &str) -> bool {
    extension == "lock"
        || matches!(
            name,
            "package-lock.json"
                | "npm-shrinkwrap.json"
                | "pnpm-lock.yaml"
                | "conda-lock.yml"
                | "go.sum"
                | "go.work.sum"
                | "Package.resolved"
                | "Cartfile.resolved"
                | "packages.lock.json"
                | "gradle.lockfile"
                | "buildscript-gradle.lockfile"
                | ".terraform.lock.hcl"
                | "cabal.project.freeze"
                | "vcpkg-lock.json"
                | "project.assets.json"
                | "bun.lockb"
        )
}

fn is_minified(name: &str, extension: &str) -> bool {
    match extension {
        "js" | "mjs" | "cjs" | "css" | "html" | "json" | "svg" => {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            stem.ends_with(".min") || stem.ends_with("-min") || stem.ends_with(".bundle.min")
        }
        "map" => [".js.map", ".mjs.map", ".cjs.map", ".css.map", ".ts.map"]
            .iter()
            .any(|end| name.ends_with(end)),
        _ => false,
    }
}

fn is_generated(name: &str, extension: &str) -> bool {
    let ends: &[&str] = match extension {
        "go" => &[
            ".pb.go",
            ".pb.gw.go",
            "_generated.go",
            "_gen.go",
            "_string_gen.go",
            ".gen.go",
        ],
        "py" | "pyi" => &["_pb2.py", "_pb2_grpc.py", "_pb2.pyi", "_pb2_grpc.pyi"],
        "cc" | "h" | "cpp" | "c" | "hpp" => &[".pb.cc", ".pb.h", ".pb-c.c", ".pb-c.h", ".pb.cpp"],
        "dart" => &[
            ".g.dart",
            ".freezed.dart",
            ".pb.dart",
            ".pbenum.dart",
            ".pbjson.dart",
            ".mocks.dart",
            ".gr.dart",
        ],
        "cs" => &[
            ".designer.cs",
            ".Designer.cs",
            ".g.cs",
            ".g.i.cs",
            ".generated.cs",
        ],
        "vb" => &[".Designer.vb"],
        "js" | "ts" | "mjs" => &[
            "_pb.js",
            "_pb.ts",
            "_pb.d.ts",
            ".pb.js",
            ".pb.ts",
            "_grpc_web_pb.js",
            "_connect.ts",
            ".generated.ts",
            ".generated.js",
            ".gen.ts",
        ],
        "rb" => &["_pb.rb", "_services_pb.rb"],
        "java" => &["OuterClass.java", "Grpc.java"],
        "swift" => &[".pb.swift", ".grpc.swift", ".generated.swift"],
        "rs" => &[".pb.rs", ".generated.rs"],
        "cjs" => &[".pnp.cjs"],
        _ => return false,
    };
    ends.iter().any(|end| name.ends_with(end))
}

fn is_binary(extension: &str) -> bool {
    matches!(
        extension,
        // Pictures.
        "png" | "jpg" | "jpeg" | "gif" | "bmp" | "ico" | "icns" | "webp" | "avif" | "heic" | "tif"
            | "tiff" | "psd" | "xcf" | "eps" | "dds" | "tga" | "exr" | "ktx"
            // Sound and film.
            | "mp3" | "mp4" | "m4a" | "m4v" | "mov" | "avi" | "mkv" | "webm" | "wav" | "flac"
            | "ogg" | "ogv" | "opus" | "aac" | "mid" | "aif" | "aiff" | "wmv"
            // Archives and packages.
            | "zip" | "tar" | "gz" | "tgz" | "bz2" | "tbz" | "xz" | "txz" | "zst" | "lz4" | "br"
            | "7z" | "rar" | "jar" | "war" | "ear" | "aar" | "apk" | "ipa" | "deb" | "rpm" | "dmg"
            | "iso" | "img" | "whl" | "egg" | "gem" | "nupkg" | "crate" | "phar" | "xpi" | "vsix"
            | "cab" | "msi" | "lzma" | "snupkg"
            // Fonts.
            | "ttf" | "otf" | "woff" | "woff2" | "eot" | "pfb" | "ttc"
            // Compiled code.
            | "o" | "a" | "so" | "dylib" | "dll" | "exe" | "pdb" | "class" | "pyc"
            | "pyo" | "pyd" | "elc" | "wasm" | "rlib" | "rmeta" | "ko" | "beam" | "gch"
            | "pch" | "dex" | "luac" | "cmi" | "cmo" | "cmx" | "gcda" | "gcno"
            // Documents of other programs.
            | "pdf" | "docx" | "xls" | "xlsx" | "ppt" | "pptx" | "odt" | "ods" | "odp"
            | "epub" | "mobi" | "rtf" | "vsd" | "sketch" | "xd" | "djvu"
            // Databases, arrays and models.
            | "db" | "sqlite" | "sqlite3" | "db3" | "mdb" | "accdb" | "dbf" | "parquet" | "arrow"
            | "feather" | "avro" | "npy" | "npz" | "pkl" | "pickle" | "joblib" | "h5"
            | "hdf5" | "fits" | "rds" | "rdata" | "pt" | "pth" | "onnx" | "pb"
            | "tflite" | "safetensors" | "gguf" | "ckpt" | "bin" | "mo" | "gmo" | "qm"
            | "shp" | "shx" | "mmdb" | "tfrecord"
            // Keys in binary form, models of solid things, swap files.
            | "p12" | "pfx" | "jks" | "keystore" | "der" | "crt" | "cer" | "gpg" | "pgp" | "blend"
            | "fbx" | "glb" | "stl" | "swp" | "swo" | "pcap" | "pcapng" | "hprof"
            | "snk" | "nib" | "xcuserstate"
    )
}
