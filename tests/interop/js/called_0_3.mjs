// `attache call` against an agent on npm @a2a-js/sdk 0.3.14: `called_0_3.mjs ATTACHE`.

import { fileURLToPath } from 'node:url';

import { main } from './called.mjs';

await main('js-0.3-server', fileURLToPath(new URL('agent_0_3.mjs', import.meta.url)), ['0.3'], {
  noFilesOverGrpc: true,
});
