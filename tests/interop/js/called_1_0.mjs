// `attache call` against an agent on npm @a2a-js/sdk 1.3.0: `called_1_0.mjs ATTACHE`.

import { fileURLToPath } from 'node:url';

import { main } from './called.mjs';

const agent = new URL('../../../crates/attache-conformance/subjects/js/agent.mjs', import.meta.url);
await main('js-1.0-server', fileURLToPath(agent), ['1.0', '0.3']);
