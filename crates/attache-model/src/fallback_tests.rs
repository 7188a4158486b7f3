//! Chains of models that fail as told.

use std::sync::atomic::{AtomicUsize, Ordering};

use attache_domain::Usage;

use super::*;
use crate::StopReason;

/// Fails the first few times, after a word.
struct Fake {
    name: &'static str,
    window: u64,
    failures: usize,
    error: fn() -> LanguageError,
    asked: AtomicUsize,
}

impl LanguageModel for Fake {
    fn name(&self) -> &str {
        self.name
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn stream(&self, _: Prompt) -> LanguageStream {
        let failed = self.asked.fetch_add(1, Ordering::SeqCst) < self.failures;
        let said = Ok(AnswerEvent::Piece(AnswerPiece::Text(self.name.into())));
        let last = match failed {
            true => Err((self.error)()),
            false => Ok(AnswerEvent::End { stop: StopReason::Done, usage: Usage::default(), parts: vec![] }),
        };
        stream::iter([said, last]).boxed()
    }
}

fn fake(name: &'static str, failures: usize, error: fn() -> LanguageError) -> Arc<Fake> {
    Arc::new(Fake { name, window: 10, failures, error, asked: AtomicUsize::new(0) })
}

fn quota() -> LanguageError {
    LanguageError::QuotaExhausted { what: "no more".into(), retry_after: Some(Duration::from_secs(60)) }
}

fn unavailable() -> LanguageError {
    LanguageError::Unavailable { what: "away".into() }
}

fn unknown() -> LanguageError {
    LanguageError::NoSuchModel { model: "x".into(), what: "unheard of".into() }
}

fn too_long() -> LanguageError {
    LanguageError::TooLong { what: "x".into() }
}

fn chain(models: &[&Arc<Fake>]) -> FallbackModel {
    let mut models = models.iter().map(|model| Arc::clone(*model) as Arc<dyn LanguageModel>);
    let first = models.next().expect("a model");
    FallbackModel::new(first, models)
}

/// The stream in a line: texts, `>model` for a switch, `.` for an end and `!` for an error.
async fn summary(model: &FallbackModel) -> String {
    let mut summary = Vec::new();
    let mut stream = model.stream(Prompt::default());
    while let Some(next) = stream.next().await {
        summary.push(match next {
            Ok(AnswerEvent::Piece(AnswerPiece::Text(text))) => text,
            Ok(AnswerEvent::Piece(AnswerPiece::Switched { model, why })) => {
                assert!(!why.is_empty());
                format!(">{model}")
            }
            Ok(AnswerEvent::Piece(other)) => panic!("{other:?}"),
            Ok(AnswerEvent::End { .. }) => ".".into(),
            Err(error) => format!("! {error}"),
        });
    }
    summary.join(" ")
}

#[tokio::test(start_paused = true)]
async fn the_next_goes_on_where_one_cannot() {
    for error in [quota, unavailable, unknown] {
        let (first, second) = (fake("one", 1, error), fake("two", 0, error));
        assert_eq!(summary(&chain(&[&first, &second])).await, "one >two two .");
    }
    let models = [fake("one", 1, quota), fake("two", 1, unknown), fake("three", 0, quota)];
    assert_eq!(summary(&chain(&[&models[0], &models[1], &models[2]])).await, "one >two two >three three .");
}

#[tokio::test(start_paused = true)]
async fn an_error_that_another_model_would_have_too_is_the_end() {
    let (first, second) = (fake("one", 1, too_long), fake("two", 0, quota));
    assert_eq!(
        summary(&chain(&[&first, &second])).await,
        "one ! the prompt is larger than the model takes: x"
    );
    assert_eq!(second.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn the_error_of_the_last_is_the_end() {
    let (first, second) = (fake("one", 9, quota), fake("two", 9, unavailable));
    let model = chain(&[&first, &second]);
    assert_eq!(summary(&model).await, "one >two two ! the model cannot be reached: away");
    // Both models rest; the first one is asked all the same.
    assert_eq!(summary(&model).await, "one ! the quota is used up: no more");
}

#[tokio::test(start_paused = true)]
async fn one_that_failed_is_left_alone_for_a_while() {
    let (first, second) = (fake("one", 1, quota), fake("two", 0, quota));
    let model = chain(&[&first, &second]);
    assert_eq!(summary(&model).await, "one >two two .");
    assert_eq!(summary(&model).await, "two .");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(summary(&model).await, "one .");
    assert_eq!(first.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_chain_has_the_name_of_its_first_and_the_window_of_its_smallest() {
    let small =
        Arc::new(Fake { name: "small", window: 3, failures: 0, error: quota, asked: AtomicUsize::new(0) });
    let first = fake("one", 0, quota);
    let model = chain(&[&first, &small]);
    assert_eq!((model.name(), model.window()), ("one", 3));
    drop(model.stream(Prompt::default()));
    assert_eq!(first.asked.load(Ordering::SeqCst), 0, "no model is asked before the stream is polled");
}
