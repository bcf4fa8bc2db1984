import type { ConfigContext } from "../src/config/context";
import { parseToolSecrets } from "../src/config/tool-secrets";
import { type Env, readSecret } from "./env";

type SecretEnv = Pick<Env, "TOOL_SECRETS">;

/** The operator's secret of this name, if it is set and bound to this origin; undefined else. */
export function toolSecret(env: SecretEnv, name: string, origin: string): string | undefined {
  const isBound = parseToolSecrets(env.TOOL_SECRETS).some((secret) => secret.name === name && secret.origins.includes(origin));
  return isBound ? readSecret(env, name) : undefined;
}

/** For the configs' context: which secrets there are, and which tools may be called twice. Names and addresses, never secrets. */
export function toolFacts(
  env: SecretEnv & Pick<Env, "REPEATABLE_TOOLS">,
): Required<Pick<ConfigContext, "toolSecrets" | "repeatableTools">> {
  const addresses = (env.REPEATABLE_TOOLS ?? "").split(",").map((address) => address.trim());
  return {
    toolSecrets: parseToolSecrets(env.TOOL_SECRETS).filter(({ name }) => readSecret(env, name) !== undefined),
    repeatableTools: addresses.filter((address) => address !== ""),
  };
}
