import type { z } from "@hono/zod-openapi";
import { ulid } from "ulid";
import type { StandingClaim } from "../../../d1/start-claims";
import { FaultSchema } from "../../protocol/api";
import type { Call } from "../api-env";
import { ApiError, type Fault } from "../errors";
import { notFound } from "../routes";
import type { SessionStub } from "../services";

/** Idempotency keys: whoever starts with the same key and body again gets the same run, or drives on what was broken off. */

/** A key, and what it stands for: the address and the body it came with. */
export type StartKey = { key: string; bodyHash: string };

/** A session that is to be there: its id, how to reach it, what was said about its config, and whether the index knows that it is. */
export type Start = {
  id: string;
  stub: SessionStub;
  warnings: readonly Fault[];
  isConfirmed: boolean;
};

/** What `Idempotency-Key` says; null without one. */
export async function readKey(context: Call, text: string): Promise<StartKey | null> {
  const key = context.req.header("idempotency-key");
  if (key === undefined) return null;
  if (!/^[ -~]{1,255}$/.test(key)) {
    throw new ApiError(
      "bad_idempotency_key",
      "`Idempotency-Key` has 1 to 255 printable ASCII characters.",
    );
  }
  const bytes = new TextEncoder().encode(`${context.req.path}\n${text}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return { key, bodyHash: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** The session this key has begun; null if none. Throws if it came with another body, or if the session has been erased since. */
export async function findStart(context: Call, key: StartKey): Promise<Start | null> {
  const claim = await context.env.stored.claims.find(
    context.var.principal.tenant,
    key.key,
    Date.now(),
  );
  return claim && toStart(context, key, claim);
}

/**
 * Writes down that a session begins, before anything of it does. Whoever came first with the same key decides which session. Who
 * is refused after that says so with `withdrawStart`.
 */
export async function beginStart(
  context: Call,
  key: StartKey | null,
  { question, warnings }: { question: string; warnings: readonly Fault[] },
): Promise<Start> {
  const { tenant } = context.var.principal;
  const id = `session_${ulid().toLowerCase()}`;
  const createdAt = Date.now();
  const session = { tenant, id, createdAt, question };
  const { index, claims } = context.env.stored;
  if (key) {
    const claim = {
      body_hash: key.bodyHash,
      session_id: id,
      start_id: ulid(),
      warnings: JSON.stringify(warnings),
    };
    return toStart(
      context,
      key,
      await claims.claim({ tenant, key: key.key, createdAt, ...claim }, session),
    );
  }
  await index.add(session);
  return { id, stub: context.env.session(context.var.principal, id), warnings, isConfirmed: false };
}

/**
 * The start was refused. What was written of it goes, but only while the session is not there and no other with the same key may
 * yet make it: of two at once one may be refused and the other accepted.
 */
export async function withdrawStart(
  { env, var: { principal } }: Call,
  key: StartKey | null,
  { id }: Start,
): Promise<void> {
  const { index, claims } = env.stored;
  await (key ? claims.withdraw(principal.tenant, key.key, id) : index.drop(principal.tenant, id));
}

/** The session is there. If it has been erased in the meantime, it goes again. */
export async function confirmStart(
  { env, var: { principal } }: Call,
  { id, stub, isConfirmed }: Start,
): Promise<void> {
  if (isConfirmed) return;
  if (!(await env.stored.index.confirm(principal.tenant, id))) await stub.erase();
}

/** By what the session knows the start of this turn again. Throws if the key came with another body. */
export async function claimTurn(context: Call, key: StartKey, sessionId: string): Promise<string> {
  const { tenant } = context.var.principal;
  const claim = {
    body_hash: key.bodyHash,
    session_id: sessionId,
    start_id: ulid(),
    warnings: "[]",
  };
  const standing = await context.env.stored.claims.claim(
    { tenant, key: key.key, createdAt: Date.now(), ...claim },
    null,
  );
  requireSameBody(key, standing);
  return standing.start_id;
}

function toStart(context: Call, key: StartKey, claim: StandingClaim): Start {
  requireSameBody(key, claim);
  if (claim.session_state === null || claim.session_state === "erasing")
    throw notFound("session_not_found");
  const warnings = FaultSchema.array().parse(JSON.parse(claim.warnings)).map(toFault);
  const stub = context.env.session(context.var.principal, claim.session_id);
  return { id: claim.session_id, stub, warnings, isConfirmed: claim.session_state === "started" };
}

/** Throws if the key came with another body before. */
export function requireSameBody({ key, bodyHash }: StartKey, claim: StandingClaim): void {
  if (claim.body_hash === bodyHash) return;
  const message = `The idempotency key ${JSON.stringify(key.slice(0, 64))} came with another body before. Take a new key for a new request.`;
  throw new ApiError("idempotency_key_reused", message);
}

/** Where there was no text, a place is null. */
const toFault = ({
  pointer,
  detail,
  line = null,
  column = null,
  code,
  need,
}: z.infer<typeof FaultSchema>): Fault => ({
  pointer,
  line,
  column,
  detail,
  ...(code === undefined ? {} : { code }),
  ...(need === undefined ? {} : { need }),
});
