import type { ConfigContext } from "../src/config/context";
import { parseToolSecrets } from "../src/config/tool-secrets";
import { type CommandPlace, commandPlace } from "../src/tools/shell";
import { type Env, readSecret } from "./env";

type SecretEnv = Pick<Env, "TOOL_SECRETS">;

/** The operator's secret of this name, if it is set and bound to this origin; undefined else. */
export function toolSecret(env: SecretEnv, name: string, origin: string): string | undefined {
  const isBound = parseToolSecrets(env.TOOL_SECRETS).some((secret) => secret.name === name && secret.origins.includes(origin));
  return isBound ? readSecret(env, name) : undefined;
}

/** Where the deployment has agents' commands run. */
export const commandsOf = (env: Pick<Env, "SANDBOX" | "SANDBOX_NETWORK">): CommandPlace =>
  commandPlace({ containers: env.SANDBOX !== undefined, network: env.SANDBOX_NETWORK });

/** What makes workers of agents' JavaScript, where the operator has switched that on. */
export const loaderOf = ({ LOADER, JAVASCRIPT }: Pick<Env, "LOADER" | "JAVASCRIPT">): WorkerLoader | null =>
  LOADER && JAVASCRIPT?.trim() === "on" ? LOADER : null;

/**
 * For the configs' context: which secrets there are, which tools may be called twice, where commands run and whether JavaScript does.
 * Names and addresses, never secrets.
 */
export function toolFacts(
  env: SecretEnv & Pick<Env, "REPEATABLE_TOOLS" | "SANDBOX" | "SANDBOX_NETWORK" | "LOADER" | "JAVASCRIPT">,
): Required<Pick<ConfigContext, "toolSecrets" | "repeatableTools" | "commands" | "javascript">> {
  const addresses = (env.REPEATABLE_TOOLS ?? "").split(",").map((address) => address.trim());
  return {
    toolSecrets: parseToolSecrets(env.TOOL_SECRETS).filter(({ name }) => readSecret(env, name) !== undefined),
    repeatableTools: addresses.filter((address) => address !== ""),
    commands: commandsOf(env),
    javascript: loaderOf(env) !== null,
  };
}
