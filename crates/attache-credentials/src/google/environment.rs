//! Finds Application Default Credentials.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::account::{BadCredentials, GoogleCredentials, bad};
use super::aws::AwsEnvironment;

/// What the environment says about them. The first that is there counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoogleEnvironment {
    /// `GOOGLE_APPLICATION_CREDENTIALS`.
    pub credentials_file: Option<PathBuf>,
    /// Where `gcloud auth application-default login` leaves its file.
    pub gcloud_folder: Option<PathBuf>,
    /// `GCE_METADATA_HOST`: a host, with or without a port.
    pub metadata_host: Option<String>,
    /// `GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES` is 1.
    pub runs_programs: bool,
    pub aws: AwsEnvironment,
}

const METADATA_HOST: &str = "metadata.google.internal";
const DEFAULT_FILE: &str = "application_default_credentials.json";
/// Such files are small.
const MAX_BYTES: u64 = 64 << 10;

impl GoogleEnvironment {
    /// Reads the variables that Google's own libraries read.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = text("HOME").map(|home| PathBuf::from(home).join(".config").join("gcloud"));
        Self {
            credentials_file: text("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from),
            gcloud_folder: text("CLOUDSDK_CONFIG").map(PathBuf::from).or(home),
            metadata_host: text("GCE_METADATA_HOST"),
            runs_programs: text("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES").as_deref() == Some("1"),
            aws: AwsEnvironment::read(text),
        }
    }

    /// The credentials; without any file, those of the machine.
    pub fn credentials(&self) -> Result<GoogleCredentials, BadCredentials> {
        if let Some(path) = &self.credentials_file {
            let text = read(path)?.ok_or_else(|| missing(path))?;
            return self.of_file(&text, path);
        }
        if let Some(path) = self.gcloud_folder.as_ref().map(|folder| folder.join(DEFAULT_FILE))
            && let Some(text) = read(&path)?
        {
            return self.of_file(&text, &path);
        }
        let host = self.metadata_host.as_deref().unwrap_or(METADATA_HOST);
        GoogleCredentials::metadata(&format!("http://{host}"))
    }

    fn of_file(&self, text: &str, path: &Path) -> Result<GoogleCredentials, BadCredentials> {
        let credentials = GoogleCredentials::from_json(text)
            .map_err(|error| bad(&format!("{}: {}", path.display(), error.what)))?;
        Ok(credentials.running_programs(self.runs_programs).with_aws(self.aws.clone()))
    }
}

fn missing(path: &Path) -> BadCredentials {
    bad(&format!("GOOGLE_APPLICATION_CREDENTIALS names {}, which is not there", path.display()))
}

fn read(path: &Path) -> Result<Option<String>, BadCredentials> {
    let mut text = String::new();
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file,
    };
    let read = file.and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    read.map_err(|error| bad(&format!("{} cannot be read: {error}", path.display())))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_is_there_counts() {
        let folder = tempfile::tempdir().unwrap();
        let person = r#"{"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c",
            "quota_project_id": "PROJECT"}"#;
        let named = folder.path().join("named.json");
        let gcloud = folder.path().join("gcloud");
        std::fs::create_dir(&gcloud).unwrap();
        let environment = |name: &str| match name {
            "GOOGLE_APPLICATION_CREDENTIALS" => Some(named.display().to_string()),
            "CLOUDSDK_CONFIG" => Some(gcloud.display().to_string()),
            "GCE_METADATA_HOST" => Some("127.0.0.1:9".to_owned()),
            _ => None,
        };
        let all = GoogleEnvironment::read(environment);
        let error = all.credentials().unwrap_err();
        assert!(error.what.contains("named.json, which is not there"), "{error}");
        let others = GoogleEnvironment { credentials_file: None, ..all.clone() };
        assert!(format!("{:?}", others.credentials().unwrap()).contains("127.0.0.1"));
        std::fs::write(gcloud.join(DEFAULT_FILE), person.replace("PROJECT", "of-gcloud")).unwrap();
        assert_eq!(others.credentials().unwrap().quota_project(), Some("of-gcloud"));
        std::fs::write(&named, person.replace("PROJECT", "named")).unwrap();
        assert_eq!(all.credentials().unwrap().quota_project(), Some("named"));
        std::fs::write(&named, "s3cret").unwrap();
        let error = all.credentials().unwrap_err();
        assert!(error.what.contains("named.json") && !error.what.contains("s3cret"), "{error}");
    }
}
