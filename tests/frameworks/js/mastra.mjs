// npm `@mastra/core`: `A2AAgent`, which speaks 0.3 unless it is told otherwise.

import { main } from './harness.mjs';
import { Mastra } from './mastra-agent.mjs';

await main(new Mastra('0.3'));
