import type { z } from "zod";
import { ulid } from "ulid";
import type { ExistingClaim } from "../../../d1/start-claims";
import { FaultSchema } from "../../protocol/api";
import { hashOf } from "../../workspace/snapshot";
import type { Call } from "../api-env";
import { ApiError, type Fault } from "../errors";
import { notFound } from "../routes";
import type { SessionStub } from "../services";

/**
 * An idempotency key. A repeated start with the same key returns the same run, or continues an
 * interrupted start. `bodyHash`: hash of the path and the body of the request.
 */
type StartKey = { key: string; bodyHash: string };

/**
 * A session that starts. `warnings`: warnings of its config. `isConfirmed`: whether the index has
 * recorded that the session exists.
 */
export type Start = {
  id: string;
  stub: SessionStub;
  warnings: readonly Fault[];
  isConfirmed: boolean;
};

/**
 * The key in the `Idempotency-Key` header; `null` if the header is missing. `text`: the body of the
 * request. Throws `bad_idempotency_key`.
 */
export async function readKey(context: Call, text: string): Promise<StartKey | null> {
  const key = context.req.header("idempotency-key");
  if (key === undefined) return null;
  if (!/^[ -~]{1,255}$/.test(key)) {
    throw new ApiError(
      "bad_idempotency_key",
      "`Idempotency-Key` must be 1 to 255 printable ASCII characters.",
    );
  }
  const bytes = new TextEncoder().encode(`${context.req.path}\n${text}`);
  return { key, bodyHash: await hashOf(bytes) };
}

/**
 * The session that was started with this key; `null` if there is none. Throws if the key was used
 * with another body, or if the session has been erased.
 */
export async function findStart(context: Call, key: StartKey): Promise<Start | null> {
  const claim = await context.env.stored.claims.find(
    context.var.principal.tenant,
    key.key,
    Date.now(),
  );
  return claim && toStart(context, key, claim);
}

/**
 * Records the start of a session before anything else of the session is stored. All requests with
 * the same key get the session of the first request. If the start is then refused, call
 * `withdrawStart`.
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
  const stub = context.env.session(context.var.principal, id);
  void stub.prepare().catch(() => undefined); // `create` sees the error
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
  return { id, stub, warnings, isConfirmed: false };
}

/**
 * Removes the record of a refused start. Keeps the record if the session exists, or if a concurrent
 * request with the same key may still create the session.
 */
export async function withdrawStart(
  { env, var: { principal } }: Call,
  key: StartKey | null,
  { id }: Start,
): Promise<void> {
  const { index, claims } = env.stored;
  await (key ? claims.withdraw(principal.tenant, key.key, id) : index.drop(principal.tenant, id));
}

/**
 * Records that the session exists. If the session was erased during the start, erases its Durable
 * Object again.
 */
export async function confirmStart(
  { env, var: { principal } }: Call,
  { id, stub, isConfirmed }: Start,
): Promise<void> {
  if (isConfirmed) return;
  if (!(await env.stored.index.confirm(principal.tenant, id))) await stub.erase();
}

/**
 * Returns the id by which the session recognizes a repeated start of this turn. Throws if the key
 * was used with another body.
 */
export async function claimTurn(context: Call, key: StartKey, sessionId: string): Promise<string> {
  const { tenant } = context.var.principal;
  const claim = {
    body_hash: key.bodyHash,
    session_id: sessionId,
    start_id: ulid(),
    warnings: "[]",
  };
  const claimed = await context.env.stored.claims.claim(
    { tenant, key: key.key, createdAt: Date.now(), ...claim },
    null,
  );
  requireSameBody(key, claimed);
  return claimed.start_id;
}

function toStart(context: Call, key: StartKey, claim: ExistingClaim): Start {
  requireSameBody(key, claim);
  if (claim.session_state === null || claim.session_state === "erasing")
    throw notFound("session_not_found");
  const warnings = FaultSchema.array().parse(JSON.parse(claim.warnings)).map(toFault);
  const stub = context.env.session(context.var.principal, claim.session_id);
  return { id: claim.session_id, stub, warnings, isConfirmed: claim.session_state === "started" };
}

/** Throws if the key was used with another body. */
export function requireSameBody({ key, bodyHash }: StartKey, claim: ExistingClaim): void {
  if (claim.body_hash === bodyHash) return;
  const message = `The idempotency key ${JSON.stringify(key.slice(0, 64))} was used with another body. Use a new key for a new request.`;
  throw new ApiError("idempotency_key_reused", message);
}

/**
 * Converts a stored finding. `line` and `column` are `null` if the finding has no text
 * position.
 */
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
