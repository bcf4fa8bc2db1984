import { keyRisk, toOrigin } from "../../client/index";
import { readCredentials } from "./credentials";
import { CliError, EXIT } from "../exit-codes";
import { DEFAULT_SERVER, type Destination } from "../invocation";
import type { Io } from "../io";

/** The address of the service, and the key. The key is sent to `server` only. */
export type Connection = Destination & { key?: string };
export type ConnectionFlags = { server?: string | undefined; key?: string | undefined };
/** The sources of both values (`--key`, `login`), for messages. `key`: `null` without a key. */
export type Origins = { server: string; key: string | null };

/** A value, and the name of its source for messages. */
type SettingValue = { value: string; source: string };

/**
 * Finds the service and the key: first from the command line, then from MASSGEN_EDGE_SERVER and
 * MASSGEN_EDGE_KEY, then from `login`. The default is the service on this machine. A stored key is
 * sent only to the server for which it was stored.
 */
export async function connect(
  flags: ConnectionFlags,
  io: Pick<Io, "env" | "home" | "cwd">,
): Promise<Connection & { origins: Origins }> {
  const stored = await readCredentials(io);
  const usual = firstSetting(
    [toServerOrigin(io.env["MASSGEN_EDGE_SERVER"]), "MASSGEN_EDGE_SERVER"],
    [stored.server ?? undefined, "login"],
  ) ?? { value: DEFAULT_SERVER, source: "default" };
  const server = firstSetting([flags.server, "--server"]) ?? usual;
  const storedKey = Object.hasOwn(stored.keys, server.value)
    ? stored.keys[server.value]
    : undefined;
  const key = firstSetting(
    [flags.key, "--key"],
    [io.env["MASSGEN_EDGE_KEY"], "MASSGEN_EDGE_KEY"],
    [storedKey, "login"],
  );
  const origins = { server: server.source, key: key?.source ?? null };
  const found = { server: server.value, usualServer: usual.value, origins };
  if (!key) return found;
  requireSendable(key.value, server.value, key.source);
  return { ...found, key: key.value };
}

function firstSetting(...choices: [string | undefined, string][]): SettingValue | null {
  for (const [value, source] of choices) {
    if (value !== undefined && value.trim() !== "") return { value: value.trim(), source };
  }
  return null;
}

function toServerOrigin(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const origin = toOrigin(text.trim());
  if (origin) return origin;
  throw new CliError(
    EXIT.config,
    `MASSGEN_EDGE_SERVER is not an address. Use one like ${DEFAULT_SERVER}.`,
  );
}

/**
 * Throws CliError if the key is malformed, or if the connection would not encrypt it. `source`
 * names the source of the key in the message.
 */
export function requireSendable(key: string, server: string, source: string): void {
  const risk = keyRisk(key, server);
  if (risk === "malformed")
    throw new CliError(
      EXIT.config,
      `The value of ${source} is not a key: keys are letters, digits and punctuation, without spaces.`,
    );
  if (risk === "unencrypted")
    throw new CliError(
      EXIT.config,
      `${server} is not encrypted: others could read a key on the way. Use https://.`,
    );
}
