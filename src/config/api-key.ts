import { isLoopbackHost } from "../outgoing/addresses";
import { findHost, type Host, KEY_NAMES, keyOrigins, mayReceiveKey } from "../providers/hosts";
import type { ConfigContext } from "./context";
import { read, type Section, text } from "./fields";
import { MAX_KEY_CHARS } from "./config-limits";
import type { Path } from "./problems";
import type { Backend } from "./team";

const NAMED = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The destination of the key, and the operator's keys. */
type Place = { host: Host; baseUrl: string; context: ConfigContext };

/**
 * Selects the key of a backend: the literal one, the operator's key of the given name, or the
 * operator's key for the host. A name resolves only if its key is bound to the endpoint's origin,
 * so a config cannot send a stored key elsewhere.
 */
export function readApiKey(backend: Section, place: Place): Backend["key"] {
  const written = read(backend, "api_key", text(MAX_KEY_CHARS), null);
  if (written === null) return keyOfHost(backend, place);
  const name = NAMED.exec(written)?.[1];
  if (name !== undefined) return namedKey(backend, name, place);
  if (isBareName(written)) return bareName(backend, written, place);
  if (isLiteralKey(written)) return literalKey(backend, written, place);
  const detail = `api_key must be the key itself, or the name of a key of the operator, such as ${example(place.host)}, and nothing else.`;
  backend.findings.error("wrong_type", [...backend.path, "api_key"], detail);
  return { from: "none" };
}

const example = ({ keyNames: [name = "NAME"] }: Host): string => `\${${name}}`;

/** Characters that are valid in a header. A key cannot start like a variable without braces. */
function isLiteralKey(written: string): boolean {
  return /^[\x21-\x7e]+$/.test(written) && !written.includes("${") && !/^\$[A-Za-z_]/.test(written);
}

/** A variable's name. No provider's key consists of words in capitals. */
const isBareName = (written: string): boolean =>
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(written) || KEY_NAMES.includes(written.toUpperCase());

/**
 * Without this error, the variable's name would be sent as the key. The message does not repeat an
 * unknown name, because it may be a secret.
 */
function bareName({ path, findings }: Section, written: string, { host }: Place): Backend["key"] {
  const known = KEY_NAMES.find((name) => name === written.toUpperCase()) ?? host.keyNames[0];
  const way =
    known === undefined
      ? "Write the key itself."
      : `To use the operator's key, write \`\${${known}}\`.`;
  findings.error(
    "wrong_type",
    [...path, "api_key"],
    `api_key is the name of a variable, not a key. ${way}`,
  );
  return { from: "none" };
}

/** A literal key is never stored in clear: without sealing, the config is refused. */
function literalKey(
  { path, findings }: Section,
  value: string,
  { host, context: { literalKeyProblem } }: Place,
): Backend["key"] {
  if (literalKeyProblem !== undefined) {
    const instead =
      host.keyNames.length > 0 ? ` Or name the operator's key: ${example(host)}.` : "";
    const say = () => `The service cannot store this key safely: ${literalKeyProblem}${instead}`;
    const place = { path: [...path, "api_key"], target: "value", subject: "api_key" } as const;
    findings.refuse({ need: "SEALING_KEYS", code: "key_not_kept", ...place, say });
  }
  return { from: "literal", value };
}

function keyOfHost(backend: Section, { host, baseUrl, context }: Place): Backend["key"] {
  const bound = host.keyNames.filter((name) => mayReceiveKey(name, baseUrl, context.variables));
  const name = bound.find((candidate) => context.storedKeys.includes(candidate));
  if (name !== undefined) return { from: "stored", name };
  const { origin } = new URL(baseUrl);
  if (host.keyOptional && !host.origins.includes(origin)) return { from: "none" };
  const wanted = bound[0] ?? (host.endpointVariable === undefined ? undefined : host.keyNames[0]);
  if (wanted === undefined) {
    const [own] = findHost(baseUrl).keyNames.filter((name) =>
      mayReceiveKey(name, baseUrl, context.variables),
    );
    const hint = own === undefined ? "" : `, such as \${${own}}`;
    const detail = `Requests to ${new URL(baseUrl).host} are sent without a key. If the endpoint needs a key, write api_key${hint}.`;
    backend.findings.warn("no_key", [...backend.path, "base_url"], detail);
  } else {
    const binding =
      bound.length > 0 ? "" : ` and ${host.endpointVariable} to an address at ${origin}`;
    const detail = `${host.name} needs a key: ${howToSet(wanted, context)}${binding}, or write api_key.`;
    refuseUnset(backend, { name: wanted, path: backend.path, detail });
  }
  return { from: "none" };
}

/** One refusal per key, even if several agents need it. */
function refuseUnset(
  { findings }: Section,
  { name, path, detail }: { name: string; path: Path; detail: string },
): void {
  findings.refuse({
    need: name,
    code: "key_not_set",
    path,
    target: "value",
    subject: name,
    say: () => detail,
  });
}

function namedKey(
  { path, findings, values }: Section,
  name: string,
  { host, baseUrl, context }: Place,
): Backend["key"] {
  const at = [...path, "api_key"];
  const { origin } = new URL(baseUrl);
  if (!KEY_NAMES.includes(name)) {
    const known = host.keyNames[0];
    const hint = known ? ` The key for ${origin} is \${${known}}.` : "";
    findings.error("key_unknown", at, `\${${name}} is not a key of the operator.${hint}`);
  } else if (!mayReceiveKey(name, baseUrl, context.variables)) {
    const origins =
      keyOrigins(name, context.variables).join(", ") || "an endpoint that the operator has not set";
    findings.error(
      "key_bound_elsewhere",
      at,
      `\${${name}} may be sent only to ${origins}, not to ${origin}. Write your own key.`,
    );
  } else if (!context.storedKeys.includes(name)) {
    refuseUnset(
      { path, findings, values },
      { name, path: at, detail: `\${${name}} is not set: ${howToSet(name, context)}.` },
    );
  }
  return { from: "stored", name };
}

/** A local service reads `.dev.vars`; a deployed one has secrets. */
function howToSet(name: string, { ownOrigins = [] }: ConfigContext): string {
  const command = `\`npx wrangler secret put ${name}\``;
  const isLocal = ownOrigins.some((origin) =>
    isLoopbackHost(new URL(origin.replace(/:\*$/, "")).hostname),
  );
  return isLocal
    ? `set ${name} in .dev.vars (deployed: with ${command})`
    : `set ${name} with ${command} (locally in .dev.vars)`;
}
