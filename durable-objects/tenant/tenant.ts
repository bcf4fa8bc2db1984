import { DurableObject } from "cloudflare:workers";
import { type AuditEntry, type AuditHead, auditKey } from "../../src/tenancy/audit";
import { LOCAL_TENANT } from "../../src/tenancy/principal";
import {
  deploymentQuota,
  judgeStorage,
  judgeTurn,
  type Quota,
  type QuotaDecision,
  type StorageUse,
  type TurnRequest,
} from "../../src/tenancy/quota";
import { type Env, readSecret } from "../../src/env";
import { storageOf } from "../../d1/stored-bytes";
import type { AuditPage, SettledTurn, TenantApi } from "./tenant-api";
import { TenantTables } from "./tenant-tables";

/** How long a tenant's limits are cached. A change takes effect after at most this time. */
const QUOTA_KEPT_MS = 60_000;

/**
 * The object of one tenant: its running turns, its cost per day, and its audit log. This class
 * contains no rules; they are in `src/tenancy/`. Each tenant has one object, so that its counts are
 * exact. The limits are read from D1.
 */
export class TenantObject extends DurableObject<Env> implements TenantApi {
  readonly #tables: TenantTables;
  /** The cached limits. `until`: unix ms. */
  #quota: { quota: Quota; until: number } | null = null;
  /** The read of the stored bytes that is in progress; `null` if there is none. */
  #storage: Promise<StorageUse> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#tables = new TenantTables(
      ctx.storage.sql,
      auditKey(readSecret(env, "MASTER_KEY") ?? null, ctx.id.toString()),
    );
  }

  /** See `TenantApi`. */
  async startTurn(tenant: string, request: TurnRequest): Promise<QuotaDecision> {
    const [quota, storage] = await Promise.all([this.#quotaOf(tenant), this.#storageOf(tenant)]);
    const full = judgeStorage(storage, request.attachedBytes ?? 0);
    if (full) return full;
    const now = Date.now();
    const decision = judgeTurn(quota, this.#tables.usage(now), request, now);
    if (decision.ok)
      this.ctx.storage.transactionSync(() => this.#tables.lease(decision.lease, now));
    return decision;
  }

  async releaseTurn(session: string, turn: number): Promise<void> {
    this.#tables.release(session, turn);
  }

  async endTurn(settled: SettledTurn): Promise<void> {
    this.ctx.storage.transactionSync(() => this.#tables.settle(settled));
  }

  async audit(entry: AuditEntry): Promise<AuditHead> {
    return this.ctx.storage.transactionSync(() => this.#tables.appendAudit(entry));
  }

  async auditPage(request: { after: number; limit: number }): Promise<AuditPage> {
    return this.#tables.auditPage(request);
  }

  /**
   * The tenant's stored bytes. Turns that start at the same time share one read, because this
   * object is asked by every start of its tenant.
   */
  #storageOf(tenant: string): Promise<StorageUse> {
    this.#storage ??= storageOf(this.env, tenant).finally(() => {
      this.#storage = null;
    });
    return this.#storage;
  }

  async #quotaOf(tenant: string): Promise<Quota> {
    if (tenant === LOCAL_TENANT) return deploymentQuota(this.env, true);
    if (this.#quota && Date.now() < this.#quota.until) return this.#quota.quota;
    const quota = await this.#readQuota(tenant);
    this.#quota = { quota, until: Date.now() + QUOTA_KEPT_MS };
    return quota;
  }

  /** Reads the tenant's own limits. A limit that is not set is the deployment's. */
  async #readQuota(tenant: string): Promise<Quota> {
    const row = await this.env.DB.prepare(
      "SELECT concurrent_turns, usd_per_day FROM tenants WHERE id = ?",
    )
      .bind(tenant)
      .first<{ concurrent_turns: number | null; usd_per_day: number | null }>();
    return deploymentQuota(
      {
        TENANT_CONCURRENT_TURNS:
          row?.concurrent_turns?.toString() ?? this.env.TENANT_CONCURRENT_TURNS ?? "",
        TENANT_USD_PER_DAY: row?.usd_per_day?.toString() ?? this.env.TENANT_USD_PER_DAY ?? "",
      },
      false,
    );
  }
}
