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
import type { UploadRoom } from "../uploads/upload-room";
import type { ContextStore } from "../uploads/uploads";

export type { SessionStub } from "../../durable-objects/session/session-api";

/** Everything routes need from the deployment; made in `worker.ts`. */
export type Services = {
  /** Of the caller's tenant only: another's session of the same id is another object. */
  session(caller: Principal, id: string): SessionStub;
  tenancy: TenancyServices;
  /** Of the deployment; `configFor` has also what is a tenant's. */
  config: ConfigContext;
  secrets: SecretServices;
  evals: EvalServices;
  contexts: ContextServices;
  stored: StoredSessions;
  /** Teams on offer: name → YAML. */
  teams: Readonly<Record<string, string>>;
  /** Which code answers, and which deployment of it; null where the platform tells none. */
  version: { version: string; deployment: string | null };
  /** Whether requests to loopback addresses need no key. */
  openOnLoopback: boolean;
};

/** What routes need of what lies outside the sessions' objects. */
export type StoredSessions = {
  index: SessionIndex;
  claims: StartClaims;
  /** Erases all files of a session; may be done again. */
  eraseFiles(tenant: string, id: string): Promise<void>;
};

/** The service's own keys, wherever they lie. */
export type Keys = {
  /** The key of this id, good or not; null if there is none. */
  find(id: string): Promise<KeyRow | null>;
  /** Whether there is no key at all. */
  isEmpty(): Promise<boolean>;
  /** Returns whether the key was added: `false` if the tenant has as many live keys as it may have. */
  insert(row: KeyRow): Promise<boolean>;
  /** A tenant's keys, newest first, from behind the id `after`. */
  list(tenant: string, page: { limit: number; after: string | null }): Promise<KeyRow[]>;
  /** Ends a tenant's key now. Gives whether the tenant has it. */
  revoke(tenant: string, id: string, now: number): Promise<boolean>;
  noteUse(id: string, now: number): Promise<void>;
};

/** What routes need of keys and tenants. */
export type TenancyServices = {
  keys: Keys;
  tenant(id: string): Pick<TenantApi, "audit" | "auditPage">;
  /** Whether a key, or whoever else is counted by this name, may ask once more now. */
  withinRate(name: string): Promise<boolean>;
  /** Whether all keys of a tenant together may ask once more now. */
  withinTenantRate(tenant: string): Promise<boolean>;
  /** Whether the names of sessions' objects are secret. */
  hasMasterKey: boolean;
  /** The variable with tenants' limits that holds none; null if all are good. */
  badLimit: string | null;
  /** Work that the answer does not wait for. */
  later(work: Promise<unknown>): void;
};

/** What routes and the cron need of contexts. */
export type ContextServices = {
  store: ContextStore;
  reader: ContextReader;
  /** For what is being taken in. One for all requests of an isolate. */
  room: UploadRoom;
  prune: { index: PruneIndex; files: ContextBlobs };
};

/** What routes and the cron need of evaluations. */
export type EvalServices = {
  /** Suites on offer: name → YAML. */
  suites: Readonly<Record<string, string>>;
  /** Whose runs those of cron are; null: none may run. */
  cronTenant: string | null;
  start: EvalRunApi["start"];
  records: Pick<EvalRecords, "latest" | "runs" | "run">;
};

/** What routes need of secrets for tools. */
export type SecretServices = Pick<SecretStore, "list" | "put" | "remove"> & {
  /** The operator's that serve this tenant. */
  operators(tenant: string): readonly ToolSecret[];
};
