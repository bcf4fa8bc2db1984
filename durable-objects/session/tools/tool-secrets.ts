import { parseToolSecrets, secretsFor } from "../../../src/config/tool-secrets";
import { logError } from "../../../src/redaction/log";
import { maySend, type SecretOf } from "../../../src/tools/secret-bindings";
import { type Env, readSecret } from "../../../src/env";
import { SecretStore } from "../../../d1/secret-store";

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
