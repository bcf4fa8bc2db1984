import { mkdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { storeConsent } from "../asking/consent";
import { connect, type Connection, type ConnectionFlags } from "../credentials/connection";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { commandLineOf } from "../invocation";
import { type Io, isInteractive } from "../io";
import { codeOf, projectConfig, reasonOf, shownPath, userConfig } from "../local-files";
import { listTeams, teamText } from "../service/listings";
import { askChoice, askText } from "../terminal/prompts";
import { toLine } from "../terminal/sanitize";
import { collect } from "./arguments";
import { type Register, withConnection } from "./flags";

type InitFlags = ConnectionFlags & {
  team?: string;
  model?: readonly string[];
  backend?: string;
  user?: true;
  force?: true;
};

/** `config init`: writes a config, either an included team or the given models. */
export const registerInit: Register = (config, { io, end }) => {
  withConnection(config.command("init"))
    .description("write a config to .massgen/config.yaml: an included team, or models of your own")
    .option("--team <name>", "copy this included team; `config list` shows them")
    .option("--model <model>", "a model of the team; repeatable", collect)
    .option("--backend <type>", "backend type of the models, if the model's name does not imply it")
    .option("--user", "write to ~/.config/massgen/config.yaml instead, for every folder")
    .option("--force", "overwrite an existing file")
    .action(async (flags: InitFlags) => end(await init(flags, io)));
};

async function init(flags: InitFlags, io: Io): Promise<ExitCode> {
  const { user, force } = flags;
  const file = user ? userConfig(io) : projectConfig(io);
  const displayPath = shownPath(file, io);
  const writeError = (why: string, cause?: unknown) =>
    new CliError(EXIT.config, `Cannot write ${displayPath}: ${why}.`, { cause });
  const existingFile = await stat(file).catch(() => null);
  if (existingFile && !force) throw writeError(ALREADY_EXISTS); // before the first question
  const yaml = await yamlOf(flags, io);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, yaml, { flag: force ? "w" : "wx" });
  } catch (cause) {
    throw writeError(codeOf(cause) === "EEXIST" ? ALREADY_EXISTS : reasonOf(cause), cause);
  }
  if (!user) await storeConsent({ file, text: yaml }, io); // the user has just created the config
  io.stdout.write(
    `Wrote ${displayPath}. Check it: ${commandLineOf("config", "validate", ...(user ? [displayPath] : []))}\n`,
  );
  return EXIT.ok;
}

async function yamlOf(flags: InitFlags, io: Io): Promise<string> {
  const { team, model, backend } = flags;
  const namesModels = model !== undefined || backend !== undefined;
  if (team !== undefined && namesModels)
    throw new CliError(EXIT.config, "Use either --team, or --model with --backend.");
  if (model !== undefined) return teamYaml(model, backend);
  if (team !== undefined) return copiedTeam(await teamText(team, await connect(flags, io)));
  if (!isInteractive(io)) {
    const ways = `${commandLineOf("config", "init", "--model <model> …")}, or ${commandLineOf("config", "init", "--team <name>")}`;
    throw new CliError(EXIT.config, `Name models or an included team: ${ways}`);
  }
  const connection = await connect(flags, io);
  const chosen = backend === undefined ? await chooseTeam(connection, io) : null;
  return chosen === null
    ? teamYaml(await askModels(io), backend)
    : copiedTeam(await teamText(chosen, connection));
}

/**
 * The name of the chosen team; `null` if the user wants to name models, or if the service does not
 * respond.
 */
async function chooseTeam(connection: Connection, io: Io): Promise<string | null> {
  const teams = await listTeams(connection).catch((error: unknown) => {
    if (error instanceof CliError) return null;
    throw error;
  });
  if (teams === null) {
    io.stderr.write(
      `Cannot list the included teams of ${connection.server}. Enter models instead.\n`,
    );
    return null;
  }
  const options = teams.data.data.map(({ name, title, runnable, missing }) => ({
    value: name,
    label: `${toLine(name)}${runnable ? "" : ` (${needsOf(missing)})`}`,
    hint: toLine(title),
  }));
  if (options.length === 0) return null;
  const ownModels = { value: OWN_MODELS, label: "models of my own", hint: "name them" };
  const chosen = await askChoice(
    "Which team works on your questions?",
    [...options, ownModels],
    io,
  );
  return chosen === OWN_MODELS ? null : chosen;
}

const ALREADY_EXISTS = "it already exists; --force overwrites it";

/** Returns the missing settings as a text such as `needs OPENAI_API_KEY`. */
function needsOf(missing: readonly { detail: string }[]): string {
  const names = missing.flatMap(
    ({ detail }) => /\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/.exec(detail)?.[0] ?? [],
  );
  return names.length > 0 ? `needs ${[...new Set(names)].join(", ")}` : "not available";
}

/** The value of the choice "models of my own". No team has an empty name. */
const OWN_MODELS = "";

async function askModels(io: Io): Promise<readonly string[]> {
  const question = "Which models work on your questions? Separate them by commas.";
  const namesText = await askText(question, "gpt-6.1-terra, claude-sonnet-5-5", io);
  return namesText.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}

/** Texts that need no quotes in YAML, except for words such as `true`. */
const UNQUOTED_SCALAR = /^[A-Za-z][\w./-]*$/;
const scalar = (text: string): string =>
  UNQUOTED_SCALAR.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text);

/**
 * A config with one agent per model. Without `backend`, the service derives the provider from the
 * model's name. Throws CliError if there is no model.
 */
export function teamYaml(models: readonly string[], backend: string | undefined): string {
  if (models.length === 0) throw new CliError(EXIT.config, "A team needs a model.");
  const type = backend === undefined ? "" : `      type: ${scalar(backend)}\n`;
  const agents = models.map(
    (model, index) =>
      `  - id: agent_${index + 1}\n    backend:\n${type}      model: ${scalar(model)}\n`,
  );
  return `# The team that answers in this folder, in MassGen's grammar.\n\nagents:\n${agents.join("\n")}
timeout_settings:
  orchestrator_timeout_seconds: 600
`;
}

/**
 * Comments of an included team that would be wrong in a copy: the schema's path for editors, and a
 * command with the path of the original file.
 */
const COMMENTS_OF_ORIGINAL = [
  /^# yaml-language-server:.*\r?\n/m,
  /^#\r?\n# +npm run ask -- --config configs\/.*\r?\n/m,
];

/** The YAML of an included team, without the comments that would be wrong in a copy. */
export const copiedTeam = (yaml: string): string =>
  COMMENTS_OF_ORIGINAL.reduce((text, comment) => text.replace(comment, ""), yaml);
