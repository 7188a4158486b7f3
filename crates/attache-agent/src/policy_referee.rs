//! The referee that goes by rules, modes and what people answered before.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attache_domain::{Access, Answer, Effect, Shown};
use attache_tool::Confinement;
use attache_tool::policy::{Choice, Decision, Mode, Outcome, Policy, Rule, choices, grants, rules_for};
use attache_tool::ruling::{Files, Judged, rule};
use serde_json::Map;

use crate::referee::{Case, Referee, Ruling};

/// Judges for one conversation and remembers what its people agreed to.
pub struct PolicyReferee {
    options: PolicyOptions,
    none: Map<String, serde_json::Value>,
    terms: Mutex<Terms>,
}

#[derive(Clone)]
pub struct PolicyOptions {
    pub policy: Policy,
    pub mode: Mode,
    /// Absolute and without links.
    pub roots: Vec<PathBuf>,
    /// Where plans may be written.
    pub plans: Option<PathBuf>,
    /// The folder is one that its owner trusts.
    pub trusted: bool,
    /// What can be enforced around commands.
    pub confinement: Confinement,
    /// The files that commands name.
    pub files: Arc<dyn Files>,
    /// Nobody can be asked.
    pub unattended: bool,
    /// Nothing is agreed to for longer than once.
    pub only_once: bool,
    /// Where answers for good are kept; none: they are not offered.
    pub keeper: Option<Arc<dyn RuleKeeper>>,
    /// MCP servers that the client named. Rules were not made for them: their first use is asked about in every mode but
    /// yolo.
    pub client_servers: BTreeSet<String>,
}

/// Keeps rules for later sessions.
pub trait RuleKeeper: Send + Sync + 'static {
    fn keep(&self, rules: &[Rule]) -> Result<(), String>;
}

/// What a conversation has been granted beyond the rules.
struct Terms {
    mode: Mode,
    /// The rules, and those that answers made.
    policy: Policy,
    learnt: Vec<Rule>,
    /// Servers of the client that a person let the agent use.
    agreed_servers: BTreeSet<String>,
}

impl PolicyReferee {
    pub fn new(options: PolicyOptions) -> Self {
        let terms = Terms {
            mode: options.mode,
            policy: options.policy.clone(),
            learnt: Vec::new(),
            agreed_servers: BTreeSet::new(),
        };
        Self { options, none: Map::new(), terms: Mutex::new(terms) }
    }

    fn terms(&self) -> MutexGuard<'_, Terms> {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judged<'a>(&'a self, case: Case<'a>, mode: Mode) -> Judged<'a> {
        let origin = case.tool.origin.as_ref();
        Judged {
            tool: &case.tool.name,
            server: origin.map(|origin| origin.server.as_str()),
            subagent: None,
            annotations: origin.map_or(&self.none, |origin| &origin.annotations),
            proposal: case.proposal,
            roots: &self.options.roots,
            plans: self.options.plans.as_deref(),
            mode,
            interactive: !self.options.unattended,
            trusted: self.options.trusted,
            confinement: &self.options.confinement,
            files: self.options.files.as_ref(),
        }
    }

    /// What comes of an answer, and the rules to keep for good.
    fn take(&self, case: Case<'_>, answer: &Answer) -> Vec<Rule> {
        let Some(choice) = Choice::from_id(&answer.choice) else { return Vec::new() };
        if choice != Choice::Cancel
            && let Some(server) = self.client_server(case)
        {
            self.terms().agreed_servers.insert(server.to_owned());
        }
        if !may_last(case) {
            return Vec::new();
        }
        let mode = self.terms().mode;
        let (rules, switch, kept) = match rules_for(choice, &self.judged(case, mode)) {
            Outcome::Switch(mode) => (Vec::new(), Some(mode), Vec::new()),
            Outcome::Remember(rules) => (rules, None, Vec::new()),
            Outcome::Save { rules, switch } => (rules.clone(), switch, rules),
            Outcome::Run | Outcome::Modify | Outcome::Cancel => return Vec::new(),
        };
        let mut terms = self.terms();
        terms.mode = switch.unwrap_or(mode);
        for rule in rules {
            if !terms.learnt.contains(&rule) {
                terms.learnt.push(rule.clone());
                terms.policy.add([rule]);
            }
        }
        kept
    }

    /// The server of the client that the call would use.
    fn client_server<'a>(&self, case: Case<'a>) -> Option<&'a str> {
        case.proposal.effects.iter().find_map(|effect| match effect {
            Effect::UseServer { server, .. } => {
                Some(server.as_str()).filter(|server| self.options.client_servers.contains(*server))
            }
            _ => None,
        })
    }

    fn offered(&self, case: Case<'_>, mode: Mode) -> Vec<String> {
        if let Shown::Questions { .. } = case.proposal.shown {
            return vec!["answer".into(), Choice::Cancel.id().into()];
        }
        let offered = choices(&self.judged(case, mode), self.options.keeper.is_some()).into_iter();
        let offered = offered.filter(|choice| match choice {
            Choice::ProceedOnce | Choice::ModifyWithEditor | Choice::Cancel => true,
            _ => !self.options.only_once && may_last(case),
        });
        offered.map(|choice| choice.id().to_owned()).collect()
    }

    /// Puts the question about a call, as it would run with this access.
    fn ask(&self, case: Case<'_>, mode: Mode, why: String, access: Option<Access>) -> Ruling {
        let mut proposal = case.proposal.clone();
        if let Some(access) = &access {
            proposal.set_access(access);
        }
        let case = Case { proposal: &proposal, ..case };
        let choices = self.offered(case, mode);
        let sentence = |id: &String| {
            let sentence = grants(Choice::from_id(id)?, &self.judged(case, mode))?;
            Some((id.clone(), sentence))
        };
        let grants = choices.iter().filter_map(sentence).collect();
        Ruling::Ask { choices, grants, why, access }
    }
}

/// Text with hidden characters is agreed to as it is shown and once: a rule made from it would hide the same.
fn may_last(case: Case<'_>) -> bool {
    !case.proposal.hides_something()
}

impl Referee for PolicyReferee {
    fn rule(&self, case: Case<'_>) -> Ruling {
        let (ruled, mode) = {
            let terms = self.terms();
            let judged = self.judged(case, terms.mode);
            let server = self.client_server(case).filter(|server| !terms.agreed_servers.contains(*server));
            let ruled = match server.filter(|_| judged.effective_mode() != Mode::Yolo) {
                Some(server) => {
                    rule(&terms.policy, &judged).and_ask(&judged, format!("the first use of {server}"))
                }
                None => rule(&terms.policy, &judged),
            };
            (ruled, terms.mode)
        };
        match ruled.decision {
            Decision::Allow => Ruling::Allow { why: ruled.why, access: ruled.access },
            Decision::Ask => self.ask(case, mode, ruled.why, ruled.access),
            Decision::Deny => {
                let message =
                    ruled.deny_message.unwrap_or_else(|| format!("denied by policy ({})", ruled.why));
                Ruling::Deny { message }
            }
        }
    }

    fn learn(&self, case: Case<'_>, answer: &Answer) {
        let rules = self.take(case, answer);
        if let Some(keeper) = self.options.keeper.as_ref().filter(|_| !rules.is_empty())
            && let Err(error) = keeper.keep(&rules)
        {
            // It holds for the conversation all the same; the next one asks again.
            tracing::warn!(%error, "an answer for good cannot be kept");
        }
    }

    fn recall(&self, case: Case<'_>, answer: &Answer) {
        self.take(case, answer);
    }
}
