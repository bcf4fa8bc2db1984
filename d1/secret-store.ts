import { randomBytes } from "node:crypto";
import * as z from "zod";
import {
  SECRET_LIMITS,
  type SecretBinding,
  SecretBindingSchema,
} from "../src/protocol/api/secrets";
import {
  NONCE_BYTES,
  open,
  parseSealingKeys,
  seal,
  type SealingKeys,
  versionOf,
} from "../src/tenancy/sealing";
import { type Env, readSecret } from "../src/env";
import { nullIfNoTable } from "./no-table";

/** A tenant's secret without its value. Times in unix ms. */
type SecretFacts = {
  name: string;
  bindings: readonly SecretBinding[];
  createdAt: number;
  updatedAt: number;
};

/**
 * A secret with its value. `ok: false`: the secret cannot be opened, because version `version` of
 * the sealing keys is no longer set or the row was changed.
 */
type FoundSecret =
  | { ok: true; value: string; bindings: readonly SecretBinding[] }
  | { ok: false; version: number };

/** A secret to be set. */
type SecretRequest = {
  tenant: string;
  name: string;
  value: string;
  bindings: readonly SecretBinding[];
};

/**
 * The result of `put`. `full`: the tenant has the maximum number of secrets. `not_sealed`: no value
 * can be sealed; `problem` is a clause that says why.
 */
type SecretPut =
  | { ok: true; isNew: boolean; secret: SecretFacts }
  | { ok: false; code: "full" }
  | { ok: false; code: "not_sealed"; problem: string };

type Row = {
  name: string;
  sealed: string;
  bindings: string;
  created_at: number;
  updated_at: number;
};

const Bindings = z.array(SecretBindingSchema);
const FIELDS = "name, sealed, bindings, created_at, updated_at";

/**
 * Secrets of tenants in D1. A value is stored only in sealed form. It is sealed for its tenant,
 * name and bindings, so it cannot be opened with others.
 */
export class SecretStore {
  readonly #db: D1Database;
  readonly #sealing: ReturnType<typeof parseSealingKeys>;

  constructor(env: Pick<Env, "DB" | "SEALING_KEYS">) {
    this.#db = env.DB;
    this.#sealing = parseSealingKeys(readSecret(env, "SEALING_KEYS"));
  }

  /**
   * The secret; `null` if the tenant has none with this name. If an older version of the sealing
   * keys sealed the secret, it is sealed again with the newest.
   */
  async find(tenant: string, name: string): Promise<FoundSecret | null> {
    const select = this.#db.prepare(
      `SELECT ${FIELDS} FROM tenant_secrets WHERE tenant = ? AND name = ?`,
    );
    const row = await nullIfNoTable(select.bind(tenant, name).first<Row>());
    if (!row) return null;
    const version = versionOf(row.sealed);
    if (!this.#sealing.ok) return { ok: false, version };
    const { keys } = this.#sealing;
    const binding = bindingOf(tenant, row);
    const opened = open(keys, row.sealed, binding);
    if (!opened.ok) return { ok: false, version };
    if (version !== keys.first.version) {
      await this.#db
        .prepare(
          "UPDATE tenant_secrets SET sealed = ? WHERE tenant = ? AND name = ? AND sealed = ?",
        )
        .bind(sealedFor(keys, opened.secret, binding), tenant, name, row.sealed)
        .run();
    }
    return { ok: true, value: opened.secret, bindings: bindingsOf(row) };
  }

  /** All secrets of a tenant by name, at most `SECRET_LIMITS.secrets`. */
  async list(tenant: string): Promise<SecretFacts[]> {
    const select = this.#db.prepare(
      `SELECT ${FIELDS} FROM tenant_secrets WHERE tenant = ? ORDER BY name`,
    );
    const found = await nullIfNoTable(select.bind(tenant).all<Row>());
    return (found?.results ?? []).map(toFacts);
  }

  /**
   * Sets value and bindings of a secret. One statement counts and writes, so that of two concurrent
   * requests for the last secret one is refused.
   */
  async put({ tenant, name, value, bindings }: SecretRequest, now: number): Promise<SecretPut> {
    if (!this.#sealing.ok) return { ok: false, code: "not_sealed", problem: this.#sealing.problem };
    const bindingsJson = JSON.stringify(bindings);
    const sealed = sealedFor(
      this.#sealing.keys,
      value,
      bindingOf(tenant, { name, bindings: bindingsJson }),
    );
    const exists = "EXISTS (SELECT 1 FROM tenant_secrets WHERE tenant = ?1 AND name = ?2)";
    const count = "(SELECT count(*) FROM tenant_secrets WHERE tenant = ?1)";
    const row = await this.#db
      .prepare(
        `INSERT INTO tenant_secrets (tenant, ${FIELDS}) SELECT ?1, ?2, ?3, ?4, ?5, ?5 WHERE ${exists} OR ${count} < ?6 ON CONFLICT (tenant, name) DO UPDATE SET sealed = excluded.sealed, bindings = excluded.bindings, updated_at = excluded.updated_at RETURNING ${FIELDS}`,
      )
      .bind(tenant, name, sealed, bindingsJson, now, SECRET_LIMITS.secrets)
      .first<Row>();
    if (!row) return { ok: false, code: "full" };
    return { ok: true, isNew: row.created_at === row.updated_at, secret: toFacts(row) };
  }

  /** Deletes a secret. Returns whether the tenant had it. */
  async remove(tenant: string, name: string): Promise<boolean> {
    const { meta } = await this.#db
      .prepare("DELETE FROM tenant_secrets WHERE tenant = ? AND name = ?")
      .bind(tenant, name)
      .run();
    return meta.changes > 0;
  }
}

const bindingsOf = ({ bindings }: Pick<Row, "bindings">): SecretBinding[] =>
  Bindings.parse(JSON.parse(bindings));

const toFacts = (row: Row): SecretFacts => ({
  name: row.name,
  bindings: bindingsOf(row),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/**
 * The data that a value is sealed for. Sessions never have an empty id, so a sealed value cannot be
 * opened as a caller's key or a token of a session.
 */
const bindingOf = (tenant: string, { name, bindings }: Pick<Row, "name" | "bindings">) => ({
  ...{ tenant, session: "", agent: name, origin: bindings },
});

const sealedFor = (
  keys: SealingKeys,
  value: string,
  binding: ReturnType<typeof bindingOf>,
): string => seal(keys, value, binding, randomBytes(NONCE_BYTES));
