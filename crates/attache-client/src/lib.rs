//! The A2A client: what a program needs to use a running attache, or any other A2A agent.
