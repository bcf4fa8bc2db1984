import { addressProblem } from "../outgoing/address-rules";
import { secretsIn } from "../tools/http/definition";
import { describeBindings, maySend } from "../tools/secret-bindings";
import type { McpAuth } from "../tools/mcp/server";
import { checkKeys } from "./check-keys";
import { type ConfigContext, toolAddressRules } from "./context";
import { subsection, oneOf, read, type Section, text } from "./fields";
import { MCP_AUTH_KEYS } from "./known-keys";
import { MAX_KEY_CHARS, MAX_NAME_CHARS, MAX_URL_CHARS } from "./config-limits";
import { unknownSecret } from "./tool-secrets";

/** Reads `auth` of a tool server: OAuth with credentials or tokens that are stored as secrets. */

export const MCP_AUTH = {
  type: oneOf(["client_credentials", "authorization_code"]),
  issuer: text(MAX_URL_CHARS),
  clientId: text(MAX_KEY_CHARS),
  secret: text(MAX_NAME_CHARS),
  scope: text(MAX_KEY_CHARS),
} as const;

/**
 * Returns `null` if `auth` is missing. Reports an invalid `auth` and also returns `null`. `url` is
 * the address of the tool server.
 */
export function readMcpAuth(server: Section, url: string, context: ConfigContext): McpAuth | null {
  if ((server.values.get("auth") ?? null) === null) return null;
  const section = subsection(server, "auth");
  checkKeys(section, MCP_AUTH_KEYS);
  const type = read(section, "type", MCP_AUTH.type, null);
  const clientId = read(section, "client_id", MCP_AUTH.clientId, null);
  const issuer = readIssuer(section, context);
  for (const key of ["type", "client_id", "issuer"]) reportMissing(section, key);
  if (type === null || clientId === null || issuer === null) return null;
  const secret = (key: string, address: string) =>
    readSecret(section, key, { origin: new URL(address).origin, context });
  const clientSecret = secret("client_secret", issuer);
  if (type === "authorization_code") {
    const [accessToken, refreshToken] = [
      secret("access_token", url),
      secret("refresh_token", issuer),
    ];
    if (accessToken === null && refreshToken === null)
      section.findings.error(
        "missing",
        section.path,
        "access_token or refresh_token is missing: a person's consent gives these tokens.",
      );
    return { type, issuer, clientId, clientSecret, accessToken, refreshToken };
  }
  reportMissing(section, "client_secret");
  if (clientSecret === null) return null;
  return {
    type,
    issuer,
    clientId,
    clientSecret,
    scope: read(section, "scope", MCP_AUTH.scope, null),
  };
}

/** The meaning of required keys, for the error if a key is missing. */
const MEANINGS: Readonly<Record<string, string>> = {
  type: "`client_credentials` or `authorization_code`",
  client_id: "the id of this client at the authorization server",
  issuer: "the authorization server, the only server that receives the secrets",
  client_secret: "write ${NAME} of a secret",
};

function reportMissing({ path, values, findings }: Section, key: string): void {
  if ((values.get(key) ?? null) === null)
    findings.error("missing", path, `${key} is missing: ${MEANINGS[key]}.`);
}

function readIssuer(section: Section, context: ConfigContext): string | null {
  const issuer = read(section, "issuer", MCP_AUTH.issuer, null);
  if (issuer === null) return null;
  const problem = URL.canParse(issuer)
    ? addressProblem(new URL(issuer), toolAddressRules(context))
    : "is not a complete URL";
  if (problem === null) return issuer; // not normalized, because issuers are compared exactly
  section.findings.error("base_url_refused", [...section.path, "issuer"], `issuer ${problem}.`);
  return null;
}

/** `origin`: the server that receives the secret. */
type SecretUse = { origin: string; context: ConfigContext };

/** The name of a secret. A binding of the secret must allow the origin that receives it. */
function readSecret(
  { path, findings, ...section }: Section,
  key: string,
  { origin, context }: SecretUse,
): string | null {
  const reference = read({ path, findings, ...section }, key, MCP_AUTH.secret, null);
  if (reference === null) return null;
  const keyPath = [...path, key];
  const [name] = secretsIn(reference);
  if (name === undefined || reference !== `\${${name}}`) {
    const detail = `${key} must be \${NAME} of a secret that is bound to ${origin} (\`massgen-edge secrets set\`, or TOOL_SECRETS of the operator).`;
    findings.error("not_allowed", keyPath, detail);
    return null;
  }
  const knownSecret = context.toolSecrets?.find((secret) => secret.name === name);
  if (knownSecret && maySend(knownSecret.bindings, { url: origin, method: null })) return name;
  if (knownSecret)
    findings.error(
      "key_bound_elsewhere",
      keyPath,
      `\${${name}} may be sent only to ${describeBindings(knownSecret.bindings)}, not to ${origin}: bind it to ${origin} too.`,
    );
  else findings.error("key_unknown", keyPath, unknownSecret(name, origin));
  return null;
}
