import type { SecretStore } from "../../d1/secret-store";
import type { ConfigContext, ToolSecret } from "../config/context";
import { withOwnSecrets } from "../config/tool-secrets";

/** What routes need of secrets for tools. */
export type SecretServices = Pick<SecretStore, "list" | "put" | "remove"> & {
  /** The operator's that serve this tenant. */
  operators(tenant: string): readonly ToolSecret[];
};

/** What a tenant's configs may rely on: what the deployment has, with the secrets that the tenant's tools may be sent. */
export async function configFor(
  { config, secrets }: { config: ConfigContext; secrets: SecretServices },
  tenant: string,
): Promise<ConfigContext> {
  return {
    ...config,
    toolSecrets: withOwnSecrets(await secrets.list(tenant), secrets.operators(tenant)),
  };
}
