//! The frameworks of Python.

use super::steps::{DEFAULT, FrameworkStep, fails, lacks};
use super::{Framework, Language};
use crate::interop::peers::{Client, PYTHON_0_3, PYTHON_1_0};

pub(super) const NO_IDS: &str = "it sends neither a context nor a task, so an answer reaches no question";

const fn python(
    name: &'static str,
    folder: &'static str,
    packages: &'static [(&'static str, &'static str)],
    script: &'static str,
) -> Framework {
    Framework::new(Client { name, language: Language::Python, folder, packages, script })
}

pub(super) const FRAMEWORKS: &[Framework] = &[
    python("PyPI a2a-sdk 1.3.0", "py-1.0", PYTHON_1_0, "frameworks/python/a2a-sdk-1.py"),
    python("PyPI a2a-sdk 0.3.26", "py-0.3", PYTHON_0_3, "frameworks/python/a2a-sdk-0.py"),
    python(
        "PyPI google-adk 2.13.0",
        "py-google-adk-2",
        &[("google-adk[a2a]", "2.13.0")],
        "frameworks/python/google-adk.py",
    )
    .note("answers are read without streaming: of a streamed answer it takes the last piece for the final response"),
    python(
        "PyPI google-adk 1.39.1",
        "py-google-adk-1",
        &[("google-adk[a2a]", "1.39.1")],
        "frameworks/python/google-adk.py",
    )
    .slow()
    .note("answers are read without streaming")
    .known(&[fails(
        DEFAULT,
        &[FrameworkStep::Stream],
        "it ignores appended pieces, and shows the first piece before the whole text",
        "google/adk/agents/remote_a2a_agent.py:787",
    )]),
    python(
        "PyPI agent-framework-a2a 1.0.0b261022",
        "py-agent-framework",
        &[("agent-framework-a2a", "1.0.0b261022")],
        "frameworks/python/agent-framework.py",
    ),
    python("PyPI ag2 1.2.1", "py-ag2", &[("ag2[a2a]", "1.2.1")], "frameworks/python/ag2-agent.py"),
    python(
        "PyPI agno 3.1.10",
        "py-agno",
        &[("agno[a2a]", "3.1.10"), ("fastapi", "0.162.4")],
        "frameworks/python/agno-client.py",
    )
    .note(
        "the card is fetched by its client for REST, as the one for JSON-RPC looks for it elsewhere; it shows that a task \
         waits, and not the question; by default the answer to a question is streamed, because without streaming it shows \
         the question again",
    ),
    python(
        "PyPI beeai-framework 0.1.85",
        "py-beeai",
        &[("beeai-framework[a2a]", "0.1.85")],
        "frameworks/python/beeai-agent.py",
    )
    .slow(),
    python(
        "PyPI crewai 1.15.30",
        "py-crewai",
        &[("crewai[a2a]", "1.15.30")],
        "frameworks/python/crewai-delegation.py",
    )
    .slow()
    .known(&[
        fails(
            DEFAULT,
            &[FrameworkStep::ExactText, FrameworkStep::TextAfterApproval, FrameworkStep::SecondMessage],
            "it puts spaces between the pieces of a streamed answer, and polling shows the answer twice, from the history and \
             from the artifact",
            "crewai/a2a/updates/streaming/handler.py:643, crewai/a2a/task_helpers.py:100",
        ),
        fails(
            DEFAULT,
            &[FrameworkStep::Stream],
            "it hands out pieces of bare messages only",
            "crewai/a2a/updates/streaming/handler.py:331",
        ),
    ]),
    python(
        "PyPI strands-agents 1.62.0",
        "py-strands",
        &[("strands-agents[a2a]", "1.62.0")],
        "frameworks/python/strands-agent.py",
    )
    .slow()
    .note("answers are read without streaming: the text of a result has a line break after each streamed piece")
    .known(&[lacks(&[FrameworkStep::TextAfterApproval], NO_IDS, "strands/multiagent/a2a/_converters.py:42")]),
    python(
        "PyPI litellm 1.106.0",
        "py-litellm",
        &[("litellm", "1.106.0"), ("a2a-sdk", "1.3.0")],
        "frameworks/python/litellm-a2a.py",
    )
    .slow(),
    python(
        "PyPI lfx (Langflow) 1.13.0",
        "py-langflow",
        &[("lfx", "1.13.0"), ("a2a-sdk", "1.3.0")],
        "frameworks/python/langflow-component.py",
    )
    .slow()
    .note("it shows a question as an error of the component")
    .known(&[
        lacks(
            &[FrameworkStep::Stream],
            "the component does not stream",
            "lfx/components/models_and_agents/a2a_agent.py:303",
        ),
        lacks(&[FrameworkStep::TextAfterApproval], NO_IDS, "lfx/components/models_and_agents/a2a_agent.py:317"),
    ]),
    python(
        "PyPI fasta2a 2.1.1",
        "py-fasta2a",
        &[("fasta2a", "2.1.1"), ("httpx", "0.28.1")],
        "frameworks/python/fasta2a-client.py",
    )
    .known(&[fails(
        DEFAULT,
        &[FrameworkStep::ExactText, FrameworkStep::Stream, FrameworkStep::Approval, FrameworkStep::TextAfterApproval, FrameworkStep::SecondMessage],
        "it calls methods of 0.3 with the parts of 1.0, and reads answers with the members of 1.0 and the states of 0.3",
        "fasta2a/client.py:88, fasta2a/schema.py:501 and 880",
    )]),
    python(
        "PyPI agentscope 2.0.10",
        "py-agentscope",
        &[("agentscope[a2a]", "2.0.10")],
        "frameworks/python/agentscope-agent.py",
    )
    .slow(),
    python(
        "PyPI a2a-handler 0.4.0",
        "py-a2a-handler",
        &[("a2a-handler", "0.4.0")],
        "frameworks/python/a2a-handler.py",
    )
    .note("it shows that a task waits, and not the question"),
    python(
        "PyPI any-agent 1.18.0",
        "py-any-agent",
        &[("any-agent[a2a]", "1.18.0"), ("a2a-sdk", "0.3.26"), ("mcp", "1.30.0")],
        "frameworks/python/any-agent.py",
    )
    .slow()
    .note("it does not start with the newer a2a-sdk and mcp that it allows")
    .known(&[
        fails(
            DEFAULT,
            &[FrameworkStep::ExactText, FrameworkStep::TextAfterApproval, FrameworkStep::SecondMessage],
            "it reads only the message of the status",
            "any_agent/tools/a2a.py:116",
        ),
        lacks(&[FrameworkStep::Stream], "the tool does not stream", "any_agent/tools/a2a.py:72"),
    ]),
    python(
        "PyPI langgraph-a2a-client 0.1.5",
        "py-langgraph",
        &[("langgraph-a2a-client", "0.1.5"), ("a2a-sdk", "0.3.26")],
        "frameworks/python/langgraph-client.py",
    )
    .note("it does not start with the newer a2a-sdk that it allows")
    .known(&[
        lacks(&[FrameworkStep::Stream], "the tool does not stream", "langgraph_a2a_client/a2a_client.py:94"),
        lacks(&[FrameworkStep::TextAfterApproval], NO_IDS, "langgraph_a2a_client/a2a_client.py:238"),
    ]),
    python(
        "PyPI nvidia-nat-a2a 1.9.0",
        "py-nvidia-nat",
        &[("nvidia-nat-a2a", "1.9.0")],
        "frameworks/python/nvidia-nat.py",
    )
    .slow()
    .note("it shows that a task waits, and not the question; answers are read without streaming, as by default"),
    python(
        "PyPI praisonaiagents 1.7.17",
        "py-praisonai",
        &[("praisonaiagents", "1.7.17")],
        "frameworks/python/praisonai-client.py",
    ),
];
