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
 * the config names. The database is queried only for a config that can name secrets or contexts,
 * because every start of a session reads its config.
 */
export async function configContextFor(context: Call, source: unknown): Promise<ConfigContext> {
  const { contexts, config: settings } = context.env;
  const { tenant } = context.var.principal;
  const config = mayNameSecrets(source) ? await configFor(context.env, tenant) : settings;
  if (!textOf(source).includes("context_paths")) return config;
  const contextNames = new Set<string>();
  // This first check only collects the names of contexts: `has` records a name and returns true.
  const collector = { has: (name: string) => contextNames.add(name).has(name) };
  checkTeam(source, { ...config, contexts: collector });
  if (contextNames.size === 0) return config;
  return { ...config, contexts: await contexts.reader.uploaded(tenant, [...contextNames]) };
}

/** A config names a secret as `${NAME}`. In YAML an escape with a backslash can stand for `$`. */
const mayNameSecrets = (source: unknown): boolean =>
  textOf(source).includes("$") || (typeof source === "string" && source.includes("\\"));

/** The text of a config; an object as JSON. */
const textOf = (source: unknown): string =>
  typeof source === "string" ? source : (JSON.stringify(source) ?? "");
