import { isLoopbackHost } from "../outgoing/addresses";
import { type CommandPlace, commandPlace } from "../tools/shell/command-runner";
import { parseAllowedOrigins } from "./base-url";
import type { ConfigContext, ToolSecret } from "./context";
import { parseToolSecrets, secretsFor } from "./tool-secrets";

/** Converts the operator's variables and bindings to settings for configs and sessions. Pure. */

type ServicePlace = { SERVICE_ORIGINS?: string; OPEN_ACCESS?: string };
type ContainerSettings = {
  SANDBOX?: unknown;
  SANDBOX_NETWORK?: string;
  SANDBOX_MEMORY_MB?: string;
  SANDBOX_CPUS?: string;
};
type ScriptSettings<Loader> = { LOADER?: Loader; JAVASCRIPT?: string };

/** Whether the service runs locally. A local service reads its keys from `.dev.vars`. */
export const isLocalService = ({ OPEN_ACCESS, SERVICE_ORIGINS }: ServicePlace): boolean =>
  OPEN_ACCESS === "loopback" ||
  parseAllowedOrigins(SERVICE_ORIGINS).some((origin) =>
    isLoopbackHost(new URL(origin.replace(/:\*$/, "")).hostname),
  );

/** A command that prints a new value for SEALING_KEYS. */
const GENERATE_KEY = `node -p "'1:'+require('node:crypto').randomBytes(32).toString('base64')"`;

/**
 * Why the service cannot store callers' keys, with advice. The text becomes part of config errors.
 * `problem`: the problem of SEALING_KEYS, as a clause.
 */
export function literalKeyProblem(problem: string, service: ServicePlace): string {
  const deployed = `with \`npx wrangler secret put SEALING_KEYS\`, to the output of \`${GENERATE_KEY}\``;
  const local = "`npm run setup` writes it to .dev.vars; then restart the service";
  const how = isLocalService(service)
    ? `To set it, ${local} (deployed: ${deployed}).`
    : `The operator sets it ${deployed} (locally ${local}).`;
  return `${problem}. ${how}`;
}

/**
 * Names and bindings of the operator's secrets that a tenant's configs may use. Secrets without a
 * value are omitted. `variable`: the text of TOOL_SECRETS.
 */
export const operatorSecretsFor = (
  variable: string | undefined,
  tenant: string,
  isSet: (name: string) => boolean,
): ToolSecret[] => secretsFor(tenant, parseToolSecrets(variable)).filter(({ name }) => isSet(name));

/** Where agents' commands run on this deployment. */
export const commandsOf = ({
  SANDBOX,
  SANDBOX_NETWORK,
}: Pick<ContainerSettings, "SANDBOX" | "SANDBOX_NETWORK">): CommandPlace =>
  commandPlace({ containers: SANDBOX !== undefined, network: SANDBOX_NETWORK });

/** The binding that creates workers for agents' JavaScript; `null` if JavaScript is not enabled. */
export const loaderOf = <Loader>({ LOADER, JAVASCRIPT }: ScriptSettings<Loader>): Loader | null =>
  LOADER && JAVASCRIPT?.trim() === "on" ? LOADER : null;

/**
 * The part of a config's context that concerns tools: repeatable tools, where commands run, limits
 * of containers, and whether JavaScript is enabled. Contains no secrets.
 */
export function toolFacts(
  settings: { REPEATABLE_TOOLS?: string } & ContainerSettings & ScriptSettings<unknown>,
): Required<Pick<ConfigContext, "repeatableTools" | "commands" | "containers" | "javascript">> {
  const addresses = (settings.REPEATABLE_TOOLS ?? "").split(",").map((address) => address.trim());
  return {
    repeatableTools: addresses.filter((address) => address !== ""),
    commands: commandsOf(settings),
    containers: containersOf(settings),
    javascript: loaderOf(settings) !== null,
  };
}

/** The operator's limits of a container; `null` if not set or not a positive number. */
const containersOf = ({ SANDBOX_MEMORY_MB, SANDBOX_CPUS }: ContainerSettings) => ({
  memoryMb: positiveNumber(SANDBOX_MEMORY_MB),
  cpus: positiveNumber(SANDBOX_CPUS),
});

function positiveNumber(text: string | undefined): number | null {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : null;
}
