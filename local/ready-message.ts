import { readFileSync } from "node:fs";
import { keyReport } from "../src/providers/registry";
import { describeKeys, keysIn } from "./provider-keys";
import { DEFAULT_PORT } from "./start-arguments";

/** The running service. `files`: the files from which it read its variables. */
export type ReadyService = { url: string; port: number; files: readonly string[] };

const QUESTION = '"Which database suits a shop with 40 orders a day?"';

/** The output of `npm start` once the service responds: its address, and the next commands. */
export function readyMessage({ url, port, files }: ReadyService): string {
  const keys = keysIn(files.map((file) => readFileSync(file, "utf8")).join("\n"));
  const server = port === DEFAULT_PORT ? "" : `--server ${url} `;
  const next = nextCommands(keys, (rest) => `  npm run ask -- ${server}${rest}`);
  return [
    "",
    `The service runs at ${url}, for this machine only. Ctrl+C stops it.`,
    "",
    "Next, in another terminal:",
    ...next,
    "",
    ...describeKeys(keyReport(keys), files.join(", ")),
    `The API and its documentation: ${url}/docs`,
    "",
  ].join("\n");
}

function nextCommands(keys: readonly string[], ask: (rest: string) => string): string[] {
  if (keys.includes("OPENAI_API_KEY"))
    return [ask(`--config one-provider --max-cost 0.50 ${QUESTION}`)];
  if (keys.length > 0)
    return [
      `${ask("config list")}        lists teams and the keys that they need`,
      ask(`--config TEAM ${QUESTION}`),
    ];
  return [
    "  npm run demo        a team of simulated models, without keys",
    ask(`--config team.yaml ${QUESTION}`),
  ];
}
