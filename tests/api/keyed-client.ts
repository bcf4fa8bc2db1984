import { env, exports } from "cloudflare:workers";
import { ulid } from "ulid";
import { KeyStore } from "../../d1/key-store";
import { hashSecret, type KeyRow, SECRET_BYTES, toKey } from "../../src/tenancy/keys";

/** Creates keys in the database of the service under test, and sends requests with them. */

export const ORIGIN = "http://127.0.0.1:8787";

export const keys = new KeyStore(env.DB);

type NewKey = { key: string; id: string; row: KeyRow };

/** A key with the scope `run` that is not in the database yet. `more`: other values of its row. */
export function newKey(tenant: string, more: Partial<KeyRow> = {}): NewKey {
  const { id, key, secret } = toKey(
    ulid().toLowerCase(),
    crypto.getRandomValues(new Uint8Array(SECRET_BYTES)),
  );
  const row = {
    id,
    tenant,
    name: "test",
    secret_hash: hashSecret(secret),
    scopes: "run",
    created_at: Date.now(),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    ...more,
  };
  return { key, id, row };
}

/** Inserts a key into the database. */
export async function makeKey(tenant: string, more: Partial<KeyRow> = {}): Promise<NewKey> {
  const made = newKey(tenant, more);
  await keys.insert(made.row);
  return made;
}

/** Sends a request to the service. */
export const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(path.startsWith("http") ? path : ORIGIN + path, init));

/** Sends a request with a key. A body is sent as JSON. */
export function askWith(
  key: string,
  path: string,
  { method = "GET", body }: { method?: string; body?: unknown } = {},
) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return ask(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
