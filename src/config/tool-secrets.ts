import { secretsIn } from "../tools/http/definition";
import type { ConfigContext, ToolSecret } from "./context";
import { mapping, read, type Section } from "./fields";
import { MAX_HEADERS, MAX_KEY_CHARS } from "./limits";
import { cut, type Path } from "./problems";
import { isCredential, refuseStrayKeys } from "./stray-keys";

/** Headers of requests to tool servers, and the operator's secrets in them. Each secret is bound to origins, whoever names it. */

/**
 * The entries of the variable TOOL_SECRETS, separated by commas: `NAME=https://api.example.com`. A name that stands there again
 * may go to that origin too. What is no entry is left out.
 */
export function parseToolSecrets(variable: string | undefined): ToolSecret[] {
  const origins = new Map<string, string[]>();
  for (const entry of (variable ?? "").split(",")) {
    const [, name, address] = /^\s*([A-Za-z_]\w*)\s*=\s*(\S+)\s*$/.exec(entry) ?? [];
    if (name === undefined || address === undefined || !URL.canParse(address)) continue;
    origins.set(name, [...(origins.get(name) ?? []), new URL(address).origin]);
  }
  return [...origins].map(([name, bound]) => ({ name, origins: bound }));
}

/** Set by whoever sends a request, so no config may. */
const RESERVED = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect"],
  ...["content-type", "accept-encoding", "cookie", "idempotency-key", "proxy-authorization"],
]);
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE = /^[\x20-\x7e]*$/;

/**
 * The section's `headers`, names in lower case, `${NAME}` left in its place. Only secrets that the operator bound to this origin
 * may be named; a credential in clear is an error, for it would be kept in clear.
 */
export function readToolHeaders(section: Section, origin: string, context: ConfigContext): Record<string, string> {
  const written = read(section, "headers", mapping, null) ?? new Map<unknown, unknown>();
  const path = [...section.path, "headers"];
  if (written.size > MAX_HEADERS)
    section.findings.error("out_of_range", path, `A tool sends at most ${MAX_HEADERS} headers; these are ${written.size}.`);
  const headers = [...written].slice(0, MAX_HEADERS).flatMap(([name, value]) => {
    const header = readHeader(section, { name: String(name), value, path: [...path, String(name)] });
    if (header) checkSecrets(section, header, { origin, context });
    return header ? [[header.name, header.value] as const] : [];
  });
  return Object.fromEntries(headers);
}

type Header = { name: string; value: string; path: Path };

function readHeader({ findings }: Section, { name, value, path }: { name: string; value: unknown; path: Path }): Header | null {
  const lower = name.toLowerCase();
  if (!NAME.test(name) || RESERVED.has(lower)) {
    const why = NAME.test(name) ? "is the service's own to set" : "is no name of a header";
    findings.error("not_allowed", path, `\`${cut(name)}\` ${why}.`, "key");
    return null;
  }
  if (typeof value !== "string" || value.length > MAX_KEY_CHARS || !VALUE.test(value)) {
    const detail = `${cut(name)} must be text of at most ${MAX_KEY_CHARS} plain characters; numbers belong in quotes.`;
    findings.error("wrong_type", path, detail);
    return null;
  }
  return { name: lower, value, path };
}

type Place = { origin: string; context: ConfigContext };

function checkSecrets({ findings }: Section, { name, value, path }: Header, { origin, context }: Place): void {
  const secrets = secretsIn(value);
  if (secrets.length === 0 && isCredential(name)) {
    const detail = `A credential is not kept in clear: write \${NAME} of a secret that the operator has bound to ${origin} (in TOOL_SECRETS).`;
    findings.error("not_allowed", path, detail);
    return;
  }
  if (secrets.length === 0) refuseStrayKeys(findings, path, value);
  for (const secret of secrets) {
    const known = context.toolSecrets?.find((one) => one.name === secret);
    if (!known) {
      const detail = `\${${secret}} is no secret of the operator's for tools: set it with \`npx wrangler secret put ${secret}\` (locally in .dev.vars), and add ${secret}=${origin} to TOOL_SECRETS.`;
      findings.error("key_unknown", path, detail);
    } else if (!known.origins.includes(origin)) {
      const detail = `\${${secret}} is sent to ${known.origins.join(", ")} only, never to ${origin}.`;
      findings.error("key_bound_elsewhere", path, detail);
    }
  }
}
