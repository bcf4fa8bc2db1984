import { shellArgument } from "../invocation";
import type { AskFlags } from "./flags";
import { overrideOptions } from "./override-flags";

/**
 * The options of `ask` that a printed command repeats, so that it asks with the same team, limits,
 * files and folders. Left out: the session and the turn, which the command names itself, and the
 * service with its key.
 */
export function repeatedOptions(flags: AskFlags): string[] {
  const { with: folders = [], file: files = [] } = flags;
  const valued: [name: string, value: string | number | undefined][] = [
    ...folders.map(({ typed, permission }): [string, string] => [
      "--with",
      permission === null ? typed : `${typed}:${permission}`,
    ]),
    ...files.map((file): [string, string] => ["--file", file]),
    ["--config", flags.config],
    ...(flags.model ?? []).map((model): [string, string] => ["--model", model]),
    ["--backend", flags.backend],
    ["--system-message", flags.systemMessage],
    ["--max-cost", flags.maxCost ?? flags.budget],
    ["--max-tokens", flags.maxTokens],
    ["--orchestrator-timeout", flags.orchestratorTimeout ?? flags.timeout],
  ];
  const switches: [name: string, isSet: boolean][] = [
    ["--no-contexts", flags.contexts === false],
    ["--detach", flags.detach === true],
    ["--json", flags.json === true],
    ["--json-stream", flags.jsonStream === true],
    ["--automation", flags.automation === true],
    ["--verbose", flags.verbose === true],
  ];
  return [
    ...valued.flatMap(([name, value]) =>
      value === undefined ? [] : [name, shellArgument(String(value))],
    ),
    ...switches.flatMap(([name, isSet]) => (isSet ? [name] : [])),
    ...overrideOptions(flags),
    ...(flags.outputFile === undefined ? [] : ["--output-file", shellArgument(flags.outputFile)]),
  ];
}
