import { type AddressRules, addressProblem } from "../outgoing/address-rules";
import { SECRET_METHODS, type SecretBinding } from "../protocol/api/secrets";
import { secretsIn } from "../tools/http/definition";
import { describeBindings, maySend, maySendBelow } from "../tools/secret-bindings";
import type { ConfigContext, ToolSecret } from "./context";
import { mapping, read, type Section } from "./fields";
import { MAX_HEADERS, MAX_KEY_CHARS } from "./config-limits";
import { shortQuote, type Path } from "./problems";
import { isCredential, refuseStrayKeys } from "./stray-keys";

/**
 * Reads the headers of requests to tools and tool servers. Headers may contain secrets of the
 * tenant and of the operator.
 */

/**
 * A secret of the operator. `tenant`: the only tenant that may use it; `null` if all tenants may.
 */
type OperatorSecret = ToolSecret & { tenant: string | null };

/** An entry of TOOL_SECRETS: `NAME[@tenant]=[METHOD+METHOD] address`. */
const ENTRY =
  /^\s*([A-Za-z_]\w*)(?:@([a-z0-9_]{3,40}))?\s*=\s*(?:([A-Z]+(?:\+[A-Z]+)*)\s+)?(\S+)\s*$/;

/**
 * Parses TOOL_SECRETS: entries, separated by commas, such as `NAME=https://api.example.com`. An
 * entry may be restricted to a tenant, to methods and to a path: `NAME@tenant=GET+POST
 * https://api.example.com/v1`. A name in several entries has several bindings. Invalid entries are
 * ignored.
 */
export function parseToolSecrets(variable: string | undefined): OperatorSecret[] {
  const secrets = new Map<string, OperatorSecret>();
  for (const entry of (variable ?? "").split(",")) {
    const [, name, tenant = null, methodList, address] = ENTRY.exec(entry) ?? [];
    const methods = methodList
      ?.split("+")
      .map((method) => SECRET_METHODS.find((known) => known === method));
    if (name === undefined || address === undefined || !URL.canParse(address)) continue;
    if (methods?.includes(undefined)) continue;
    const { origin, pathname } = new URL(address);
    const binding = {
      origin,
      ...(pathname !== "/" && { paths: [pathname] }),
      ...(methods && { methods: methods.filter((method) => method !== undefined) }),
    };
    const key = `${name}@${tenant}`;
    secrets.set(key, { name, tenant, bindings: [...(secrets.get(key)?.bindings ?? []), binding] });
  }
  return [...secrets.values()];
}

/** The operator's secrets that a tenant may use. Bindings of the same name are combined. */
export function secretsFor(tenant: string, all: readonly OperatorSecret[]): ToolSecret[] {
  const available = all.filter((secret) => secret.tenant === null || secret.tenant === tenant);
  return [...new Set(available.map(({ name }) => name))].map((name) => ({
    name,
    bindings: available
      .filter((secret) => secret.name === name)
      .flatMap(({ bindings }) => bindings),
  }));
}

/**
 * The secrets of a tenant and of the operator. If both have a name, the tenant's secret is used.
 */
export const withOwnSecrets = (
  own: readonly ToolSecret[],
  operators: readonly ToolSecret[],
): ToolSecret[] => [
  ...own,
  ...operators.filter(({ name }) => own.every((secret) => secret.name !== name)),
];

/** The problem of a secret's binding, as a sentence; `null` if it is valid. */
export function bindingProblem(
  { origin, paths = [] }: SecretBinding,
  rules: AddressRules,
): string | null {
  if (!URL.canParse(origin))
    return "An origin is a scheme and a host, such as https://api.example.com.";
  const url = new URL(origin);
  const problem = addressProblem(url, rules);
  if (problem !== null) return `This origin ${problem}.`;
  if (origin !== url.origin)
    return `An origin has no path and no query: write ${url.origin}, and write paths in \`paths\`.`;
  const invalidPath = paths.find((path) => new URL(path, origin).pathname !== path);
  if (invalidPath === undefined) return null;
  return `Invalid path ${shortQuote(invalidPath)}: write it as a request sends it, percent-encoded and without query, fragment, \`.\` and \`..\`.`;
}

