import { holdsKey } from "../redaction/redact";
import { shortQuote, type Findings, type Path } from "./problems";

/** Detects keys of providers outside of `api_key`, where they would be stored unencrypted. */

/** Names of fields for credentials, in lower case, without dashes and underscores. */
const CREDENTIAL_NAMES = new Set([
  ...["apikey", "xapikey", "xgoogapikey", "authorization", "proxyauthorization", "xauthtoken"],
  ...[
    "token",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "secret",
    "clientsecret",
    "secretkey",
    "password",
  ],
]);

/** Whether a field of this name holds credentials. */
export const isCredential = (name: string): boolean =>
  CREDENTIAL_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, "")) || holdsKey(name);

const MOVE = "Move it to the backend's `api_key`, which is stored encrypted";

/**
 * Reports credentials at any depth of a value that is sent to a provider or a tool unchanged.
 * Messages contain the names of credentials, never their values.
 */
export function refuseStrayKeys(findings: Findings, path: Path, value: unknown): void {
  if (typeof value === "string" && holdsKey(value))
    findings.error("not_allowed", path, `This looks like a key. ${MOVE}.`);
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) refuseStrayKeys(findings, [...path, index], item);
  if (!(value instanceof Map)) return;
  for (const [key, item] of value) {
    const [name, itemPath] = [String(key), [...path, String(key)]];
    if (item !== null && isCredential(name))
      findings.error(
        "not_allowed",
        itemPath,
        `\`${shortQuote(name)}\` is the name of a credential. ${MOVE}.`,
        "key",
      );
    else refuseStrayKeys(findings, itemPath, item);
  }
}
