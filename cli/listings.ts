import type { RequestContext } from "./problem";
import { type Answer, request } from "./request";
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

/** What the service can be asked beside sessions: lists, configs, keys. Everything here throws CliError. */

const SESSIONS = "/api/sessions";
const CONFIGS = "/api/configs";
const KEYS = "/api/keys";

export function listSessions(
  { limit, after }: { limit: number; after?: string },
  context: RequestContext,
): Promise<Answer<SessionList>> {
  const query = new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) });
  return request({ method: "GET", path: `${SESSIONS}?${query}` }, SessionListSchema, context);
}

/** Teams on offer. */
export const listTeams = (context: RequestContext): Promise<Answer<TeamList>> =>
  request({ method: "GET", path: CONFIGS }, TeamListSchema, context);

/** What the service thinks of a config, without running it. */
export const validateConfig = (yaml: string, context: RequestContext): Promise<Answer<Verdict>> =>
  request({ method: "POST", path: `${CONFIGS}/validate`, body: { config_yaml: yaml } }, VerdictSchema, context);

export type KeyWish = { name?: string; scopes?: readonly string[]; expires_at?: number };

/** Makes a key; its answer is the only one that holds the secret. */
export const createKey = (body: KeyWish, context: RequestContext): Promise<Answer<NewKey>> =>
  request({ method: "POST", path: KEYS, body }, NewKeySchema, context);

export const listKeys = (context: RequestContext): Promise<Answer<KeyList>> =>
  request({ method: "GET", path: KEYS }, KeyListSchema, context);

/** From now on the key opens nothing. */
export const revokePath = (id: string): string => `${KEYS}/${encodeURIComponent(id)}`;
