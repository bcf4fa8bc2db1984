import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { IdSchema, QuestionSchema, type RunRequest } from "../src/protocol/api";
import type { AskOptions } from "./ask";
import { CliError, EXIT } from "./exit-codes";
import { DEFAULT_SERVER } from "./tail";

/** The team that is asked when no config is given. */
const DEFAULT_TEAM = "demo";

const EXIT_CODES = `
Exit codes: 0 answered, 1 wrong command, config or request, 2 failed, 3 out of time, 4 detached or cancelled.
Ctrl+C detaches and leaves the run alone; a second one cancels it.`;

type Flags = {
  config?: string;
  server: string;
  attach?: string;
  jsonStream: boolean;
  budget?: number;
  timeout?: number;
};

/** The command line's grammar; `run` gets what it says. Commander ends the program on help (0) and on mistakes (1). */
export function commandLine(run: (options: AskOptions) => Promise<void>): Command {
  return new Command("ask")
    .usage(`-- "question" [options]`)
    .description("Asks a team of agents and shows how it comes to its answer.")
    .argument("[question...]", "what to ask")
    .option("--config <file>", "the team, as a YAML file (default: the service's demo team)")
    .option("--server <url>", "the service", toServer, DEFAULT_SERVER)
    .addOption(new Option("--attach <session_id>", "watch a session's latest turn instead of asking").argParser(toId))
    .option("--json-stream", "print every event as a line of JSON on stdout instead of the answer", false)
    .option("--budget <usd>", "most the run may cost, in US dollars", toBudget)
    .option("--timeout <s>", "most the run may take, in seconds", toTimeout)
    .addHelpText("after", EXIT_CODES)
    .showHelpAfterError("(--help tells more)")
    .action(async (words: string[], flags: Flags) => run(await toOptions(words.join(" "), flags)));
}

async function toOptions(question: string, flags: Flags): Promise<AskOptions> {
  const { server, jsonStream, attach, config } = flags;
  if (attach !== undefined) {
    const useless = question !== "" || config !== undefined || flags.budget !== undefined || flags.timeout !== undefined;
    if (useless)
      throw new CliError(EXIT.config, "--attach watches a run that was started before: leave question and limits out.");
    return { what: { attach }, context: { server }, jsonStream };
  }
  const run: RunRequest = { question: toQuestion(question), ...(await toTeam(config)) };
  if (flags.budget !== undefined) run.budget = { max_cost_usd: flags.budget };
  if (flags.timeout !== undefined) run.timeout_seconds = flags.timeout;
  return { what: { run }, context: { server, configName: config ?? DEFAULT_TEAM }, jsonStream };
}

function toQuestion(text: string): string {
  const parsed = QuestionSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues[0]?.message ?? "is not a question";
  throw new CliError(EXIT.config, `The question ${problem}. Write it in quotes: npm run ask -- "your question"`);
}

async function toTeam(file: string | undefined): Promise<Pick<RunRequest, "config" | "config_yaml">> {
  if (file === undefined) return { config: DEFAULT_TEAM };
  const yaml = await readFile(file, "utf8").catch((cause: unknown) => {
    const why = cause instanceof Error && "code" in cause && cause.code === "ENOENT" ? "there is no such file" : String(cause);
    throw new CliError(EXIT.config, `Cannot read the config ${file}: ${why}.`, { cause });
  });
  if (yaml.trim() === "") throw new CliError(EXIT.config, `The config ${file} is empty.`);
  return { config_yaml: yaml };
}

function toServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new InvalidArgumentError("Give an address like http://127.0.0.1:8787.");
  }
  return url.origin;
}

function toId(text: string): string {
  if (!IdSchema.safeParse(text).success) throw new InvalidArgumentError("Session ids look like session_01jd….");
  return text;
}

function toBudget(text: string): number {
  const usd = Number(text);
  if (text.trim() === "" || !Number.isFinite(usd) || usd < 0) throw new InvalidArgumentError("Give US dollars, like 0.50.");
  return usd;
}

function toTimeout(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 86_400)) throw new InvalidArgumentError("Give seconds, from 1 to 86400.");
  return seconds;
}
