import { type ConfigContext, checkTeam } from "../../config/parse-team";
import { withOwnSecrets } from "../../config/tool-secrets";
import type { Call } from "../api-env";
import type { Services } from "../services";

/** The context in which a tenant's configs are read: deployment settings and tenant secrets. */
export async function configFor(
  { config, secrets }: Pick<Services, "config" | "secrets">,
  tenant: string,
): Promise<ConfigContext> {
  return {
    ...config,
    toolSecrets: withOwnSecrets(await secrets.list(tenant), secrets.operators(tenant)),
  };
}

/**
 * Like `configFor` for the caller's config `source`. The result also has the uploaded contexts that
 * the config names.
 */
export async function configContextFor(context: Call, source: unknown): Promise<ConfigContext> {
  const { contexts } = context.env;
  const config = await configFor(context.env, context.var.principal.tenant);
  if (typeof source === "string" && !source.includes("context_paths")) return config;
  const contextNames = new Set<string>();
  // This first check only collects the names of contexts: `has` records a name and returns true.
  const collector = { has: (name: string) => contextNames.add(name).has(name) };
  checkTeam(source, { ...config, contexts: collector });
  if (contextNames.size === 0) return config;
  return {
    ...config,
    contexts: await contexts.reader.uploaded(context.var.principal.tenant, [...contextNames]),
  };
}
