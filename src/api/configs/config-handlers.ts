import { checkTeam } from "../../config/parse-team";
import {
  type ConfigCheck,
  ConfigCheckRequestSchema,
  type ConfigList,
} from "../../protocol/api/listings";
import type { Call } from "../api-env";
import { configContextFor, configFor } from "./config-context";
import { ApiError } from "../errors";
import { isYaml, readBody, readPlainBody } from "../bodies/read-body";
import { describeTeam, namedTeam, teamSource } from "./teams";

const YAML = "application/yaml";

/** Handlers of the routes in `configs.ts`. */

export async function listConfigs(context: Call): Promise<Response> {
  const { env } = context;
  const config = await configFor(env, context.var.principal.tenant);
  const data = Object.entries(env.teams).map(([name, yaml]) => describeTeam(name, yaml, config));
  const ends = { first_id: data[0]?.name ?? null, last_id: data.at(-1)?.name ?? null };
  const body: ConfigList = { object: "list", data, ...ends, has_more: false };
  return context.json(body);
}

export function showConfig(context: Call): Response {
  const { teams } = context.env;
  const yaml = namedTeam(teams, context.req.param("name") ?? "");
  if (yaml !== undefined) return context.body(yaml, 200, { "content-type": YAML });
  throw new ApiError(
    "config_not_found",
    `There is no included team of this name. Included teams: ${Object.keys(teams).join(", ")}.`,
  );
}

export async function checkConfig(context: Call): Promise<Response> {
  const { source, attached } = await sourceOf(context);
  const body: ConfigCheck = checkTeam(source, {
    ...(await configContextFor(context, source)),
    attached,
  });
  return context.json(body);
}

async function sourceOf(context: Call): Promise<{ source: unknown; attached: readonly string[] }> {
  if (isYaml(context.req.raw))
    return { source: await readPlainBody(context.req.raw), attached: [] };
  const { attached = [], ...choice } = await readBody(context.req.raw, ConfigCheckRequestSchema);
  return { source: teamSource(context.env.teams, choice).source, attached };
}
