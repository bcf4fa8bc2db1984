import path from "node:path";
import { Command } from "commander";
import type { Fault } from "../../src/protocol/api";
import { readAll } from "../asking/question";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { commandLineOf } from "../invocation";
import type { Io } from "../io";
import { projectConfig, readTextFile, shownPath, userConfig } from "../local-files";
import { listTeams, validateConfig } from "../service/listings";
import { type ConfigSource, faultLines } from "../service/problem";
import { parseJson, type Verdict, VerdictSchema } from "../service/schema";
import { escapeJson } from "../terminal/sanitize";
import { printTable } from "../terminal/output";
import { uploadFaults } from "../uploads/uploads";
import { registerInit } from "./config-init";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { json?: true };

/** `config`: checks, lists and writes configs. */
export const registerConfig: Register = (program, { io, end }) => {
  const config = new Command("config").description(
    "teams: check a config, list included teams, write a config",
  );
  withConnection(config.command("validate"))
    .description(
      "check a config without running it; - reads stdin, no argument checks the config found here",
    )
    .argument("[file]", "the YAML file")
    .option("--json", "print the response as JSON, with the errors found here")
    .action(async (file: string | undefined, flags: Flags) => end(await validate(file, flags, io)));
  withConnection(config.command("list"))
    .description("list the service's teams")
    .option("--json", "print the response as JSON")
    .action(async (flags: Flags) => end(await list(flags, io)));
  registerInit(config, { io, end });
  program.addCommand(config);
};

async function validate(file: string | undefined, flags: Flags, io: Io): Promise<ExitCode> {
  const source = await configToCheck(file, io);
  const { data, raw } = await validateConfig(source.text, await connect(flags, io));
  const faults = await uploadFaults(source.text, io); // the service cannot see these files
  const verdict = withFaults(data, faults);
  const json =
    faults.length === 0
      ? raw.trim()
      : JSON.stringify(withFaults(VerdictSchema.loose().parse(parseJson(raw)), faults));
  io.stdout.write(
    flags.json ? `${escapeJson(json)}\n` : `${verdictLines(verdict, source).join("\n")}\n`,
  );
  return verdict.runnable ? EXIT.ok : EXIT.config;
}

/** Adds errors that only this machine can find, for example a missing upload file. */
const withFaults = <T extends Verdict>(verdict: T, faults: readonly Fault[]): T =>
  faults.length === 0
    ? verdict
    : { ...verdict, runnable: false, errors: [...verdict.errors, ...faults] };

async function configToCheck(
  file: string | undefined,
  io: Io,
): Promise<{ name: string; text: string }> {
  if (file === "-") return { name: "stdin", text: await readAll(io.stdin) };
  const places =
    file === undefined ? [projectConfig(io), userConfig(io)] : [path.resolve(io.cwd, file)];
  for (const place of places) {
    const name = file ?? shownPath(place, io);
    const text = await readTextFile(place, { fileKind: "config", displayPath: name });
    if (text !== null) return { name, text };
  }
  if (file !== undefined)
    throw new CliError(EXIT.config, `Cannot read the config ${file}: there is no such file.`);
  throw new CliError(
    EXIT.config,
    `No config here. Name a file, or write one: ${commandLineOf("config", "init")}`,
  );
}

/** Whether a key or an upload would remove the refusal. */
const isMissing = ({ code, need }: Fault): boolean =>
  code === "key_not_set" || need === "host_context_path";

/** The service's verdict about a config as lines of text. A fault shows its line and a caret. */
export function verdictLines(
  { runnable, errors, refusals, warnings }: Verdict,
  source: ConfigSource,
): string[] {
  const section = (title: string, faults: Verdict["errors"]) =>
    faults.length === 0 ? [] : [title, ...faults.flatMap((fault) => faultLines(fault, source))];
  return [
    `${source.name} ${runnable ? "can run" : "cannot run"} here.`,
    ...section("errors", errors),
    ...section("missing here", refusals.filter(isMissing)),
    ...section(
      "not supported here",
      refusals.filter((fault) => !isMissing(fault)),
    ),
    ...section("warnings", warnings),
  ];
}

async function list(flags: Flags, io: Io): Promise<ExitCode> {
  const { data, raw } = await listTeams(await connect(flags, io));
  if (flags.json) io.stdout.write(`${escapeJson(raw.trim())}\n`);
  else {
    const rows = data.data.map(({ name, title, agents, runnable, missing }) => [
      name,
      runnable ? "ready" : "not ready",
      agents.map(({ model }) => model).join(", "),
      runnable ? title : (missing[0]?.detail ?? title),
    ]);
    printTable(["team", "state", "models", "about"], rows, io.stdout);
  }
  return EXIT.ok;
}
