//! The referee that goes by rules, modes and what people answered before.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use attache_domain::{Answer, ContextId, Scope};
use attache_tool::policy::{Choice, Decision, Mode, Outcome, Policy, Rule, choices, rules_for};
use attache_tool::ruling::{Judged, rule};
use serde_json::Map;

use crate::referee::{Case, Referee, Ruling};

/// Conversations whose answers are remembered; the oldest are asked again.
const MOST_CONVERSATIONS: usize = 4096;

/// What people agreed to is remembered for each conversation on its own.
pub struct PolicyReferee {
    options: PolicyOptions,
    agreed: Mutex<Agreed>,
}

#[derive(Debug, Clone, Default)]
pub struct PolicyOptions {
    pub policy: Policy,
    pub mode: Mode,
    /// Absolute and without links.
    pub roots: Vec<PathBuf>,
    /// The folder is one that its owner trusts.
    pub trusted: bool,
}

#[derive(Default)]
struct Agreed {
    conversations: HashMap<(Scope, ContextId), Terms>,
    order: VecDeque<(Scope, ContextId)>,
}

/// What a conversation has been granted beyond the rules.
#[derive(Clone)]
struct Terms {
    mode: Mode,
    rules: Vec<Rule>,
}

impl PolicyReferee {
    pub fn new(options: PolicyOptions) -> Self {
        Self { options, agreed: Mutex::default() }
    }

    fn agreed(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn terms(&self, case: &Case<'_>) -> Option<Terms> {
        self.agreed().conversations.get(&(case.scope.clone(), case.context.clone())).cloned()
    }

    fn judged<'a>(
        &'a self,
        case: Case<'a>,
        mode: Mode,
        annotations: &'a Map<String, serde_json::Value>,
    ) -> Judged<'a> {
        Judged {
            tool: &case.tool.name,
            server: None,
            subagent: None,
            annotations,
            proposal: case.proposal,
            roots: &self.options.roots,
            plans: None,
            mode,
            interactive: true,
            trusted: self.options.trusted,
        }
    }
}

impl Referee for PolicyReferee {
    fn rule(&self, case: Case<'_>) -> Ruling {
        let none = Map::new();
        let ruled = match self.terms(&case) {
            None => rule(&self.options.policy, &self.judged(case, self.options.mode, &none)),
            Some(terms) => {
                let mut policy = self.options.policy.clone();
                policy.add(terms.rules);
                rule(&policy, &self.judged(case, terms.mode, &none))
            }
        };
        match ruled.decision {
            Decision::Allow => Ruling::Allow { why: ruled.why },
            Decision::Ask => Ruling::Ask { choices: offered(case), why: ruled.why },
            Decision::Deny => {
                let message =
                    ruled.deny_message.unwrap_or_else(|| format!("denied by policy ({})", ruled.why));
                Ruling::Deny { message }
            }
        }
    }

    fn learn(&self, case: Case<'_>, answer: &Answer) {
        let Some(choice) = Choice::from_id(&answer.choice) else { return };
        let none = Map::new();
        let before = self.terms(&case).unwrap_or(Terms { mode: self.options.mode, rules: Vec::new() });
        let mut terms = before.clone();
        match rules_for(choice, &self.judged(case, before.mode, &none)) {
            Outcome::Switch(mode) => terms.mode = mode,
            Outcome::Remember(rules) => {
                terms.rules.extend(rules.into_iter().filter(|rule| !before.rules.contains(rule)));
            }
            Outcome::Run | Outcome::Save { .. } | Outcome::Modify | Outcome::Cancel => return,
        }
        self.agreed().keep((case.scope.clone(), case.context.clone()), terms);
    }
}

impl Agreed {
    fn keep(&mut self, key: (Scope, ContextId), terms: Terms) {
        if self.conversations.insert(key.clone(), terms).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > MOST_CONVERSATIONS {
            let Some(oldest) = self.order.pop_front() else { break };
            self.conversations.remove(&oldest);
        }
    }
}

/// An edit is changed by answering with other content, so there is no editor to offer; and nothing is kept for later
/// sessions yet.
fn offered(case: Case<'_>) -> Vec<String> {
    let offered = choices(&case.proposal.shown, false);
    let offered = offered.into_iter().filter(|choice| *choice != Choice::ModifyWithEditor);
    offered.map(|choice| choice.id().to_owned()).collect()
}
