//! Approves calls by rules, modes and earlier answers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{Access, CONNECT_SERVER, CallAnswer, Effect, IgnorePoison, Preview};
use attache_tool::Confinement;
use attache_tool::policy::{
    ApprovalChoice, ChoiceOutcome, Policy, PolicyDecision, PolicyMode, PolicyRule, choices, grants, rules_for,
};
use attache_tool::ruling::{CallFacts, FileLookup, rule};
use serde_json::Map;

use crate::approver::{ApprovalDecision, ApprovalRequest, Approver};

/// Decides for one conversation and remembers its approvals.
pub struct PolicyApprover {
    options: PolicyOptions,
    none: Map<String, serde_json::Value>,
    terms: Mutex<ConversationGrants>,
}

#[derive(Clone)]
pub struct PolicyOptions {
    pub policy: Policy,
    pub mode: PolicyMode,
    /// Absolute and without links.
    pub roots: Vec<PathBuf>,
    /// Where plans may be written.
    pub plans: Option<PathBuf>,
    /// Whether the folder is trusted.
    pub trusted: bool,
    /// What the confinement can enforce.
    pub confinement: Confinement,
    /// The files that commands name.
    pub files: Arc<dyn FileLookup>,
    /// Whether no person can be asked.
    pub unattended: bool,
    /// Whether approvals are valid for one call only.
    pub only_once: bool,
    /// Where permanent approvals are saved; none: they are not offered.
    pub keeper: Option<Arc<dyn RuleStore>>,
    /// MCP servers that a client added. The rules were not written for them, so their first use needs approval in
    /// every mode but yolo.
    pub client_servers: BTreeSet<String>,
}

/// Saves rules for later sessions.
pub trait RuleStore: Send + Sync + 'static {
    fn save(&self, rules: &[PolicyRule]) -> Result<(), String>;
}

/// The approvals of a conversation beyond the rules.
struct ConversationGrants {
    mode: PolicyMode,
    /// The rules, and those that answers added.
    policy: Policy,
    learnt: Vec<PolicyRule>,
    /// Servers of clients whose use a person approved.
    agreed_servers: BTreeSet<(String, String)>,
}

/// A server of a client, and its address if known.
#[derive(Clone, Copy)]
struct UsedServer<'a> {
    name: &'a str,
    address: &'a str,
}

impl UsedServer<'_> {
    fn key(self) -> (String, String) {
        (self.name.to_owned(), self.address.to_owned())
    }
}

impl PolicyApprover {
    pub fn new(options: PolicyOptions) -> Self {
        let terms = ConversationGrants {
            mode: options.mode,
            policy: options.policy.clone(),
            learnt: Vec::new(),
            agreed_servers: BTreeSet::new(),
        };
        Self { options, none: Map::new(), terms: Mutex::new(terms) }
    }

