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
 * A tenant's secrets for tools: its own, then the operator's that serve it. A name that the tenant has is never the operator's, also
 * where the tenant's is bound elsewhere or does not open any more. Looked up each time, so that what was deleted is gone at once.
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
      logError("a secret of a tenant does not open", tenant, `SEALING_KEYS version ${own.version}`);
    return own.ok && maySend(own.bindings, use) ? own.value : undefined;
  };
}

/** The operator's secret of this name, if it is set, serves the tenant and is bound to that request; undefined else. */
export const operatorSecret =
  (env: SecretEnv, tenant: string, name: string) =>
  (use: Parameters<SecretOf>[1]): string | undefined => {
    const secret = secretsFor(tenant, parseToolSecrets(env.TOOL_SECRETS)).find(
      (one) => one.name === name,
    );
    return secret && maySend(secret.bindings, use) ? readSecret(env, name) : undefined;
  };

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
export const loaderOf = ({
  LOADER,
  JAVASCRIPT,
}: Pick<Env, "LOADER" | "JAVASCRIPT">): WorkerLoader | null =>
  LOADER && JAVASCRIPT?.trim() === "on" ? LOADER : null;

/** The operator's secrets that are set and serve a tenant, for its configs: names and where they go. */
export const operatorSecretsFor = (env: SecretEnv, tenant: string): ToolSecret[] =>
  secretsFor(tenant, parseToolSecrets(env.TOOL_SECRETS)).filter(
    ({ name }) => readSecret(env, name) !== undefined,
  );

/**
 * For the configs' context: which tools may be called twice, where commands run and whether JavaScript does.
 * Addresses, never secrets.
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
