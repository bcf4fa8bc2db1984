import { randomBytes } from "node:crypto";
import { parseEnv } from "node:util";
import { SEALING_KEY_BYTES, toSealingKey } from "../src/tenancy/sealing";

const NAME = "SEALING_KEYS";

/** A line of variables with a new sealing key. */
export const newSealingKeys = (): string =>
  `${NAME}="${toSealingKey(1, randomBytes(SEALING_KEY_BYTES))}"\n`;

/** The text to append to a file of variables without sealing keys; `null` if it has some. */
export function missingSealingKeys(variables: string): string | null {
  if (parseEnv(variables)[NAME]?.trim()) return null;
  const lineEnd = variables === "" || variables.endsWith("\n") ? "" : "\n";
  return `${lineEnd}\n# Encrypts API keys in configs. Keep it: without it, existing sessions cannot use their keys.\n${newSealingKeys()}`;
}
