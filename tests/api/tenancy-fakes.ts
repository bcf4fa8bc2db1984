import type { TenancyServices } from "../../src/api/services";

/** Tenancy services without keys and tenants. Only requests to loopback are accepted. */
export const OPEN_TENANCY: TenancyServices = {
  keys: {
    find: async () => null,
    isEmpty: async () => true,
    insert: () => Promise.reject(new Error("no key may be made")),
    list: async () => [],
    revoke: async () => false,
    noteUse: async () => undefined,
  },
  tenant: () => ({
    audit: async () => ({ seq: 1, hash: "" }),
    auditPage: async () => ({ rows: [], hasMore: false, brokenAt: null }),
  }),
  withinRate: async () => true,
  withinTenantRate: async () => true,
  hasMasterKey: false,
  badLimit: null,
  later: () => undefined,
};
