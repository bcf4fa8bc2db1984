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

/** The chosen team: its part of the request, and its name for messages. */
export type TeamChoice = {
  request: Pick<RunRequest, "config" | "config_yaml">;
  source: ConfigSource;
  described: string;
  /** Attachments of the first question; omitted if there are none. */
  attached?: readonly QuestionPart[];
};

type Folders = Pick<Io, "cwd" | "home">;

type TeamChoiceContext = Folders & Pick<Io, "stderr"> & ConsentContext;

/**
 * Chooses the team: the one that the command line names, else the project's `.massgen/config.yaml`,
 * else the user's config, else the service's default team. A file is sent unchanged, so that errors
 * have line and column. Throws CliError, also if the user does not allow the project's config.
 * `fetchers` download attachments.
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
    : { ...team, attached: await readUploads(uploads, io, fetchers) };
}

async function teamOf(flags: TeamFlags, io: TeamChoiceContext): Promise<TeamChoice> {
  const single = flags.model !== undefined || flags.backend !== undefined;
  if (flags.config !== undefined && (single || flags.systemMessage !== undefined)) {
    throw new CliError(
      EXIT.config,
      "A config names its models: omit --model, --backend and --system-message.",
    );
  }
  if (single) return teamOfModels(flags);
  if (flags.systemMessage !== undefined)
    throw new CliError(EXIT.config, "--system-message needs --model.");
  if (flags.config !== undefined) return namedTeam(flags.config, io);
  const found = await foundTeam(io);
  if (found === null)
    return {
      request: {},
      source: { name: "the usual team", text: null },
      described: "the service's usual team",
    };
  if (found.needsConsent) await requireConsent(found, io);
  return found.team;
}

/** `needsConsent`: the config belongs to the folder, so another person may have written it. */
export type FoundTeam = FoundConfig & { team: TeamChoice; needsConsent: boolean };

/** The config that applies in this folder without `--config`; `null` if there is no such file. */
export async function foundTeam(io: Folders): Promise<FoundTeam | null> {
  for (const file of [projectConfig(io), userConfig(io)]) {
    const text = await readTextFile(file, { what: "config", shown: shownPath(file, io) });
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

/** The team of `--config`: an existing file, else a team of the service. */
async function namedTeam(named: string, io: Folders): Promise<TeamChoice> {
  const text = await readTextFile(path.resolve(io.cwd, named), { what: "config", shown: named });
  if (text !== null) return teamOfText(text, named);
  const isName = /^[a-z0-9][\w-]*$/i.test(named) && named.length <= 200;
  if (!isName)
    throw new CliError(EXIT.config, `Cannot read the config ${named}: there is no such file.`);
  return {
    request: { config: named },
    source: { name: named, text: null },
    described: `team ${named} of the service`,
  };
}

function teamOfText(text: string, name: string): TeamChoice {
  if (text.trim() === "") throw new CliError(EXIT.config, `The config ${name} is empty.`);
  return { request: { config_yaml: text }, source: { name, text }, described: name };
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
  const described = models.map((name) => name ?? backend).join(", ");
  return { request: { config: { agents } }, source: { name: MODEL_FLAG, text: null }, described };
}
