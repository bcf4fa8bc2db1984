import { holdsKey } from "../redaction/redact";
import { cut, type Findings, type Path } from "./problems";

/** Detects provider keys in other places, where they would be stored unsealed. */

/** Names of fields for credentials, without case, dashes and underscores. */
const NAMES = new Set([
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
  NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, "")) || holdsKey(name);

const MOVE = "Move it to the backend's `api_key`, which is stored encrypted";

/**
 * Reports credentials anywhere in data that is passed on unchanged. Messages contain their names,
 * never their values.
 */
export function refuseStrayKeys(findings: Findings, path: Path, value: unknown): void {
  if (typeof value === "string" && holdsKey(value))
    findings.error("not_allowed", path, `This looks like a key. ${MOVE}.`);
  if (Array.isArray(value))
    for (const [nth, item] of value.entries()) refuseStrayKeys(findings, [...path, nth], item);
  if (!(value instanceof Map)) return;
  for (const [key, item] of value) {
    const [name, at] = [String(key), [...path, String(key)]];
    if (item !== null && isCredential(name))
      findings.error(
        "not_allowed",
        at,
        `\`${cut(name)}\` is the name of a credential. ${MOVE}.`,
        "key",
      );
    else refuseStrayKeys(findings, at, item);
  }
}