/** Headers that configs must not set, because the HTTP client or the service sets them. */
const RESERVED_HEADERS = new Set([
  ...[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "expect",
  ],
  ...["content-type", "accept-encoding", "cookie", "idempotency-key", "proxy-authorization"],
]);
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE = /^[\x20-\x7e]*$/;

/** The requests with the headers. `isOpen`: `url` is only a prefix of their addresses. */
type HeaderUse = { url: string; method: string; isOpen: boolean };

/**
 * Reads `headers` of a section. Converts names to lower case and keeps `${NAME}` unchanged. A
 * secret is allowed only if its bindings allow these requests. A credential in the config itself is
 * an error, because it would be stored unencrypted.
 */
export function readToolHeaders(
  section: Section,
  use: HeaderUse,
  context: ConfigContext,
): Record<string, string> {
  const configured = read(section, "headers", mapping, null) ?? new Map<unknown, unknown>();
  const path = [...section.path, "headers"];
  if (configured.size > MAX_HEADERS)
    section.findings.error(
      "out_of_range",
      path,
      `A tool has at most ${MAX_HEADERS} headers; this tool has ${configured.size}.`,
    );
  const headers = [...configured].slice(0, MAX_HEADERS).flatMap(([name, value]) => {
    const header = readHeader(section, {
      name: String(name),
      value,
      path: [...path, String(name)],
    });
    if (header) checkSecrets(section, header, { use, context });
    return header ? [[header.name, header.value] as const] : [];
  });
  return Object.fromEntries(headers);
}

type Header = { name: string; value: string; path: Path };

function readHeader(
  { findings }: Section,
  { name, value, path }: { name: string; value: unknown; path: Path },
): Header | null {
  const lower = name.toLowerCase();
  if (!NAME.test(name) || RESERVED_HEADERS.has(lower)) {
    const detail = NAME.test(name)
      ? `The service sets \`${shortQuote(name)}\` itself: remove it.`
      : `\`${shortQuote(name)}\` is not a valid header name.`;
    findings.error("not_allowed", path, detail, "key");
    return null;
  }
  if (typeof value !== "string" || value.length > MAX_KEY_CHARS || !VALUE.test(value)) {
    const detail = `${shortQuote(name)} must be text of at most ${MAX_KEY_CHARS} printable ASCII characters; put numbers in quotes.`;
    findings.error("wrong_type", path, detail);
    return null;
  }
  return { name: lower, value, path };
}

type HeaderCheck = { use: HeaderUse; context: ConfigContext };

function checkSecrets(
  { findings }: Section,
  { name, value, path }: Header,
  { use, context }: HeaderCheck,
): void {
  const secrets = secretsIn(value);
  const { origin } = new URL(use.url);
  if (secrets.length === 0 && isCredential(name)) {
    const detail = `The service stores no credential in clear: write \${NAME} of a secret that is bound to ${origin} (\`massgen-edge secrets set\`, or TOOL_SECRETS of the operator).`;
    findings.error("not_allowed", path, detail);
    return;
  }
  if (secrets.length === 0) refuseStrayKeys(findings, path, value);
  for (const secret of secrets) {
    const knownSecret = context.toolSecrets?.find((entry) => entry.name === secret);
    if (!knownSecret) findings.error("key_unknown", path, unknownSecret(secret, origin));
    else if (!(use.isOpen ? maySendBelow : maySend)(knownSecret.bindings, use)) {
      const isOrigin = knownSecret.bindings.some((binding) => binding.origin === origin);
      const target = isOrigin ? `${use.method} ${use.url}` : origin;
      const detail = `\${${secret}} may be sent only to ${describeBindings(knownSecret.bindings)}, not to ${target}.`;
      findings.error("key_bound_elsewhere", path, detail);
    }
  }
}

/** The error for an unknown secret, with advice. */
export const unknownSecret = (name: string, origin: string): string =>
  `\${${name}} is not a secret for tools: set it with \`massgen-edge secrets set ${name} --origin ${origin}\`, or as the operator with \`npx wrangler secret put ${name}\` (locally in .dev.vars) and ${name}=${origin} in TOOL_SECRETS.`;
