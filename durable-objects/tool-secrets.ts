import type { ConfigContext } from "../src/config/context";
import { parseToolSecrets } from "../src/config/tool-secrets";
import { type CommandPlace, commandPlace } from "../src/tools/shell";
import { type Env, readSecret } from "./env";

type SandboxVariable = "SANDBOX" | "SANDBOX_NETWORK" | "SANDBOX_MEMORY_MB" | "SANDBOX_CPUS";
type SecretEnv = Pick<Env, "TOOL_SECRETS">;

/** The operator's secret of this name, if it is set and bound to this origin; undefined else. */
export function toolSecret(env: SecretEnv, name: string, origin: string): string | undefined {
  const isBound = parseToolSecrets(env.TOOL_SECRETS).some((secret) => secret.name === name && secret.origins.includes(origin));
  return isBound ? readSecret(env, name) : undefined;
}

/** Where the deployment has agents' commands run. */
export const commandsOf = (env: Pick<Env, "SANDBOX" | "SANDBOX_NETWORK">): CommandPlace =>
  commandPlace({ containers: env.SANDBOX !== undefined, network: env.SANDBOX_NETWORK });

/** What the operator says that one container has at most; null: nothing, or nothing that is a number. */
const containersOf = (env: Pick<Env, "SANDBOX_MEMORY_MB" | "SANDBOX_CPUS">) => ({
  memoryMb: positive(env.SANDBOX_MEMORY_MB),
  cpus: positive(env.SANDBOX_CPUS),
});

function positive(written: string | undefined): number | null {
  const value = Number(written?.trim() || Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** What makes workers of agents' JavaScript, where the operator has switched that on. */
export const loaderOf = ({ LOADER, JAVASCRIPT }: Pick<Env, "LOADER" | "JAVASCRIPT">): WorkerLoader | null =>
  LOADER && JAVASCRIPT?.trim() === "on" ? LOADER : null;

/**
 * For the configs' context: which secrets there are, which tools may be called twice, where commands run and whether JavaScript does.
 * Names and addresses, never secrets.
 */
export function toolFacts(
  env: SecretEnv & Pick<Env, "REPEATABLE_TOOLS" | SandboxVariable | "LOADER" | "JAVASCRIPT">,
): Required<Pick<ConfigContext, "toolSecrets" | "repeatableTools" | "commands" | "containers" | "javascript">> {
  const addresses = (env.REPEATABLE_TOOLS ?? "").split(",").map((address) => address.trim());
  return {
    toolSecrets: parseToolSecrets(env.TOOL_SECRETS).filter(({ name }) => readSecret(env, name) !== undefined),
    repeatableTools: addresses.filter((address) => address !== ""),
    commands: commandsOf(env),
    containers: containersOf(env),
    javascript: loaderOf(env) !== null,
  };
}
