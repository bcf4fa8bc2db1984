import { isLoopbackHost } from "../outgoing/addresses";
import { findHost, type Host, KEY_NAMES, keyOrigins, mayReceiveKey } from "../providers/hosts";
import type { ConfigContext } from "./context";
import { read, type Section, text } from "./fields";
import { MAX_KEY_CHARS } from "./config-limits";
import type { Path } from "./problems";
import type { Backend } from "./team";

/** `${NAME}`, a reference to a key of the operator. */
const KEY_REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Where the key is sent. The context has the names of the operator's keys. */
type KeyPlace = { host: Host; baseUrl: string; context: ConfigContext };

/**
 * Selects the key of a backend: the key in the config, the operator's key with the name in the
 * config, or the operator's key for the host. The operator's key is used only if it is bound to the
 * endpoint's origin. So a config cannot send it to another server.
 */
export function readApiKey(backend: Section, place: KeyPlace): Backend["key"] {
  const keyText = read(backend, "api_key", text(MAX_KEY_CHARS), null);
  if (keyText === null) return keyOfHost(backend, place);
  const name = KEY_REFERENCE.exec(keyText)?.[1];
  if (name !== undefined) return namedKey(backend, name, place);
  if (isVariableName(keyText)) return refuseVariableName(backend, keyText, place);
  if (isLiteralKey(keyText)) return literalKey(backend, keyText, place);
  const detail = `api_key must be the key itself, or the name of a key of the operator, such as ${example(place.host)}, and nothing else.`;
  backend.findings.error("wrong_type", [...backend.path, "api_key"], detail);
  return { from: "none" };
}

const example = ({ keyNames: [name = "NAME"] }: Host): string => `\${${name}}`;

/** Whether the text can be a key: valid in a header, and not a variable (`$NAME`, `${NAME}`). */
function isLiteralKey(keyText: string): boolean {
  return /^[\x21-\x7e]+$/.test(keyText) && !keyText.includes("${") && !/^\$[A-Za-z_]/.test(keyText);
}

/**
 * Whether the text is the name of a variable: upper-case words, joined by underscores. No
 * provider's key has this form.
 */
const isVariableName = (keyText: string): boolean =>
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(keyText) || KEY_NAMES.includes(keyText.toUpperCase());

/**
 * Reports a variable's name in place of a key; otherwise the name would be sent as the key. The
 * message does not repeat an unknown name, because the name may be a secret.
 */
function refuseVariableName(
  { path, findings }: Section,
  keyText: string,
  { host }: KeyPlace,
): Backend["key"] {
  const suggestedName =
    KEY_NAMES.find((name) => name === keyText.toUpperCase()) ?? host.keyNames[0];
  const advice =
    suggestedName === undefined
      ? "Write the key itself."
      : `To use the operator's key, write \`\${${suggestedName}}\`.`;
  findings.error(
    "wrong_type",
    [...path, "api_key"],
    `api_key is the name of a variable, not a key. ${advice}`,
  );
  return { from: "none" };
}

/**
 * A key in the config is stored only encrypted. If the service cannot encrypt it, it is refused.
 */
function literalKey(
  { path, findings }: Section,
  value: string,
  { host, context: { literalKeyProblem } }: KeyPlace,
): Backend["key"] {
  if (literalKeyProblem !== undefined) {
    const alternative =
      host.keyNames.length > 0 ? ` Or name the operator's key: ${example(host)}.` : "";
    const say = () =>
      `The service cannot store this key safely: ${literalKeyProblem}${alternative}`;
    const place = { path: [...path, "api_key"], target: "value", subject: "api_key" } as const;
    findings.refuse({ need: "SEALING_KEYS", code: "key_not_kept", ...place, say });
  }
  return { from: "literal", value };
}

/** The operator's key for the host. Reports a missing key, unless the host needs no key. */
function keyOfHost(backend: Section, { host, baseUrl, context }: KeyPlace): Backend["key"] {
  const bound = host.keyNames.filter((name) => mayReceiveKey(name, baseUrl, context.variables));
  const name = bound.find((candidate) => context.storedKeys.includes(candidate));
  if (name !== undefined) return { from: "stored", name };
  const { origin } = new URL(baseUrl);
  if (host.keyOptional && !host.origins.includes(origin)) return { from: "none" };
  const missingName =
    bound[0] ?? (host.endpointVariable === undefined ? undefined : host.keyNames[0]);
  if (missingName === undefined) {
    const [suggestion] = findHost(baseUrl).keyNames.filter((name) =>
      mayReceiveKey(name, baseUrl, context.variables),
    );
    const hint = suggestion === undefined ? "" : `, such as \${${suggestion}}`;
    const detail = `Requests to ${new URL(baseUrl).host} are sent without a key. If the endpoint needs a key, write api_key${hint}.`;
    backend.findings.warn("no_key", [...backend.path, "base_url"], detail);
  } else {
    const binding =
      bound.length > 0 ? "" : ` and ${host.endpointVariable} to an address at ${origin}`;
    const detail = `${host.name} needs a key: ${howToSet(missingName, context)}${binding}, or write api_key.`;
    refuseUnset(backend, { name: missingName, path: backend.path, detail });
  }
  return { from: "none" };
}

/** Reports a key that the operator has not set. Agents that need the same key share one refusal. */
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
  { host, baseUrl, context }: KeyPlace,
): Backend["key"] {
  const keyPath = [...path, "api_key"];
  const { origin } = new URL(baseUrl);
  if (!KEY_NAMES.includes(name)) {
    const hostKey = host.keyNames[0];
    const hint = hostKey ? ` The key for ${origin} is \${${hostKey}}.` : "";
    findings.error("key_unknown", keyPath, `\${${name}} is not a key of the operator.${hint}`);
  } else if (!mayReceiveKey(name, baseUrl, context.variables)) {
    const origins =
      keyOrigins(name, context.variables).join(", ") || "an endpoint that the operator has not set";
    findings.error(
      "key_bound_elsewhere",
      keyPath,
      `\${${name}} may be sent only to ${origins}, not to ${origin}. Write your own key.`,
    );
  } else if (!context.storedKeys.includes(name)) {
    refuseUnset(
      { path, findings, values },
      { name, path: keyPath, detail: `\${${name}} is not set: ${howToSet(name, context)}.` },
    );
  }
  return { from: "stored", name };
}

/** How the operator sets a key: in `.dev.vars` of a local service, as a secret if deployed. */
function howToSet(name: string, { ownOrigins = [] }: ConfigContext): string {
  const command = `\`npx wrangler secret put ${name}\``;
  const isLocal = ownOrigins.some((origin) =>
    isLoopbackHost(new URL(origin.replace(/:\*$/, "")).hostname),
  );
  return isLocal
    ? `set ${name} in .dev.vars (deployed: with ${command})`
    : `set ${name} with ${command} (locally in .dev.vars)`;
}
