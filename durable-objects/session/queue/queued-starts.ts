import { KeyStore } from "../../../d1/key-store";
import type { Env } from "../../../src/env";
import type { Admission } from "../admission/admission";
import { failQueuedTurn } from "../admission/refused-turn";
import { attachmentStore, type Session } from "../load-session";
import type { StoredRequest } from "./queue-store";
import type { QueuedStarts } from "./queue-worker";

type Options = {
  env: Env;
  admission: Pick<Admission, "startTurn">;
  /** The current session; `null` after its erasure. */
  current: () => Session | null;
};

const NOT_FOUND = { ok: false, code: "session_not_found" } as const;

/** Starts the turns of a session's queue: with the tenant, the keys and the attachments. */
export function queuedStarts({ env, admission, current }: Options): QueuedStarts {
  const keys = new KeyStore(env.DB);
  const storeOf = ({ tenant, facts }: Session) =>
    attachmentStore(env, { tenant, session: facts.sessionId });
  const toStart = ({ turn, id }: StoredRequest) => ({ ...turn, queueId: id });
  return {
    isAllowed: async ({ keyId }) =>
      keyId === null || (await keys.live([keyId], Date.now())).has(keyId),
    start: async (request) => {
      const session = current();
      return session ? admission.startTurn(session, toStart(request)) : NOT_FOUND;
    },
    fail: async (request, refusal) => {
      const session = current();
      if (session) await failQueuedTurn(session, toStart(request), refusal, storeOf(session));
    },
    finish: async ({ turn }) => {
      const session = current();
      if (session) await storeOf(session).removeQueued(turn.attachments ?? []);
    },
  };
}
