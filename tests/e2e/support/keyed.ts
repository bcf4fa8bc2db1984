import { randomBytes } from "node:crypto";
import { ulid } from "ulid";
import { insertKey } from "../../../d1/key-statements";
import { hashSecret, SECRET_BYTES, toKey } from "../../../src/tenancy/keys";
import type { Scope } from "../../../src/tenancy/principal";
import { TEST_SEALING_KEYS } from "../../builders/sealing-keys";

/** Variables of a service that requires API keys and uses models on this machine. */
export const KEYED = {
  MASTER_KEY: "the master key of a service under test",
  ALLOWED_ORIGINS: "http://127.0.0.1:*",
  SEALING_KEYS: TEST_SEALING_KEYS,
};

/** `key` is the whole key, `secret` its secret part. `statement`: SQL that adds the key. */
export type NewKey = { id: string; key: string; secret: string; statement: string };

/** Creates a key for a new service. */
export function newKey(tenant: string, scopes: Scope): NewKey {
  const now = Date.now();
  const { id, key, secret } = toKey(ulid(now).toLowerCase(), randomBytes(SECRET_BYTES));
  const row = {
    id,
    tenant,
    name: "test",
    secretHash: hashSecret(secret),
    scopes,
    now,
    expiresAt: null,
  };
  return { id, key, secret, statement: insertKey(row) };
}

/** The headers of a request with the key. */
export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
