import { type Command, Option } from "commander";
import type { RunRequest } from "../../src/protocol/api";
import type { ConflictSide } from "../../src/protocol/api/contexts";
import type { OutputForm, OutputOptions } from "../asking/answer-output";
import type { ContinuationFlags } from "../asking/continuation";
import { toWithFolder, type WithFolder } from "../asking/shared-folders";
import type { TeamFlags } from "../asking/team-choice";
import type { ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import { type OverrideFlags, withOverrides } from "./override-flags";
import { collect, toSeconds, toServer, toTokens, toUsd } from "./arguments";

/** Options that several commands share. */

export const withConnection = (command: Command): Command =>
  command
    .option(
      "--server <url>",
      "the service (default: MASSGEN_EDGE_SERVER, then `login`, then this machine)",
      toServer,
    )
    .addOption(
      new Option(
        "--key <key>",
        "the key; other users of this machine can see it, so prefer `login` or MASSGEN_EDGE_KEY",
      ),
    );

export type OutputFlags = {
  json?: true;
  jsonStream?: true;
  automation?: true;
  outputFile?: string;
  verbose?: true;
};

export const withOutput = (command: Command): Command =>
  command
    .option("-o, --output-file <file>", "write the final answer to a file instead of stdout")
    .option("--json", "print the finished turn as one JSON on stdout")
    .option("--json-stream", "print every event as a line of JSON on stdout instead of the answer")
    .option("--automation", "print MassGen's KEY: value lines on stdout instead of the answer")
    .option("--verbose", "show progress on stderr, also without a terminal");

/** `budget` and `timeout` are hidden aliases of `maxCost` and `orchestratorTimeout`. */
export type LimitFlags = {
  maxCost?: number;
  budget?: number;
  maxTokens?: number;
  orchestratorTimeout?: number;
  timeout?: number;
};

export const withTeam = (command: Command): Command =>
  withInputs(withOverrides(withTeamChoice(command)));

const withTeamChoice = (command: Command): Command =>
  command
    .option("--config <file|name>", "the team: a YAML file, or the name of an included team")
    .option(
      "--model <model>",
      "ask this model without a config; repeatable, for a team of models",
      collect,
    )
    .option(
      "--backend <type>",
      "the backend type of --model, if the model's name does not imply it",
    )
    .option("--system-message <text>", "system message of the agents of --model");

/** Files, folders and limits of one turn. */
const withInputs = (command: Command): Command =>
  command
    .option(
      "--file <path>",
      "attach an image, a PDF, a sound or a text file to the question; repeatable",
      collect,
    )
    .addOption(
      new Option(
        "--with <folder>",
        "push this folder and let the team read it; with :write (./site:write) the team may change it; repeatable",
      ).argParser((text: string, previous: readonly WithFolder[] | undefined) => [
        ...(previous ?? []),
        toWithFolder(text),
      ]),
    )
    .option("--no-contexts", "take back all contexts that earlier turns of the session were given")
    .addOption(
      new Option(
        "--conflicts <side>",
        "the side that wins where the last turn and your push changed a file",
      ).choices(["turn", "upload"]),
    )
    .option("--orchestrator-timeout <s>", "time limit of the turn, in seconds", toSeconds)
    .option("--max-cost <usd>", "cost limit of the turn, in US dollars", toUsd)
    .option("--max-tokens <n>", "token limit of the turn", toTokens)
    .addOption(new Option("--budget <usd>").argParser(toUsd).hideHelp())
    .addOption(new Option("--timeout <s>").argParser(toSeconds).hideHelp());

export type AskFlags = ConnectionFlags &
  OutputFlags &
  LimitFlags &
  TeamFlags &
  OverrideFlags &
  ContinuationFlags & {
    /** The session to watch. */
    attach?: string;
    detach?: true;
    /** Folders that are pushed and given to the team. */
    with?: readonly WithFolder[];
    /** `false` takes back the contexts of earlier turns. */
    contexts?: boolean;
    conflicts?: ConflictSide;
  };

/** Returns the output options. Throws CliError if the flags name more than one output form. */
export function toOutput({
  json,
  jsonStream,
  automation,
  outputFile,
  verbose,
}: OutputFlags): OutputOptions {
  const forms: OutputForm[] = [
    ...(json ? (["json"] as const) : []),
    ...(jsonStream ? (["json-stream"] as const) : []),
  ];
  if (automation) forms.push("automation");
  if (forms.length > 1)
    throw new CliError(EXIT.config, "Use only one of --json, --json-stream and --automation.");
  return { form: forms[0] ?? "answer", file: outputFile ?? null, verbose: verbose ?? false };
}

/** The limits, overrides and contexts of one turn, in the form of the API. */
export type Limits = Pick<RunRequest, "budget" | "timeout_seconds" | "contexts" | "overrides">;

export function toLimits(flags: LimitFlags): Limits {
  const usd = flags.maxCost ?? flags.budget;
  const seconds = flags.orchestratorTimeout ?? flags.timeout;
  const budget = {
    ...(usd === undefined ? {} : { max_cost_usd: usd }),
    ...(flags.maxTokens === undefined ? {} : { max_tokens: flags.maxTokens }),
  };
  return {
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
    ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
  };
}

/** What a command receives: input and output, and a function that sets the exit code. */
export type Stage = { io: Io; end: (code: ExitCode) => void };
/** Adds a command to the program. */
export type Register = (program: Command, stage: Stage) => void;
