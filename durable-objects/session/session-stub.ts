import { type Principal, sessionName } from "../../src/tenancy/principal";
import type { Env } from "../../src/env";
import { CALLER_KEY_HEADER, CALLER_TENANT_HEADER, type SessionStub } from "./session-api";

type Place = { namespace: Env["SESSIONS"]; masterKey: string | null };

/**
 * A caller's access to a session. The object's name is computed from tenant and session id, and the
 * object itself checks the tenant again.
 */
export function sessionStub(
  { namespace, masterKey }: Place,
  caller: Principal,
  id: string,
): SessionStub {
  const { tenant, keyId } = caller;
  const object = namespace.get(namespace.idFromName(sessionName(masterKey, tenant, id)));
  return {
    prepare: () => object.prepare(tenant),
    create: (...args) => object.create(tenant, ...args),
    startTurn: (turn, onBusy) => object.startTurn(tenant, turn, onBusy, keyId),
    readQueue: () => object.readQueue(tenant),
    queued: (...args) => object.queued(tenant, ...args),
    removeQueued: (...args) => object.removeQueued(tenant, ...args),
    resumeQueue: () => object.resumeQueue(tenant, keyId),
    compact: (...args) => object.compact(tenant, ...args),
    turns: (...args) => object.turns(tenant, ...args),
    moveHead: (...args) => object.moveHead(tenant, ...args),
    cancel: () => object.cancel(tenant),
    erase: () => object.erase(tenant),
    status: () => object.status(tenant),
    turn: (...args) => object.turn(tenant, ...args),
    answer: (...args) => object.answer(tenant, ...args),
    files: (...args) => object.files(tenant, ...args),
    blob: (...args) => object.blob(tenant, ...args),
    changes: (...args) => object.changes(tenant, ...args),
    changedContents: (...args) => object.changedContents(tenant, ...args),
    diffPoint: (...args) => object.diffPoint(tenant, ...args),
    contextPoint: (...args) => object.contextPoint(tenant, ...args),
    blobs: (...args) => object.blobs(tenant, ...args),
    events: (...args) => object.events(tenant, ...args),
    issueTicket: (...args) => object.issueTicket(tenant, ...args),
    redeemTicket: (...args) => object.redeemTicket(tenant, ...args),
    fetch: (url) =>
      object.fetch(url, {
        headers: { [CALLER_TENANT_HEADER]: tenant, ...(keyId && { [CALLER_KEY_HEADER]: keyId }) },
      }),
  };
}
