/**
 * Scenarios of the protocol's conformance suite that the client does not pass, and the reason for
 * each of them. Passing scenarios must not be listed.
 */

const NO_CONSENT =
  "the service has no browser and no user: consent is given elsewhere, and the operator configures its tokens; the service never starts the consent flow";
const NO_ANSWERS =
  "the scenario expects the client to answer elicitations; this client never answers any";

const CONSENT_SCENARIOS = [
  ...[
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "pre-registration",
  ],
  ...[
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-step-up",
    "scope-retry-limit",
  ],
  ...["token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"],
].map((name) => [`auth/${name}`, NO_CONSENT] as const);

const CONSENT_SCENARIOS_2026 = [
  ...[
    "resource-mismatch",
    "offline-access-scope",
    "offline-access-not-supported",
    "authorization-server-migration",
  ],
  ...[
    "iss-supported",
    "iss-not-advertised",
    "iss-supported-missing",
    "iss-wrong-issuer",
    "iss-unexpected",
    "iss-normalized",
  ],
  ...["metadata-issuer-mismatch"],
].map((name) => [`auth/${name}`, NO_CONSENT] as const);

/** Expected failures by protocol revision: scenario name → reason. */
export const BASELINE: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  "2025-11-25": new Map([
    ...CONSENT_SCENARIOS,
    ["elicitation-sep1034-client-defaults", NO_ANSWERS],
  ]),
  "2026-07-28": new Map([
    ...CONSENT_SCENARIOS,
    ...CONSENT_SCENARIOS_2026,
    ["sep-2322-client-request-state", NO_ANSWERS],
  ]),
};
