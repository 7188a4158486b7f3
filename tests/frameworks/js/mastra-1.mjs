// npm `@mastra/core`: `A2AAgent`, told to speak 1.0.

import { main } from './harness.mjs';
import { Mastra } from './mastra-agent.mjs';

await main(new Mastra('1.0'));
