import simulatedEvals from "../../configs/evals/simulated.yaml";
import smokeEvals from "../../configs/evals/smoke.yaml";
import codingTeam from "../../configs/teams/coding.yaml";
import demoTeam from "../../configs/teams/demo.yaml";
import fastAndCheapTeam from "../../configs/teams/fast-and-cheap.yaml";
import oneProviderTeam from "../../configs/teams/one-provider.yaml";
import oneProviderThreePersonasTeam from "../../configs/teams/one-provider-three-personas.yaml";
import researchTeam from "../../configs/teams/research.yaml";
import threeProvidersTeam from "../../configs/teams/three-providers.yaml";
import { type Env, readSecret, readVariables } from "../env";
import { contextServices, sharedByUploads } from "../../durable-objects/shared/context-services";
import { EvalRecords } from "../../d1/eval-records";
import { evalRunName } from "../../durable-objects/eval-run/eval-run-api";
import { createSessionIndex } from "../../d1/session-index";
import { createStartClaims } from "../../d1/start-claims";
import { tenancyServices } from "../../durable-objects/tenant/tenancy-services";
import { sessionStub } from "../../durable-objects/session/session-stub";
import { eraseSessionFiles } from "../../r2-layout/session-files";
import { version } from "../../package.json";
import type { Services } from "../api/services";
import { parseAllowedOrigins, parseToolOrigins } from "../config/base-url";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../providers/registry";
import { literalKeyProblem, operatorSecretsFor, toolFacts } from "../config/operator-settings";
import { parseSealingKeys } from "../tenancy/sealing";
import { SecretStore } from "../../d1/secret-store";

const TEAMS = {
  demo: demoTeam,
  "one-provider": oneProviderTeam,
  "three-providers": threeProvidersTeam,
  "one-provider-three-personas": oneProviderThreePersonasTeam,
  "fast-and-cheap": fastAndCheapTeam,
  coding: codingTeam,
  research: researchTeam,
};

const uploads = sharedByUploads();

/** The part of the platform's context that the services use. */
export type WaitingContext = Pick<ExecutionContext, "waitUntil">;

/** Services for the routes: names of keys, never keys. `origin`: the service's, if it is known. */
export function toServices(env: Env, ctx: WaitingContext, origin?: string): Services {
  const sealing = parseSealingKeys(readSecret(env, "SEALING_KEYS"));
  return {
    session: (caller, id) =>
      sessionStub(
        { namespace: env.SESSIONS, masterKey: readSecret(env, "MASTER_KEY") ?? null },
        caller,
        id,
      ),
    tenancy: tenancyServices(env, (work) => ctx.waitUntil(work)),
    config: {
      storedKeys: KEY_NAMES.filter((name) => readSecret(env, name) !== undefined),
      allowedOrigins: parseAllowedOrigins(env.ALLOWED_ORIGINS),
      allowedToolOrigins: parseToolOrigins(env.ALLOWED_TOOL_ORIGINS),
      ownOrigins: [
        ...parseAllowedOrigins(env.SERVICE_ORIGINS),
        ...(origin === undefined ? [] : [origin]),
      ],
      variables: readVariables(env, OPERATOR_VARIABLES),
      ...(!sealing.ok && { literalKeyProblem: literalKeyProblem(sealing.problem, env) }),
      ...toolFacts(env),
    },
    secrets: secretServices(env),
    evals: {
      suites: { smoke: smokeEvals, simulated: simulatedEvals },
      cronTenant: readSecret(env, "EVAL_TENANT") ?? null,
      start: (run, others) =>
        env.EVALS.get(env.EVALS.idFromName(evalRunName(run.tenant, run.suite.name, run.id))).start(
          run,
          others,
        ),
      records: new EvalRecords(env.DB),
    },
    contexts: contextServices(env, uploads),
    stored: {
      index: createSessionIndex(env.DB),
      claims: createStartClaims(env.DB),
      eraseFiles: (tenant, id) => eraseSessionFiles(env.BUCKET, tenant, id),
    },
    teams: TEAMS,
    version: { version, deployment: env.VERSION?.id || null },
    openOnLoopback: env.OPEN_ACCESS === "loopback",
  };
}

function secretServices(env: Env): Services["secrets"] {
  const store = new SecretStore(env);
  return {
    list: (tenant) => store.list(tenant),
    put: (request, now) => store.put(request, now),
    remove: (tenant, name) => store.remove(tenant, name),
    operators: (tenant) =>
      operatorSecretsFor(env.TOOL_SECRETS, tenant, (name) => readSecret(env, name) !== undefined),
  };
}
