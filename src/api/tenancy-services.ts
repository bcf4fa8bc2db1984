import type { TenantApi } from "../../durable-objects/tenant/tenant-api";
import type { KeyRow } from "../tenancy/keys";

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
