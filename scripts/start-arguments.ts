import { isLoopbackHost } from "../src/outgoing/addresses";

/** What would let others in: the way itself, a debugger, another machine, or another name for requests, by which the service tells its own machine. */
const OPENING = /^(--(host|local-?upstream|tunnel|inspector-?ip|remote)|-r$)/i;

/**
 * The arguments of wrangler for `npm start`. Throws if they would open the service to other machines: open access on loopback
 * trusts that only this machine can reach it.
 */
export function startArguments(args: readonly string[]): string[] {
  const opening = args.find((arg) => OPENING.test(arg));
  if (opening !== undefined) throw new Error(refusal(`${opening.split("=")[0]} does not fit that.`));
  const addresses = valuesOf("--ip", args);
  const open = addresses.find((address) => !isLoopback(address));
  if (open !== undefined) throw new Error(refusal(`--ip ${open} would open it to others; leave it out, or name 127.0.0.1.`));
  const ip = addresses.length > 0 ? [] : ["--ip", "127.0.0.1"];
  const port = valuesOf("--port", args).length > 0 ? [] : ["--port", "8787"];
  return ["dev", "--show-interactive-dev-session=false", ...ip, ...port, ...args];
}

/** The files that the service will find its variables in. */
export function variableFiles(args: readonly string[]): string[] {
  const named = valuesOf("--env-file", args);
  return named.length > 0 ? named : [".dev.vars"];
}

/** What a flag is given, each time it stands there. */
const valuesOf = (flag: string, args: readonly string[]): string[] =>
  args.flatMap((arg, index) => {
    if (arg === flag) return [args[index + 1] ?? ""];
    return arg.startsWith(`${flag}=`) ? [arg.slice(flag.length + 1)] : [];
  });

const isLoopback = (address: string): boolean => isLoopbackHost(address.includes(":") ? `[${address}]` : address);

const refusal = (why: string): string => `Without keys the service is for this machine only: ${why}`;
