import type { EvalRecords } from "../../d1/eval-records";
import type { SecretStore } from "../../d1/secret-store";
import type { SessionIndex } from "../../d1/session-index";
import type { StartClaims } from "../../d1/start-claims";
import type { EvalRunApi } from "../../durable-objects/eval-run/eval-run-api";
import type { SessionStub } from "../../durable-objects/session/session-api";
import type { TenantApi } from "../../durable-objects/tenant/tenant-api";
import type { ContextBlobs } from "../../r2-layout/contexts";
import type { ConfigContext, ToolSecret } from "../config/context";
import type { KeyRow } from "../tenancy/keys";
import type { Principal } from "../tenancy/principal";
import type { PruneIndex } from "../uploads/context-index";
import type { ContextReader } from "../uploads/context-reader";
import type { MemoryBudget } from "../uploads/memory-budget";
import type { ContextStore } from "../uploads/context-store";

export type { SessionStub } from "../../durable-objects/session/session-api";

/** Everything that routes need from the deployment. `src/worker/services.ts` creates it. */
export type Services = {
  /** A session of the caller's tenant. The same id under another tenant is another object. */
  session(caller: Principal, id: string): SessionStub;
  tenancy: TenancyServices;
  /** Settings of the deployment for configs. `configFor` adds a tenant's secrets. */
  config: ConfigContext;
  secrets: SecretServices;
  evals: EvalServices;
  contexts: ContextServices;
  stored: StoredSessions;
  /** YAML of the included teams, by name. */
  teams: Readonly<Record<string, string>>;
  /**
   * Version of the code. `deployment`: id of the deployment on the platform; `null` if unknown.
   */
  version: { version: string; deployment: string | null };
  /** Whether requests to loopback addresses need no key. */
  openOnLoopback: boolean;
};

/** Data of sessions that is stored outside their Durable Objects. */
export type StoredSessions = {
  index: SessionIndex;
  claims: StartClaims;
  /** Erases all files of a session. Safe to repeat. */
  eraseFiles(tenant: string, id: string): Promise<void>;
};

/** Storage of API keys. */
export type Keys = {
  /** The key with this id, valid or not; `null` if there is none. */
  find(id: string): Promise<KeyRow | null>;
  /** Whether the service has no keys. */
  isEmpty(): Promise<boolean>;
  /** Returns `false` if the tenant already has the maximum number of live keys. */
  insert(row: KeyRow): Promise<boolean>;
  /** A tenant's keys, newest first, starting after the id `after`. */
  list(tenant: string, page: { limit: number; after: string | null }): Promise<KeyRow[]>;
  /** Revokes a tenant's key. Returns whether the tenant has the key. */
  revoke(tenant: string, id: string, now: number): Promise<boolean>;
  /** Records the time at which the key was last used. */
  noteUse(id: string, now: number): Promise<void>;
};

/** Services for keys and tenants. */
export type TenancyServices = {
  keys: Keys;
  tenant(id: string): Pick<TenantApi, "audit" | "auditPage">;
  /** Whether the rate limit allows a request now. `name`: a key id, or one for a client address. */
  withinRate(name: string): Promise<boolean>;
  /** Whether the rate limit of all keys of a tenant allows a request now. */
  withinTenantRate(tenant: string): Promise<boolean>;
  /** Whether names of session objects are derived from a master key. */
  hasMasterKey: boolean;
  /** Name of a configuration variable whose limit is invalid; `null` if all limits are valid. */
  badLimit: string | null;
  /** Keeps the isolate running until `work` ends, also after the response. */
  later(work: Promise<unknown>): void;
};

/** Services for contexts. */
export type ContextServices = {
  store: ContextStore;
  reader: ContextReader;
  /** Memory budget of uploads. Shared by all requests of an isolate. */
  memory: MemoryBudget;
  /** Storage in which old versions and unfinished uploads are deleted. */
  prune: { index: PruneIndex; files: ContextBlobs };
};

/** Services for evaluations. */
export type EvalServices = {
  /** YAML of the included suites, by name. */
  suites: Readonly<Record<string, string>>;
  /** Tenant of scheduled runs; `null` if the service has no scheduled runs. */
  cronTenant: string | null;
  start: EvalRunApi["start"];
  records: Pick<EvalRecords, "latest" | "runs" | "run">;
};

/** Services for secrets of tools. */
export type SecretServices = Pick<SecretStore, "list" | "put" | "remove"> & {
  /** The operator's secrets that this tenant may use. */
  operators(tenant: string): readonly ToolSecret[];
};
