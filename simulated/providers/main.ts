import { parseArgs } from "node:util";
import { SCENARIO } from "../demo/scenario";
import type { Script } from "./reply";
import {
  alwaysFails,
  answersThenVotes,
  copycat,
  hangs,
  improvesForever,
  improvesOnce,
  neverDecides,
  paced,
} from "./scripts";
import { startSimulatedProviders } from "./server";

/**
 * Starts the simulated models on a port of this machine and prints the settings for a config. Each
 * model is available in every wire format. Without `--port`, a free port is used. Run the program
 * through npm, because npm uses the Node version of the installed packages:
 * `npm exec -c "node scripts/run.mjs simulated/providers/main.ts --port 9900"`
 */
const PACE = { ttftMs: 500, tokensPerSecond: 60 };
const CAST: Record<string, Script> = {
  solid: answersThenVotes({ answer: "The answer is 42, and here is why: six times seven." }),
  improver: improvesOnce({
    answer: "42.",
    improved: "The answer is 42: six rows of seven, counted twice to be sure.",
  }),
  restless: improvesForever({ topic: "Another thought" }),
  copycat: copycat({ answer: "I think it is 42." }),
  undecided: neverDecides(),
  failing: alwaysFails(500),
  "rate-limited": alwaysFails(429, { code: "rate_limit_exceeded", retryAfter: 2 }),
  hanging: hangs("headers"),
  "falls-silent": hangs("body"),
};

const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
const pacedModels = Object.entries(CAST).map(
  ([name, script]) => [name, paced(PACE, script)] as const,
);
const models = { ...SCENARIO.models, ...Object.fromEntries(pacedModels) };
const providers = await startSimulatedProviders({ models, port: Number(values.port) });
const { baseUrls } = providers;
const backend = (type: string, baseUrl: string) =>
  `  backend: {type: ${type}, model: solid, base_url: "${baseUrl}", api_key: simulated}`;
console.log(
  [
    `Simulated providers on ${providers.url}. In a config, by wire format:`,
    backend("chatcompletion", baseUrls["openai-chat"]),
    backend("openai", baseUrls["openai-responses"]),
    backend("claude", baseUrls.anthropic),
    backend("gemini", baseUrls.gemini),
    `Models, each in all of them: ${Object.keys(models).join(", ")}`,
    "Ctrl+C ends them.",
  ].join("\n"),
);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void providers.close().then(() => process.exit(0)));
