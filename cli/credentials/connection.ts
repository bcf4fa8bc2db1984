import { keyRisk, toOrigin } from "../../client/index";
import { readCredentials } from "./credentials";
import { CliError, EXIT } from "../exit-codes";
import { DEFAULT_SERVER } from "../invocation";
import type { Io } from "../io";

/** Whom to ask, and with what. A key is only ever sent to `server`. */
export type Connection = { server: string; key?: string };
export type ConnectionFlags = { server?: string | undefined; key?: string | undefined };
/** Where each of the two was found, for people. */
export type Origins = { server: string; key: string | null };

type SettingValue = { value: string; from: string };

/**
 * The service and the key: what the command line says, then MASSGEN_EDGE_SERVER and
 * MASSGEN_EDGE_KEY, then what `login` stored, then the service on this machine. A stored key goes
 * to the server it was stored for and to no other.
 */
export async function connect(
  flags: ConnectionFlags,
  io: Pick<Io, "env" | "home" | "cwd">,
): Promise<Connection & { origins: Origins }> {
  const stored = await readCredentials(io);
  const server = first(
    [flags.server, "--server"],
    [serverFrom(io.env["MASSGEN_EDGE_SERVER"]), "MASSGEN_EDGE_SERVER"],
    [stored.server ?? undefined, "login"],
  ) ?? { value: DEFAULT_SERVER, from: "default" };
  const own = Object.hasOwn(stored.keys, server.value) ? stored.keys[server.value] : undefined;
  const key = first(
    [flags.key, "--key"],
    [io.env["MASSGEN_EDGE_KEY"], "MASSGEN_EDGE_KEY"],
    [own, "login"],
  );
  const origins = { server: server.from, key: key?.from ?? null };
  if (!key) return { server: server.value, origins };
  requireSendable(key.value, server.value, key.from);
  return { server: server.value, key: key.value, origins };
}

function first(...choices: [string | undefined, string][]): SettingValue | null {
  for (const [value, from] of choices) {
    if (value !== undefined && value.trim() !== "") return { value: value.trim(), from };
  }
  return null;
}

function serverFrom(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const origin = toOrigin(text.trim());
  if (origin) return origin;
  throw new CliError(
    EXIT.config,
    `MASSGEN_EDGE_SERVER is not an address. Use one like ${DEFAULT_SERVER}.`,
  );
}

/**
 * Throws CliError for what cannot be a key, and for a way on which others could read it. `from`:
 * where the key was found.
 */
export function requireSendable(key: string, server: string, from: string): void {
  const risk = keyRisk(key, server);
  if (risk === "malformed")
    throw new CliError(
      EXIT.config,
      `The value of ${from} is not a key: keys are letters, digits and punctuation, without spaces.`,
    );
  if (risk === "unencrypted")
    throw new CliError(
      EXIT.config,
      `${server} is not encrypted: others could read a key on the way. Use https://.`,
    );
}
