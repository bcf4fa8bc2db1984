/** Who asks: the tenant everything of theirs belongs to, and what they may do. */

/** From the least to the most: each includes those before it. */
export const SCOPES = ["read", "run", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export type Principal = {
  tenant: string;
  /** The key that was shown; null where the service is open to this machine. */
  keyId: string | null;
  scopes: ReadonlySet<Scope>;
};

/** The tenant of a development service that is open to its own machine; no key can be made for it. */
export const LOCAL_TENANT = "local";

const TENANT = /^[a-z0-9_]{3,40}$/;

/** Whether a tenant may be called so. */
export const isTenant = (text: string): boolean => TENANT.test(text);

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

/** The scopes with all that they include. */
export function withIncluded(scopes: Iterable<Scope>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}

/** Whoever reaches a development service on its own machine may do everything there. */
export const LOCAL_PRINCIPAL: Principal = {
  tenant: LOCAL_TENANT,
  keyId: null,
  scopes: withIncluded(["admin"]),
};
