import { parseToolSecrets, secretsFor } from "../../../src/config/tool-secrets";
import { logError } from "../../../src/redaction/log";
import { maySend, type SecretOf } from "../../../src/tools/secret-bindings";
import { type Env, readSecret } from "../../../src/env";
import { SecretStore } from "../../../d1/secret-store";

type SecretEnv = Pick<Env, "TOOL_SECRETS">;

/**
 * The secrets that a tenant's tools may use: the tenant's own secrets, then the operator's secrets
 * for this tenant. If the tenant has a secret with a name, the operator's secret with the same name
 * is never used, even if the tenant's secret is bound to other requests or cannot be opened.
 * Secrets are read for each use, so that the deletion of a secret takes effect at once.
 */
export function toolSecrets(
  env: SecretEnv & Pick<Env, "DB" | "SEALING_KEYS">,
  tenant: string,
): SecretOf {
  const store = new SecretStore(env);
  return async (name, use) => {
    const found = await store.find(tenant, name);
    if (found === null) return operatorSecret(env, tenant, name)(use);
    if (!found.ok)
      logError(
        "a tenant's secret cannot be opened",
        tenant,
        `SEALING_KEYS version ${found.version}`,
      );
    return found.ok && maySend(found.bindings, use) ? found.value : undefined;
  };
}

/**
 * Returns a function that finds the operator's secret with this name. Its result is undefined
 * unless the secret is set, may be used by the tenant, and is bound to the request.
 */
export const operatorSecret =
  (env: SecretEnv, tenant: string, name: string) =>
  (use: Parameters<SecretOf>[1]): string | undefined => {
    const secret = secretsFor(tenant, parseToolSecrets(env.TOOL_SECRETS)).find(
      (one) => one.name === name,
    );
    return secret && maySend(secret.bindings, use) ? readSecret(env, name) : undefined;
  };
