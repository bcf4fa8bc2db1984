import path from "node:path";
import type { RunRequest } from "../../src/protocol/api";
import type { QuestionPart } from "../../src/protocol/attachments";
import { CliError, EXIT } from "../exit-codes";
import { MODEL_FLAG } from "../invocation";
import type { Io } from "../io";
import { projectConfig, readTextFile, shownPath, userConfig } from "../local-files";
import type { ConfigSource } from "../service/problem";
import { type Fetchers, readUploads, uploadsOf } from "../uploads/uploads";
import { type ConsentContext, type FoundConfig, requireConsent } from "./consent";

export type TeamFlags = {
  config?: string | undefined;
  model?: readonly string[] | undefined;
  backend?: string | undefined;
  systemMessage?: string | undefined;
  /** Attachments of the first question, in addition to those of the config. */
  file?: readonly string[] | undefined;
};

/** Whether the options name a team. */
export const namesTeam = ({ config, model, backend, systemMessage }: TeamFlags): boolean =>
  [config, model, backend, systemMessage].some((flag) => flag !== undefined);

/** The chosen team. `request` is its part of the API request. */
export type TeamChoice = {
  request: Pick<RunRequest, "config" | "config_yaml">;
  source: ConfigSource;
  /** The team's name in messages. */
  description: string;
  /** Attachments of the first question; omitted if there are none. */
  attachments?: readonly QuestionPart[];
};

type Folders = Pick<Io, "cwd" | "home">;

type TeamChoiceContext = Folders & Pick<Io, "stderr"> & ConsentContext;

/**
 * Chooses the team that the command line names. Without such a name, uses the project's
 * `.massgen/config.yaml`, then the user's config, then the service's default team. A file is sent
 * unchanged, so that the service's errors name the file's line and column. Throws CliError, also if
 * the user does not allow the project's config. `fetchers` download attachments.
 */
export async function chooseTeam(
  flags: TeamFlags,
  io: TeamChoiceContext,
  fetchers?: Fetchers,
): Promise<TeamChoice> {
  const team = await teamOf(flags, io);
  const uploads = uploadsOf(team.source.text ?? "", flags.file ?? []);
  return uploads.length === 0
    ? team
    : { ...team, attachments: await readUploads(uploads, io, fetchers) };
}

async function teamOf(flags: TeamFlags, io: TeamChoiceContext): Promise<TeamChoice> {
  const namesModels = flags.model !== undefined || flags.backend !== undefined;
  if (flags.config !== undefined && (namesModels || flags.systemMessage !== undefined)) {
    throw new CliError(
      EXIT.config,
      "A config names its models: omit --model, --backend and --system-message.",
    );
  }
  if (namesModels) return teamOfModels(flags);
  if (flags.systemMessage !== undefined)
    throw new CliError(EXIT.config, "--system-message needs --model.");
  if (flags.config !== undefined) return namedTeam(flags.config, io);
  const found = await foundTeam(io);
  if (found === null)
    return {
      request: {},
      source: { name: "the usual team", text: null },
      description: "the service's usual team",
    };
  if (found.needsConsent) await requireConsent(found, io);
  return found.team;
}

/**
 * The config file that applies without `--config`, and its team. `needsConsent` is true for a
 * config of the current folder, because another person may have written it.
 */
export type FoundTeam = FoundConfig & { team: TeamChoice; needsConsent: boolean };

/** Returns the config that applies without `--config`; `null` if there is no such file. */
export async function foundTeam(io: Folders): Promise<FoundTeam | null> {
  for (const file of [projectConfig(io), userConfig(io)]) {
    const text = await readTextFile(file, { fileKind: "config", displayPath: shownPath(file, io) });
    if (text === null) continue;
    return {
      file,
      text,
      team: teamOfText(text, shownPath(file, io)),
      needsConsent: file === projectConfig(io),
    };
  }
  return null;
}

/** Returns the team that `--config` names: a file if it exists, otherwise a team of the service. */
async function namedTeam(configName: string, io: Folders): Promise<TeamChoice> {
  const text = await readTextFile(path.resolve(io.cwd, configName), {
    fileKind: "config",
    displayPath: configName,
  });
  if (text !== null) return teamOfText(text, configName);
  const isName = /^[a-z0-9][\w-]*$/i.test(configName) && configName.length <= 200;
  if (!isName)
    throw new CliError(EXIT.config, `Cannot read the config ${configName}: there is no such file.`);
  return {
    request: { config: configName },
    source: { name: configName, text: null },
    description: `team ${configName} of the service`,
  };
}

function teamOfText(text: string, name: string): TeamChoice {
  if (text.trim() === "") throw new CliError(EXIT.config, `The config ${name} is empty.`);
  return { request: { config_yaml: text }, source: { name, text }, description: name };
}

/**
 * One agent for each `--model`. Without `--backend`, the service derives the provider from the
 * model's name.
 */
function teamOfModels({ model = [], backend, systemMessage }: TeamFlags): TeamChoice {
  const models = model.length > 0 ? model : [undefined];
  const agents = models.map((name, index) => ({
    id: models.length === 1 ? "agent" : `agent_${index + 1}`,
    backend: {
      ...(backend === undefined ? {} : { type: backend }),
      ...(name === undefined ? {} : { model: name }),
    },
    ...(systemMessage === undefined ? {} : { system_message: systemMessage }),
  }));
  const description = models.map((name) => name ?? backend).join(", ");
  return { request: { config: { agents } }, source: { name: MODEL_FLAG, text: null }, description };
}
