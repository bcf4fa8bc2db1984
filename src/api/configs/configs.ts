import * as z from "zod";
import { lazy } from "../../async/lazy";
import {
  ConfigCheckRequestSchema,
  ConfigCheckSchema,
  ConfigListSchema,
} from "../../protocol/api/listings";
import { CONFIGS_PATH } from "../../protocol/paths";
import type { App } from "../api-env";
import { CONFIG_CHECK, CONFIG_CHECK_REQUEST, CONFIG_LIST, TEAM_YAML } from "../sessions/examples";
import { json, type Operation } from "../operation";
import { route } from "../routes";

const YAML = "application/yaml";

/** They contain the parser of configs. */
const handlers = lazy(() => import("./config-handlers"));

const LIST_OPERATION: Operation = {
  id: "listConfigs",
  tag: "Configs",
  summary: "Included teams, and whether each can run here",
  responses: { 200: json("All included teams", ConfigListSchema, CONFIG_LIST) },
  handle: (context) => handlers().then(({ listConfigs }) => listConfigs(context)),
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
  handle: (context) => handlers().then(({ showConfig }) => showConfig(context)),
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
  handle: (context) => handlers().then(({ checkConfig }) => checkConfig(context)),
};

/** Included teams, and the check of configs. */
export function configRoutes(app: App): void {
  route(app, CONFIGS_PATH, { get: LIST_OPERATION });
  // Must precede the route with `{name}`, because that route also matches `validate`.
  route(app, `${CONFIGS_PATH}/validate`, { post: CHECK_OPERATION });
  route(app, `${CONFIGS_PATH}/{name}`, { get: SHOW_OPERATION });
}
