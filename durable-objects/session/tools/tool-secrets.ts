import type { ConfigContext, ToolSecret } from "../../../src/config/context";
import { parseToolSecrets, secretsFor } from "../../../src/config/tool-secrets";
import { logError } from "../../../src/redaction/log";
import { maySend, type SecretOf } from "../../../src/tools/secret-bindings";
import { type CommandPlace, commandPlace } from "../../../src/tools/shell";
import { type Env, readSecret } from "../../../src/env";
import { SecretStore } from "../../../d1/secret-store";

type SandboxVariable = "SANDBOX" | "SANDBOX_NETWORK" | "SANDBOX_MEMORY_MB" | "SANDBOX_CPUS";
type SecretEnv = Pick<Env, "TOOL_SECRETS">;

/**
 * A tenant's secrets for tools: its own, then those of the operator that serve it. A name of the
 * tenant never falls back to the operator's secret, even if the tenant's is bound elsewhere or
 * cannot be opened. Read for each use, so that deleting a secret takes effect at once.
 */
export function toolSecrets(
  env: SecretEnv & Pick<Env, "DB" | "SEALING_KEYS">,
  tenant: string,
): SecretOf {
  const store = new SecretStore(env);
  return async (name, use) => {
    const own = await store.find(tenant, name);
    if (own === null) return operatorSecret(env, tenant, name)(use);
    if (!own.ok)
      logError("a tenant's secret cannot be opened", tenant, `SEALING_KEYS version ${own.version}`);
    return own.ok && maySend(own.bindings, use) ? own.value : undefined;
  };
}

/**
 * The operator's secret with this name; undefined unless it is set, serves the tenant and is bound
 * to that request.
 */
export const operatorSecret =
  (env: SecretEnv, tenant: string, name: string) =>
  (use: Parameters<SecretOf>[1]): string | undefined => {
    const secret = secretsFor(tenant, parseToolSecrets(env.TOOL_SECRETS)).find(
      (one) => one.name === name,
    );
    return secret && maySend(secret.bindings, use) ? readSecret(env, name) : undefined;
  };

/** Where agents' commands run on this deployment. */
export const commandsOf = (env: Pick<Env, "SANDBOX" | "SANDBOX_NETWORK">): CommandPlace =>
  commandPlace({ containers: env.SANDBOX !== undefined, network: env.SANDBOX_NETWORK });

/** The operator's limits of a container; `null` if not set or not a positive number. */
const containersOf = (env: Pick<Env, "SANDBOX_MEMORY_MB" | "SANDBOX_CPUS">) => ({
  memoryMb: positive(env.SANDBOX_MEMORY_MB),
  cpus: positive(env.SANDBOX_CPUS),
});

function positive(written: string | undefined): number | null {
  const value = Number(written?.trim() || Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : null;
}

/** Creates workers for agents' JavaScript; `null` unless the operator has enabled them. */
export const loaderOf = ({
  LOADER,
  JAVASCRIPT,
}: Pick<Env, "LOADER" | "JAVASCRIPT">): WorkerLoader | null =>
  LOADER && JAVASCRIPT?.trim() === "on" ? LOADER : null;

/** The operator's secrets that are set and serve a tenant, for its configs: names and bindings. */
export const operatorSecretsFor = (env: SecretEnv, tenant: string): ToolSecret[] =>
  secretsFor(tenant, parseToolSecrets(env.TOOL_SECRETS)).filter(
    ({ name }) => readSecret(env, name) !== undefined,
  );

/**
 * For the config's context: repeatable tools, where commands run, and whether JavaScript runs.
 * Addresses only, no secrets.
 */
export function toolFacts(
  env: Pick<Env, "REPEATABLE_TOOLS" | SandboxVariable | "LOADER" | "JAVASCRIPT">,
): Required<Pick<ConfigContext, "repeatableTools" | "commands" | "containers" | "javascript">> {
  const addresses = (env.REPEATABLE_TOOLS ?? "").split(",").map((address) => address.trim());
  return {
    repeatableTools: addresses.filter((address) => address !== ""),
    commands: commandsOf(env),
    containers: containersOf(env),
    javascript: loaderOf(env) !== null,
  };
}
