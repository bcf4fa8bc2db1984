import { randomBytes } from "node:crypto";
import { parseEnv } from "node:util";
import { SEALING_KEY_BYTES, toSealingKey } from "../src/tenancy/sealing";

const VARIABLE = "SEALING_KEYS";

/** A line of variables with a new sealing key. */
export const newSealingKeys = (): string =>
  `${VARIABLE}="${toSealingKey(1, randomBytes(SEALING_KEY_BYTES))}"\n`;

/** The text to append to a file of variables; `null` if the file already has sealing keys. */
export function missingSealingKeys(variables: string): string | null {
  if (parseEnv(variables)[VARIABLE]?.trim()) return null;
  const lineEnd = variables === "" || variables.endsWith("\n") ? "" : "\n";
  return `${lineEnd}\n# Encrypts API keys in configs. Keep it: without it, existing sessions cannot use their keys.\n${newSealingKeys()}`;
}
