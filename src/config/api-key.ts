import { KEY_ORIGINS, mayReceiveKey } from "../providers/hosts";
import { findHost } from "../providers/hosts";
import { read, type Section, text } from "./fields";
import { MAX_KEY_CHARS } from "./limits";
import type { Backend } from "./team";

const NAMED = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/**
 * Which key goes to a backend: the one written, the operator's of the name written, or the operator's for the host. Only names
 * that are bound to the host's origin resolve, so no config can carry a stored key elsewhere.
 */
export function readApiKey(backend: Section, baseUrl: string, storedKeys: readonly string[]): Backend["key"] {
  const written = read(backend, "api_key", text(MAX_KEY_CHARS), null);
  if (written === null) return keyOfHost(backend, baseUrl, storedKeys);
  const name = NAMED.exec(written)?.[1];
  if (name !== undefined) return namedKey(backend, { name, baseUrl, storedKeys });
  if (isLiteralKey(written)) return { from: "literal", value: written };
  backend.findings.error(
    "wrong_type",
    [...backend.path, "api_key"],
    "api_key must be the key itself, or a whole ${NAME} and nothing else.",
  );
  return { from: "none" };
}

/** What can stand in a header. */
function isLiteralKey(written: string): boolean {
  return /^[\x21-\x7e]+$/.test(written) && !written.includes("${");
}

function keyOfHost(backend: Section, baseUrl: string, storedKeys: readonly string[]): Backend["key"] {
  const host = findHost(baseUrl);
  const bound = host.keyNames.filter((name) => mayReceiveKey(name, baseUrl));
  const name = bound.find((candidate) => storedKeys.includes(candidate));
  if (name !== undefined) return { from: "stored", name };
  if (bound[0] !== undefined) {
    backend.findings.error(
      "key_not_set",
      [...backend.path],
      `${host.name} needs a key: ${howToSet(bound[0])}, or write api_key.`,
    );
  } else {
    const detail = `No key is known for ${new URL(baseUrl).host}: requests are sent without one. Write api_key if it wants one.`;
    backend.findings.warn("no_key", [...backend.path, "base_url"], detail);
  }
  return { from: "none" };
}

type Named = { name: string; baseUrl: string; storedKeys: readonly string[] };

function namedKey({ path, findings }: Section, { name, baseUrl, storedKeys }: Named): Backend["key"] {
  const at = [...path, "api_key"];
  const { origin } = new URL(baseUrl);
  if (!Object.hasOwn(KEY_ORIGINS, name)) {
    const known = findHost(baseUrl).keyNames[0];
    findings.error(
      "key_unknown",
      at,
      `\${${name}} is no key of the operator's.${known ? ` For ${origin} it is \${${known}}.` : ""}`,
    );
  } else if (!mayReceiveKey(name, baseUrl)) {
    const origins = KEY_ORIGINS[name]?.join(", ");
    findings.error(
      "key_bound_elsewhere",
      at,
      `\${${name}} is sent to ${origins} only, never to ${origin}. Write your own key for it.`,
    );
  } else if (!storedKeys.includes(name)) {
    findings.error("key_not_set", at, `\${${name}} is not set: ${howToSet(name)}.`);
  }
  return { from: "stored", name };
}

function howToSet(name: string): string {
  return `set ${name} with \`npx wrangler secret put ${name}\`, locally in .dev.vars`;
}
