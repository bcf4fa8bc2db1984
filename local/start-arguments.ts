import { parseArgs } from "node:util";
import { isLoopbackHost } from "../src/outgoing/addresses";

export const START_USAGE = `npm start [-- --port N] [--ip ADDRESS] [--env-file FILE] [--persist-to FOLDER]

Runs the service on this machine, for this machine only, until Ctrl+C.

  --port N             the port; 8787 if omitted
  --ip ADDRESS         the loopback address: 127.0.0.1 if omitted,
                       or another 127.x.x.x, ::1, localhost
  --env-file FILE      variables and keys are read from this file instead of
                       .dev.vars; may be repeated
  --persist-to FOLDER  where sessions, contexts and keys are stored;
                       .wrangler/state if omitted`;

export type StartOptions = {
  help: boolean;
  ip: string;
  port: number;
  envFiles: string[];
  persistTo: string;
};

const OPTIONS = {
  help: { type: "boolean" },
  port: { type: "string" },
  ip: { type: "string" },
  "env-file": { type: "string", multiple: true },
  "persist-to": { type: "string" },
} as const;

export const DEFAULT_PORT = 8787;
export const DEFAULT_STATE = ".wrangler/state";
const MAX_PORT = 65_535;

/**
 * Parses the arguments of `npm start`. Throws an error that names the argument if it is unknown,
 * has no value, or would open the service to other machines: without keys, the service trusts every
 * client that reaches it.
 */
export function startOptions(args: readonly string[]): StartOptions {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true });
  const values = {
    help: false,
    port: String(DEFAULT_PORT),
    ip: "127.0.0.1",
    "persist-to": DEFAULT_STATE,
  };
  const envFiles: string[] = [];
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") throw unknownArgument(token.value);
    if (!isKnown(token.name)) throw unknownArgument(token.rawName);
    if (token.name === "help") values.help = true;
    else if (!token.value) throw new Error(`${token.rawName} needs a value.\n\n${START_USAGE}`);
    else if (token.name === "env-file") envFiles.push(token.value);
    else values[token.name] = token.name === "ip" ? loopbackOf(token.value) : token.value;
  }
  return {
    help: values.help,
    ip: values.ip,
    port: portOf(values.port),
    envFiles,
    persistTo: values["persist-to"],
  };
}

const isKnown = (name: string): name is keyof typeof OPTIONS => Object.hasOwn(OPTIONS, name);

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= MAX_PORT) return port;
  throw new Error(`--port ${text} is not a port: it is a whole number from 1 to ${MAX_PORT}.`);
}

function loopbackOf(address: string): string {
  if (isLoopbackHost(address.includes(":") ? `[${address}]` : address)) return address;
  throw new Error(
    `The service is for this machine only: --ip ${address} would open it to others. Omit --ip, or write 127.0.0.1. For others, deploy it: npm run deploy.`,
  );
}

const unknownArgument = (argument: string): Error =>
  new Error(`npm start has no argument ${argument}.\n\n${START_USAGE}`);
