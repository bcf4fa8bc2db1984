import demoTeam from "../configs/teams/demo.yaml";
import oneProviderTeam from "../configs/teams/one-provider.yaml";
import { type Env, readSecret, readVariables } from "../durable-objects/env";
import { tenancyServices } from "../durable-objects/tenancy-services";
import { sessionStub } from "../durable-objects/session-stub";
import { createApp } from "./api/app";
import type { Services } from "./api/services";
import { parseAllowedOrigins } from "./config/base-url";
import { KEY_NAMES, OPERATOR_VARIABLES } from "./providers/registry";

export { SessionObject } from "../durable-objects/session";
export { TenantObject } from "../durable-objects/tenant";

const app = createApp();

export default {
  fetch(request, env, ctx) {
    return app.fetch(request, toServices(env, ctx));
  },
} satisfies ExportedHandler<Env>;

/** What the routes may know of the deployment: names of keys, never keys. */
function toServices(env: Env, ctx: Pick<ExecutionContext, "waitUntil">): Services {
  return {
    session: (caller, id) =>
      sessionStub({ namespace: env.SESSIONS, masterKey: readSecret(env, "MASTER_KEY") ?? null }, caller, id),
    tenancy: tenancyServices(env, (work) => ctx.waitUntil(work)),
    config: {
      storedKeys: KEY_NAMES.filter((name) => readSecret(env, name) !== undefined),
      allowedOrigins: parseAllowedOrigins(env.ALLOWED_ORIGINS),
      variables: readVariables(env, OPERATOR_VARIABLES),
    },
    teams: { demo: demoTeam, "one-provider": oneProviderTeam },
    openOnLoopback: env.OPEN_ACCESS === "loopback",
  };
}
