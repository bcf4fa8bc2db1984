import { badLimit } from "../../src/tenancy/quota";
import { type Env, readSecret } from "../../src/env";
import { KeyStore } from "../../d1/key-store";

/**
 * Creates the services for keys and tenants that the Worker uses. `later`: continues work after the
 * response was sent.
 */
export const tenancyServices = (env: Env, later: (work: Promise<unknown>) => void) => ({
  keys: new KeyStore(env.DB),
  tenant: (id: string) => env.TENANTS.get(env.TENANTS.idFromName(id)),
  withinRate: async (name: string) =>
    (await env.RATE_LIMITER?.limit({ key: name }))?.success ?? true,
  withinTenantRate: async (tenant: string) =>
    (await env.TENANT_RATE_LIMITER?.limit({ key: tenant }))?.success ?? true,
  hasMasterKey: readSecret(env, "MASTER_KEY") !== undefined,
  badLimit: badLimit(env),
  later,
});
