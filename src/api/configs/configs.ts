import { z } from "@hono/zod-openapi";
import { checkTeam } from "../../config/parse-team";
import {
  type ConfigCheck,
  ConfigCheckRequestSchema,
  ConfigCheckSchema,
  type ConfigList,
  ConfigListSchema,
} from "../../protocol/api/listings";
import { CONFIGS_PATH } from "../../protocol/paths";
import type { App, Call } from "../api-env";
import { configContextFor } from "./config-context";
import { configFor } from "./config-context";
import { ApiError } from "../errors";
import { CONFIG_CHECK, CONFIG_CHECK_REQUEST, CONFIG_LIST, TEAM_YAML } from "../sessions/examples";
import { json, type Operation } from "../operation";
import { isYaml, readBody, readPlainBody } from "../bodies/read-body";
import { route } from "../routes";
import { describeTeam, namedTeam, teamSource } from "./teams";

const YAML = "application/yaml";

const LIST_OPERATION: Operation = {
  id: "listConfigs",
  tag: "Configs",
  summary: "Included teams, and whether each can run here",
  responses: { 200: json("All included teams", ConfigListSchema, CONFIG_LIST) },
  handle: listConfigs,
};

const SHOW_OPERATION: Operation = {
  id: "getConfig",
  tag: "Configs",
  summary: "An included team as YAML",
  request: { params: z.object({ name: z.string().describe("Name of the team") }) },
  responses: {
    200: {
      description: "The config",
      content: { [YAML]: { schema: z.string(), example: TEAM_YAML } },
    },
  },
  codes: ["config_not_found"],
  handle: showConfig,
};

const CHECK_OPERATION: Operation = {
  id: "checkConfig",
  tag: "Configs",
  summary: "Check whether a config can run here",
  description: "Starts nothing. Findings in YAML have line and column.",
  request: {
    body: {
      "application/json": { schema: ConfigCheckRequestSchema, example: CONFIG_CHECK_REQUEST },
      [YAML]: { schema: z.string(), example: TEAM_YAML },
    },
  },
  responses: { 200: json("The findings", ConfigCheckSchema, CONFIG_CHECK) },
  codes: [
    "bad_json",
    "body_too_large",
    "unsupported_media_type",
    "request_invalid",
    "unknown_team",
  ],
  handle: checkConfig,
};

/** Included teams, and the check of configs. */
export function configRoutes(app: App): void {
  route(app, CONFIGS_PATH, { get: LIST_OPERATION });
  // Must precede the route with `{name}`, because that route also matches `validate`.
  route(app, `${CONFIGS_PATH}/validate`, { post: CHECK_OPERATION });
  route(app, `${CONFIGS_PATH}/{name}`, { get: SHOW_OPERATION });
}

async function listConfigs(context: Call): Promise<Response> {
  const { env } = context;
  const config = await configFor(env, context.var.principal.tenant);
  const data = Object.entries(env.teams).map(([name, yaml]) => describeTeam(name, yaml, config));
  const ends = { first_id: data[0]?.name ?? null, last_id: data.at(-1)?.name ?? null };
  const body: ConfigList = { object: "list", data, ...ends, has_more: false };
  return context.json(body);
}

function showConfig(context: Call): Response {
  const { teams } = context.env;
  const yaml = namedTeam(teams, context.req.param("name") ?? "");
  if (yaml !== undefined) return context.body(yaml, 200, { "content-type": YAML });
  throw new ApiError(
    "config_not_found",
    `There is no included team of this name. Included teams: ${Object.keys(teams).join(", ")}.`,
  );
}

async function checkConfig(context: Call): Promise<Response> {
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