    fn grants(&self) -> MutexGuard<'_, ConversationGrants> {
        self.terms.lock().ignore_poison()
    }

    fn call_facts<'a>(&'a self, case: ApprovalRequest<'a>, mode: PolicyMode) -> CallFacts<'a> {
        let origin = case.tool.origin.as_ref();
        CallFacts {
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

    /// Applies an answer and returns the rules to save.
    fn apply_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer) -> Vec<PolicyRule> {
        let Some(choice) = ApprovalChoice::from_id(&answer.choice) else { return Vec::new() };
        if choice != ApprovalChoice::Cancel
            && let Some(server) = self.client_server(case)
        {
            self.grants().agreed_servers.insert(server.key());
        }
        if !may_last(case) {
            return Vec::new();
        }
        let mode = self.grants().mode;
        let (rules, switch, kept) = match rules_for(choice, &self.call_facts(case, mode)) {
            ChoiceOutcome::Switch(mode) => (Vec::new(), Some(mode), Vec::new()),
            ChoiceOutcome::Remember(rules) => (rules, None, Vec::new()),
            ChoiceOutcome::Save { rules, switch } => (rules.clone(), switch, rules),
            ChoiceOutcome::Run | ChoiceOutcome::Modify | ChoiceOutcome::Cancel => return Vec::new(),
        };
        let mut terms = self.grants();
        terms.mode = switch.unwrap_or(mode);
        for rule in rules {
            if !terms.learnt.contains(&rule) {
                terms.learnt.push(rule.clone());
                terms.policy.add([rule]);
            }
        }
        kept
    }

    /// The client's server that the call would use.
    fn client_server<'a>(&self, case: ApprovalRequest<'a>) -> Option<UsedServer<'a>> {
        // The name alone is not sufficient: another client may add another server with this name.
        if let Preview::Mcp { server, address: Some(address), .. } = &case.proposal.shown {
            return Some(UsedServer { name: server, address });
        }
        case.proposal.effects.iter().find_map(|effect| match effect {
            Effect::UseServer { server, .. } => Some(UsedServer { name: server, address: "" })
                .filter(|server| self.options.client_servers.contains(server.name)),
            _ => None,
        })
    }

    fn offered_answers(&self, case: ApprovalRequest<'_>, mode: PolicyMode) -> Vec<String> {
        if let Preview::Questions { .. } = case.proposal.shown {
            return vec!["answer".into(), ApprovalChoice::Cancel.id().into()];
        }
        let offered = choices(&self.call_facts(case, mode), self.options.keeper.is_some()).into_iter();
        let offered = offered.filter(|choice| match choice {
            ApprovalChoice::ProceedOnce | ApprovalChoice::ModifyWithEditor | ApprovalChoice::Cancel => true,
            _ => !self.options.only_once && may_last(case),
        });
        offered.map(|choice| choice.id().to_owned()).collect()
    }

    /// Builds the approval request of a call with this access.
    fn ask(
        &self,
        case: ApprovalRequest<'_>,
        mode: PolicyMode,
        why: String,
        access: Option<Access>,
    ) -> ApprovalDecision {
        let mut proposal = case.proposal.clone();
        if let Some(access) = &access {
            proposal.set_access(access);
        }
        let case = ApprovalRequest { proposal: &proposal, ..case };
        let choices = self.offered_answers(case, mode);
        let sentence = |id: &String| {
            let sentence = grants(ApprovalChoice::from_id(id)?, &self.call_facts(case, mode))?;
            Some((id.clone(), sentence))
        };
        let grants = choices.iter().filter_map(sentence).collect();
        ApprovalDecision::Ask { choices, grants, why, access }
    }
}

/// Text with hidden characters can be approved only once: a rule made from it would hide them too. A connection is
/// approved for its conversation.
fn may_last(case: ApprovalRequest<'_>) -> bool {
    !case.proposal.has_hidden_characters() && case.tool.name != CONNECT_SERVER
}

impl Approver for PolicyApprover {
    fn rule(&self, case: ApprovalRequest<'_>) -> ApprovalDecision {
        let (ruled, mode) = {
            let terms = self.grants();
            let facts = self.call_facts(case, terms.mode);
            let server =
                self.client_server(case).filter(|server| !terms.agreed_servers.contains(&server.key()));
            let first = match server {
                _ if case.tool.name == CONNECT_SERVER => Some("the first connection".to_owned()),
                server => server.map(|server| format!("the first use of {}", server.name)),
            };
            let ruled = match first.filter(|_| facts.effective_mode() != PolicyMode::Yolo) {
                Some(first) => rule(&terms.policy, &facts).and_ask(&facts, first),
                None => rule(&terms.policy, &facts),
            };
            (ruled, terms.mode)
        };
        match ruled.decision {
            PolicyDecision::Allow => ApprovalDecision::Allow { why: ruled.why, access: ruled.access },
            PolicyDecision::Ask => self.ask(case, mode, ruled.why, ruled.access),
            PolicyDecision::Deny => {
                let message =
                    ruled.deny_message.unwrap_or_else(|| format!("denied by policy ({})", ruled.why));
                ApprovalDecision::Deny { message }
            }
        }
    }

    fn remember_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer) {
        let rules = self.apply_answer(case, answer);
        if let Some(keeper) = self.options.keeper.as_ref().filter(|_| !rules.is_empty())
            && let Err(error) = keeper.save(&rules)
        {
            // The approval is valid for this conversation anyway; the next one asks again.
            tracing::warn!(%error, "an answer for good cannot be kept");
        }
    }

    fn restore_answer(&self, case: ApprovalRequest<'_>, answer: &CallAnswer) {
        self.apply_answer(case, answer);
    }
}
