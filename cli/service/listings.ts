import type { RequestContext } from "./problem";
import { type Answer, callService, readAnswer, request } from "./call-service";
import {
  type KeyList,
  KeyListSchema,
  type NewKey,
  NewKeySchema,
  type SessionList,
  SessionListSchema,
  type TeamList,
  TeamListSchema,
  type Verdict,
  VerdictSchema,
} from "./schema";
import type { RunRequest } from "../../src/protocol/api";
import { ATTACHMENT_LIMITS } from "../../src/protocol/attachments";
import { CONFIGS_PATH, configPath } from "../../src/protocol/paths";
import { uploadsIn } from "../uploads/uploads";

/** Requests about lists, configs and keys. Every function throws CliError. */

const KEYS = "/api/keys";

export type Page = { limit: number; after?: string };

/** Lists sessions, newest first. */
export const listSessions = (page: Page, context: RequestContext): Promise<Answer<SessionList>> =>
  readAnswer(context, SessionListSchema, ({ sessions }) => sessions.list(page));

const queryOf = ({ limit, after }: Page): string =>
  new URLSearchParams({
    limit: String(limit),
    ...(after === undefined ? {} : { after }),
  }).toString();

/** Lists the included teams. */
export const listTeams = (context: RequestContext): Promise<Answer<TeamList>> =>
  request({ method: "GET", path: CONFIGS_PATH }, TeamListSchema, context);

/** Reads an included team as YAML. */
export async function teamText(name: string, context: RequestContext): Promise<string> {
  const call = { method: "GET", path: configPath(name) } as const;
  const { bytes } = await callService(context, (client) => client.send(call));
  return new TextDecoder().decode(bytes);
}

/** Validates a config without running it. */
export const validateConfig = (yaml: string, context: RequestContext): Promise<Answer<Verdict>> =>
  checkTeam({ config_yaml: yaml }, context);

/** Checks a team without asking it. */
export const checkTeam = (
  team: Pick<RunRequest, "config" | "config_yaml">,
  context: RequestContext,
): Promise<Answer<Verdict>> => {
  // `ask` sends these files
  const attached = uploadsIn(team.config_yaml ?? "").slice(0, ATTACHMENT_LIMITS.count);
  const body = { ...team, ...(attached.length > 0 && { attached }) };
  return request(
    { method: "POST", path: `${CONFIGS_PATH}/validate`, json: body },
    VerdictSchema,
    context,
  );
};

export type KeyRequest = { name: string; scopes: readonly string[]; expires_in_days?: number };

/** Creates a key. No later response contains the secret. */
export const createKey = (json: KeyRequest, context: RequestContext): Promise<Answer<NewKey>> =>
  request({ method: "POST", path: KEYS, json }, NewKeySchema, context);

/** Lists keys, newest first. */
export const listKeys = (page: Page, context: RequestContext): Promise<Answer<KeyList>> =>
  request({ method: "GET", path: `${KEYS}?${queryOf(page)}` }, KeyListSchema, context);

/** Path of a key. A DELETE request revokes the key. */
export const revokePath = (id: string): string => `${KEYS}/${encodeURIComponent(id)}`;
