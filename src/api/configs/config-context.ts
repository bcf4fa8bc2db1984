import { type ConfigContext, checkTeam } from "../../config/parse-team";
import { withOwnSecrets } from "../../config/tool-secrets";
import type { Call } from "../api-env";
import type { Services } from "../services";

/** The environment of a tenant's configs: the deployment's settings and the tenant's secrets. */
export async function configFor(
  { config, secrets }: Pick<Services, "config" | "secrets">,
  tenant: string,
): Promise<ConfigContext> {
  return {
    ...config,
    toolSecrets: withOwnSecrets(await secrets.list(tenant), secrets.operators(tenant)),
  };
}

/** The environment of the caller's config, with those of its contexts that are uploaded. */
export async function configContextFor(context: Call, source: unknown): Promise<ConfigContext> {
  const { contexts } = context.env;
  const config = await configFor(context.env, context.var.principal.tenant);
  if (typeof source === "string" && !source.includes("context_paths")) return config;
  const named = new Set<string>();
  checkTeam(source, { ...config, contexts: { has: (name) => named.add(name).has(name) } });
  if (named.size === 0) return config;
  return {
    ...config,
    contexts: await contexts.reader.uploaded(context.var.principal.tenant, [...named]),
  };
}
