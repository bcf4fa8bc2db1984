import { type ConfigContext, checkTeam } from "../../config/parse-team";
import { withOwnSecrets } from "../../config/tool-secrets";
import type { Call } from "../api-env";
import type { Services } from "../services";

/** What a tenant's configs may rely on: what the deployment has, with the secrets that the tenant's tools may be sent. */
export async function configFor(
  { config, secrets }: Pick<Services, "config" | "secrets">,
  tenant: string,
): Promise<ConfigContext> {
  return {
    ...config,
    toolSecrets: withOwnSecrets(await secrets.list(tenant), secrets.operators(tenant)),
  };
}

/** What the caller's config may rely on: what the deployment has, and which of the contexts it names the caller has uploaded. */
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
