import * as z from "zod";
import { ulid } from "ulid";
import {
  AuditListSchema,
  type Key,
  KeyListSchema,
  KeyRequestSchema,
  KeySchema,
  NewKeySchema,
  ScopeSchema,
} from "../../protocol/api/keys";
import { redactShapes } from "../../redaction/redact";
import {
  expiryOfNewKey,
  hashSecret,
  isKeyId,
  type KeyRow,
  MOST_LIVE_KEYS,
  SECRET_BYTES,
  toKey,
} from "../../tenancy/keys";
import { LOCAL_TENANT } from "../../tenancy/principal";
import type { App, Call } from "../api-env";
import { ApiError } from "../errors";
import { json, limit, type Operation } from "../operation";
import { readBody } from "../bodies/read-body";
import { limitOf, route } from "../routes";

const PAGE = { defaultSize: 20, maxSize: 100 };
const AUDIT_PAGE = { defaultSize: 100, maxSize: 1_000 };
const DAY_MS = 86_400_000;

const EXAMPLE_KEY: Key = {
  id: "01kb0000000000000000000000",
  tenant: "acme",
  name: "laptop",
  scopes: ["run"],
  created_at: 1_795_000_000,
  expires_at: null,
  revoked_at: null,
  last_used_at: 1_795_000_060,
};
const EXAMPLE_LIST = {
  object: "list",
  data: [EXAMPLE_KEY],
  first_id: EXAMPLE_KEY.id,
  last_id: EXAMPLE_KEY.id,
  has_more: false,
};
const EXAMPLE_AUDIT = {
  seq: 1,
  at: 1_795_000_000_000,
  key_id: EXAMPLE_KEY.id,
  action: "POST /api/runs",
  from: "203.0.113.9",
  request_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
  result: 202,
  hash: "hmac:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};
const LIST_QUERY = z.object({
  limit: limit(PAGE.defaultSize, PAGE.maxSize),
  after: z
    .string()
    .optional()
    .describe("Id of a key: only older keys are returned. Default: from the newest"),
});
const AUDIT_QUERY = z.object({
  limit: limit(AUDIT_PAGE.defaultSize, AUDIT_PAGE.maxSize),
  after: z
    .int()
    .min(0)
    .optional()
    .describe("Number of a row: only later rows are returned. Default: 0, from the first"),
});

const LIST_OPERATION: Operation = {
  id: "listKeys",
  tag: "Keys",
  summary: "Keys of the tenant, newest first, without the keys themselves",
  request: { query: LIST_QUERY },
  responses: { 200: json("A page of keys", KeyListSchema, EXAMPLE_LIST) },
  codes: ["bad_id", "bad_query"],
  handle: listKeys,
};

const CREATE_OPERATION: Operation = {
  id: "createKey",
  tag: "Keys",
  summary: "Create a key for the same tenant; it is shown once",
  description: `A tenant can have ${MOST_LIVE_KEYS} live keys. A key expires no later than the key that creates it; by default both expire together.`,
  request: {
    body: {
      "application/json": {
        schema: KeyRequestSchema,
        example: { name: "laptop", scopes: ["run"] },
      },
    },
  },
  responses: {
    201: json("The key", NewKeySchema, {
      ...EXAMPLE_KEY,
      last_used_at: null,
      key: `mge_${EXAMPLE_KEY.id}_…`,
    }),
  },
  codes: [
    "bad_json",
    "body_too_large",
    "unsupported_media_type",
    "request_invalid",
    "too_many_keys",
  ],
  handle: createKey,
};

const REVOKE_OPERATION: Operation = {
  id: "revokeKey",
  tag: "Keys",
  summary: "Revoke a key",
  description:
    "Requests with the key are refused at once. Its open streams are closed within a minute.",
  request: { params: z.object({ key: z.string().describe("Id of the key") }) },
  responses: {
    200: json("The revoked key", KeySchema, { ...EXAMPLE_KEY, revoked_at: 1_795_000_100 }),
  },
  codes: ["bad_id", "key_not_found"],
  handle: revokeKey,
};

const AUDIT_OPERATION: Operation = {
  id: "readAudit",
  tag: "Keys",
  summary: "Audit log of the tenant, oldest first",
  description:
    "The hash of each row covers the previous row. A changed, removed or inserted row breaks the chain; `broken_at` is its number. With a MASTER_KEY, hashes are HMACs: a person with write access to the storage cannot compute them, but can present rows as older than the MASTER_KEY. Without a MASTER_KEY, that person can compute all hashes. The service also logs the hash of each row of a request with a key, so that missing newest rows can be detected.",
  request: { query: AUDIT_QUERY },
  responses: {
    200: json("A page of the log", AuditListSchema, {
      object: "list",
      data: [EXAMPLE_AUDIT],
      first_id: 1,
      last_id: 1,
      has_more: false,
      broken_at: null,
    }),
  },
  codes: ["bad_query"],
  handle: readAudit,
};

/** Routes for a tenant's keys and audit log. */
export function keyRoutes(app: App): void {
  route(app, "/api/keys", { get: LIST_OPERATION, post: CREATE_OPERATION });
  route(app, "/api/keys/{key}", { delete: REVOKE_OPERATION });
  route(app, "/api/audit", { get: AUDIT_OPERATION });
}

async function listKeys(context: Call): Promise<Response> {
  const after = context.req.query("after") ?? null;
  if (after !== null && !isKeyId(after)) throw badKeyId();
  const count = limitOf(context, PAGE);
  const rows = await context.env.tenancy.keys.list(context.var.principal.tenant, {
    limit: count + 1,
    after,
  });
  const data = rows.slice(0, count).map(toWire);
  const body = {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
  return context.json({ ...body, has_more: rows.length > count });
}

async function createKey(context: Call): Promise<Response> {
  const { tenant } = context.var.principal;
  const { name, scopes, expires_in_days } = await readBody(context.req.raw, KeyRequestSchema);
  refuseKeyAsName(name);
  if (tenant === LOCAL_TENANT) {
    const message =
      "Requests from this machine need no key. `npm run keys -- create --tenant NAME …` creates a key for another tenant.";
    throw new ApiError("request_invalid", message);
  }
  const now = Date.now();
  const { id, key, secret } = toKey(
    ulid(now).toLowerCase(),
    crypto.getRandomValues(new Uint8Array(SECRET_BYTES)),
  );
  const row: KeyRow = {
    id,
    tenant,
    name,
    secret_hash: hashSecret(secret),
    scopes: [...new Set(scopes)].join(","),
    created_at: now,
    expires_at: await expiryOf(
      context,
      expires_in_days === undefined ? null : now + expires_in_days * DAY_MS,
    ),
    revoked_at: null,
    last_used_at: null,
  };
  if (!(await context.env.tenancy.keys.insert(row))) throw tooManyKeys();
  return context.json({ ...toWire(row), key }, 201);
}

/**
 * Expiry of the new key in milliseconds; `null` if it never expires. Throws `request_invalid` if
 * the new key would expire after the key that creates it.
 */
async function expiryOf(context: Call, requested: number | null): Promise<number | null> {
  const { keyId } = context.var.principal;
  const creator = keyId === null ? null : await context.env.tenancy.keys.find(keyId);
  const expiry = expiryOfNewKey(requested, creator?.expires_at ?? null);
  if (expiry !== "too_late") return expiry;
  const detail =
    "A key cannot expire after the key that creates it. Use fewer days, or omit this field: then both expire together";
  throw new ApiError(
    "request_invalid",
    `The request is not valid, at \`/expires_in_days\`: ${detail}.`,
    {
      errors: [{ pointer: "/expires_in_days", detail }],
    },
  );
}

const tooManyKeys = (): ApiError =>
  new ApiError(
    "too_many_keys",
    `This tenant has ${MOST_LIVE_KEYS} live keys, the maximum. Revoke one with \`DELETE /api/keys/{key}\` (\`massgen-edge keys revoke\`), then retry.`,
    { limit: MOST_LIVE_KEYS },
  );

/** Refuses a name that looks like a key, because lists show names. */
function refuseKeyAsName(name: string): void {
  if (redactShapes(name) === name) return;
  const detail =
    "The name looks like a key. Use words, such as the place of use. If it was a real key, treat it as leaked";
  throw new ApiError("request_invalid", `The request is not valid, at \`/name\`: ${detail}.`, {
    errors: [{ pointer: "/name", detail }],
  });
}

async function revokeKey(context: Call): Promise<Response> {
  const { tenant } = context.var.principal;
  const { keys } = context.env.tenancy;
  const id = context.req.param("key") ?? "";
  if (!isKeyId(id)) throw badKeyId();
  const row = (await keys.revoke(tenant, id, Date.now())) ? await keys.find(id) : null;
  if (!row) throw new ApiError("key_not_found", "There is no such key.");
  return context.json(toWire(row));
}

async function readAudit(context: Call): Promise<Response> {
  const text = context.req.query("after") ?? "0";
  if (!/^\d{1,15}$/.test(text))
    throw new ApiError("bad_query", "`after` must be the number of a row.");
  const { tenant } = context.var.principal;
  const page = await context.env.tenancy
    .tenant(tenant)
    .auditPage({ after: Number(text), limit: limitOf(context, AUDIT_PAGE) });
  const data = page.rows.map(({ keyId, requestId, ...row }) => ({
    ...row,
    key_id: keyId,
    request_id: requestId,
  }));
  const body = {
    object: "list",
    data,
    first_id: data[0]?.seq ?? null,
    last_id: data.at(-1)?.seq ?? null,
  };
  return context.json({ ...body, has_more: page.hasMore, broken_at: page.brokenAt });
}

const badKeyId = (): ApiError =>
  new ApiError("bad_id", "The id of a key must be 26 lower-case letters and digits.");

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);

const toWire = ({
  id,
  tenant,
  name,
  scopes,
  created_at,
  expires_at,
  revoked_at,
  last_used_at,
}: KeyRow): Key => ({
  id,
  tenant,
  name,
  scopes: z.array(ScopeSchema).catch([]).parse(scopes.split(",")),
  created_at: created_at / 1000,
  expires_at: toSeconds(expires_at),
  revoked_at: toSeconds(revoked_at),
  last_used_at: toSeconds(last_used_at),
});
