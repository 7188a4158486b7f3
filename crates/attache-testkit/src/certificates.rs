//! Certificates of a private authority, made with the program `openssl`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A certificate authority with files in a temporary folder.
pub struct TestAuthority {
    folder: TempDir,
}

/// A certificate and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct TestCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl TestAuthority {
    #[expect(clippy::new_without_default, reason = "it starts programs")]
    pub fn new() -> Self {
        let authority = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let subject =
            ["-subj", "/CN=Authority of a test", "-keyout", "authority.key", "-out", "authority.pem"];
        let usage =
            ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"];
        authority.openssl(&[&["req", "-x509", "-days", "2"], &KEY[..], &subject, &usage].concat());
        authority
    }

    /// The certificate of the authority.
    pub fn certificate(&self) -> PathBuf {
        self.path("authority.pem")
    }

    /// A certificate for a host, or for a client with a name.
    pub fn issue(&self, name: &str) -> TestCertificate {
        let extensions = format!("{name}.ext");
        let text = format!("subjectAltName=DNS:{name}\nbasicConstraints=CA:FALSE\n");
        std::fs::write(self.path(&extensions), text).expect("a file in the temporary folder");
        self.issue_with(name, &["-days", "2", "-extfile", &extensions])
    }

    /// A certificate in the old form without extensions.
    pub fn issue_version_1(&self, name: &str) -> TestCertificate {
        self.issue_with(name, &["-days", "2"])
    }

    /// A certificate whose time ended years ago.
    pub fn issue_expired(&self, name: &str) -> TestCertificate {
        let issued = self.issue(name);
        std::fs::write(self.path("ca.conf"), DATED).expect("a file in the temporary folder");
        std::fs::write(self.path("index.txt"), "").expect("a file in the temporary folder");
        let (request, certificate) = (format!("{name}.csr"), format!("{name}.pem"));
        let dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
        let files = ["-in", &request, "-out", &certificate, "-notext"];
        self.openssl(&[&["ca", "-batch", "-config", "ca.conf"], &dates[..], &files].concat());
        issued
    }

    fn issue_with(&self, name: &str, options: &[&str]) -> TestCertificate {
        let [request, key, certificate] = ["csr", "key", "pem"].map(|ending| format!("{name}.{ending}"));
        let subject = ["-subj", &format!("/CN={name}"), "-keyout", &key, "-out", &request];
        self.openssl(&[&["req"], &KEY[..], &subject].concat());
        let issuer = ["-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"];
        let files = ["-in", &request, "-out", &certificate];
        self.openssl(&[&["x509", "-req"], &issuer[..], &files, options].concat());
        TestCertificate { certificate: self.path(&certificate), key: self.path(&key) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl")
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("the program openssl, which `cargo xtask setup` installs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

const KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/// What `openssl ca` needs; the other commands of this version take no dates.
const DATED: &str = "[ca]
default_ca = here
[here]
database = index.txt
new_certs_dir = .
certificate = authority.pem
private_key = authority.key
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = supplied
[extensions]
basicConstraints = CA:FALSE
";

/// The text of a file.
pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file in the temporary folder")
}
