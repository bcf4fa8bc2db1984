import { type Command, InvalidArgumentError, Option } from "commander";
import type { RunRequest } from "../../src/protocol/api";
import { shellArgument } from "../invocation";
import { CliError, EXIT } from "../exit-codes";

/** Options that change the team for one turn. */
export type OverrideFlags = {
  /** Ids of the agents that take part. */
  agents?: readonly string[];
  /** Another model by agent id. */
  modelOf?: Readonly<Record<string, string>>;
  maxAnswers?: number;
  quick?: true;
  personas?: boolean;
  skipCoordination?: boolean;
};

export const withOverrides = (command: Command): Command =>
  command
    .option(
      "--agents <ids>",
      "for this question, ask only these agents of the team, like a,b",
      toIds,
    )
    .addOption(
      new Option(
        "--model-of <agent=model>",
        "for this question, another model for this agent of the team; repeatable",
      ).argParser(toModelOf),
    )
    .option("--quick", "for this question, let each agent answer once and then vote")
    .option("--max-answers <n>", "for this question, most answers of each agent", toAnswers)
    .option("--personas", "for this question, give each agent a persona; also --no-personas")
    .addOption(new Option("--no-personas").hideHelp())
    .option(
      "--skip-coordination",
      "for this question, let one agent answer without the others; also --no-skip-coordination",
    )
    .addOption(new Option("--no-skip-coordination").hideHelp());

function toIds(text: string): readonly string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.includes("")) throw new InvalidArgumentError("Name agents by their ids, like a,b.");
  return ids;
}

function toModelOf(
  text: string,
  previous: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const [, agent, model] = /^([^=\s]+)=(\S+)$/.exec(text.trim()) ?? [];
  if (agent === undefined || model === undefined)
    throw new InvalidArgumentError("Name an agent and its model, like critic=gpt-5-mini.");
  return { ...previous, [agent]: model };
}

function toAnswers(text: string): number {
  const answers = Number(text);
  if (!(Number.isInteger(answers) && answers >= 1 && answers <= 1_000))
    throw new InvalidArgumentError("Give a number from 1 to 1000.");
  return answers;
}

/** The overrides in the form of the API. Throws CliError if the options contradict each other. */
export function toOverrides(flags: OverrideFlags): Pick<RunRequest, "overrides"> {
  const { agents, modelOf, maxAnswers, quick, personas, skipCoordination } = flags;
  if (quick && maxAnswers !== undefined)
    throw new CliError(
      EXIT.config,
      "With --quick each agent answers once: omit --max-answers or --quick.",
    );
  const overrides = {
    ...(agents && { agents: [...agents] }),
    ...(modelOf && { models: { ...modelOf } }),
    ...(maxAnswers !== undefined && { max_new_answers_per_agent: maxAnswers }),
    ...(quick && { quick }),
    ...(personas !== undefined && { personas }),
    ...(skipCoordination !== undefined && { skip_coordination: skipCoordination }),
  };
  return Object.keys(overrides).length > 0 ? { overrides } : {};
}

/** The options as a printed command repeats them. */
export const overrideOptions = (flags: OverrideFlags): string[] => [
  ...(flags.agents ? ["--agents", shellArgument(flags.agents.join(","))] : []),
  ...Object.entries(flags.modelOf ?? {}).flatMap(([agent, model]) => [
    "--model-of",
    shellArgument(`${agent}=${model}`),
  ]),
  ...(flags.maxAnswers === undefined ? [] : ["--max-answers", String(flags.maxAnswers)]),
  ...(flags.quick ? ["--quick"] : []),
  ...switchOf("personas", flags.personas),
  ...switchOf("skip-coordination", flags.skipCoordination),
];

const switchOf = (name: string, value: boolean | undefined): string[] =>
  value === undefined ? [] : [value ? `--${name}` : `--no-${name}`];
