/**
 * Scenarios of the protocol's conformance suite that the client does not pass, each with its reason. One that passes must not
 * stand here.
 */

const NO_CONSENT =
  "no browser and no person stand behind the service: consent is given elsewhere, and the operator brings its tokens; the flow that asks for it is never begun here";
const NO_ANSWERS =
  "the scenario wants questions to a person answered by the client; none is ever answered here";

const CONSENT = [
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

const CONSENT_2026 = [
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

export const BASELINE: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  "2025-11-25": new Map([...CONSENT, ["elicitation-sep1034-client-defaults", NO_ANSWERS]]),
  "2026-07-28": new Map([
    ...CONSENT,
    ...CONSENT_2026,
    ["sep-2322-client-request-state", NO_ANSWERS],
  ]),
};
